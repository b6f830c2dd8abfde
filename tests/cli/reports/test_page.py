import json
from random import Random
from typing import Any

import pytest

from tests.cli.pseudo_terminal import PseudoTerminal
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
    verdicts = {row["case"]: row["verdict"] for row in page.rows}
    assert verdicts == {"good": "passed", "bad": "failed", "broken": "errored", "left": "skipped"}
    bad = next(row for row in page.rows if row["case"] == "bad")
    assert bad["tags"] == ["x", "y"]
    assert bad["failing"] == ["expected"]
    assert bad["reason"].startswith('expected "')
    figures = page.about["run"]["figures"]
    share, low, high = (figures["all"][name] for name in ("rate", "low", "high"))
    assert share == pytest.approx(1 / 3)
    assert 0 < low < share < high < 1
    assert list(figures["by_tag"]) == ["x", "y"]


def test_a_run_writes_a_page_when_it_is_over(project: Project) -> None:
    project.suite(case("a"))
    project.run("run", "--report", "out.html")
    written = (project.path / "out.html").read_bytes()
    assert [row["case"] for row in open_page(written).rows] == ["a"]
    make_page(project)
    assert (project.path / "page.html").read_bytes() == written


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


def test_repeats_are_one_row_and_equal_answers_are_counted(project: Project) -> None:
    project.add_to_agent(
        'def turns(question):\n    note("calls", "x")\n'
        '    return "ok" if calls_of("x") % 3 else "no"\n'
    )
    project.suite(case("a", "x", repeat=5), target="python:agent:turns")
    project.run("run", "--concurrency", "1")
    page = make_page(project)
    (row,) = page.rows
    assert (row["trials"], row["passed"], row["answers"]) == (5, 4, 2)
    trials = page.detail("a")["trials"]
    assert [trial["repeat"] for trial in trials] == [1, 2, 3, 4, 5]
    assert len({trial["hash"] for trial in trials}) == 2


def test_every_grading_of_an_answer_is_there(project: Project) -> None:
    suite = project.suite(case("a", "say no"))
    project.run("run")
    suite.write_text(
        suite.read_text().replace('"expected_output": "ok"', '"expected_output": "no"')
    )
    project.run("grade", "latest")
    page = make_page(project)
    (trial,) = page.detail("a")["trials"]
    told = [(each["number"], each["verdict"]) for each in trial["gradings"]]
    assert told == [(1, "failed"), (2, "passed")]
    assert page.about["run"]["grading"] == "2 of 2, with the suite files at the time of `grade`"


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


def test_a_page_does_not_flood_a_terminal(project: Project) -> None:
    project.suite(case("a"))
    project.run("run")
    terminal = PseudoTerminal(project.path, "report", "--format", "html")
    assert terminal.finish() == 2
    assert "give one with -o FILE" in terminal.text
