"""Sums, solved by a function in Inspect AI and compared by its scorer `exact`, with its log."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as run_tasks
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import exact
from inspect_ai.solver import solver


@solver
def adding(sleep_s: float) -> Any:
    """No model is asked: only what is around it costs anything."""

    async def solve(state: Any, _: Any) -> Any:
        if sleep_s:
            await asyncio.sleep(sleep_s)
        first, second = state.input_text.removeprefix("What is ").rstrip("?").split("+")
        state.output = ModelOutput.from_content("adding", str(int(first) + int(second)))
        return state

    return solve


def main(count: int, at_once: int, sleep_s: float) -> None:
    """Make the samples, run them, and print what came of it."""
    started = time.perf_counter()
    samples = [
        Sample(id=f"sum-{n}", input=f"What is {n}+{n + 1}?", target=f"{2 * n + 1}")
        for n in range(count)
    ]
    task = Task(dataset=MemoryDataset(samples), solver=adding(sleep_s), scorer=exact())
    with tempfile.TemporaryDirectory() as folder:
        (log,) = run_tasks(
            task, model="mockllm/model", max_samples=at_once, log_dir=folder, display="none"
        )
    wall_s = time.perf_counter() - started
    share = next(iter(log.results.scores[0].metrics.values())).value
    print(json.dumps({"wall_s": wall_s, "passed": round(share * count)}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
