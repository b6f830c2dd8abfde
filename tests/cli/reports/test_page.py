from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from tests.report.page.opened import Opened, open_page
from tests.run.project import Project, case

CALL = {"tool": "refund", "input": {"order": "A-1", "cents": 12345678901234567890}}


def make_page(project: Project, *arguments: str) -> Opened:
    done = project.run("report", "--format", "html", "-o", "page.html", *arguments)
    assert done.code == 0, done
    return open_page((project.path / "page.html").read_bytes())


def test_a_page_has_every_case_with_its_verdict(project: Project) -> None:
    project.suite(
        case("good"), case("bad", "say no", tags=["x", "y"]), case("broken", "raise oh"),
        case("left", skip="later"),
    )  # fmt: skip
    project.run("run")
    page = make_page(project)
    verdicts = {row["case"]: page.about["verdicts"][row["verdict"]] for row in page.rows}
    assert verdicts == {"good": "passed", "bad": "failed", "broken": "errored", "left": "skipped"}
    bad = next(row for row in page.rows if row["case"] == "bad")
    assert [page.about["tags"][number] for number in bad["tags"]] == ["x", "y"]
    assert [page.about["graders"][number] for number in bad["failing"]] == ["expected"]
    assert bad["reason"].startswith('expected "')
    figures = page.about["run"]["figures"]
    share, low, high = (figures["all"][name] for name in ("rate", "low", "high"))
    assert share == pytest.approx(1 / 3)
    assert 0 < low < share < high < 1
    assert list(figures["by_tag"]) == ["x", "y"]


def test_a_conversation_that_broke_off_has_what_was_to_be_said(project: Project) -> None:
    turns = [{"input": "say a"}, {"input": "raise oh"}]
    project.suite({"id": "talk", "turns": turns, "graders": ["json"]})
    project.run("run")
    detail = make_page(project).detail("talk")
    assert [message["parts"] for message in detail["input"]] == [
        [{"text": "say a"}], [{"text": "raise oh"}],
    ]  # fmt: skip


def test_a_detail_has_what_was_asked_expected_and_said(project: Project) -> None:
    project.suite(case("bad", "say nothing", description="It is polite."))
    project.run("run")
    detail = make_page(project).detail("bad")
    assert detail["input"] == [{"role": "user", "parts": [{"text": "say nothing"}]}]
    assert detail["reference"] == "ok"
    assert ["about", "It is polite."] in detail["facts"]
    (trial,) = detail["trials"]
    assert trial["answer"] == [{"role": "assistant", "parts": [{"text": "nothing"}]}]
    assert trial["verdict"] == "failed"
    (grade,) = trial["grades"]
    assert (grade["grader"], grade["expected"], grade["got"]) == ("expected", "ok", "nothing")


def test_no_digit_of_data_is_lost_on_the_way_to_a_browser(project: Project) -> None:
    wanted = {"id": 12345678901234567890, "share": 1.0}
    messages = [{"role": "assistant", "content": wanted, "tool_calls": [CALL]}]
    project.suite({"id": "a", "input": "x", "expected_output": messages})
    project.run("run")
    (message,) = make_page(project).detail("a")["expected"]
    assert json.loads(message["parts"][0]["text"]) == wanted
    assert "1.0" in message["parts"][0]["text"]
    assert "12345678901234567890" in message["calls"][0]["input"]


def noise(seed: int) -> str:
    """A text that can't be compressed to much less."""
    return Random(seed).randbytes(20_000).hex()


def test_what_does_not_fit_is_counted_and_only_what_passed_is_left_out(project: Project) -> None:
    many: list[dict[str, Any]] = [
        case(f"c{number}", f"say {'no' if number % 5 == 0 else 'ok'}", description=noise(number))
        for number in range(60)
    ]
    project.suite(*many)
    project.run("run")
    whole = make_page(project)
    assert "left_out" not in whole.about
    cap = len(whole.text) * 2 // 3
    page = make_page(project, "--max-size", f"{cap}")
    assert len(page.text) <= cap
    left_out = page.about["left_out"]
    missing = [row["case"] for row in page.rows if row["chunk"] not in page.chunks]
    assert len(page.rows) == 60
    assert len(missing) == left_out["cases"] > 0
    assert all(int(name[1:]) % 5 for name in missing)
    assert left_out["command"].startswith("evalcase view ")
    again = make_page(project, "--max-size", f"{cap}")
    assert again.text == page.text


def test_what_a_model_wrote_can_not_leave_its_place(project: Project) -> None:
    hostile = "</template></script><script>alert(1)</script><!-- \u202e \x00 \ud800"
    project.add_to_agent(f"def hostile(question):\n    return {hostile!r}\n")
    project.suite(case("a", "x"), target="python:agent:hostile")
    project.run("run")
    page = make_page(project)
    assert page.text.count("<script>") == 1
    assert "alert(1)" not in page.text
    (message,) = page.detail("a")["trials"][0]["answer"]
    assert message["parts"][0]["text"].startswith("</template></script>")


def test_an_interrupted_run_says_so(project: Project) -> None:
    project.suite(case("a"), case("b"), case("c"))
    project.run("run")
    project.keep_only(2)
    page = make_page(project)
    assert "2 of 3 trials finished" in page.about["run"]["notice"]
    assert page.about["run"]["figures"]["all"]["not_run"] == 1
