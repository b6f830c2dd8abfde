"""CPU of a call of a Python grader: the call itself, and all that happens around it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.measure import best_costs
from benchmarks.sums import write_project

CALLS, ROUNDS = 20_000, 3
JOBS = {"a plain function": "grade_plain", "an async function": "grade_async"}


def grading_figures(folder: Path) -> Iterator[Figure]:
    """A loop of calls, one at a time: then a plain function costs most, and an engine adds none."""
    project = write_project(folder / "grading", 1)
    costs = best_costs([(job, project) for job in JOBS.values()], ROUNDS)
    for name, cost in zip(JOBS, costs, strict=True):
        each_ms = cost.cpu_s / cost.n * 1000
        yield Figure(
            f"Python grader, {name}, one call at a time",
            each_ms,
            "ms",
            0.05,
            f"{each_ms * 1000:.0f} µs",
        )


def grading_job(project: Path, function: str) -> Callable[[], int]:
    """Grade one answer again and again."""
    from evalcase import parse_case
    from evalcase.grade.apply import grade_answer
    from evalcase.model.answer import Answer
    from evalcase.model.grader import Context
    from evalcase.model.question import Question
    from evalcase.plugins.graders import Graders
    from evalcase.system.guests import Guests

    sys.path.insert(0, str(project))
    text = {"input": "x", "expected_output": "3", "graders": [f"python:adding:{function}"]}
    case = parse_case(json.dumps(text))
    context = Context(case, Question(case.input, case.id), Answer.of_text("3"))
    graders = [grader for grader in Graders().of(case) if grader.name != "expected"]

    async def grade_often(times: int) -> int:
        guests = Guests()
        verdicts = [(await grade_answer(context, graders, guests)).verdict for _ in range(times)]
        return verdicts.count("passed")

    asyncio.run(grade_often(1))  # what is imported on first use
    return lambda: asyncio.run(grade_often(CALLS))
