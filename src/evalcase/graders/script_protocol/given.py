"""What a script is given of a trial: one JSON object, whose inner keys are those of the user.

    case, suite, repeat      which trial it is
    question, input          the last text of the user; all messages
    criteria                 what a good answer does, or null
    expected_output          messages, or null
    answer, messages         the answer as text; all messages of it
    tool_calls               {tool, input, …}, of all messages
    unread_calls             what else in the answer looks like a call, in words
    usage, cost_usd, duration_s, metadata, config

Scripts that were written for AgentV find what they know under the names that it had: those of its
first releases (`candidate_answer`, `input_messages`, …), of its proposal (`actual_output`) and of
later ones (`output`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from evalcase.graders.compare.failed_calls import failed_calls
from evalcase.graders.compare.reference import expected_content
from evalcase.types.answer import Answer, Usage
from evalcase.types.grader import Context
from evalcase.types.value import JSON
from evalcase.util.calls import list_unread_calls
from evalcase.util.text import as_json


def describe_trial(context: Context, config: Mapping[str, JSON] | None) -> dict[str, object]:
    """The object for one trial."""
    case, question, answer = context.case, context.question, context.answer
    expected, calls = list(case.expected_output) or None, answer.tool_calls
    given: dict[str, object] = {
        "case": case.id, "suite": question.suite, "repeat": question.repeat,
        "question": question.text, "input": list(case.input), "criteria": case.criteria,
        "expected_output": expected, "answer": answer.text, "messages": list(answer.messages),
        "tool_calls": calls, "unread_calls": list_unread_calls(answer, calls),
        "usage": _write_usage(answer.usage), "cost_usd": answer.cost_usd,
        "duration_s": context.duration_s,
        "metadata": case.metadata, "config": None if config is None else dict(config),
    }  # fmt: skip
    return given | _for_agentv(context, expected)


def _for_agentv(context: Context, expected: object) -> dict[str, object]:
    case, answer = context.case, context.answer
    took_ms = None if context.duration_s is None else context.duration_s * 1000
    return {
        "expected_outcome": case.criteria, "input_messages": list(case.input),
        "expected_messages": expected or [], "reference_answer": _write_reference(context),
        "candidate_answer": answer.text, "actual_output": answer.text, "output": answer.text,
        "output_messages": list(answer.messages), "guideline_files": [],
        "input_files": list(context.question.files.values()),
        "trace_summary": _write_summary(answer, took_ms),
        "token_usage": _agentv_usage(answer.usage),
        "duration_ms": took_ms,
    }  # fmt: skip


def _write_reference(context: Context) -> str:
    content = expected_content(context.case)
    if content is None:
        return ""
    return content if isinstance(content, str) else as_json(content, indent=2)


def _write_usage(usage: Usage | None) -> dict[str, int | None] | None:
    if usage is None:
        return None
    return {
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
    }  # fmt: skip


def _agentv_usage(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    counts = (("input", usage.input_tokens), ("output", usage.output_tokens),
              ("cached", usage.cached_tokens))  # fmt: skip
    return {name: number for name, number in counts if number is not None}


def _write_summary(answer: Answer, took_ms: float | None) -> dict[str, object]:
    calls = answer.tool_calls
    names = Counter(call.name for call in calls)
    summary: dict[str, object] = {
        "event_count": len(calls), "tool_names": sorted(names),
        "tool_calls_by_name": dict(names), "tool_calls": dict(names),
        "error_count": sum(1 for _ in failed_calls(answer)),
    }  # fmt: skip
    known = {
        "token_usage": _agentv_usage(answer.usage), "cost_usd": answer.cost_usd,
        "duration_ms": took_ms,
    }  # fmt: skip
    return summary | {name: value for name, value in known.items() if value is not None}
