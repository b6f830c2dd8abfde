"""OTLP JSON as programs write it, for tests."""

import json
from itertools import count
from typing import Any

_numbers = count(1 << 40)


def any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    return {"stringValue": value}


def pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": any_value(value)} for key, value in attributes.items()]


def span(
    attributes: dict[str, Any] | None = None, *, trace: str = "aa" * 16, id: str = "",
    parent: str = "", name: str = "span", start: int = 0, seconds: float = 1.0,
    error: str | None = None, events: list[tuple[str, dict[str, Any]]] | None = None,
    **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """A span that begins `start` seconds after all began."""
    begun = 1_700_000_000_000_000_000 + start * 1_000_000_000
    told: dict[str, Any] = {
        "traceId": trace, "spanId": id or f"{next(_numbers):016x}", "parentSpanId": parent,
        "name": name, "startTimeUnixNano": str(begun),
        "endTimeUnixNano": str(begun + int(seconds * 1e9)),
        "attributes": pairs(attributes or {}),
        "events": [{"name": each, "attributes": pairs(held)} for each, held in events or []],
        **more,
    }  # fmt: skip
    return told if error is None else {**told, "status": {"code": 2, "message": error}}


def export(*spans: dict[str, Any], resource: dict[str, Any] | None = None) -> dict[str, Any]:
    about = {"attributes": pairs(resource or {})}
    return {"resourceSpans": [{"resource": about, "scopeSpans": [{"spans": list(spans)}]}]}


def line(*spans: dict[str, Any], **more: Any) -> str:
    return json.dumps(export(*spans, **more)) + "\n"


def said(text: str, role: str = "assistant") -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def chat(text: str, **more: Any) -> dict[str, Any]:
    """A call of a model that answers with a text."""
    attributes = {
        "gen_ai.operation.name": "chat", "gen_ai.input.messages": said("Hi", "user"),
        "gen_ai.output.messages": said(text), "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 2,
    }  # fmt: skip
    return span({**attributes, **more.pop("attributes", {})}, name="chat", **more)


def trace_of(case: str, text: str, number: int = 1, **label: Any) -> str:
    """A line with a trace of a case: a first span, and a call of a model within it."""
    trace, root = f"{number:032x}", f"{number:016x}"
    talk = {"gen_ai.conversation.id": label.pop("talk")} if "talk" in label else {}
    label = {f"evalcase.{key}": each for key, each in label.items()}
    named = {"evalcase.case": case, **label, **talk}
    return line(
        chat(text, trace=trace, parent=root, start=number),
        span(named, trace=trace, id=root, name="case", start=number, seconds=2.5),
    )
