"""CPU of a call of each built-in grader, on an answer as it usually is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure
from benchmarks.measure import best_costs

CALLS, ROUNDS = 5_000, 3
TEXT = "The order has 3 items, costs 129.90 EUR, and comes on 2026-03-01. " * 5
DATA: dict[str, Any] = {
    "riskLevel": "High", "score": 0.93, "due": "2026-03-01",
    "items": [{"id": number, "name": f"item {number}", "price": 9.5} for number in range(10)],
}  # fmt: skip
CALLED = [{"tool": "search", "input": {"q": f"item {number}", "k": 3}} for number in range(5)]
SCHEMA: dict[str, Any] = {
    "type": "object", "required": ["riskLevel", "items"],
    "properties": {
        "riskLevel": {"enum": ["High", "Low"]}, "score": {"type": "number", "maximum": 1},
        "items": {"items": {"type": "object", "required": ["id", "name", "price"],
                            "properties": {"name": {"type": "string", "pattern": "^item"}}}},
    },
}  # fmt: skip
SAID: dict[str, Any] = {"role": "assistant", "content": TEXT}
JSON: dict[str, Any] = {"role": "assistant", "content": json.dumps(DATA)}
ACTED: dict[str, Any] = {"role": "assistant", "content": "Done.", "tool_calls": CALLED}
GRADED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "equals": ({"type": "equals", "value": TEXT}, SAID),
    "contains": ({"type": "contains", "value": ["129.90", "items"]}, SAID),
    "starts_with": ({"type": "starts_with", "value": "The order"}, SAID),
    "ends_with": ({"type": "ends_with", "value": "2026-03-01."}, SAID),
    "regex": ({"type": "regex", "value": r"\d{4}-\d{2}-\d{2}"}, SAID),
    "regex, in another process": ({"type": "regex", "value": r"(EUR|USD)+, (and|or)* comes"}, SAID),
    "one_of": ({"type": "one_of", "value": [TEXT, "no"]}, SAID),
    "length": ({"type": "length", "max": 100, "unit": "words"}, SAID),
    "similarity": ({"type": "similarity", "value": TEXT[5:] + "Bye.", "threshold": 0.5}, SAID),
    "json": ({"type": "json"}, JSON),
    "json_schema": ({"type": "json_schema", "value": SCHEMA}, JSON),
    "json_equals": ({"type": "json_equals", "value": DATA, "within": 0.01}, JSON),
    "fields": ({"type": "fields", "value": {
        "riskLevel": "High", "score": {"number": 0.9, "within": 0.05},
        "due": {"date": "2026-03-02", "within": 2}, "items.*.price": {"type": "number"}}}, JSON),
    "trajectory": ({"type": "trajectory", "value": CALLED}, ACTED),
    "tool_calls": ({"type": "tool_calls", "max": 9, "needed": {"search": 2}}, ACTED),
    "all of three": ({"type": "all", "value": [
        {"type": "contains", "value": "items"}, {"type": "length", "max": 999},
        {"type": "regex", "value": "EUR"}]}, SAID),
}  # fmt: skip


def grader_figures(folder: Path) -> Iterator[Figure]:
    """A loop of calls, one at a time, with all that happens around a call."""
    folder = folder / "graders"
    folder.mkdir(parents=True, exist_ok=True)
    jobs = []
    for number, work in enumerate(GRADED.values()):
        path = folder / f"{number}.json"
        path.write_text(json.dumps(work))
        jobs.append(("grade_with", path))
    for name, cost in zip(GRADED, best_costs(jobs, ROUNDS), strict=True):
        yield Figure(f"grader {name}, one call", cost.cpu_s / cost.n * 1e6, "µs")


def grader_job(path: Path) -> Callable[[], int]:
    """Grade one answer again and again."""
    from evalcase import parse_case
    from evalcase.grade.apply import grade_answer
    from evalcase.model.answer import Answer
    from evalcase.model.grader import Context
    from evalcase.model.message import Message
    from evalcase.model.question import Question
    from evalcase.plugins.grader_making import make_grader
    from evalcase.system.guests import Guests

    spec, message = json.loads(path.read_text())
    case = parse_case('{"input": "x"}')
    answer = Answer((Message(message),))
    context = Context(case, Question(case.input, case.id), answer, duration_s=0.1)
    named = make_grader(spec)

    async def grade_often(times: int) -> int:
        async with Guests() as guests:
            graded = [await grade_answer(context, [named], guests) for _ in range(times)]
            await named.grader.close()
        assert all(each.verdict == "passed" for each in graded), graded[0]
        return len(graded)

    asyncio.run(grade_often(1))  # what is imported on first use
    return lambda: asyncio.run(grade_often(CALLS))
