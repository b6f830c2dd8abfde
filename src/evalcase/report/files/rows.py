"""A result with its case in, a row of plain cells out: what tables have of a trial."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from itertools import chain

from evalcase.report.terminal.failures import UNFINISHED, broken_turn, reason_of
from evalcase.types.case import Case
from evalcase.types.message import Message
from evalcase.types.result import Outcome, Result
from evalcase.util.text import as_json, call_lines, content_text

RowCell = str | int | float | None
COLUMN_TYPES: Mapping[str, type] = {
    "suite": str, "case": str, "target": str, "repeat": int, "verdict": str, "score": float,
    "case_verdict": str, "reason": str, "input": str, "expected_output": str, "answer": str,
    "tool_calls": str, "duration_s": float, "cost_usd": float, "input_tokens": int,
    "output_tokens": int, "attempts": int, "tags": str, "metadata": str, "conversation_id": str,
    "vars": str, "run": str, "mixed": str, "turns": int, "ending": str, "user_usd": float,
}  # fmt: skip
"""The columns, beside one for each grader with its score."""


def grader_column(name: str) -> str:
    return f"score: {name}"


def trial_row(
    run: str, result: Result, case: Case | None, outcome: Outcome, mixed: Container[str] = ()
) -> dict[str, RowCell]:
    """The cells of a trial; None for what there is not. `mixed` are the targets that were changed
    while the run went on."""
    answer, usage = result.answer, result.answer.usage if result.answer is not None else None
    data = case._data if case is not None else {}
    tags, metadata = data.get("tags"), data.get("metadata")
    row: dict[str, RowCell] = {
        "suite": result.key.suite, "case": result.key.case, "target": result.key.target,
        "repeat": result.key.repeat, "verdict": result.verdict, "score": result.score,
        "case_verdict": outcome.verdict or UNFINISHED, "reason": reason_of(result) or None,
        "input": _find_asked(case, result) if case is not None else None,
        "expected_output": (
            _find_said(case.expected_output, "assistant") if case is not None else None
        ),
        "answer": _find_said(answer.messages, "assistant") if answer is not None else None,
        "tool_calls": _write_calls(answer.messages) if answer is not None else None,
        "duration_s": result.duration_s,
        "cost_usd": answer.cost_usd if answer is not None else None,
        "input_tokens": usage.input_tokens if usage is not None else None,
        "output_tokens": usage.output_tokens if usage is not None else None,
        "attempts": result.attempts,
        "tags": ", ".join(tags) if tags else None,
        "metadata": as_json(metadata) if metadata else None,
        "conversation_id": data.get("conversation_id"),
        "vars": as_json(data["vars"]) if data.get("vars") else None, "run": run,
        "mixed": "mixed" if result.key.target in mixed else None,
        "turns": len(result.turns) or None, "ending": result.ending,
        "user_usd": result.user.cost_usd if result.user is not None else None,
    }  # fmt: skip
    for grade in result.grades:
        row[grader_column(grade.grader)] = grade.score
    return row


def _find_asked(case: Case, result: Result) -> str | None:
    """What the user said last; of a conversation that was not had, what they would have said; of
    one that broke off, what they said then."""
    if result.turns and result.answer is not None:
        return _find_said(result.answer.messages, "user")
    if case.user is not None and not case.user.first:
        return case.user.goal
    turn = broken_turn(result)
    written = case.written_messages
    if turn is not None and turn <= len(case.turns):
        written = case.turns[turn - 1]._data["input"]
    return _find_said(map(Message.copy_of, written), "user")


def _find_said(messages: Iterable[Message], role: str) -> str | None:
    """The last that somebody says."""
    said = [m.content for m in messages if m.role == role and m.content is not None]
    return content_text(said[-1]) if said else None


def _write_calls(messages: Iterable[Message]) -> str | None:
    return "\n".join(chain.from_iterable(map(call_lines, messages))) or None
