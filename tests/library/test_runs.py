"""A run from Python: the same as that of the command, and what is told of it."""

import asyncio
import json
import logging
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import asdict

import evalcase
from evalcase import SuiteError
from evalcase.testing import ScriptedTarget
from tests.cli.command import EVALCASE, environment
from tests.library.evaluating import Evaluate, suite
from tests.run.project import case


def test_it_is_the_same_run_as_that_of_the_command(folder: Path, evaluate: Evaluate) -> None:
    done = evaluate("s.eval.yaml", "echo", cases="a", repeat=2)
    command = [*EVALCASE, "run", "s.eval.yaml", "--target", "echo", "--case", "a", "--repeat", "2"]
    told = subprocess.run(
        [*command, "--json"], cwd=folder, env=environment(), capture_output=True, check=False
    )
    other = json.loads(told.stdout)
    assert asdict(done.totals.trials) == other["trials"]
    assert (done.totals.trials.failed, done.totals.cases.failed, other["failed"]) == (2, 1, 1)


def test_results_and_warnings_as_they_come(folder: Path, evaluate: Evaluate) -> None:
    def agent(question: str) -> str:
        return question

    suite(folder, {"id": "a", "input": [{"role": "system", "content": "s"}, *_user("hi")]})
    seen: list[str] = []
    said: list[str] = []
    evaluate(
        ".", agent, on_result=lambda result: seen.append(result.key.case), on_warning=said.append
    )
    assert seen == ["a"]
    assert any("sees the last user message only" in text for text in said)


def _user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_warnings_are_logged_by_default(
    folder: Path, evaluate: Evaluate, caplog: pytest.LogCaptureFixture
) -> None:
    suite(folder, {"id": "a", "input_messages": "hi", "expected_output": "hi"})
    with caplog.at_level(logging.WARNING, "evalcase"):
        assert evaluate(".", "echo").ok
    assert "the suites have 1 warning, which `evalcase check` shows" in caplog.text


def test_an_invalid_suite_is_raised_and_nothing_is_run(folder: Path, evaluate: Evaluate) -> None:
    suite(folder, case("a"), {"inptu": "b"})
    target = ScriptedTarget([])
    with pytest.raises(SuiteError, match="inptu"):
        evaluate(".", target)
    assert (target.opened, target.asked) == (0, [])


@pytest.mark.usefixtures("folder")
def test_within_an_event_loop_the_plain_one_says_what_to_call() -> None:
    async def main() -> None:
        evalcase.evaluate(".", "echo")

    with pytest.raises(RuntimeError, match=r"await evalcase\.evaluate_async"):
        asyncio.run(main())


def test_an_exception_of_who_is_told_ends_the_run_and_is_raised(
    folder: Path, evaluate: Evaluate
) -> None:
    lines = [json.dumps({"id": f"c{number}", "input": "x"}) for number in range(500)]
    (folder / "many.jsonl").write_text("\n".join(lines))

    def told(result: evalcase.Result) -> None:
        raise KeyError(result.key.case)

    with pytest.raises(KeyError):
        evaluate("many.jsonl", "echo", on_result=told)
    (run,) = (folder / ".evalcase" / "runs").iterdir()
    assert '"status":"stopped"' in (run / "journal.jsonl").read_text()


def test_a_run_has_a_verdict_for_every_case(folder: Path) -> None:
    suite(
        folder, case("coin", repeat={"times": 4, "pass_rate": 0.5}), case("never", repeat=2),
        case("once"), case("off", skip=True),
    )  # fmt: skip
    script = {"coin": ["ok", "no", "ok", "no"], "never": ["no", "no"], "once": "ok"}
    done = evalcase.evaluate(".", ScriptedTarget(script), concurrency=1)
    cases = list(done.cases)
    assert all(isinstance(each, evalcase.CaseVerdict) for each in cases)
    found = {each.case: each for each in cases}
    coin = found["coin"]
    assert (coin.verdict, coin.passed, coin.trials, coin.pass_rate_needed) == ("passed", 2, 4, 0.5)
    assert coin.score == 0.5
    assert (found["never"].verdict, found["never"].passed) == ("failed", 0)
    assert (found["off"].verdict, found["off"].score) == ("skipped", None)
    counts = done.totals.cases
    assert (len(cases), counts.passed, counts.failed, counts.skipped) == (4, 2, 1, 1)


def test_what_is_printed_of_a_run_is_a_line(folder: Path, evaluate: Evaluate) -> None:
    done = evaluate("s.eval.yaml", lambda text: "ok" if text == "one" else "no")
    assert done.path.startswith(str(folder))
    said = f"completed: 1 passed, 1 failed; pass rate 50.0%; record {done.path}"
    assert (str(done), repr(done)) == (said, f"<Evaluated {said}>")
    stopped = evaluate("s.eval.yaml", "echo", fail_fast=True, concurrency=1)
    assert str(stopped) == (
        "stopped: 1 failed; pass rate 0.0%; 1 not run; --fail-fast: a did not pass; "
        f"record {stopped.path}"
    )


def test_cases_and_results_of_a_run_can_be_indexed_and_gone_through_again(folder: Path) -> None:
    suite(folder, case("a", repeat=3), case("b", skip="later"), case("c"), case("d", "no"))
    done = evalcase.evaluate("s.eval.yaml", lambda text: "ok" if text == "say ok" else "no")
    cases, results = done.cases, done.results
    assert [each.case for each in cases] == [each.case for each in cases] == ["a", "b", "c", "d"]
    assert (len(cases), len(results)) == (len(list(cases)), len(list(results))) == (4, 6)
    assert (cases[0].case, cases[-1].case, cases[3].verdict) == ("a", "d", "failed")
    assert [each.case for each in cases[1:3]] == ["b", "c"]
    assert [each.case for each in reversed(cases)] == ["d", "c", "b", "a"]
    assert (results[0].key.case, results[-1].key.case) == ("a", "d")
    assert cases[2] in cases
    for at in (4, -5):
        with pytest.raises(IndexError):
            cases[at]
    assert repr(results) == "<6 results of a record>"
    one = evalcase.evaluate("s.eval.yaml", "echo", cases="c").cases
    assert repr(one) == "<1 case of a record>"
    with pytest.raises(IndexError):
        one[1]


class Holding(evalcase.Grader):
    """Holds something until it is closed, which may go wrong."""

    name = "holding"
    description = "Always."

    error: Exception | None
    closed: int = 0

    def grade(self, context: evalcase.Context) -> evalcase.Score:
        del context
        return evalcase.Score(1.0)

    async def close(self) -> None:
        self.closed += 1
        if self.error is not None:
            raise self.error


@pytest.mark.usefixtures("folder")
def test_every_grader_is_closed_whatever_another_raises() -> None:
    graders = [Holding(OSError("it is stuck")), Holding(None)]
    warned: list[str] = []
    done = evalcase.evaluate(".", "echo", graders=graders, on_warning=warned.append)
    assert done.complete
    assert [each.closed for each in graders] == [1, 1]
    assert warned == ["tear-down of the graders failed: OSError: it is stuck"]
