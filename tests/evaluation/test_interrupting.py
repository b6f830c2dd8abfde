from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evalcase.api import prepare_evaluation
from evalcase.types.result import Result


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
