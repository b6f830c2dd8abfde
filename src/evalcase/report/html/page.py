"""One HTML file of a run that needs no network and no server, written while its rows come.

The table is written in blocks of rows, the details of cases in chunks, which a browser unpacks when
a case is opened. Above the size limit, details of cases that passed are left out."""

from __future__ import annotations

import gzip
import json
import tempfile
from base64 import b64encode
from collections.abc import Iterable, Iterator
from math import fsum
from typing import Any

from msgspec import Struct, field

from evalcase.report.aggregate import Ledger, variable_labels
from evalcase.report.cases import CaseTrials, fold_trials
from evalcase.report.conclusion import name_run, say_grading, say_mixed, why_incomplete
from evalcase.report.details import UNFINISHED
from evalcase.report.evaluated import Evaluated
from evalcase.report.figures import Figures, measure_answer
from evalcase.report.html.details import CaseRow, PageObject, Regrading, case_data
from evalcase.report.html.shell import SCRIPTS, SERVED_SCRIPTS, build_shell
from evalcase.report.json import figures_object
from evalcase.report.source import Reported
from evalcase.store.folder import describe_name, describe_part
from evalcase.store.stored import StoredRun
from evalcase.types.result import Result
from evalcase.types.value import replace

_BLOCK_ROWS = 5000
_CHUNK_CASES = 200
_CHUNK_BYTES = 1_000_000
"""A chunk is unpacked when one of its cases is opened, so it must not be large."""
_PLAIN_BYTES = 500_000
COLUMNS = (
    "case", "suite", "target", "verdict", "score", "seconds", "cost", "tokens", "trials", "passed",
    "answers", "retries", "tags", "vars", "failing", "asked", "reason", "took", "chunk", "place",
)  # fmt: skip
BASE_COLUMNS = ("change", "base_verdict", "base_score", "base_seconds", "base_cost")
_EXCERPT = 120


def pack_json(id: str, text: str, plain_bytes: int = _PLAIN_BYTES) -> bytes:
    """JSON as an element that the browser neither draws nor looks into; Base64 has no character
    that could end it. It is compressed if it is large: what is not is read at once, so that all but
    a large page is drawn before it counts as loaded."""
    data = text.encode()
    data = data if len(data) <= plain_bytes else gzip.compress(data, 6, mtime=0)
    return b'<template id="%s">%s</template>\n' % (id.encode(), b64encode(data))


def write_compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


class _Chunk(Struct):
    """Details that wait until there are enough of them."""

    number: int
    texts: list[str] = field(default_factory=list)
    size: int = 0


class PageWriter:
    """Writes a page row by row. What may be left out waits in a temporary file until it is known
    how much room the rest takes."""

    def __init__(self, max_size: int, *, compared: bool = False, served: bool = False) -> None:
        self._shell = build_shell(SERVED_SCRIPTS if served else SCRIPTS)
        self._max_size = max_size
        self._columns = (*COLUMNS, *(BASE_COLUMNS if compared else ()))
        self._size = len(self._shell.tail)
        self._rows: list[PageObject] = []
        self._blocks = self._chunks = 0
        self._open: dict[bool, _Chunk] = {}
        """By whether their cases may be left out."""
        self._scratch = tempfile.TemporaryFile()  # noqa: SIM115 - `finish` closes it
        self._waiting: list[tuple[int, int]] = []
        """The cases and bytes of each chunk in the temporary file."""

    def write(self, rows: Iterable[CaseRow]) -> Iterator[bytes]:
        """All but the end."""
        for piece in self._write_rows(rows):
            self._size += len(piece)
            yield piece

    def finish(self, told: PageObject, more: str) -> Iterator[bytes]:
        """The details that there is room for, and what is `told` of the whole. `more` is a command
        that shows what was left out."""
        with self._scratch as scratch:
            every = sum(cases for cases, _ in self._waiting)
            room = self._max_size - self._size - len(self._pack_run(told, more, every))
            scratch.seek(0)
            left_out = 0
            for cases, size in self._waiting:
                data = scratch.read(size)
                if size > room:
                    left_out += cases
                else:
                    room -= size
                    yield data
        yield self._pack_run(told, more, left_out)
        yield self._shell.tail

    def _pack_run(self, told: PageObject, more: str, left_out: int) -> bytes:
        if left_out:
            cut = {"cases": left_out, "cap": self._max_size, "command": more}
            told = {**told, "left_out": cut}
        return pack_json("run", write_compact(told))

    def _write_rows(self, rows: Iterable[CaseRow]) -> Iterator[bytes]:
        yield self._shell.head
        for row in rows:
            # It may be left out if it passed and nothing changed.
            may_drop = row.verdict == "passed" and (row.base is None or row.base.change == "same")
            chunk = self._open.get(may_drop)
            if chunk is None:
                chunk = self._open[may_drop] = _Chunk(self._chunks)
                self._chunks += 1
            told = {**row_data(row), "chunk": chunk.number, "place": len(chunk.texts)}
            self._rows.append({**told, **_measure_base(row)})
            chunk.texts.append(write_compact(case_data(row)))
            chunk.size += len(chunk.texts[-1])
            if len(chunk.texts) >= _CHUNK_CASES or chunk.size >= _CHUNK_BYTES:
                yield from self._close(may_drop)
            if len(self._rows) >= _BLOCK_ROWS:
                yield self._pack_rows()
        for may_drop in list(self._open):
            yield from self._close(may_drop)
        yield self._pack_rows()

    def _pack_rows(self) -> bytes:
        columns = {name: [row[name] for row in self._rows] for name in self._columns}
        self._rows.clear()
        self._blocks += 1
        return pack_json(f"rows{self._blocks}", write_compact(columns))

    def _close(self, may_drop: bool) -> Iterator[bytes]:
        chunk = self._open.pop(may_drop)
        data = pack_json(f"c{chunk.number}", f"[{','.join(chunk.texts)}]", 0)
        if may_drop:
            self._scratch.write(data)
            self._waiting.append((len(chunk.texts), len(data)))
        else:
            yield data


def row_data(row: CaseRow) -> dict[str, Any]:
    """What the table shows of a case, with names as they are."""
    return {
        "case": row.case, "suite": row.suite, "target": row.target,
        "verdict": "absent" if row.outcome is None else row.verdict or UNFINISHED,
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
        return {**dict.fromkeys(BASE_COLUMNS), "change": row.alone}
    measured = _measure_results(base.results)
    return {
        "change": base.change,
        "base_verdict": base.outcome.verdict or UNFINISHED,
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
    grades = [grade for result in results for grade in result.grades]
    found = [grade.grader for grade in grades if not grade.passed and not grade.indicator]
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


def write_html(
    reported: Reported, home: str = "", watch: PageObject | None = None
) -> Iterator[bytes]:
    """The pieces of the page. One that is served has a way home, and may be watched."""
    stored, evaluated = reported.stored, reported.evaluated()
    ledger = reported.figuring.open_ledger()
    page = PageWriter(reported.max_size, served=bool(home))
    yield from page.write(read_case_rows(reported, ledger))
    figures = reported.sum_up(ledger, evaluated)
    told = {"run": describe_run(evaluated, figures), "home": home, "watch": watch}
    yield from page.finish(told, f"evalcase view {name_run(stored.run, reported.place)}")


def describe_run(evaluated: Evaluated, figures: Figures) -> PageObject:
    """What is said of a run before its cases."""
    run, totals, part = evaluated.run, evaluated.totals, describe_part(evaluated.run)
    remarks = [describe_name(run), f"only {part}" if part else "", say_mixed(evaluated.mixed)]
    return {
        "name": run.id, "figures": figures_object(figures),
        "remarks": [remark for remark in remarks if remark], "created_at": run.created_at,
        "notice": why_incomplete(evaluated), "trials": totals.trials.total,
        "duration_s": evaluated.duration_s, "grading": say_grading(evaluated),
        "grading_usd": totals.grading_usd, "users_usd": totals.users_usd,
        "lost_usd": totals.lost_usd,
    }  # fmt: skip


def read_case_rows(reported: Reported, ledger: Ledger) -> Iterator[CaseRow]:
    """Each case that is wanted, at each target, with all of its trials and every grading of them.

    On the way all are added up: a verdict that is asked for changes no count.
    """
    stored, verdicts = reported.stored, reported.wanted.verdicts
    gradings = [StoredRun(stored.run, number) for number in range(1, stored.gradings + 1)]
    counted = replace(reported, wanted=replace(reported.wanted, verdicts=()))
    for folded in fold_trials(counted.results(), stored.outcome):
        row = _make_row(stored, folded, gradings)
        for result in folded.trials:
            ledger.add(result, row.known)
        if not verdicts or (row.verdict or UNFINISHED) in verdicts:
            yield row


def _make_row(stored: StoredRun, folded: CaseTrials, gradings: list[StoredRun]) -> CaseRow:
    return CaseRow(
        folded.suite, folded.case, folded.target, stored.find_case(folded.suite, folded.case),
        folded.outcome, folded.trials,
        _find_regradings(gradings, folded.trials) if len(gradings) > 1 else {},
    )  # fmt: skip


def _find_regradings(
    gradings: list[StoredRun], trials: tuple[Result, ...]
) -> dict[int, tuple[Regrading, ...]]:
    """All gradings of the same answers, by repeat."""
    found: dict[int, tuple[Regrading, ...]] = {}
    for result in trials:
        graded = {
            each.grading: Regrading(each.grading, each)
            for stored in gradings
            if (each := stored.find_result(result.key)) is not None and each.answer == result.answer
        }
        found[result.key.repeat] = tuple(graded.values())
    return found
