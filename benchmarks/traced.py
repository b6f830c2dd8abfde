"""Traces read and graded: 10,000 of four spans each, by the target `otlp`, and harvested.

Beside it is the least that any reader has to do with the same file: `json.loads` on every line.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure
from benchmarks.measure import command_cost

_FLOOR = "import json,sys\nfor line in open(sys.argv[1], 'rb'): json.loads(line)"


def traced_figures(folder: Path) -> Iterator[Figure]:
    """CPU of whole commands, and the most memory that they have had."""
    for count in (1_000, 10_000):
        project = _write_project(folder / "traced", count)
        try:
            size = (project / "traces.jsonl").stat().st_size
            least, _ = command_cost([sys.executable, "-c", _FLOOR, "traces.jsonl"], project)
            run_s, run_bytes = command_cost(
                [*_EVALCASE, "run", "--quiet", "--target", "otlp:traces.jsonl"], project
            )
            harvest_s, harvest_bytes = command_cost(
                [*_EVALCASE, "harvest", "traces.jsonl", "--dry-run"], project
            )
        finally:
            shutil.rmtree(project)
        told = f"{size / 1e6:.0f} MB of traces; {run_s / least:.1f} × json.loads of each line"
        what = f"{count:,} traces"
        yield Figure(f"{what}: read and graded, CPU", run_s, "s", None, told)
        yield Figure(f"{what}: read and graded, resident", run_bytes / 1e6, "MB", None)
        yield Figure(f"{what}: harvested, CPU", harvest_s, "s", None)
        yield Figure(f"{what}: harvested, resident", harvest_bytes / 1e6, "MB", None)


_EVALCASE = [sys.executable, "-m", "evalcase"]


def _write_project(folder: Path, count: int) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "evalcase.toml").write_text("")
    with (
        (folder / "traces.jsonl").open("w") as traces,
        (folder / "a.eval.jsonl").open("w") as cases,
    ):
        for number in range(count):
            city = f"city {number}"
            calls = [{"tool": "look_up", "input": {"city": city}}]
            expected = [
                {"role": "assistant", "tool_calls": calls},
                {"role": "assistant", "content": f"It rains in {city}."},
            ]
            case = {"id": f"c{number}", "input": _question(city), "expected_output": expected}
            cases.write(json.dumps(case) + "\n")
            traces.write(json.dumps(_export(number, city)) + "\n")
    return folder


def _question(city: str) -> str:
    return f"What is the weather in {city}? " + "Please be brief, and say where you know it. " * 10


def _export(number: int, city: str) -> dict[str, Any]:
    asked = {"role": "user", "parts": [{"type": "text", "content": _question(city)}]}
    call = {"type": "tool_call", "id": "x", "name": "look_up", "arguments": {"city": city}}
    calls = {"role": "assistant", "parts": [call]}
    result = {"type": "tool_call_response", "id": "x", "response": "rain"}
    said = {"role": "assistant", "parts": [{"type": "text", "content": f"It rains in {city}."}]}
    model = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "small"}
    tool = {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look_up",
        "gen_ai.tool.call.id": "x", "gen_ai.tool.call.result": "rain",
        "gen_ai.tool.call.arguments": json.dumps({"city": city}),
    }  # fmt: skip
    asked_again = [asked, calls, {"role": "tool", "parts": [result]}]
    spans = [
        _span(number, 1, {**model, **_messages([asked], [calls])}),
        _span(number, 2, tool),
        _span(number, 3, {**model, **_messages(asked_again, [said])}),
        _span(number, 0, {"evalcase.case": f"c{number}"}),
    ]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans}]}]}


def _messages(given: list[Any], said: list[Any]) -> dict[str, str]:
    return {"gen_ai.input.messages": json.dumps(given), "gen_ai.output.messages": json.dumps(said)}


def _span(trace: int, number: int, attributes: dict[str, str]) -> dict[str, Any]:
    start = 1_700_000_000_000_000_000 + trace * 1000 + number * 100
    return {
        "traceId": f"{trace + 1:032x}", "spanId": f"{trace * 4 + number + 1:016x}",
        "parentSpanId": "" if number == 0 else f"{trace * 4 + 1:016x}", "name": f"span {number}",
        "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 50),
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in attributes.items()
        ],
    }  # fmt: skip
