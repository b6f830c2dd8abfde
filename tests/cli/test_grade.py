"""`evalcase grade`: answers graded again, and nobody asked."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.run.project import KEYS, Project, case
from tests.store.rows import read_rows


def say(id: str, said: str, expected: str) -> dict[str, Any]:
    return case(id, f"say {said}", expected_output=expected)


@pytest.fixture
def run(project: Project) -> Project:
    """A run of two cases, of which one fails."""
    project.suite(say("one", "one", "one"), say("two", "two", "2"))
    assert project.run("run").code == 1
    return project


def rows(project: Project, kind: str) -> list[dict[str, Any]]:
    (journal,) = project.path.glob(".evalcase/runs/*/journal.jsonl")
    return [row for _, row in read_rows(str(journal)) if row["type"] == kind]


def test_by_the_suites_as_they_are_now(run: Project) -> None:
    asked = run.calls()
    run.suite(say("one", "one", "one"), say("two", "two", "two"))
    done = run.run("grade", "latest")
    assert (done.code, run.calls()) == (0, asked)
    assert "2 passed" in done.out
    (head,) = rows(run, "grading")
    assert (head["number"], head["origin"], list(head["suites"])) == (2, "grade", ["s.eval.yaml"])
    assert len(rows(run, "regraded")) == 2


def test_both_gradings_stay(run: Project) -> None:
    run.suite(say("one", "one", "one"), say("two", "two", "two"))
    run.run("grade", "latest")
    first, second = (
        json.loads(run.run("report", f"latest@{n}", "--format", "json").out) for n in (1, 2)
    )
    assert (first["passed"], second["passed"]) == (1, 2)


@pytest.mark.parametrize(
    ("grader", "code"),
    [("contains: o", 0), ("{length: {max: 2}}", 1), ("{type: contains, value: x, not: true}", 0)],
)
def test_by_other_graders(run: Project, grader: str, code: int) -> None:
    assert run.run("grade", "latest", "--grader", grader).code == code
    assert rows(run, "grading")[0]["graders"] == [grader]


def test_a_grading_by_other_graders_is_never_taken_for_the_runs_own(run: Project) -> None:
    done = run.run("grade", "latest", "--grader", "contains: o", "--json")
    told = {
        "number": 2, "of": 2, "graders": ["contains: o"], "recorded": False, "resumed": False,
            "complete": True, "graded": 2, "answers": 2,
    }  # fmt: skip
    assert done.json["grading"] == told
    assert "grading  2 of 2, by --grader contains: o" in run.run("report").out
    assert "grading 2 of 2, by --grader contains: o" in run.run("list").out
    assert json.loads(run.run("report", "--format", "json").out)["grading"] == told
    first = run.run("report", "latest@1")
    assert "grading  1 of 2, with the suite files at the start of the run" in first.out


def test_a_grader_that_is_none_is_refused_before_anything(run: Project) -> None:
    done = run.run("grade", "latest", "--grader", "contain: o")
    assert (done.code, rows(run, "grading")) == (2, [])
    assert "did you mean `contains`?" in done.err


def test_cases_that_are_gone_are_named_and_nothing_is_done(run: Project) -> None:
    run.suite(say("one", "one", "one"))
    done = run.run("grade", "latest")
    assert (done.code, rows(run, "grading")) == (2, [])
    assert "no longer have s.eval.yaml: two" in done.err
    assert "--recorded" in done.err


def test_an_answer_to_another_question_is_not_graded(run: Project) -> None:
    run.suite(
        say("one", "one", "one"),
        say("two", "three", "three"),
    )
    done = run.run("grade", "latest")
    assert (done.code, rows(run, "grading")) == (2, [])
    assert "the question has changed in s.eval.yaml: two" in done.err


def test_without_its_suites_a_run_is_graded_by_its_record(run: Project) -> None:
    (run.path / "s.eval.yaml").unlink()
    assert run.run("grade", "latest").code == 2
    done = run.run("grade", "latest", "--recorded")
    assert done.code == 1
    assert rows(run, "grading")[0]["recorded"] is True


def test_no_target_is_made_or_opened(run: Project) -> None:
    """It could not be imported any more, and nothing runs code."""
    for module in run.path.glob("*.py"):
        module.unlink()
    assert run.run("grade", "latest", "--recorded", "--no-exec").code == 1


def test_a_trial_without_an_answer_stays_errored(project: Project) -> None:
    project.suite(say("one", "one", "one"), case("bad", "raise", expected_output="x"))
    assert project.run("run").code == 3
    assert project.run("grade", "latest", "--grader", "contains: o").code == 3


def test_a_judge_is_asked_and_its_cost_is_kept_apart(run: Project) -> None:
    (run.path / "judge.py").write_text(
        "import json\n"
        "def judge(messages):\n"
        "    said = {'c1': {'reason': 'so', 'verdict': 'met'}}\n"
        "    message = {'role': 'assistant', 'content': json.dumps(said)}\n"
        "    return {'messages': [message], 'cost_usd': 0.25}\n"
    )
    config = (run.path / "evalcase.toml").read_text()
    (run.path / "evalcase.toml").write_text(
        config + "\n[judge]\ntarget = 'judge'\n[targets.judge]\nkind = 'python'\n"
        "function = 'judge:judge'\n"
    )
    done = run.run("grade", "latest", "--grader", "judge: Is a number.", "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert told["grading_usd"] == 0.5
    (first, _) = rows(run, "regraded")
    assert first["grades"][0]["asked"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["latest", "--recorded", "--suite", "x"], "can't be combined"),
        (["latest@1"], "say --recorded"),
        (["nosuch"], "there is no run `nosuch`"),
        ([], "Missing argument 'RUN'."),
    ],
)
def test_what_makes_no_sense_is_refused(run: Project, words: list[str], said: str) -> None:
    done = run.run("grade", *words)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize("grader", ["python:nosuch:f", "script: [touch, pwned]"])
def test_what_was_typed_runs_no_code_where_that_is_forbidden(run: Project, grader: str) -> None:
    done = run.run("grade", "latest", "--no-exec", "--grader", grader)
    assert (done.code, (run.path / "pwned").exists()) == (2, False)
    assert "would run code, and --no-exec forbids that" in done.err


def test_the_gates_of_a_record_that_somebody_else_made_do_not_count(run: Project) -> None:
    (about,) = run.path.glob(".evalcase/runs/*/run.json")
    data = json.loads(about.read_text())
    data["about"]["options"].update(fail_under=0.0, max_errors=1000)
    about.write_text(json.dumps(data))
    assert run.run("grade", "latest", "--suite", "s.eval.yaml").code == 1
    assert run.run("grade", "latest", "--recorded", "--grader", "expected").code == 1


def test_of_a_record_that_somebody_else_made_only_answers_are_graded_by_what_was_typed(
    run: Project,
) -> None:
    (about,) = run.path.glob(".evalcase/runs/*/run.json")
    data = json.loads(about.read_text())
    data["about"]["cwd"] = "elsewhere"
    data["about"]["options"].update(paths=["/nosuch"], targets=["stranger"], env_file="/nosuch")
    about.write_text(json.dumps(data))
    refused = run.run("grade", "latest")
    assert (refused.code, "add --trust" in refused.err) == (2, True)
    done = run.run("grade", "latest", "--grader", "contains: o", "--json")
    assert (done.code, done.counts()) == (0, {"passed": 2})
    (row,) = rows(run, "grading")
    assert (row["recorded"], row["graders"]) == (True, ["contains: o"])


def test_code_that_only_a_record_names_is_not_run_where_a_grader_was_typed(run: Project) -> None:
    (run.path / "evil.py").write_text(
        "import pathlib\npathlib.Path('pwned').touch()\ndef f(text):\n    return True\n"
    )
    run.suite(case("one", "say one", expected_output="one", graders=["python:evil:f"]), name="evil")
    assert run.run("run", "evil.eval.yaml").code == 0
    (run.path / "pwned").unlink()
    about = run.runs()[-1] / "run.json"
    data = json.loads(about.read_text())
    data["about"]["options"]["max_errors"] = 1000
    about.write_text(json.dumps(data))
    done = run.run("grade", str(about.parent), "--grader", "contains: one")
    assert (done.code, (run.path / "pwned").exists()) == (0, False), done


# A grading that was broken off decides nothing, and is finished


GRADERS = """
def strict(text, case):
    note("graded", case.id)
    if str(len((HERE / "graded").read_text().split())) == os.environ.get("KILL_AT"):
        os.kill(os.getpid(), int(os.environ["SIGNAL"]))
    return False
"""
CASES = [case(f"c{number}", "say ok", expected_output="ok") for number in range(6)]
SO_FAR = "2 of 6 answers graded by grading 2, the others as before it"
STRICT = "python: agent:strict"


@pytest.fixture
def passed(project: Project) -> Project:
    """A run of six cases that passed, one after the other."""
    project.add_to_agent(GRADERS)
    project.suite(*CASES)
    assert project.run("run", "--concurrency", "1").code == 0
    return project


def journal(project: Project) -> Path:
    (found,) = project.path.glob(".evalcase/runs/*/journal.jsonl")
    return found


def kill(project: Project, *words: str) -> None:
    """Have a command killed in its third grading."""
    env = {"KILL_AT": "3", "SIGNAL": str(int(signal.SIGKILL))}
    assert project.run_process(*words, env=env).code == -signal.SIGKILL


def break_off(project: Project, *words: str, after: int = 2) -> None:
    """What a kill leaves of a grading after so many answers."""
    project.run(*words)
    left, graded = b"", 0
    for line in journal(project).read_bytes().splitlines(keepends=True):
        graded += line.startswith(b'{"type":"regraded"')
        if graded > after:
            break
        left += line
    journal(project).write_bytes(left)


def told(project: Project, name: str) -> dict[str, Any]:
    """What is said of a run for programs: the same by both commands."""
    (listed,) = json.loads(project.run("list", name, "--json").out)
    reported = json.loads(project.run("report", name, "--format", "json").out)
    same = KEYS - {"figures"}
    assert {key: listed[key] for key in same} == {key: reported[key] for key in same}
    return {key: listed[key] for key in same}


def test_after_a_kill_it_is_no_verdict_of_the_run(passed: Project) -> None:
    kill(passed, "grade", "latest", "--grader", STRICT)
    seen = told(passed, "latest")
    assert (seen["status"], seen["passed"], seen["failed"]) == ("incomplete", 4, 2)
    by = seen["grading"]
    assert (by["number"], by["complete"], by["graded"], by["answers"]) == (2, False, 2, 6)
    report = passed.run("report", "latest").out
    assert f"stopped killed, or still running, with {SO_FAR}" in " ".join(report.split())
    assert "next     evalcase resume" in report
    assert f"incomplete, {SO_FAR}: evalcase resume" in passed.run("list").out
    assert f"not complete: {SO_FAR}" in passed.run("report", "latest", "--case", "c5").out
    assert told(passed, "latest@1")["status"] == "completed"


@pytest.mark.parametrize("sides", [("latest@1", "latest@2"), ("latest@2", "latest@3")])
def test_no_gate_is_met_by_it(passed: Project, sides: tuple[str, str]) -> None:
    break_off(passed, "grade", "latest", "--grader", "contains: x", after=0)
    passed.run("grade", "latest", "--grader", "contains: o")
    done = passed.run("compare", *sides, "--fail-on", "broken")
    assert done.code == 3
    assert "0 of 6 answers graded by grading 2" in " ".join(done.out.split())


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--failed-of", "latest"),
        ("run", "--stop", "likely", "--against", "latest"),
        ("grade", "latest@2", "--recorded"),
    ],
)
def test_nothing_rests_on_it(passed: Project, words: tuple[str, ...]) -> None:
    break_off(passed, "grade", "latest", "--grader", "contains: x")
    done = passed.run(*words)
    assert (done.code, done.out) == (2, "")
    assert f"was interrupted ({SO_FAR})" in done.err


def test_resume_finishes_it_and_grades_nothing_twice(passed: Project) -> None:
    asked = passed.calls()
    kill(passed, "grade", "latest", "--grader", STRICT)
    assert passed.run("resume").code == 2  # the journal has no seal, and names code
    done = passed.run("resume", "latest", "--trust")
    assert (done.code, passed.calls()) == (1, asked)
    assert "grading 2 was interrupted and continues: 2 of 6 answers are graded" in done.err
    # The third was under way when it was killed.
    assert passed.calls("graded") == ["c0", "c1", "c2", "c2", "c3", "c4", "c5"]
    seen = told(passed, "latest")
    assert (seen["status"], seen["failed"], seen["grading"]["graded"]) == ("completed", 6, 6)
    assert seen["grading"]["of"] == 2
    assert {row["grading"] for row in rows(passed, "regraded")} == {2}
