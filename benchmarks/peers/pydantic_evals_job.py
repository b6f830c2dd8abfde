"""A file of sums loaded, asked of a function and compared by pydantic-evals: `python … FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic_evals import Dataset
from pydantic_evals.evaluators import EqualsExpected


async def add(question: str) -> str:
    """The same sum as that of `benchmarks.sums`."""
    first, second = question.removeprefix("What is ").rstrip("?").split("+")
    return str(int(first) + int(second))


def main() -> None:
    """Load, run, count."""
    dataset = Dataset[Any, Any, Any].from_file(Path(sys.argv[1]))
    dataset.add_evaluator(EqualsExpected())
    report = dataset.evaluate_sync(add, max_concurrency=10, progress=False)
    passed = sum(all(one.value for one in case.assertions.values()) for case in report.cases)
    print(json.dumps({"passed": passed}))


if __name__ == "__main__":
    main()
