import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.reported import trials
from tests.run.project import Done, Project, case, cases
from tests.store.rows import encode_row

KEYS = [
    "suite", "case", "target", "repeat", "verdict", "score", "input", "expected_output", "answer",
    "grades", "failure", "usage", "cost_usd", "duration_s", "cached", "scrubbed", "truncated",
    "earlier",
    "steps", "steps_cut", "trace", "tags", "metadata", "conversation_id", "vars", "run",
    "run_status", "run_trials", "run_folder", "failed_of", "mixed", "repeats", "case_verdict",
    "pass_rate_needed", "question_hash", "answer_hash", "grading_hash",
]  # fmt: skip


def test_jsonl_has_exactly_the_keys_of_the_design(project: Project) -> None:
    project.suite(
        case("a", "cost 0.5", tags=["x"], metadata={"riskLevel": 1}), case("b", "say no", repeat=2),
        case("c", "raise x"), case("d", skip=True),
    )  # fmt: skip
    run = project.run("run", "--json").json["run"]
    rows = trials(project.run("report", "--format", "jsonl"))
    assert all(list(row) == KEYS for row in rows)
    by_case = {(row["case"], row["repeat"]): row for row in rows}
    assert len(by_case) == len(rows) == 5
    a, b, c, d = (by_case[name, 1] for name in "abcd")
    assert (a["run"], a["suite"], a["target"], a["cost_usd"]) == (run, "s.eval.yaml", "agent", 0.5)
    assert (a["tags"], a["metadata"]) == (["x"], {"riskLevel": 1})
    assert a["input"] == [{"role": "user", "content": "cost 0.5"}]
    assert a["expected_output"] == a["answer"] == [{"role": "assistant", "content": "ok"}]
    assert (b["verdict"], b["case_verdict"], b["score"], b["pass_rate_needed"]) == (
        "failed", "failed", 0.0, 1.0
    )  # fmt: skip
    assert list(b["grades"][0]) == ["grader", "score", "passed", "reason", "details"]
    assert b["grades"][0]["details"] == {"expected": "ok", "got": "no"}
    assert (c["answer"], c["grades"], c["failure"]["kind"]) == (None, [], "exception")
    assert (c["answer_hash"], c["score"]) == (None, None)
    assert (d["verdict"], d["failure"]["message"]) == ("skipped", "skipped")
    same = by_case["b", 2]
    assert same["answer_hash"] == b["answer_hash"] != a["answer_hash"]


def test_json_is_what_run_prints_with_the_cases(project: Project) -> None:
    project.suite(
        case("a"), case("b", "say no"), case("c", repeat={"times": 2, "pass_rate": 0.5})
    )  # fmt: skip
    printed = project.run("run", "--json").json
    done = project.run("report", "--format", "json")
    data = json.loads(done.out)
    found = data.pop("cases")
    figures, told = data.pop("figures"), printed.pop("figures")
    assert data == printed
    assert figures["all"].items() >= told["all"].items(), "what the totals tell"
    assert sorted(found, key=lambda each: each["case"]) == [
        {"suite": "s.eval.yaml", "case": id, "target": "agent", "verdict": verdict,
         "passed": passed, "trials": count, "repeats": count, "pass_rate_needed": rate,
         "score": score}
        for id, verdict, passed, count, rate, score in [
            ("a", "passed", 1, 1, 1.0, 1.0), ("b", "failed", 0, 1, 1.0, 0.0),
            ("c", "passed", 2, 2, 0.5, 1.0),
        ]
    ]  # fmt: skip


def test_filters_choose_cases_by_verdict_and_target(project: Project) -> None:
    project.suite(
        case("a"), case("b", "say no"), case("c", "raise x"), targets=["agent", "other"]
    )  # fmt: skip
    project.run("run", "--quiet")

    def chosen(*options: str) -> list[str]:
        rows = trials(project.run("report", "--format", "jsonl", *options))
        return sorted(f"{row['case']} {row['target']}" for row in rows)

    assert chosen("--verdict", "failed") == ["b agent"]
    assert chosen("--target", "other") == ["a other", "b other", "c other"]
    assert chosen("--case", "a") == ["a agent", "a other"]
    assert chosen("--verdict", "failed", "--verdict", "errored") == ["b agent", "c agent"]
    assert chosen("--verdict", "skipped") == []
    text = project.run("report", "--target", "other").out
    assert "3 passed, pass rate 100.0%" in text
    text = project.run("report", "--verdict", "errored").out
    assert "errored s.eval.yaml: c" in text
    assert "failed s.eval.yaml" not in text
    assert "4 passed, 1 failed, 1 errored" in text, "no count is changed by what is looked at"
    data = json.loads(project.run("report", "--format", "json", "--case", "b").out)
    assert (data["total"], len(data["cases"])) == (2, 2)


@pytest.mark.parametrize("form", ["text", "json", "jsonl"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--case", "totl"], "has no case `totl`; did you mean `total`?"),
        (["--target", "agnt"], "has no target `agnt`; did you mean `agent`?"),
        (["--case", "total", "--target", "other"], "case `total` was not run at `other`"),
    ],
)
def test_a_filter_that_matches_nothing_is_an_error_that_names_the_nearest(
    project: Project, form: str, options: list[str], said: str
) -> None:
    project.suite(case("total", target="agent"), case("sum", target="other"))
    project.run("run", "--quiet")
    done = project.run("report", "--format", form, "-o", "out", *options)
    assert (done.code, said in done.err) == (2, True), done
    assert not (project.path / "out").exists()


def test_parts_that_are_asked_for_are_shown_or_said_to_be_none(project: Project) -> None:
    project.suite(case("a"))
    project.run("run", "--quiet")
    done = project.run("report", "--by", "tag")
    assert (done.code, done.err) == (2, "evalcase: no case has a tag to group by\n")
    assert "suite        passed" in project.run("report", "--by", "suite").out
    assert "suite  " not in project.run("report").out


def test_all_figures_are_shown_however_quick_a_target_is(project: Project) -> None:
    project.suite(case("a"))
    assert "latency  median " not in project.run("run").out
    assert "latency  median " in project.run("report", "-v").out


def test_cases_come_in_the_order_of_their_suites_whatever_order_they_finished_in(
    project: Project,
) -> None:
    project.suite(case("z", "once"), case("b", "say no"), name="a")
    project.suite(case("a", "say no"), name="b")
    project.run("run", "--quiet")
    project.run("resume", "latest", "--retry-errored", "--quiet")
    out = project.run("report").out
    assert out.index("a.eval.yaml: b") < out.index("b.eval.yaml: a")
    rows = trials(project.run("report", "--format", "jsonl"))
    assert [row["case"] for row in rows] == ["z", "b", "a"]
    told = json.loads(project.run("report", "--format", "json").out)
    assert [each["case"] for each in told["cases"]] == ["z", "b", "a"]


# `report` and the figures of a run: intervals, parts, clusters, repeats


def figures(done: Done) -> Any:
    assert done.code == 0, done
    return json.loads(done.out)["figures"]


@pytest.fixture
def topics(project: Project) -> Project:
    """Two cases of each of three topics: one topic fails."""
    project.suite(
        *(
            case(f"{topic}{n}", "say no" if topic == "b" else "say ok",
                 metadata={"topic": topic}, tags=[f"about-{topic}"])
            for topic in "abc" for n in (1, 2)
        )
    )  # fmt: skip
    assert project.run("run", "--quiet").code == 1
    return project


def test_run_shows_tags_as_report_does(topics: Project) -> None:
    shown = topics.run("run").out.splitlines()
    at = shown.index("tag      passed  failed  pass rate     interval")
    assert shown[at + 1 : at + 4] == [
        "about-a       2       0     100.0%  34.2–100.0%",
        "about-b       0       2       0.0%    0.0–65.8%",
        "about-c       2       0     100.0%  34.2–100.0%",
    ]
    reported = topics.run("report").out.splitlines()
    assert reported[reported.index(shown[at]) :][:4] == shown[at : at + 4]
    assert "4 passed, 2 failed, pass rate 66.7% (30.0–90.3%)" in "\n".join(shown)


def test_json_has_all_parts(topics: Project) -> None:
    found = figures(topics.run("report", "--format", "json"))
    assert (found["all"]["n"], found["all"]["errored"], found["all"]["not_run"]) == (6, 0, 0)
    assert found["all"]["low"] == pytest.approx(0.29999, abs=1e-4)
    assert {name: part["rate"] for name, part in found["by_tag"].items()} == {
        "about-a": 1.0, "about-b": 0.0, "about-c": 1.0
    }  # fmt: skip
    assert list(found["by_grader"]) == ["expected"]
    assert list(found["by_suite"]) == ["s.eval.yaml"]
    assert found["by_target"]["agent"]["latency"]["n"] == 6


def test_clusters_widen_the_interval(topics: Project) -> None:
    alone = figures(topics.run("report", "--format", "json"))["all"]
    done = topics.run("report", "--format", "json", "--cluster", "metadata.topic")
    together = figures(done)["all"]
    assert (together["clusters"], together["rough"], together["n"]) == (3, True, 6)
    assert together["rate"] == alone["rate"]
    assert together["low"] < alone["low"]
    text = topics.run("report", "--cluster", "metadata.topic").out
    assert "rate     the interval is over 3 clusters by metadata.topic; with fewer" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cluster", "metadata.tpic"], "no case has a value at `metadata.tpic`"),
        (["--cluster", "a..b"], "`a..b` can't be a cluster: "),
        (["--pass-at", "2"], "pass@2 needs 2 trials, but some cases have only 1 trial"),
        (["--interval", "bootstrap"], "'bootstrap' is not one of"),
        (["--pass-at", "0"], "0 is not in the range x>=1."),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_what_can_t_be_had_is_refused(
    topics: Project, options: list[str], words: str, form: str
) -> None:
    done = topics.run("report", "--format", form, *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_the_exact_interval_is_wider(topics: Project) -> None:
    exact = figures(topics.run("report", "--format", "json", "--interval", "exact"))
    assert exact["interval"] == "exact"
    assert (exact["all"]["low"], exact["all"]["high"]) == pytest.approx((0.2228, 0.9567), abs=1e-4)
    assert "(22.3–95.7%)" in topics.run("report", "--interval", "exact").out


def test_pass_at_k(project: Project) -> None:
    project.suite(*cases(3), repeat=4)
    project.run("run", "--quiet")
    done = project.run("report", "--format", "json", "--pass-at", "2", "--pass-at", "3")
    repeats = figures(done)["all"]["repeats"]
    assert [each["k"] for each in repeats["pass_at"]] == [2, 3]
    assert repeats["pass_at"][0]["all"]["mean"] == 1.0
    done = project.run("report", "--pass-at", "5")
    assert (done.code, done.out) == (2, "")
    assert "have only 4 trials" in done.err


# Report kept


# The report of a kept run.


def test_the_report_is_what_run_showed_also_when_its_suite_is_gone(project: Project) -> None:
    project.suite(
        case("good"), case("bad", "say no"), case("broken", "raise x"), case("off", skip="later"),
        case("three", "say no", repeat=3), case("none", expected_output=None),
    )  # fmt: skip
    shown = project.run("run").out
    (project.path / "s.eval.yaml").unlink()
    (project.path / "agent.py").unlink()
    for arguments in ([], ["latest"], [project.runs()[0].name], [str(project.runs()[0])]):
        done = project.run("report", *arguments)
        assert (done.code, done.out, done.err) == (0, shown, "")


def test_a_run_can_be_named_by_a_part_that_no_other_has(project: Project) -> None:
    project.suite(case("one"))
    project.run("run", "--quiet")
    project.run("run", "--quiet")
    older, newer = (run.name for run in project.runs())
    for name, id in (("latest", newer), ("previous", older), (older[-6:], older)):
        (row,) = trials(project.run("report", name, "--format", "jsonl"))
        assert row["run"] == id


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("20261116-999999-zzzzzz", "there is no run `20261116-999999-zzzzzz` in"),
        ("nonsense", "there is no run `nonsense` in"),
        ("previous", "there is no previous run in"),
        ("latest@2", "has 1 grading: there is no 2"),
        ("latest@0", "has 1 grading: there is no 0"),
        ("./evals", "./evals is not a run: it has no run.json"),
    ],
)
def test_a_run_that_is_not_there_is_an_error_that_names_those_there_are(
    project: Project, name: str, said: str
) -> None:
    (project.path / "evals").mkdir()
    project.suite(case("one"))
    project.run("run", "--quiet")
    done = project.run("report", name)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    if "no run" in said and "/" not in name:
        hint = "" if name == "previous" else "it has "
        assert f"{hint}{project.runs()[0].name}" in done.err
    run = project.runs()[0].name
    assert f"the nearest is {run}" in project.run("report", f"{run}z").err


def test_an_earlier_grading_can_be_looked_at(project: Project) -> None:
    project.suite(case("one", "say yes"))
    project.run("run", "--quiet")
    project.suite({"id": "one", "input": "say yes", "expected_output": "yes"})
    assert project.run("resume", "latest", "--quiet").code == 0
    newest, first = project.run("report"), project.run("report", "latest@1")
    assert "1 passed" in newest.out
    assert "grading  2 of 2, with the suite files at the time of `resume`" in newest.out
    assert "1 failed" in first.out
    assert "grading  1 of 2, with the suite files at the start of the run" in first.out
    assert "  ok         │ yes" in first.out
    (row,) = trials(project.run("report", "latest@1", "--format", "jsonl"))
    assert (row["verdict"], row["expected_output"][0]["content"]) == ("failed", "ok")
    (row,) = trials(project.run("report", "--format", "jsonl"))
    assert (row["verdict"], row["expected_output"][0]["content"]) == ("passed", "yes")
    assert "grading 2 of 2, with the suite files" in project.run("list").out
    done = project.run("resume", "latest@1")
    assert (done.code, "not one of its gradings" in done.err) == (2, True)


def test_a_damaged_record_exits_3_with_the_line(project: Project) -> None:
    project.suite(*cases(3))
    project.run("run", "--quiet")
    journal = project.runs()[0] / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b"passed", b"failed", 1)
    journal.write_bytes(b"".join(lines))
    for form in ("text", "json", "jsonl"):
        done = project.run("report", "--format", form)
        assert (done.code, done.out) == (3, "")
        assert "journal.jsonl:4: the record is damaged" in done.err


def test_a_record_of_a_stranger_is_data(project: Project, tmp_path: Path) -> None:
    """Whatever it says it is called, nothing of it becomes a command to copy."""
    project.suite(case("bad", "say no"))
    project.run("run", "--quiet")
    sent = shutil.copytree(project.runs()[0], tmp_path / "sent" / "from a friend")
    about = json.loads((sent / "run.json").read_text())
    about["id"] = "x; touch pwned"
    (sent / "run.json").write_text(json.dumps(about))
    done = project.run("report", "sent/from a friend")
    assert done.code == 0
    assert "touch pwned" not in done.out
    assert "next     evalcase report 'sent/from a friend' --case bad\n" in done.out


ODD: list[dict[str, Any]] = [
    {"role": "assistant", "content": 5, "tool_calls": None},
    {"role": "assistant", "content": [{"type": "image"}], "tool_calls": [{"tool": "\x1b[2J"}]},
    {"role": "\x1b[2J", "content": {"a": ["\x1b[2J"]}, "extra": "\u202e"},
    {
        "role": "tool",
        "content": None,
        "tool_calls": [{"function": {"name": "f", "arguments": "{"}}],
    },
]


def test_answers_and_details_of_any_shape_are_shown(project: Project) -> None:
    project.suite(case("one"))
    project.run("run", "--quiet")
    journal = project.runs()[0] / "journal.jsonl"
    details: dict[str, Any] = {
        "calls": [5, {"expected": 5, "got": "\x1b[2J", "beyond": -3}], "expected": [1], "got": {},
        "where": 5, "note": ["x"], "other": {"deep": [[[[]]]]},
    }  # fmt: skip
    grade = {"grader": "expected", "score": 0.0, "passed": False, "reason": "", "details": details}
    row = {
        "type": "result", "suite": "gone.eval.yaml", "case": "\x1b[2J", "target": "agent",
        "repeat": 1, "question_hash": "", "verdict": "failed", "answer": {"messages": ODD},
        "grades": [grade],
    }  # fmt: skip
    journal.write_bytes(journal.read_bytes() + encode_row(row))
    for options in ([], ["--case", "\x1b[2J"]):
        done = project.run("report", *options)
        assert done.code == 0
        assert "\x1b" not in done.out
        assert "\u202e" not in done.out
    (found,) = trials(project.run("report", "--format", "jsonl", "--case", "\x1b[2J"))
    assert (found["input"], found["answer"]) == (None, ODD)


def test_a_failure_is_shown_without_our_own_frames(
    project: Project,
) -> None:
    code = "def answer(text):\n    raise ValueError('no ' + text)\n"
    (project.path / "broken.py").write_text(code)
    project.suite(case("one", "x"))
    project.run("run", "--quiet", "--target", "python:broken:answer")
    out = project.run("report", "--case", "one").out
    assert out.count(", line ") == 1, "only the frame in broken.py"
