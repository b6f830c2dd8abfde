"""Tables whose rows are trials: CSV for spreadsheets, Parquet for data frames, HTML for notebooks.

CSV shows formulas and never computes them: a text that begins like a formula gets an apostrophe, as
spreadsheets themselves do for text, and so do digits that would lose their zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # What came of a run has a table, and is what is reported.
    from evalcase.report.formats import Reported


import csv
import io
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from html import escape
from itertools import chain, islice
from tempfile import TemporaryFile

from evalcase.report.details import UNFINISHED, broken_turn, reason_of, turn_of
from evalcase.types.answer import Answer, Usage
from evalcase.types.case import Case
from evalcase.types.message import Message
from evalcase.types.result import Outcome, Result
from evalcase.util.text import UNSEEN, as_json, call_lines, content_text, make_visible, shorten_text

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
    answer = result.answer or Answer(())
    usage, data = answer.usage or Usage(), case._data if case is not None else {}
    tags, metadata = data.get("tags"), data.get("metadata")
    calls = chain.from_iterable(map(call_lines, answer.messages))
    row: dict[str, RowCell] = {
        "suite": result.key.suite, "case": result.key.case, "target": result.key.target,
        "repeat": result.key.repeat, "verdict": result.verdict, "score": result.score,
        "case_verdict": outcome.verdict or UNFINISHED, "reason": reason_of(result) or None,
        "input": _find_asked(case, result) if case is not None else None,
        "expected_output": (
            _find_said(case.expected_output, "assistant") if case is not None else None
        ),
        "answer": _find_said(answer.messages, "assistant"),
        "tool_calls": "\n".join(calls) or None,
        "duration_s": result.duration_s,
        "cost_usd": answer.cost_usd,
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
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
    asked = turn_of(case, broken_turn(result))
    written = case.written_messages if asked is case else asked._data["input"]
    return _find_said(map(Message.copy_of, written), "user")


def _find_said(messages: Iterable[Message], role: str) -> str | None:
    said = [m.content for m in messages if m.role == role and m.content is not None]
    return content_text(said[-1]) if said else None


_FORMULA = re.compile(
    rf"[\s\x00\ufeff{UNSEEN}]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]|\s*0[0-9]+\s*\Z"
)
"""What makes a spreadsheet calculate, also after white space or invisible characters; full
width, too. And digits after a zero, which it would drop."""
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_CSV_ROWS = 1000


def write_csv(reported: Reported) -> Iterator[str]:
    """The header and every row; some rows in each piece."""
    buffer, columns = io.StringIO(), _list_columns(reported)
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(map(_csv_cell, columns))
    for number, row in enumerate(_make_rows(reported), 1):
        writer.writerow([_csv_cell(row.get(name)) for name in columns])
        if number % _CSV_ROWS == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _csv_cell(value: RowCell) -> RowCell:
    if isinstance(value, float):
        return f"{value:.12g}"
    if not isinstance(value, str):
        return value
    text = _HIDDEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", value)
    return f"'{text}" if _FORMULA.match(text) else text


_PARQUET_ROWS = 10_000
_PIECE_BYTES = 1 << 20


def write_parquet(reported: Reported) -> Iterator[bytes]:
    """The whole file. Columns that are not those of every table hold scores."""
    import pyarrow as pa
    from pyarrow import parquet

    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    columns, left = _list_columns(reported), _make_rows(reported)
    schema = pa.schema([(name, types[COLUMN_TYPES.get(name, float)]) for name in columns])
    with TemporaryFile() as file:
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            while group := list(islice(left, _PARQUET_ROWS)):
                table = [{name: _utf8_cell(row.get(name)) for name in columns} for row in group]
                writer.write_table(pa.Table.from_pylist(table, schema))
        file.seek(0)
        yield from iter(lambda: file.read(_PIECE_BYTES), b"")


def _utf8_cell(value: RowCell) -> RowCell:
    """Text as UTF-8 can hold it."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


_SHOWN = ("case", "target", "verdict", "score", "input", "expected_output", "answer", "reason")
_MOST_CHARACTERS = 240
_CELL = "text-align:left;vertical-align:top;white-space:pre-wrap;max-width:28em"


def html_table(caption: str, rows: Iterable[Mapping[str, RowCell]]) -> str:
    cells = [("th", _SHOWN), *(("td", [row[name] for name in _SHOWN]) for row in rows)]
    lines = [
        "".join(f'<{tag} style="{_CELL}">{_escape_cell(cell)}</{tag}>' for cell in line)
        for tag, line in cells
    ]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<div><p>{_escape_cell(caption)}</p><table>{body}</table></div>"


def _escape_cell(cell: RowCell) -> str:
    text = "" if cell is None else shorten_text(str(cell), _MOST_CHARACTERS)
    return escape("\n".join(map(make_visible, text.split("\n"))))


def _list_columns(reported: Reported) -> list[str]:
    """The same for every trial, and one for each grader: results are read once for these."""
    grades = (grade for result in reported.results() for grade in result.grades)
    return [*COLUMN_TYPES, *{grader_column(grade.grader): None for grade in grades}]


def _make_rows(reported: Reported) -> Iterator[dict[str, RowCell]]:
    stored = reported.stored
    for result in reported.results():
        case = stored.find_case(result.key.suite, result.key.case)
        yield trial_row(stored.run.id, result, case, stored.outcome(result), stored.mixed)
