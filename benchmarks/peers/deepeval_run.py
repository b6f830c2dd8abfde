"""Sums, compared by DeepEval's exact match. It has no target to call: answers come with the cases,
and where there is something to wait for, its metric does."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from typing import Any

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
os.environ["DEEPEVAL_DISABLE_DOTENV"] = "1"

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import ExactMatchMetric
from deepeval.test_case import LLMTestCase


def main(count: int, at_once: int, sleep_s: float) -> None:
    """Make the cases, evaluate them, and print what came of it."""

    class Waiting(ExactMatchMetric):
        async def a_measure(self, test_case: Any, *more: Any, **options: Any) -> Any:
            await asyncio.sleep(sleep_s)
            return self.measure(test_case, *more, **options)

    started = time.perf_counter()
    cases = [
        LLMTestCase(
            name=f"sum-{n}",
            input=f"What is {n}+{n + 1}?",
            actual_output=str(n + n + 1),
            expected_output=f"{2 * n + 1}",
        )
        for n in range(count)
    ]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where it leaves files
        evaluated = evaluate(
            cases,
            [Waiting() if sleep_s else ExactMatchMetric()],
            async_config=AsyncConfig(max_concurrent=at_once),
            display_config=DisplayConfig(show_indicator=False, print_results=False),
            # With its cache, which it writes by default, time grows with the square of the cases.
            cache_config=CacheConfig(write_cache=False),
        )
        os.chdir("/")
    passed = sum(bool(result.success) for result in evaluated.test_results)
    print(json.dumps({"wall_s": time.perf_counter() - started, "passed": passed}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
