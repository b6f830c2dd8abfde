from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from evalcase.text.journal_row import encode_row
from tests.run.project import Done, Project, case, cases

CALL = {"tool": "refund", "input": {"order": "A-1"}}
CALLS = [{"role": "assistant", "tool_calls": [CALL]}]
KEYS = [
    "suite", "case", "target", "repeat", "verdict", "score", "input", "expected_output", "answer",
    "grades", "failure", "usage", "cost_usd", "duration_s", "cached", "scrubbed", "truncated",
    "earlier",
    "steps", "steps_cut", "trace", "tags", "metadata", "conversation_id", "vars", "run",
    "run_status", "run_trials", "run_folder", "failed_of", "mixed", "repeats", "case_verdict",
    "pass_rate_needed", "question_hash", "answer_hash", "grading_hash",
]  # fmt: skip
COIN = """
def coin(question: Question):
    note("calls", question.case)
    return "ok" if len(calls()) % 3 == 1 else "no"


def calls():
    return (HERE / "calls").read_text().split()


def caller(question: Question):
    if question.text == "call":
        return {"messages": [{"role": "assistant", "content": None, "tool_calls": [
            {"tool": "refund", "input": {"order": "A-1", "verbose": True}}]}]}
    return question.text


def polite(text):
    return "please" in text
"""


@pytest.fixture
def agents(project: Project) -> Project:
    """A project with an agent that tosses a coin, one that calls tools, and a strict grader."""
    project.add_to_agent(COIN)
    return project


def trials(done: Done) -> list[dict[str, Any]]:
    assert done.code == 0, done
    return [json.loads(line) for line in done.out.splitlines()]


# What a person sees of a trial.


def test_the_summary_shows_what_was_asked_expected_and_said(agents: Project) -> None:
    agents.suite(
        {"id": "text", "input": "No.", "expected_output": CALLS},
        {"id": "called", "input": "call", "expected_output": "It is done."},
        {"id": "rude", "input": "Now!", "expected_output": "Now!",
         "graders": ["python:agent:polite"]},
        target="python:agent:caller",
    )  # fmt: skip
    done = agents.run("run")
    assert done.code == 1
    assert done.out.splitlines()[:16] == [
        "failed s.eval.yaml: text",
        "  input     No.",
        "  expected            │ got",
        '  refund(order="A-1") │ (no tool calls)',
        "  answer    No.",
        "",
        "failed s.eval.yaml: called",
        "  input     call",
        "  expected    │ got",
        "  It is done. │ (no text)",
        '  calls     refund(order="A-1", verbose=true)',
        "",
        "failed s.eval.yaml: rude",
        "  input     Now!",
        "  python:agent:polite: the function returned False (score 0)",
        "  expected  Now!",
    ]
    assert done.out.splitlines()[16] == "  answer    Now!"
    assert "(empty)" not in done.out


def test_repeats_are_folded_and_cases_are_what_is_counted(agents: Project) -> None:
    agents.suite(
        case("coin", repeat={"times": 6, "pass_rate": 0.3}), case("toss", repeat=3), case("once"),
        target="python:agent:coin",
    )  # fmt: skip
    done = agents.run("run", "--concurrency", "1", "--fail-under", "0.6")
    assert done.code == 0, "two of three cases passed"
    assert "         coin: 2 of 6 passed, 30% needed: passed\n" in done.out
    assert "failed s.eval.yaml: toss (1 of 3 passed, all needed)\n" in done.out
    assert "2 passed, 1 failed, pass rate 66.7% (20.8–93.9%)" in done.out
    assert "trials   10 in all, 4 passed, 6 failed\n" in done.out
    named = [line for line in done.err.splitlines() if line.startswith("failed")]
    assert len(named) == 1, "a case that passes is not named as failed"
    assert named[0].startswith("failed toss (1 of 3 passed, all needed): ")
    (row,) = agents.run("list").out.splitlines()[1:]
    assert row.split()[2:5] == ["3", "66.7%", "20.8–93.9%"]


def test_where_every_case_is_tried_once_trials_are_not_spoken_of(project: Project) -> None:
    project.suite(*cases(2))
    assert "trials" not in project.run("run").out


def test_trials_that_errored_in_a_case_that_passed_are_told(project: Project) -> None:
    project.suite(case("shaky", "once", repeat={"times": 2, "pass_rate": 0.5}))
    done = project.run("run", "--concurrency", "1")
    assert done.code == 3
    assert "errored  trials of shaky, passed anyway: ValueError: the first time" in done.out
    assert "--retry-errored" in done.out


GROUPS = """
async def fail(what):
    raise ConnectionError(what)

async def in_group(text):
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(fail("the database is down"))
        tasks.create_task(fail("so is the cache"))

async def in_two(text):
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(in_group(text))
"""


@pytest.mark.parametrize("function", ["in_group", "in_two"])
def test_an_error_of_a_task_is_told_with_its_line(project: Project, function: str) -> None:
    project.add_to_agent(GROUPS)
    line = (project.path / "agent.py").read_text().split("raise ConnectionError")[0].count("\n") + 1
    place = f"  agent.py:{line}, in fail\n      raise ConnectionError(what)\n"
    project.suite(case("a"))
    done = project.run("run", "--target", f"python:agent:{function}")
    assert f"  ConnectionError: the database is down (and 1 more)\n{place}" in done.out
    assert "--retry-errored" in done.out
    project.suite(case("a", graders=[f"python:agent:{function}"]))
    done = project.run("run", "--target", "echo")
    assert "ConnectionError: the database is down (and 1 more)\n" + place in done.out


def test_a_case_that_stopped_the_run_is_shown_though_it_is_undecided(project: Project) -> None:
    project.suite(case("bad", "say no", repeat=3))
    done = project.run("run", "--fail-fast", "--concurrency", "1")
    assert done.code == 1
    said = "unfinished s.eval.yaml: bad (0 of 3 passed, all needed, 2 without a result)\n"
    assert said in done.out
    assert "1 unfinished" in done.out


# What to do next.


def next_of(done: Done) -> list[str]:
    """The words of the command that is suggested, without the name of the run."""
    found = re.search(r"^next +(?:fix it, then: )?evalcase (.*)$", done.out, re.MULTILINE)
    words = found[1].split() if found else []
    return [word for word in words if not re.match(r"\d{8}-", word)]


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("say ok", [], []),
        ("say no", [], ["report", "--case", "one"]),
        ("say no", ["--fail-fast"], ["report", "--case", "one"]),
        ("raise x", [], ["run", "--failed-of"]),
        (
            "raise x",
            ["--target", "python:agent:answer"],
            ["run", "--target", "python:agent:answer", "--failed-of"],
        ),
        ("raise x", ["--fail-fast"], ["run"]),
    ],
)
def test_the_next_command_is_the_one_that_helps(
    project: Project, text: str, options: list[str], words: list[str]
) -> None:
    project.suite(case("one", text), case("two"))
    done = project.run("run", "--concurrency", "1", *options)
    assert next_of(done) == words
    assert next_of(project.run("report")) == words


def test_after_a_cap_the_next_command_raises_it_and_does_not_stop_at_once(
    project: Project,
) -> None:
    project.suite(*(case(f"c{number}", "cost 0.3") for number in range(4)))
    done = project.run("run", "--max-cost", "0.5", "--concurrency", "1")
    assert done.code == 3
    assert next_of(done) == ["resume", "--max-cost", "1.2"]
    assert next_of(project.run("report")) == ["resume", "--max-cost", "1.2"]
    again = project.run("resume", "--max-cost", "1.2")
    assert "pass rate 100.0%" in again.out


def test_the_name_of_a_case_can_be_copied_whatever_it_holds(project: Project) -> None:
    project.suite(case("a b; touch pwned", "say no"))
    done = project.run("run")
    assert "--case 'a b; touch pwned'\n" in done.out


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
def test_a_run_that_is_not_there_is_an_error_that_names_the_nearest(
    project: Project, name: str, said: str
) -> None:
    (project.path / "evals").mkdir()
    project.suite(case("one"))
    project.run("run", "--quiet")
    done = project.run("report", name)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    if "no run" in said and "/" not in name:
        assert f"the nearest is {project.runs()[0].name}" in done.err


def test_a_part_that_several_runs_have_names_them(project: Project) -> None:
    project.suite(case("one"))
    project.run("run", "--quiet")
    project.run("run", "--quiet")
    done = project.run("report", "-")
    assert done.code == 2
    assert "matches several runs" in done.err
    assert all(run.name in done.err for run in project.runs())


def test_without_any_run_the_report_says_how_to_make_one(project: Project) -> None:
    done = project.run("report")
    assert (done.code, "`evalcase run` creates one" in done.err) == (2, True)


def test_one_case_in_full(agents: Project) -> None:
    agents.suite(
        {"id": "both", "input": [{"role": "system", "content": "Be brief."},
                                 {"role": "user", "content": "call"}],
         "expected_output": "It is done.", "tags": ["money"], "metadata": {"topic": "refunds"}},
        case("other"),
        target="python:agent:caller",
    )  # fmt: skip
    agents.run("run", "--quiet")
    done = agents.run("report", "--case", "both")
    assert done.code == 0
    lines = [re.sub(r"\d+\.\d\d s", "0.01 s", line) for line in done.out.splitlines()]
    assert lines == [
        "s.eval.yaml: both",
        '  metadata  {"topic": "refunds"}',
        '  tags      ["money"]',
        "input",
        "  system    Be brief.",
        "  user      call",
        "expected output",
        "  assistant It is done.",
        "",
        "failed at python:agent:caller, score 0.00, 0.01 s",
        "  answer",
        '    assistant refund(order="A-1", verbose=true)',
        "  failed 0.00 by expected",
        '    expected "It is done.", got no text, but a tool call: refund(order="A-1",',
        "    verbose=true)",
        "    expected    │ got",
        "    It is done. │ (no text)",
    ]


def test_what_a_judge_is_shown_in_place_of_comparing_it_says_so(project: Project) -> None:
    judged = case("one", "say yes", expected_output="x", criteria="Is kind.")
    project.suite(judged, {**judged, "id": "two", "graders": ["expected"]})
    config = project.path / "evalcase.toml"
    project.configure(config.read_text() + '[judge]\ntarget = "agent"\n')
    project.run("run", "--quiet")
    lines = project.run("report", "--case", "one").out.splitlines()
    assert "expected output (shown to the judge, not compared)" in lines
    assert "expected output" in project.run("report", "--case", "two").out.splitlines()


def test_one_case_shows_every_target_and_repeat_with_its_attempts(project: Project) -> None:
    project.suite(case("busy", "later 1", repeat=2), targets=["agent", "other"])
    project.run("run", "--quiet", "--retries", "2")
    lines = project.run("report", "--case", "busy").out.splitlines()
    heads = [line for line in lines if line.startswith("passed at")]
    assert heads == [
        "passed at agent (2 of 2 passed, all needed)", "passed at other (2 of 2 passed, all needed)"
    ]  # fmt: skip
    assert sum("2 attempts" in line for line in lines) == 1
    assert sum("attempt 1 http: busy" in line for line in lines) == 1
    assert sum("in trial 2" in line for line in lines) == 2


def test_a_case_of_two_suites_is_shown_twice(project: Project) -> None:
    project.suite(case("one"), name="a")
    project.suite(case("one", "say no"), name="b")
    project.run("run", "--quiet")
    lines = project.run("report", "--case", "one").out.splitlines()
    assert [line for line in lines if ".eval.yaml" in line] == [
        "a.eval.yaml: one", "b.eval.yaml: one"
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


def test_cases_are_chosen_by_globs_as_for_a_run(project: Project) -> None:
    project.suite(case("sum-1"), case("sum-2", "say no"), case("total"))
    project.run("run", "--quiet")
    lines = project.run("report", "--case", "sum-*").out.splitlines()
    assert [line for line in lines if line.startswith("s.eval.yaml")] == [
        "s.eval.yaml: sum-1",
        "s.eval.yaml: sum-2",
    ]
    rows = project.run("report", "--case", "sum-*", "--format", "jsonl").out.splitlines()
    assert {json.loads(row)["case"] for row in rows} == {"sum-1", "sum-2"}
    done = project.run("report", "--case", "zzz*")
    assert (done.code, "did you mean" in done.err) == (2, False)


def test_what_is_not_there_is_said_in_words_or_by_an_empty_file(project: Project) -> None:
    project.suite(case("one"))
    project.run("run", "--quiet")
    done = project.run("report", "--case", "one", "--verdict", "failed", "--verdict", "errored")
    assert (done.code, done.out) == (0, "case one is not failed or errored\n")
    done = project.run("report", "--format", "jsonl", "--verdict", "failed", "-o", "out")
    assert (done.code, (project.path / "out").read_text()) == (0, "")


def test_it_can_be_written_to_a_file(project: Project) -> None:
    project.suite(case("bad", "say no"))
    shown = project.run("run").out
    assert project.run("report", "-o", "report.txt").out == ""
    assert (project.path / "report.txt").read_text() == shown
    done = project.run("report", "-o", "nowhere/report.txt")
    assert (done.code, "can't be written" in done.err) == (2, True)


def test_the_ending_of_a_file_says_its_form_unless_it_is_said(project: Project) -> None:
    project.suite(case("one"))
    project.run("run", "--quiet")
    project.run("run", "--quiet")
    beginnings = {
        "a.html": "<!doctype html>", "a.md": "<!-- evalcase", "a.json": "{", "a.xml": "<?xml",
        "a.log": "1 p",
    }  # fmt: skip
    for name, beginning in beginnings.items():
        assert project.run("report", "-o", name).code == 0
        assert (project.path / name).read_text().startswith(beginning), name
    assert project.run("report", "--format", "text", "-o", "b.html").code == 0
    assert (project.path / "b.html").read_text().startswith("1 p")
    for name in ("c.html", "c.json"):
        assert project.run("compare", "-o", name).code == 0
        assert (project.path / name).read_text().startswith(beginnings["a" + name[1:]])


def test_an_interrupted_run_is_shown_as_far_as_it_came(project: Project) -> None:
    project.suite(*cases(3), case("four", repeat=2))
    project.run("run", "--quiet", "--concurrency", "1")
    project.keep_only(4)
    done = project.run("report")
    assert done.code == 0
    assert "3 passed, 1 unfinished, pass rate 100.0% (43.9–100.0%)\n" in done.out, (
        "how long it took is unknown"
    )
    assert "stopped  killed, or still running, with 4 of 5 trials finished and stored" in done.out
    assert next_of(done) == ["resume"]
    rows = trials(project.run("report", "--format", "jsonl", "--verdict", "unfinished"))
    assert [(row["case"], row["case_verdict"]) for row in rows] == [("four", None)]


def test_a_run_that_was_killed_before_its_first_result(project: Project) -> None:
    project.suite(case("one"))
    project.run("run", "--quiet")
    (project.runs()[0] / "journal.jsonl").unlink()
    done = project.run("report")
    assert (done.code, "1 not run" in done.out) == (0, True)
    assert project.run("report", "--format", "jsonl").out == ""
    assert json.loads(project.run("report", "--format", "json").out)["cases"] == []


def test_an_earlier_grading_can_be_looked_at(project: Project) -> None:
    project.suite(case("one", "say yes"))
    project.run("run", "--quiet")
    project.suite({"id": "one", "input": "say yes", "expected_output": "yes"})
    assert project.run("resume", "latest", "--quiet").code == 0
    newest, first = project.run("report"), project.run("report", "latest@1")
    assert "1 passed" in newest.out
    assert "grading  2 of 2, by the suites when the run was resumed" in newest.out
    assert "1 failed" in first.out
    assert "grading  1 of 2, by the suites when the run began" in first.out
    assert "  ok         │ yes" in first.out
    (row,) = trials(project.run("report", "latest@1", "--format", "jsonl"))
    assert (row["verdict"], row["expected_output"][0]["content"]) == ("failed", "ok")
    (row,) = trials(project.run("report", "--format", "jsonl"))
    assert (row["verdict"], row["expected_output"][0]["content"]) == ("passed", "yes")
    assert "grading 2 of 2, by the suites" in project.run("list").out
    done = project.run("resume", "latest@1")
    assert (done.code, "not one of its gradings" in done.err) == (2, True)


@pytest.mark.parametrize("folder", [[], ["--runs-dir", "else where"]])
def test_what_to_do_next_is_said_of_the_grading_that_is_shown(
    project: Project, folder: list[str]
) -> None:
    project.suite(case("one", "say yes"))
    project.run("run", "--quiet", *folder)
    project.suite({"id": "one", "input": "say yes", "expected_output": "yes"})
    assert project.run("resume", "latest", "--quiet", *folder).code == 0
    first = project.run("report", "latest@1", *folder)
    (line,) = [line for line in first.out.splitlines() if line.startswith("next ")]
    command, *arguments = shlex.split(line.removeprefix("next "))
    assert (command, arguments[1].partition("@")[2]) == ("evalcase", "1")
    assert "failed" in project.run(*arguments).out


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


def test_a_case_that_is_none_is_damage(project: Project) -> None:
    project.suite(case("one", "say no"))
    project.run("run", "--quiet")
    journal = project.runs()[0] / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    odd = encode_row({"type": "case", "suite": "s.eval.yaml", "case": "one", "data": {"id": 5}})
    journal.write_bytes(b"".join([odd, *lines[1:]]))
    done = project.run("report")
    said = "journal.jsonl:1: the record is damaged: this line is not a case"
    assert (done.code, said in done.err) == (3, True)


def test_resume_finds_runs_by_the_same_names(project: Project) -> None:
    project.suite(*cases(2))
    project.run("run", "--quiet")
    project.keep_only(1)
    project.forget_calls()
    assert project.run("resume", project.runs()[0].name[-6:], "--quiet").code == 0
    assert len(project.calls()) == 1
    done = project.run("resume", "nonsense")
    assert (done.code, "the nearest is" in done.err) == (2, True)


@pytest.mark.parametrize("order", [1, -1])
def test_an_earlier_grading_is_of_the_answers_that_there_were_then(
    project: Project, order: int
) -> None:
    project.suite(*[case("a", "say old"), case("b")][::order])
    project.run("run", "--quiet", "--concurrency", "1")
    edited = {**case("b"), "expected_output": "other"}
    project.suite(*[case("a", "say new"), edited][::order])
    project.run("resume", "latest", "--quiet")
    newest = trials(project.run("report", "latest@2", "--format", "jsonl"))
    first = trials(project.run("report", "latest@1", "--format", "jsonl"))
    assert {row["case"]: row["answer"][0]["content"] for row in newest} == {"a": "new", "b": "ok"}
    assert {row["case"]: row["answer"][0]["content"] for row in first} == {"a": "old", "b": "ok"}
    assert {row["case"]: row["verdict"] for row in first} == {"a": "failed", "b": "passed"}
    asked = {row["case"]: row["input"][0]["content"] for row in first}
    assert asked == {"a": "say old", "b": "say ok"}


def test_a_grading_that_was_ended_before_its_first_row_goes_on_under_its_number(
    project: Project,
) -> None:
    project.suite(case("a"))
    project.run("run", "--quiet")
    for expected in ("x", "y"):
        project.suite({**case("a"), "expected_output": expected})
        project.run("resume", "latest", "--quiet")
        journal = project.runs()[0] / "journal.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        begun = [at for at, line in enumerate(lines) if b'"type":"grading"' in line]
        assert b'"number":2,' in lines[begun[-1]]
        journal.write_bytes(b"".join(lines[: begun[-1] + 1]))


@pytest.mark.parametrize("form", ["text", "json", "jsonl"])
def test_a_report_is_the_same_after_its_suites_and_configuration_are_gone(
    project: Project, form: str
) -> None:
    project.suite(case("a"), case("b", "say no"), case("c", "raise x"), case("d", repeat=2))
    project.run("run", "--quiet")
    before = project.run("report", "--format", form)
    (project.path / "s.eval.yaml").unlink()
    (project.path / "agent.py").unlink()
    assert project.run("report", "--format", form) == before


def test_cases_that_errored_alike_are_named_by_what_tells_them_apart(project: Project) -> None:
    for name in ("a", "b"):
        project.suite(case("one", "raise it"), case("two", "raise it"), name=name)
    out = project.run("run", "--quiet").out + project.run("report").out
    assert "  the same for two, b.eval.yaml: one, b.eval.yaml: two\n" in out
    targets = ("--target", "agent", "--target", "python:agent:answer")
    project.run("run", *targets, "a.eval.yaml")
    shown = "  the same for one (python:agent:answer), two, two (python:agent:answer)\n"
    assert shown in project.run("report").out


def test_targets_of_a_case_come_in_their_order_whichever_answered_first(project: Project) -> None:
    project.add_to_agent(
        "LATER = threading.Event()\n"
        "def a_waits(text):\n    LATER.wait(60)\n    return 'no'\n"
        "def b_lets_go(text):\n    LATER.set()\n    return 'no'\n"
    )
    project.suite(case("x"), case("y"))
    targets = ("--target", "python:agent:a_waits", "--target", "python:agent:b_lets_go")
    for text in (project.run("run", *targets).out, project.run("report").out):
        assert re.findall(r"^failed .*agent:(\w)_", text, re.MULTILINE) == ["a", "b", "a", "b"], (
            text
        )
    rows = trials(project.run("report", "--format", "jsonl"))
    assert [row["target"][13] for row in rows] == ["a", "b", "a", "b"]


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


def test_suites_are_named_as_seen_from_where_one_is(project: Project) -> None:
    (project.path / "evals").mkdir()
    suite = project.suite(case("a", "say no"), case("b", "once"))
    suite.rename(project.path / "evals" / "s.eval.yaml")
    assert "failed s.eval.yaml: a" in project.run("run", below="evals").out
    assert "failed evals/s.eval.yaml: a" in project.run("report").out
    assert "failed s.eval.yaml: a" in project.run("report", below="evals").out
    assert project.run("report", "--case", "a").out.startswith("evals/s.eval.yaml: a\n")
    assert "  evals/s.eval.yaml  " in project.run("list").out
    assert "failed evals/s.eval.yaml: a" in project.run("resume", "--retry-errored").out


def test_a_combinator_that_broke_keeps_what_each_inside_of_it_said(agents: Project) -> None:
    agents.add_to_agent("def broken(text):\n    raise ValueError('boom')\n")
    inner = [{"contains": "ok"}, "python:agent:broken"]
    agents.suite({"id": "a", "input": "say ok", "graders": [{"all": inner}]})
    assert agents.run("run").code == 3
    (trial,) = trials(agents.run("report", "--format", "jsonl"))
    (grade,) = trial["grades"]
    told = grade["failure"]["details"]["grades"]
    assert [(each["grader"], each["passed"]) for each in told] == [
        ("contains", True), ("python:agent:broken", False),
    ]  # fmt: skip
    shown = agents.run("report", "--case", "a").out
    assert "passed 1.00 by contains" in shown
    assert "errored by python:agent:broken" in shown


def test_what_a_judge_took_is_told_apart_from_the_answer(agents: Project) -> None:
    agents.add_to_agent(
        """
def judging(question: Question):
    reply = {"criteria": {"criteria": {"reason": "fine", "verdict": "met"}}}
    message = {"role": "assistant", "content": json.dumps(reply)}
    usage = {"input_tokens": 90, "output_tokens": 9}
    return {"messages": [message], "cost_usd": 0.25, "usage": usage}
""".replace("def judging", "import json\n\n\ndef judging")
    )
    agents.configure('[judge]\ntarget = "python:agent:judging"\n')
    agents.suite({"id": "a", "input": "say ok", "criteria": "Is fine."}, target="echo")
    agents.run("run")
    (trial,) = trials(agents.run("report", "--format", "jsonl"))
    (grade,) = trial["grades"]
    assert grade["asked"] >= 1
    assert grade["cost_usd"] == 0.25 * grade["asked"]
    assert trial["cost_usd"] is None
    assert "tokens in" in agents.run("report", "--case", "a").out


def test_a_run_whose_folder_was_renamed_is_named_as_it_is_found(project: Project) -> None:
    project.suite(case("a", "raise it"))
    project.run("run")
    (folder,) = project.path.glob(".evalcase/runs/*-*-*")
    folder.rename(folder.with_name("lost"))
    told = project.run("report", ".evalcase/runs/lost").out
    (line,) = [line for line in told.splitlines() if line.startswith("next")]
    command = line.removeprefix("next     fix it, then: evalcase ").split()
    assert command == ["run", "--failed-of", ".evalcase/runs/lost"]
    assert project.run(*command).code == 3


def test_each_turn_that_failed_is_shown_with_what_was_said_in_it(agents: Project) -> None:
    agents.add_to_agent("def count(messages):\n    return str(len(messages))\n")
    turns = [
        {"input": "hi", "expected_output": "hello"},
        {"input": "so", "expected_output": "3"},
        {"input": "bye", "graders": [{"contains": "farewell"}]},
    ]
    agents.suite({"id": "t", "turns": turns}, target="python:agent:count")
    assert agents.run("run").out.splitlines()[:8] == [
        "failed s.eval.yaml: t",
        "  turn 1    hi",
        "  expected   │ got",
        "  hello      │ 1",
        "  turn 3    bye",
        '  contains: "farewell" not found in "5" (score 0)',
        "  answer    5",
        "",
    ]


def test_a_mean_below_the_threshold_is_told_with_its_sum(agents: Project) -> None:
    graders = [{"contains": "No"}, {"type": "contains", "value": "yes", "weight": 3}]
    agents.suite(
        {"id": "w", "input": "No.", "threshold": 0.8, "graders": graders},
        {"id": "near", "input": "No.", "threshold": 0.75,
         "graders": ["python:agent:nearly", "python:agent:nearly"]},
        {"id": "must", "input": "No.", "threshold": 0.2,
         "graders": [{"contains": "No"}, {"type": "equals", "value": "x", "required": True}]},
        target="python:agent:caller",
    )  # fmt: skip
    agents.add_to_agent("def nearly(answer):\n    return 0.7499\n")
    out = agents.run("run").out
    assert "  mean      0.25 of 0.8 needed: (1 × 1 + 3 × 0) ÷ 4\n" in out
    assert "  mean      0.7499 of 0.75 needed: (0.7499 + 0.7499) ÷ 2\n" in out
    shown = agents.run("report", "--case", "w").out
    assert "  mean      0.25 of 0.8 needed: (1 × 1 + 3 × 0) ÷ 4\n" in shown
    said = "  mean      0.50 of 0.2 needed: (1 + 0) ÷ 2; `equals` is required and failed\n"
    assert said in out


def test_values_that_differ_as_a_whole_are_given_no_place(agents: Project) -> None:
    agents.add_to_agent("def number(text):\n    return 42\n")
    agents.suite({"id": "n", "input": "x", "expected_output": 41}, target="python:agent:number")
    lines = agents.run("run").out.splitlines()
    assert lines[1:4] == ["  input     x", "  expected   │ got", "  41         │ 42"]


def test_an_input_is_never_left_blank(agents: Project) -> None:
    agents.suite(
        {"id": "blank", "input": "", "expected_output": "x"},
        {"id": "system", "input": [{"role": "system", "content": "Begin."}],
         "expected_output": "x"},
        target="python:agent:caller",
    )  # fmt: skip
    out = agents.run("run").out
    assert "failed s.eval.yaml: blank\n  input     (empty)\n" in out
    assert "failed s.eval.yaml: system\n  system    Begin.\n" in out


QUIET = """
import sys
print("loading config", file=sys.stderr)
print("Error: the model file is empty", file=sys.stderr)
print(*sys.argv[1:])
"""


def test_what_a_program_wrote_beside_an_answer_without_text_is_kept_and_shown(
    project: Project,
) -> None:
    (project.path / "quiet.py").write_text(QUIET)
    project.configure(
        '[targets.quiet]\nkind = "command"\ncommand = ["python", "quiet.py"]\n'
        '[targets.loud]\nkind = "command"\ncommand = ["python", "quiet.py", "no JSON"]\n'
        'output = "json"\n'
        '[targets.well]\nkind = "command"\ncommand = ["python", "quiet.py", "a word"]\n'
    )
    project.suite({"id": "a", "input": "hi", "expected_output": "x"})
    done = project.run_process("run", "--target", "quiet")
    assert done.out.splitlines()[:6] == [
        "failed s.eval.yaml: a",
        "  input     hi",
        "  expected   │ got",
        "  x          │ (empty)",
        "  stderr │ loading config",
        "         │ Error: the model file is empty",
    ]
    shown = project.run("report", "--case", "a").out
    assert "  stderr    loading config\n            Error: the model file is empty\n" in shown
    unread = project.run_process("run", "--target", "loud").out
    assert "the output is not JSON" in unread
    assert "  output │ no JSON\n  stderr │ loading config\n" in unread
    assert project.rows()[0]["failure"]["details"]["stderr"].startswith("loading config")
    project.run_process("run", "--target", "well")
    assert "stderr" not in project.rows()[0]["answer"], "its answer says enough"


def test_what_a_program_wrote_is_scrubbed_without_a_word_on_the_answer(project: Project) -> None:
    (project.path / "quiet.py").write_text(
        "import os, sys\nprint('Error: bad key', os.environ['API_KEY'], file=sys.stderr)\nprint()\n"
    )
    target = '[targets.quiet]\nkind = "command"\ncommand = ["python", "quiet.py"]\n'
    project.configure(f'secrets = ["API_KEY"]\n{target}')
    project.suite({"id": "a", "input": "hi", "expected_output": "x"})
    project.run_process("run", "--target", "quiet", env={"API_KEY": "sk-aB3dE6gH9jK2mN5pQ8"})
    answer = project.rows()[0]["answer"]
    assert answer["stderr"].startswith("Error: bad key ")
    assert "aB3dE6" not in answer["stderr"]
    assert "scrubbed" not in answer


def test_who_wants_to_see_more_is_sent_to_the_page(project: Project) -> None:
    project.suite(*[case(f"c{number}", "say no") for number in range(25)])
    out = project.run("run").out
    (more,) = [line for line in out.splitlines() if line.startswith("and 5 more failed: ")]
    command = more.partition(": ")[2].split()
    assert project.run(*command[1:]).code == 0
    assert (project.path / "report.html").read_text().startswith("<!doctype html>")
