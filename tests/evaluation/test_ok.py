"""`Evaluated.ok` says what the command says of the same run by its exit code."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest

import evalcase
from evalcase.config.options import RunOptions, Selection
from evalcase.report.evaluated import Evaluated, hold_to_gates
from evalcase.store.folder import Run, RunAbout
from evalcase.store.rows import Status
from evalcase.types.result import Counts, Decision, Totals
from tests.evaluation.ok_agent import CALLS
from tests.run.project import Done, Project, case

AGENT = "python:tests.evaluation.ok_agent:answer"
CASES: dict[str, dict[str, Any]] = {
    "passed": {"input": "hi", "expected_output": "ok"},
    "failed": {"input": "say no", "expected_output": "ok"},
    "errored": {"input": "raise no", "expected_output": "ok"},
    "ungraded": {"input": "hi"},
    "skipped": {"input": "hi", "expected_output": "ok", "skip": True},
    "passed in part": {
        "input": "once", "expected_output": "ok", "repeat": {"times": 2, "pass_rate": 0.5},
    },
    "paid": {"input": "cost 1", "expected_output": "ok"},
}  # fmt: skip
SUITES = [
    ["passed"], ["failed"], ["errored"], ["ungraded"], ["passed", "skipped"], ["passed in part"],
    ["skipped"], ["passed", "failed"], ["passed", "errored"], ["passed", "ungraded"],
    ["failed", "errored"], ["paid", "passed"], ["failed", "passed", "passed", "errored"],
]  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {}, {"fail_under": 0.5}, {"fail_under": 1.0}, {"max_errors": 1}, {"fail_fast": True},
    {"max_errors": 1, "fail_under": 0.5}, {"max_cost_usd": 0.5}, {"shard": (2, 2)},
    {"stop": "certain", "fail_under": 0.5, "seed": 0},
]  # fmt: skip


def flags(options: dict[str, Any]) -> Iterator[str]:
    yield from ("--concurrency", "1")
    for name, value in options.items():
        yield f"--{name.removesuffix('_usd').replace('_', '-')}"
        if name == "shard":
            yield "/".join(map(str, value))
        elif value is not True:
            yield str(value)


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
def test_ok_is_exit_code_0_of_the_command(
    project: Project, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    """Every suite without options, and every third with each: all combinations are below."""
    monkeypatch.chdir(project.path)
    codes = set()
    for names in SUITES[OPTIONS.index(options) % 3 :: 3] if options else SUITES:
        cases = [{"id": f"c{at}", **CASES[name]} for at, name in enumerate(names)]
        path = project.suite(*cases)
        CALLS.clear()
        told = project.run("run", path.name, "--target", AGENT, *flags(options))
        CALLS.clear()
        done = evalcase.evaluate(
            path.name, AGENT, concurrency=1, root=project.path, on_warning=lambda _: None, **options
        )  # fmt: skip
        assert (done.exit_code, done.ok) == (told.code, told.code == 0), (names, told)
        codes.add(told.code)
    assert len(codes) > 1


MET = Decision("certain", "met", 0, 1, 2, 0.5, 1.0, 0.5)
MISSED = Decision("certain", "missed", 0, 1, 2, 0.0, 0.4, 0.5)


def test_nothing_that_is_not_well_is_ok() -> None:
    """All combinations of how a run may have ended, and what may have come of it."""
    run = Run("r", "r", "", RunAbout({}))
    for status, verdicts, unfinished, decision, rate, most in product(
        get_args(Status),
        product((0, 1), repeat=5),
        (0, 1),
        (None, MET, MISSED),
        (None, 0.5),
        (0, 2),
    ):
        passed, failed, errored, ungraded, skipped = verdicts
        counts = Counts(sum(verdicts), *verdicts)
        done = hold_to_gates(
            Evaluated(run, status, Totals(counts, counts, unfinished), decision=decision),
            RunOptions((), (), Selection(), max_errors=most, fail_under=rate),
        )
        ended = status == "completed" and not unfinished
        few = errored <= most
        if decision is not None:
            well = status != "interrupted" and few and decision is MET
        elif rate is not None:
            tried = passed + failed + errored + ungraded
            well = ended and few and tried > 0 and passed / tried >= rate
        else:
            well = ended and passed > 0 and not (failed or errored or ungraded)
        assert done.ok is well, done
        assert skipped in (0, 1)


# `--max-errors` allows errored trials and never makes a run green


ALLOW = ("--max-errors", "9")


@pytest.fixture
def broken(tmp_path: Path) -> Project:
    """A project of which every case errors."""
    project = Project(tmp_path)
    project.suite(case("a", "raise x"), case("b", "raise x"))
    return project


def run(project: Project, *options: str) -> Done:
    return project.run("run", "--quiet", *ALLOW, *options)


def test_run_and_resume(broken: Project) -> None:
    done = run(broken)
    assert (done.code, "gate     FAILED, 2 errored cases did not pass" in done.out) == (1, True)
    assert broken.run("resume", "latest").code == 1
    assert broken.run("resume", "latest", "--fail-under", "0").code == 0
    assert broken.run("resume", "latest", "--max-errors", "1").code == 3


@pytest.mark.parametrize("gate", ["broken", "worse", "worse-than:1", "removed"])
def test_compare(broken: Project, gate: str) -> None:
    run(broken)
    run(broken)
    done = broken.run("compare", "--fail-on", gate, *ALLOW)
    assert (done.code, "nothing is compared: no case has a verdict in both" in done.out) == (
        3, True,
    )  # fmt: skip


def test_merge(broken: Project) -> None:
    for shard in ("1/2", "2/2"):
        run(broken, "--shard", shard, "--runs-dir", "shards")
    done = broken.run("merge", "shards")
    assert (done.code, "gate     FAILED, 2 errored cases did not pass" in done.out) == (1, True)


def test_evaluate(broken: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(broken.path)

    def answer(text: str) -> str:
        raise ValueError(text)

    path = str(broken.path / "s.eval.yaml")
    done = evalcase.evaluate(path, answer, root=broken.path, max_errors=9)
    assert (done.exit_code, done.ok) == (1, False)
    done = evalcase.evaluate(path, answer, root=broken.path, max_errors=9, fail_under=0)
    assert (done.exit_code, done.ok) == (0, True)
