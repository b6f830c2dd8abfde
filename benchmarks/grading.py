"""How long each grader takes for one answer, called directly: no target, no record beside it.

A grader that starts a process (`script`) or asks a model (`judge`) is left out: what it calls takes
longer than anything it does itself.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from inspect import isawaitable
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure
from evalcase import parse_case
from evalcase.config.graders import NO_SURROUNDINGS, make_grader
from evalcase.graders.base import Context
from evalcase.types.answer import Answer, Usage
from evalcase.types.message import Message
from evalcase.types.target import Question

TEXT = "The capital of Peru is Lima. It has about ten million people, and lies at the Pacific. "
DATA = {"city": "Lima", "people": 10.1, "tags": ["coast", "capital"], "since": "1535-01-18"}
CALLS = [{"tool": "search", "input": {"q": "Peru", "k": 3}}, {"tool": "say", "input": {"t": "x"}}]
SCHEMA = {"type": "object", "required": ["city"], "properties": {"people": {"type": "number"}}}
ROWS: list[tuple[str, dict[str, Any], Any, Any]] = [
    # what it is called here, the grader, the content of the answer, the expected output
    ("expected, text", {"type": "expected"}, TEXT, TEXT),
    ("expected, text that differs", {"type": "expected"}, f"{TEXT}.", TEXT),
    ("expected, data", {"type": "expected"}, json.dumps(DATA), DATA),
    ("expected, data that differ", {"type": "expected"}, json.dumps({**DATA, "city": "x"}), DATA),
    ("expected, calls", {"type": "expected"}, CALLS, CALLS),
    ("equals", {"type": "equals", "value": TEXT}, TEXT, None),
    ("contains", {"type": "contains", "value": ["Lima", "Pacific"]}, TEXT, None),
    ("starts_with", {"type": "starts_with", "value": "The"}, TEXT, None),
    ("ends_with", {"type": "ends_with", "value": "Pacific."}, TEXT, None),
    ("regex", {"type": "regex", "value": r"\bten (m|b)illion\b"}, TEXT, None),
    ("one_of", {"type": "one_of", "value": ["yes", "no", "maybe"]}, "maybe", None),
    ("length", {"type": "length", "max": 50, "unit": "words"}, TEXT, None),
    ("similarity", {"type": "similarity", "value": f"{TEXT}!", "threshold": 0.5}, TEXT, None),
    ("json", {"type": "json"}, json.dumps(DATA), None),
    ("json_schema", {"type": "json_schema", "value": SCHEMA}, json.dumps(DATA), None),
    ("json_equals", {"type": "json_equals", "value": DATA}, json.dumps(DATA), None),
    ("json_equals, any order", {"type": "json_equals", "value": DATA, "unordered": True},
     json.dumps(DATA), None),
    ("fields", {"type": "fields", "value": {
        "city": "Lima", "people": {"number": 10, "within": 0.5}, "since": {"date": "1535-01-18"},
        "tags": {"contains": "coast"}}}, json.dumps(DATA), None),
    ("trajectory", {"type": "trajectory", "value": CALLS}, CALLS, None),
    ("tool_calls", {"type": "tool_calls", "max": 5, "errors": "forbid"}, CALLS, None),
    ("latency", {"type": "latency", "value": 5}, TEXT, None),
    ("cost", {"type": "cost", "value": 5}, TEXT, None),
    ("tokens", {"type": "tokens", "value": 500}, TEXT, None),
    ("turns", {"type": "turns", "max": 3}, TEXT, None),
    ("finish", {"type": "finish", "value": "stop"}, TEXT, None),
    ("python, async", {"type": "python", "value": "benchmarks.grading:is_short"}, TEXT, None),
]  # fmt: skip


async def is_short(text: str) -> bool:
    """A grader in Python."""
    return len(text) < 1000


def make_message(content: Any) -> dict[str, Any]:
    """What the assistant says: text, or calls of tools."""
    said = {"tool_calls": content} if content is CALLS else {"content": content}
    return {"role": "assistant", "finish_reason": "stop", **said}


def make_context(content: Any, expected: Any) -> Context:
    """One trial."""
    wanted = None if expected is None else [make_message(expected)]
    case = parse_case(json.dumps({"id": "a", "input": "?", "expected_output": wanted}))
    answer = Answer((Message(make_message(content)),), Usage(100, 50), cost_usd=0.01)
    return Context(case, Question(case.input, case.id), answer, duration_s=1.0)


async def time_grader(grade: Callable[[Any], Any], context: Any) -> float:
    """Microseconds of CPU for one grade: the best of some rounds, each of 20 ms or more."""

    async def grade_often(times: int) -> float:
        start = time.process_time()
        for _ in range(times):
            score = grade(context)
            if isawaitable(score):
                await score
        return time.process_time() - start

    times = 1
    while (took := await grade_often(times)) < 0.02:
        times *= 2
    rounds = [took, *[await grade_often(times) for _ in range(14)]]
    return min(rounds) / times * 1e6


def grading_figures(_: Path) -> Iterator[Figure]:
    """Microseconds for each grader."""
    for name, spec, content, expected in ROWS:
        grader = make_grader(spec).grader
        grader.load(NO_SURROUNDINGS)
        took = asyncio.run(time_grader(grader.grade, make_context(content, expected)))
        yield Figure(f"grade by {name}", took, "µs")
