"""`evalcase.figures`: the figures of a run, in Python."""

import asyncio
from pathlib import Path

import pytest

import evalcase
from evalcase import Case, ConfigError, Evaluated
from evalcase.api import prepare_evaluation
from evalcase.types.result import Result


@pytest.fixture
def done(tmp_path: Path) -> Evaluated:
    def answer(question: str) -> str:
        return question if question != "c" else "?"

    cases = [
        Case(id=letter, input=letter, expected_output=letter, tags=[f"t{number % 2}"],
             metadata={"topic": number // 2})
        for number, letter in enumerate("abcd")
    ]  # fmt: skip
    return evalcase.evaluate(cases, answer, runs_dir=str(tmp_path / "runs"), root=tmp_path)


def test_rates_with_their_intervals(done: Evaluated) -> None:
    found = evalcase.figures(done)
    assert (found.all.rate.n, found.all.rate.value) == (4, 0.75)
    assert found.all.rate.low == pytest.approx(0.3006, abs=1e-4)
    assert {name: part.rate.value for name, part in found.by_tag.items()} == {"t0": 0.5, "t1": 1}


def test_clusters_and_the_exact_interval(done: Evaluated) -> None:
    assert evalcase.figures(done, cluster="metadata.topic").all.rate.clusters == 2
    exact = evalcase.figures(done, interval="exact").all.rate
    assert exact.low == pytest.approx(0.1941, abs=1e-4)


def test_what_a_run_hasn_t_got_is_raised(done: Evaluated) -> None:
    with pytest.raises(ConfigError, match=r"no case has a value at `metadata\.colour`"):
        evalcase.figures(done, cluster="metadata.colour")
    with pytest.raises(
        ConfigError, match="pass@3 needs 3 trials, but some cases have only 1 trial"
    ):
        evalcase.figures(done, pass_at=[3])


# Interrupting


@pytest.mark.parametrize(("after", "status"), [(2, "completed"), (1, "interrupted")])
def test_a_run_that_is_interrupted_after_its_last_trial_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int, status: str
) -> None:
    monkeypatch.chdir(tmp_path)
    suite = tmp_path / "a.eval.yaml"
    suite.write_text("- {input: a, expected_output: a}\n- {input: b, expected_output: b}\n")
    seen: list[Result] = []

    def interrupt(result: Result) -> None:
        seen.append(result)
        if len(seen) == after and execution.engine is not None:
            execution.engine.interrupt()

    execution = prepare_evaluation([str(suite)], "echo", on_result=interrupt, concurrency=1)
    run = asyncio.run(execution.run())
    assert run.status == status
    assert len(seen) == after
