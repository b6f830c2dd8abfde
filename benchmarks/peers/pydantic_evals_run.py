"""Sums, asked of a function by pydantic-evals and compared by its own evaluator."""

from __future__ import annotations

import asyncio
import json
import sys
import time

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected


def main(count: int, at_once: int, sleep_s: float) -> None:
    """Make the cases, run them, and print what came of it."""

    async def add(question: str) -> str:
        if sleep_s:
            await asyncio.sleep(sleep_s)
        first, second = question.removeprefix("What is ").rstrip("?").split("+")
        return str(int(first) + int(second))

    started = time.perf_counter()
    cases = [
        Case(name=f"sum-{n}", inputs=f"What is {n}+{n + 1}?", expected_output=f"{2 * n + 1}")
        for n in range(count)
    ]
    dataset = Dataset(name="sums", cases=cases, evaluators=[EqualsExpected()])
    report = dataset.evaluate_sync(add, max_concurrency=at_once, progress=False)
    passed = sum(all(one.value for one in case.assertions.values()) for case in report.cases)
    print(json.dumps({"wall_s": time.perf_counter() - started, "passed": passed}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
