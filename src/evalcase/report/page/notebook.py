"""Cases with their verdicts in, a table for a notebook out: HTML without script or style sheet, in
the colours of whatever is around it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from evalcase.report.files.folded import CaseTrials
from evalcase.report.files.rows import trial_row
from evalcase.report.terminal.failures import passed_of
from evalcase.types.case import Case
from evalcase.types.result import Totals
from evalcase.util.text import make_visible

MOST_TABLE_ROWS = 200
_MOST_CHARACTERS = 240
_COLOURS = {"passed": "#2f8f46", "failed": "#d6453d", "errored": "#b7791f"}
"""Readable on white and on black."""
_OTHERWISE = "#808080"
_CELL = "text-align:left;vertical-align:top;padding:2px 10px;border-bottom:1px solid #80808055"
_TEXT = f"{_CELL};white-space:pre-wrap;max-width:28em"


class NotebookRow(NamedTuple):
    """A case at a target."""

    case: str
    target: str
    verdict: str
    score: float | None
    input: str
    expected: str
    answer: str
    reason: str
    duration_s: float


def row_of_case(each: CaseTrials, case: Case | None) -> NotebookRow:
    """What a row says of a case: the trial that tells most about its verdict."""
    row = trial_row("", each.telling, case, each.outcome)
    reason = str(row["reason"] or "") if each.verdict != "passed" else ""
    if each.outcome.repeats > 1:
        reason = f"{passed_of(each.outcome)}{'; ' if reason else ''}{reason}"
    answer = row["answer"] or row["tool_calls"]
    return NotebookRow(
        each.case, each.target, each.verdict, each.score, str(row["input"] or ""),
        str(row["expected_output"] or ""), str(answer or ""), reason, each.duration_s,
    )  # fmt: skip


def notebook_table(
    totals: Totals, rows: Sequence[NotebookRow], notice: str = "", *, is_shared: bool = False
) -> str:
    """The whole of it. With targets that are `shared`, each row says which it is of."""
    names = ["case", *(["target"] if is_shared else []), "verdict", "score", "input", "expected"]
    heads = "".join(
        _write_cell(name, _CELL, "th") for name in [*names, "answer", "reason", "seconds"]
    )
    body = "".join(_write_row(row, is_shared=is_shared) for row in rows)
    left = totals.cases.total + totals.unfinished - len(rows)
    more = f"<p>{left:,} more; <code>to_dicts()</code> has all of them</p>" if left > 0 else ""
    said = f"<p>{_cut_text(notice)}</p>" if notice else ""
    return (
        f"<div><p>{escape(totals.describe())}</p>{said}"
        f'<table style="border-collapse:collapse"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table>{more}</div>"
    )


def _write_row(row: NotebookRow, *, is_shared: bool) -> str:
    colour = _COLOURS.get(row.verdict, _OTHERWISE)
    cells = [_write_cell(row.case, _CELL)]
    cells += [_write_cell(row.target, _CELL)] if is_shared else []
    cells += [
        _write_cell(row.verdict, f"{_CELL};color:{colour};font-weight:bold"),
        _write_cell("" if row.score is None else f"{row.score:.3g}", _CELL),
        *[_write_cell(text, _TEXT) for text in (row.input, row.expected, row.answer, row.reason)],
        _write_cell(_write_seconds(row.duration_s), _CELL),
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _write_seconds(seconds: float) -> str:
    return "<0.001" if 0 < seconds < 0.001 else f"{seconds:.3g}"


def _write_cell(text: str, style: str, tag: str = "td") -> str:
    return f'<{tag} style="{style}">{_cut_text(text)}</{tag}>'


def _cut_text(text: str) -> str:
    """Text that is safe wherever it is put, with an end in sight."""
    short = text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"
    return escape("\n".join(map(make_visible, short.split("\n"))))
