"""One HTML file of a run that needs no network and no server, written while its rows come.

Only compressed columns are held. Details of cases that passed lie in chunks of their own; above the
size limit only those are left out."""

from __future__ import annotations

import gzip
import json
import tempfile
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import fsum
from random import Random
from typing import Any, BinaryIO, NamedTuple

from msgspec import Struct, field
from msgspec.structs import asdict

from evalcase.report.aggregate import Ledger, measure_answer, variable_labels
from evalcase.report.cases import CaseTrials, fold_trials
from evalcase.report.conclusion import name_run, say_mixed, why_incomplete
from evalcase.report.details import UNFINISHED
from evalcase.report.evaluated import Evaluated
from evalcase.report.figures import Figures, settle_figures
from evalcase.report.html.details import CaseRow, PageObject, Regrading, RunFacts, case_data
from evalcase.report.html.shell import SCRIPTS, SERVED_SCRIPTS, build_shell
from evalcase.report.json import figures_object
from evalcase.report.source import Reported, require_variables
from evalcase.store.folder import describe_name, describe_part
from evalcase.store.stored import StoredRun
from evalcase.types.result import Result
from evalcase.types.value import Value, replace

_CASES = 200
_BYTES = 1_000_000
_SMALL = 50_000
"""A chunk is unpacked when one of its cases is opened, so it must not be large."""


def pack_element(id: str, data: bytes) -> bytes:
    """Compressed data as an element that the browser neither draws nor looks into. Base64 has no
    character that could end it."""
    return b'<template id="%s">%s</template>\n' % (id.encode(), b64encode(data))


def squeeze_json(value: object) -> bytes:
    """A value as JSON, the same bytes each time; compressed if it is large. A browser reads others
    at once, so that a small page is drawn before it counts as loaded."""
    data = json.dumps(value, separators=(",", ":")).encode()
    return data if len(data) <= _SMALL else gzip.compress(data, 6, mtime=0)


class _Chunk(Struct):
    """Details that wait until there are enough of them."""

    number: int
    texts: list[str] = field(default_factory=list)
    size: int = 0

    def pack(self) -> bytes:
        text = f"[{','.join(self.texts)}]"
        return pack_element(f"c{self.number}", gzip.compress(text.encode(), 6, mtime=0))


class Spooled(NamedTuple):
    """A chunk of passed cases, where it lies until it is known how much fits."""

    number: int
    cases: int
    start: int
    size: int


class ChosenChunks(NamedTuple):
    """Which chunks are in the file in the end, and what is not."""

    chunks: list[Spooled]
    dropped: list[int]
    """Numbers of chunks."""
    cases: int
    """How many cases they held."""


class Chunks:
    """Packs details. Those that are always kept can be taken at once, others are put aside."""

    def __init__(self, scratch: BinaryIO) -> None:
        self._scratch = scratch
        self._count = 0
        self._open: dict[bool, _Chunk] = {}
        self._spooled: list[Spooled] = []
        self._ready: list[bytes] = []

    def add(self, told: PageObject, *, may_drop: bool) -> tuple[int, int]:
        """Take the detail of a case. Return its chunk, and its place in it."""
        text = json.dumps(told, separators=(",", ":"))
        chunk = self._open.get(may_drop)
        if chunk is None:
            chunk = self._open[may_drop] = _Chunk(self._count)
            self._count += 1
        chunk.texts.append(text)
        chunk.size += len(text)
        where = chunk.number, len(chunk.texts) - 1
        if len(chunk.texts) >= _CASES or chunk.size >= _BYTES:
            self._close(may_drop)
        return where

    def finish(self) -> None:
        """Pack what is left."""
        for may_drop in list(self._open):
            self._close(may_drop)

    def _close(self, may_drop: bool) -> None:
        chunk = self._open.pop(may_drop)
        data = chunk.pack()
        if not may_drop:
            self._ready.append(data)
            return
        at = self._scratch.tell()
        self._scratch.write(data)
        self._spooled.append(Spooled(chunk.number, len(chunk.texts), at, len(data)))

    def take(self) -> list[bytes]:
        """The chunks that are always kept, as far as they were not taken before."""
        ready, self._ready = self._ready, []
        return ready

    def choose(self, room: int) -> ChosenChunks:
        """Leave out as many chunks as it takes, at random but the same each time."""
        order = self._spooled[:]
        Random(0).shuffle(order)  # noqa: S311 - it is no secret
        total = sum(chunk.size for chunk in order)
        dropped: list[Spooled] = []
        while order and total > room:
            dropped.append(order.pop())
            total -= dropped[-1].size
        return ChosenChunks(
            sorted(order), sorted(chunk.number for chunk in dropped),
            sum(chunk.cases for chunk in dropped),
        )  # fmt: skip

    def read(self, stored: ChosenChunks) -> Iterator[bytes]:
        """The chunks that are kept, as they are in the file."""
        for chunk in stored.chunks:
            self._scratch.seek(chunk.start)
            yield self._scratch.read(chunk.size)


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
    they group nothing, and there may be one in each row."""

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
        data = bytes(self._done + self._zip.compress(b"]") + self._zip.flush())
        # Small columns are not compressed, for the same reason as other small parts.
        small = zlib.decompressobj(31).decompress(data, _SMALL + 1)
        return small if len(small) <= _SMALL else data


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
        told = row_data(row)
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


def row_data(row: CaseRow) -> dict[str, Any]:
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


class Page(Value, frozen=True):
    """What a page is of."""

    run: RunFacts
    base: RunFacts | None = None
    """The run that it is compared with."""
    comparison: PageObject | None = None
    """What is said of the two together."""
    more: str = ""
    """The command that shows what had to be left out."""
    home: str = ""
    """Where the list of all runs is, seen from the page, if it is served."""
    watch: PageObject | None = None
    """Where to ask for what has come since, while the run goes on: `{address, offset}`."""


def write_page(
    describe: Callable[[], Page], rows: Iterable[CaseRow], scratch: BinaryIO, max_size: int,
    *, compared: bool = False, served: bool = False,
) -> Iterator[bytes]:  # fmt: skip
    """The pieces of a page, which can be described once its rows have come. `scratch` is an empty
    file, for what may have to be left out."""
    shell = build_shell(SERVED_SCRIPTS if served else SCRIPTS)
    yield shell.head
    size = len(shell.head) + len(shell.tail)
    chunks, table = Chunks(scratch), ColumnTable(compared=compared)
    for row in rows:
        table.add(row, *chunks.add(case_data(row), may_drop=_may_drop(row)))
        for piece in chunks.take():
            size += len(piece)
            yield piece
    chunks.finish()
    rest = chunks.take()
    rest += [pack_element(f"i-{name}", column.finish()) for name, column in table.columns.items()]
    yield from rest
    size += sum(map(len, rest))
    page = describe()
    # It says what was left out, and takes the more room the more that is.
    longest = len(_pack_run(page, table, chunks.choose(0), max_size))
    stored = chunks.choose(max_size - size - longest)
    yield from chunks.read(stored)
    yield _pack_run(page, table, stored, max_size)
    yield shell.tail


def _pack_run(page: Page, table: ColumnTable, stored: ChosenChunks, max_size: int) -> bytes:
    return pack_element("run", squeeze_json(_run_data(page, table, stored, max_size)))


def _may_drop(row: CaseRow) -> bool:
    """Whether its details may be left out: it passed, and nothing changed."""
    return row.verdict == "passed" and (row.base is None or row.base.change == "same")


def _run_data(page: Page, table: ColumnTable, stored: ChosenChunks, max_size: int) -> PageObject:
    told: PageObject = {
        "run": _facts_data(page.run),
        "verdicts": PAGE_VERDICTS,
        "suites": list(table.suites), "targets": list(table.targets),
        "tags": list(table.tags), "graders": list(table.graders), "vars": list(table.variables),
        "columns": list(table.columns),
        "count": table.count,
    }  # fmt: skip
    if page.home:
        told |= {"home": page.home, "watch": page.watch}
    if stored.cases:
        told["left_out"] = {
            "cases": stored.cases,
            "chunks": stored.dropped,
            "cap": max_size,
            "command": page.more,
        }
    if page.base is not None:
        told["base"] = _facts_data(page.base)
        told["comparison"] = page.comparison or {}
    return told


def _facts_data(run: RunFacts) -> dict[str, Any]:
    return {**asdict(run), "figures": figures_object(run.figures)}


def write_html(
    reported: Reported, home: str = "", watch: PageObject | None = None
) -> Iterator[bytes]:
    """The pieces of the page. One that is served has a way home, and may be watched."""
    stored, evaluated = reported.stored, reported.evaluated()
    ledger = reported.figuring.open_ledger(stored.run)
    more = f"evalcase view {name_run(stored.run, reported.place)}"

    def describe() -> Page:
        figures = reported.figuring.sum_up(ledger, evaluated.not_run)
        require_variables(reported.by, figures)
        figures = settle_figures(
        figures, evaluated.decision, whole=reported.wanted.is_all,
        is_biased=evaluated.is_biased,
    )  # fmt: skip
        facts = describe_run(evaluated, figures)
        return Page(facts, more=more, home=home, watch=watch)

    with tempfile.TemporaryFile() as scratch:
        rows = read_case_rows(reported, ledger)
        yield from write_page(describe, rows, scratch, reported.max_size, served=bool(home))


def describe_run(evaluated: Evaluated, figures: Figures) -> RunFacts:
    """What is said of a run before its cases."""
    run, part = evaluated.run, describe_part(evaluated.run)
    remarks = [name] if (name := describe_name(run)) else []
    remarks += [f"only {part}"] if part else []
    if mixed := say_mixed(evaluated.mixed):
        remarks.append(mixed)
    totals = evaluated.totals
    return RunFacts(
        run.id, figures, run.created_at, why_incomplete(evaluated), totals.trials.total,
        totals.grading_usd, evaluated.duration_s,
        "" if evaluated.graded_by is None else str(evaluated.graded_by), tuple(remarks),
        totals.users_usd, totals.lost_usd,
    )  # fmt: skip


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
