"""Results as OTLP JSON, which collectors read: a trace for each trial or turn of a conversation, an
event for each grade.

Events are gen_ai.evaluation.result of OpenTelemetry's conventions; the version is the schema that
each export names. Ids are made of the trial, so that the same report has the same ids again. The
target otlp: reads this and answers with the same answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from itertools import islice
from typing import Any

from evalcase import __version__
from evalcase.report.formats import Reported
from evalcase.report.json import json_line
from evalcase.tracing.context import (
    CASE,
    QUESTION_HASH,
    REPEAT,
    SCRUBBED,
    STEPS_CUT,
    SUITE,
    TRUNCATED,
    TURN,
)
from evalcase.tracing.dialects import CONVENTIONS
from evalcase.types.answer import Answer
from evalcase.types.case import Case
from evalcase.types.grade import Grade
from evalcase.types.message import Message
from evalcase.types.result import Result
from evalcase.types.value import JSON
from evalcase.util.answers import text_of_content
from evalcase.util.json import whole_text

SCHEMA = f"https://opentelemetry.io/schemas/{CONVENTIONS}"
AT_ONCE = 1000
"""How many trials one export has at most: collectors refuse what is too large."""

_INTERNAL, _ERROR = 1, 2


def write_otlp(reported: Reported) -> Iterator[str]:
    """Exports, one on each line; one without spans if there are no trials."""
    stored, left, is_first = reported.stored, iter(reported.results()), True
    run, scope = stored.run.id, {"name": "evalcase", "version": __version__}
    about = {"service.name": "evalcase", "service.version": __version__, "evalcase.run": run}
    resource = {"attributes": _make_attributes(about)}
    while (several := list(islice(left, AT_ONCE))) or is_first:
        is_first = False
        spans = [
            span
            for result in several
            for span in _make_spans(run, result, stored.find_case(*result.key[:2]))
        ]
        scoped = [{"scope": scope, "spans": spans, "schemaUrl": SCHEMA}]
        exported = {"resource": resource, "scopeSpans": scoped, "schemaUrl": SCHEMA}
        yield json_line({"resourceSpans": [exported]}) + "\n"


def _make_spans(run: str, result: Result, case: Case | None) -> Iterator[dict[str, Any]]:
    """The span of a trial; of a conversation one for each turn, each in a trace of its own. What
    holds for all of it stands with the last."""
    said = [] if case is None else list(case.input)
    whole: dict[str, Any] = {"evalcase.verdict": result.verdict, "evalcase.score": result.score}
    if result.failure is not None:
        whole["error.type"] = result.failure.kind
    start_ns = 0  # where a stranger's record has no time
    with suppress(ValueError, OverflowError):
        start_ns = int(datetime.fromisoformat(result.started_at).timestamp() * 1e6) * 1000
    turns = len(result.exchanges)
    exchanges: list[tuple[int, Sequence[Message], Answer | None, float]]
    exchanges = [(number, *each) for number, each in enumerate(result.exchanges, 1)]
    for number, spoken, answer, took_s in exchanges or [(0, (), result.answer, result.duration_s)]:
        said += spoken
        is_last = number == turns
        about = whole if is_last else {}
        about = about | ({TURN: number} if number else {}) | _of_input(said) | _of_answer(answer)
        grades = [
            each
            for each in result.grades
            if not turns or each.turn == number or (is_last and each.turn is None)
        ]
        seconds = _seconds_of_answer(answer, took_s)
        yield _make_span(run, result, number, start_ns, seconds, about, grades)
        start_ns += int(took_s * 1e9)
        said += answer.messages if answer is not None else ()


def _make_span(
    run: str, result: Result, turn: int, start_ns: int, seconds: float, more: dict[str, Any],
    grades: Iterable[Grade],
) -> dict[str, Any]:  # fmt: skip
    key = result.key
    digest = sha256(json.dumps([run, *key, *([turn] if turn else [])]).encode()).hexdigest()
    end_ns = start_ns + int(seconds * 1e9)
    about: dict[str, Any] = {
        "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": key.target,
        CASE: key.case, SUITE: key.suite, REPEAT: key.repeat, "evalcase.target": key.target,
        QUESTION_HASH: result.question_hash or None, **more,
    }  # fmt: skip
    if turn:
        about["gen_ai.conversation.id"] = "/".join([run, *map(str, key)])
    span = {
        "traceId": digest[:32], "spanId": digest[32:48], "name": f"trial {key.case}",
        "kind": _INTERNAL, "startTimeUnixNano": str(start_ns), "endTimeUnixNano": str(end_ns),
        "attributes": _make_attributes(about),
        "events": [_make_event(grade, end_ns) for grade in grades],
    }  # fmt: skip
    if result.verdict == "errored" and "evalcase.verdict" in more:
        span["status"] = {"code": _ERROR, "message": result.reason}
    return span


def _seconds_of_answer(answer: Answer | None, measured_s: float) -> float:
    """How long an answer took when it was given, as far as that is known."""
    known = answer.earlier.duration_s if answer is not None and answer.earlier else None
    return measured_s if known is None else known


def _of_input(messages: Sequence[Message]) -> dict[str, Any]:
    return {"gen_ai.input.messages": _write_messages(messages)} if messages else {}


def _of_answer(answer: Answer | None) -> dict[str, Any]:
    if answer is None:
        return {}
    usage = answer.usage
    return {
        "gen_ai.output.messages": _write_messages(answer.messages),
        "gen_ai.response.model": answer.model,
        "gen_ai.usage.input_tokens": usage.input_tokens if usage else None,
        "gen_ai.usage.output_tokens": usage.output_tokens if usage else None,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens if usage else None,
        "evalcase.cost_usd": answer.cost_usd,
        "evalcase.trace": answer.trace,
        SCRUBBED: answer.scrubbed or None,
        TRUNCATED: answer.truncated or None,
        # Steps are in the agent's own trace, and none of them here.
        STEPS_CUT: len(answer.steps) + answer.steps_cut or None,
    }


def _make_event(grade: Grade, at_ns: int) -> dict[str, Any]:
    label = "error" if grade.failure is not None else "pass" if grade.passed else "fail"
    about = {
        "gen_ai.evaluation.name": grade.grader,
        "gen_ai.evaluation.score.value": grade.score,
        "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.explanation": grade.reason or None,
        "error.type": grade.failure.kind if grade.failure is not None else None,
    }
    return {
        "timeUnixNano": str(at_ns), "name": "gen_ai.evaluation.result",
        "attributes": _make_attributes(about),
    }  # fmt: skip


def _write_messages(messages: Iterable[Message]) -> str:
    told: list[dict[str, Any]] = []
    for message in messages:
        told.append(_make_message(message))
        results = [
            _make_tool_result(call.id, call.output)
            for call in message.tool_calls
            if "output" in call
        ]
        told += [{"role": "tool", "parts": results}] if results else []
    return json.dumps(told, ensure_ascii=False)


def _make_tool_result(id: str | None, output: JSON) -> dict[str, Any]:
    return {"type": "tool_call_response", "id": id, "response": output}


def _make_message(message: Message) -> dict[str, Any]:
    """A message as the conventions have it, made of parts."""
    content, parts = message.content, list[dict[str, Any]]()
    if message.role == "tool":
        parts.append(_make_tool_result(message.get("tool_call_id"), content))
    elif content is not None:
        text = text_of_content(content)
        told = text if text is not None else json.dumps(content, ensure_ascii=False)
        parts.append({"type": "text", "content": told})
    for call in message.tool_calls:
        part = {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}
        parts.append(part)
    ending = message.get("finish_reason")
    told_of_end = {} if ending is None else {"finish_reason": ending}
    return {"role": message.role, "parts": parts, **told_of_end}


def _make_attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": name, "value": _any_value(value)}
        for name, value in values.items()
        if value is not None
    ]


def _any_value(value: Any) -> dict[str, Any]:  # noqa: ANN401 - what an attribute can be
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": whole_text(value)}  # other readers take no halves of characters
