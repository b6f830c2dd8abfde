"""The table of cases as columns, each compressed while it grows: a million rows are never held."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from math import fsum
from typing import Any

from msgspec import Struct, field

from evalcase.report.figures.cell import measure_answer
from evalcase.report.page.subject import CaseRow
from evalcase.report.variable_labels import variable_labels
from evalcase.types.result import Result

PAGE_VERDICTS = ("passed", "failed", "errored", "ungraded", "skipped", "unfinished", "absent")
"""By the number that stands for each; absent is what only the other run has."""
COLUMN_NAMES = (
    "case", "suite", "target", "verdict", "score", "seconds", "cost", "tokens", "trials", "passed",
    "answers", "retries", "tags", "vars", "failing", "asked", "reason", "took", "chunk", "place",
)  # fmt: skip
BASE_NAMES = ("change", "base_verdict", "base_score", "base_seconds", "base_cost")

MOST_SHOWN = 20
"""So many values a variable may have for the page to group by it."""
_BLOCK = 500
_EXCERPT = 120


class NumberedNames(Struct):
    """Names that are written once, and then by their number."""

    names: dict[str, int] = field(default_factory=dict)

    def number(self, name: str) -> int:
        return self.names.setdefault(name, len(self.names))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)


class NumberedValues:
    """Values of variables that are written once. Of a name with many of them, only the first are:
    by those nobody groups, and there may be one in each row."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], int] = {}
        self._counts: dict[str, int] = {}

    def number(self, several: Iterable[Sequence[str]]) -> list[int]:
        found = []
        for name, value in several:
            known = self.values.get((name, value))
            if known is None and self._counts.get(name, 0) <= MOST_SHOWN:
                self._counts[name] = self._counts.get(name, 0) + 1
                known = self.values[name, value] = len(self.values)
            if known is not None:
                found.append(known)
        return found

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.values)


class Column:
    """A list of values that becomes a compressed JSON list."""

    def __init__(self) -> None:
        self._zip = zlib.compressobj(6, zlib.DEFLATED, 31)
        self._done = bytearray(self._zip.compress(b"["))
        self._block: list[Any] = []
        self._is_first = True

    def add(self, value: object) -> None:
        self._block.append(value)
        if len(self._block) >= _BLOCK:
            self._flush()

    def _flush(self) -> None:
        if not self._block:
            return
        text = json.dumps(self._block, separators=(",", ":"))[1:-1]
        self._done += self._zip.compress((text if self._is_first else "," + text).encode())
        self._block.clear()
        self._is_first = False

    def finish(self) -> bytes:
        self._flush()
        return bytes(self._done + self._zip.compress(b"]") + self._zip.flush())


class ColumnTable:
    """Takes rows, and gives columns."""

    def __init__(self, *, compared: bool) -> None:
        self.suites, self.targets = NumberedNames(), NumberedNames()
        self.tags, self.graders = NumberedNames(), NumberedNames()
        self.variables = NumberedValues()
        self.count = 0
        self.columns = {
            name: Column() for name in (*COLUMN_NAMES, *(BASE_NAMES if compared else ()))
        }
        self._compared = compared

    def add(self, row: CaseRow, chunk: int, place: int) -> None:
        """Take a row whose detail stands at a place of a chunk."""
        self.count += 1
        told = tell_row(row)
        values = {
            **told,
            "suite": self.suites.number(row.suite),
            "target": self.targets.number(row.target),
            "verdict": PAGE_VERDICTS.index(told["verdict"]),
            "tags": [self.tags.number(tag) for tag in told["tags"]],
            "vars": self.variables.number(told["vars"]),
            "failing": [self.graders.number(name) for name in told["failing"]],
            "chunk": chunk,
            "place": place,
        }
        if self._compared:
            values |= _measure_base(row)
        for name, column in self.columns.items():
            column.add(values[name])


def tell_row(row: CaseRow) -> dict[str, Any]:
    """What the table shows of a case, with names as they are."""
    return {
        "case": row.case, "suite": row.suite, "target": row.target,
        "verdict": "absent" if row.outcome is None else row.verdict or "unfinished",
        **_measure_results(row.results),
        "passed": row.outcome.passed if row.outcome is not None else 0,
        "tags": row.known.tags if row.known is not None else (),
        "vars": [[name, value] for name, value in variable_labels(row.known).items()],
        "failing": _list_failing(row.results),
        "asked": _cut_excerpt(_find_question(row)),
        "reason": _cut_excerpt(next((r.reason for r in row.results if r.verdict != "passed"), "")),
    }  # fmt: skip


def _measure_results(results: tuple[Result, ...]) -> dict[str, Any]:
    tried = [result for result in results if result.verdict != "skipped"]
    answers = [result.answer for result in results if result.answer is not None]
    used = [answer.usage for answer in answers if answer.usage is not None]
    tokens = [n for u in used for n in (u.input_tokens, u.output_tokens) if n is not None]
    return {
        "score": _find_mean(result.score for result in results),
        "seconds": _find_mean(result.duration_s for result in tried),
        "took": _list_times(results),
        "cost": _add_known(answer.cost_usd for answer in answers),
        "tokens": sum(tokens) if tokens else None,
        "trials": len(results),
        "answers": len({answer.fingerprint() for answer in answers}) if len(answers) > 1
        else len(answers),
        "retries": sum(max(0, result.attempts - 1) for result in results),
    }  # fmt: skip


def _list_times(results: tuple[Result, ...]) -> list[float]:
    """How long each answer took, as the figures of the report have it."""
    times = map(measure_answer, results)
    return [round(took_s, 6) for took_s in times if took_s is not None]


def _measure_base(row: CaseRow) -> dict[str, Any]:
    base = row.base
    if base is None:
        return {"change": row.alone, **dict.fromkeys(BASE_NAMES[1:])}
    measured = _measure_results(base.results)
    return {
        "change": base.change,
        "base_verdict": PAGE_VERDICTS.index(base.outcome.verdict or "unfinished"),
        "base_score": measured["score"], "base_seconds": measured["seconds"],
        "base_cost": measured["cost"],
    }  # fmt: skip


def _find_mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(fsum(known) / len(known), 6) if known else None


def _add_known(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(fsum(known), 9) if known else None


def _list_failing(results: tuple[Result, ...]) -> list[str]:
    """The graders that kept a trial from passing, each once."""
    found = [grade.grader for result in results for grade in result.grades if not grade.passed]
    return list(dict.fromkeys(found))


def _find_question(row: CaseRow) -> str:
    """What a user asked first, or wants: by it a person knows a case again."""
    if row.known is not None and row.known.user is not None:
        return row.known.user.goal
    for message in row.known.written_messages if row.known is not None else ():
        if message.get("role") == "user" and isinstance(message.get("content"), str):
            return str(message["content"])
    return ""


def _cut_excerpt(text: str) -> str:
    flat = " ".join(text[: 2 * _EXCERPT].split())
    return flat if len(flat) <= _EXCERPT else flat[: _EXCERPT - 1] + "…"
