"""One HTML file of a run, or of two side by side, that needs no network and no server, written
while its rows come.

The table is written in blocks of rows, the details of cases in chunks, which a browser unpacks when
a case is opened. Above the size limit, details of cases that passed are left out.
All script is one function in one element, all style is one element, and the policy of the page
knows both by their hashes: nothing else can be executed, whatever the data holds.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from math import fsum
from typing import Any, NamedTuple

from msgspec import Struct, field

from evalcase.report.aggregate import Ledger, variable_labels
from evalcase.report.case_data import CaseRow, PageObject, case_data
from evalcase.report.compare import Comparison
from evalcase.report.comparison_forms import (
    closing_words,
    list_remarks,
    list_sides,
    say_counts,
    say_result,
    track_tables,
    write_title,
)
from evalcase.report.details import UNFINISHED, asked_in
from evalcase.report.evaluated import Evaluated, fold_trials, name_run, note_run
from evalcase.report.figures import Figures, measure_answer
from evalcase.report.formats import Reported
from evalcase.report.gates import Compared
from evalcase.report.json import figures_object
from evalcase.report.sides import PairedCases
from evalcase.stats.intervals import find_mean
from evalcase.store.stored import StoredRun
from evalcase.types.result import Result
from evalcase.types.value import replace
from evalcase.util.files import read_file
from evalcase.util.text import flatten_text

SCRIPTS = (
    "dom", "text", "data", "numbers", "state", "filters", "grid", "list", "messages", "diff",
    "grades", "labels", "talk", "steps", "case", "charts", "compare", "keys", "main",
)  # fmt: skip
"""In the order in which they are put together: later ones use what earlier ones define."""
SERVED_SCRIPTS = ("watch", *SCRIPTS)
"""Those of a page that comes from `evalcase view`, and may ask it for more. One that is kept can't
even try."""
RUNS_SCRIPTS = ("dom", "text", "data", "numbers", "runs")
"""Those of the list of runs that `evalcase view` shows."""

_POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; "
    "img-src data:; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_SERVED = "; connect-src 'self'"
"""What a page from `evalcase view` may do beside: ask it for more."""
_MOST_ASSET_BYTES = 1_000_000


class Shell(NamedTuple):
    """What stands before and after the data."""

    head: bytes
    tail: bytes
    policy: str


@cache
def build_shell(scripts: tuple[str, ...] = SCRIPTS) -> Shell:
    served = scripts != SCRIPTS
    script = read_script(scripts)
    others = "runs.css" if scripts == RUNS_SCRIPTS else "grid.css"
    style = _read_asset("page.css") + _read_asset(others)
    policy = _POLICY.format(script=_hash_text(script), style=_hash_text(style)) + _SERVED * served
    text = _read_asset("page.html").replace("{policy}", policy).replace("{style}", style)
    head, tail = text.split("{data}")
    return Shell(head.encode(), tail.replace("{script}", script).encode(), policy)


def read_script(scripts: tuple[str, ...] = SCRIPTS) -> str:
    """All files of script, as one function: none of its names can be reached from outside."""
    files = [_read_asset(f"{name}.js") for name in scripts]
    return "\n".join(["(() => {", "'use strict';", *files, "})();"])


def _hash_text(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def _read_asset(name: str) -> str:
    path = os.path.join(os.path.dirname(__file__), "html", name)
    return read_file(path, _MOST_ASSET_BYTES).decode()


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
        yield self._count(self._shell.head)
        for row in rows:
            # It may be left out if it passed and nothing changed.
            may_drop = row.verdict == "passed" and (row.base is None or row.change == "same")
            chunk = self._open.get(may_drop)
            if chunk is None:
                chunk = self._open[may_drop] = _Chunk(self._chunks)
                self._chunks += 1
            told = {**row_data(row), "chunk": chunk.number, "place": len(chunk.texts)}
            before = _measure_results(row.base.trials if row.base is not None else ())
            told |= {f"base_{name}": before[name] for name in ("score", "seconds", "cost")}
            told["base_verdict"] = None if row.base is None else row.base.verdict
            self._rows.append({**told, "change": row.change})
            chunk.texts.append(write_compact(case_data(row)))
            chunk.size += len(chunk.texts[-1])
            if len(chunk.texts) >= _CHUNK_CASES or chunk.size >= _CHUNK_BYTES:
                yield self._close(may_drop)
            if len(self._rows) >= _BLOCK_ROWS:
                yield self._pack_rows()
        yield from map(self._close, list(self._open))
        yield self._pack_rows()

    def _count(self, piece: bytes) -> bytes:
        self._size += len(piece)
        return piece

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

    def _pack_rows(self) -> bytes:
        columns = {name: [row[name] for row in self._rows] for name in self._columns}
        self._rows.clear()
        self._blocks += 1
        return self._count(pack_json(f"rows{self._blocks}", write_compact(columns)))

    def _close(self, may_drop: bool) -> bytes:
        """The chunk that was open; empty if it may be left out, and waits."""
        chunk = self._open.pop(may_drop)
        data = pack_json(f"c{chunk.number}", f"[{','.join(chunk.texts)}]", 0)
        if not may_drop:
            return self._count(data)
        self._scratch.write(data)
        self._waiting.append((len(chunk.texts), len(data)))
        return b""


def row_data(row: CaseRow) -> dict[str, Any]:
    grades = [grade for result in row.results for grade in result.grades]
    failing = [grade.grader for grade in grades if not grade.passed and not grade.indicator]
    return {
        "case": row.case, "suite": row.suite, "target": row.target,
        "verdict": "absent" if row.outcome is None else row.verdict or UNFINISHED,
        **_measure_results(row.results),
        "passed": row.outcome.passed if row.outcome is not None else 0,
        "tags": row.known.tags if row.known is not None else (),
        "vars": [[name, value] for name, value in variable_labels(row.known).items()],
        "failing": list(dict.fromkeys(failing)),
        "asked": _cut_excerpt(asked_in(row.known)[1] if row.known is not None else ""),
        "reason": _cut_excerpt(next((r.reason for r in row.results if r.verdict != "passed"), "")),
    }  # fmt: skip


def _measure_results(results: tuple[Result, ...]) -> dict[str, Any]:
    answers = [result.answer for result in results if result.answer is not None]
    used = [answer.usage for answer in answers if answer.usage is not None]
    tokens = [n for u in used for n in (u.input_tokens, u.output_tokens) if n is not None]
    costs = [answer.cost_usd for answer in answers if answer.cost_usd is not None]
    several = len(answers) > 1
    return {
        "score": _find_mean(result.score for result in results),
        "seconds": _find_mean(
            each.duration_s if each.answer is None else measure_answer(each)
            for each in results
            if each.verdict != "skipped"
        ),
        "took": [round(s, 6) for s in map(measure_answer, results) if s is not None],
        "cost": round(fsum(costs), 9) if costs else None,
        "tokens": sum(tokens) if tokens else None,
        "trials": len(results),
        "answers": len({each.fingerprint() for each in answers}) if several else len(answers),
        "retries": sum(max(0, result.attempts - 1) for result in results),
    }


def _find_mean(values: Iterable[float | None]) -> float | None:
    mean = find_mean(values)
    return None if mean is None else round(mean, 6)


def _cut_excerpt(text: str) -> str:
    return flatten_text(text[: 2 * _EXCERPT], _EXCERPT)


def write_html(
    reported: Reported, home: str = "", watch: PageObject | None = None
) -> Iterator[bytes]:
    """The pieces of the page. One that is served has a way home, and may be watched."""
    stored, evaluated = reported.stored, reported.evaluated()
    ledger = Ledger(reported.figuring)
    page = PageWriter(reported.max_size, served=bool(home))
    yield from page.write(read_case_rows(reported, ledger))
    figures = reported.sum_up(ledger, evaluated)
    told = {"run": describe_run(evaluated, figures), "home": home, "watch": watch}
    yield from page.finish(told, f"evalcase view {name_run(stored.run, reported.reader)}")


def describe_run(evaluated: Evaluated, figures: Figures) -> PageObject:
    run, totals, notes = evaluated.run, evaluated.totals, note_run(evaluated)
    part = f"only {notes['part']}" if notes["part"] else ""
    remarks = [notes["run"], part, notes["mixed"]]
    return {
        "name": run.id, "figures": figures_object(figures),
        "remarks": [remark for remark in remarks if remark], "created_at": run.created_at,
        "notice": notes["stopped"], "trials": totals.trials.total,
        "duration_s": evaluated.duration_s, "grading": notes["grading"],
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
    for folded in fold_trials(counted.results(), stored):
        row = CaseRow(
            folded.suite, folded.case, folded.target, stored.find_case(folded.suite, folded.case),
            folded.outcome, folded.trials,
            _find_regradings(gradings, folded.trials) if len(gradings) > 1 else {},
        )  # fmt: skip
        for result in folded.trials:
            ledger.add(result, row.known)
        if not verdicts or (row.verdict or UNFINISHED) in verdicts:
            yield row


def _find_regradings(
    gradings: list[StoredRun], trials: tuple[Result, ...]
) -> dict[int, tuple[Result, ...]]:
    found: dict[int, tuple[Result, ...]] = {}
    for result in trials:
        graded = {
            each.grading: each
            for stored in gradings
            if (each := stored.find_result(result.key)) is not None and each.answer == result.answer
        }
        found[result.key.repeat] = tuple(graded.values())
    return found


def _compared_rows(
    comparison: Comparison, base_ledger: Ledger, head_ledger: Ledger
) -> Iterator[CaseRow]:
    """A row for each case of either side, and both sides added up on the way."""
    targets, unselected = comparison.targets, comparison.unselected
    base, head = comparison.base.stored, comparison.head.stored
    paired = PairedCases(comparison.base, comparison.head, targets)
    for case in paired.read_base():
        if case.target in targets.values():
            known = base.find_case(case.suite, case.case)
            for result in case.trials:
                base_ledger.add(result, known)
    for pair in paired.pairs():
        if pair.name.target not in targets:
            continue
        side, now = (base, pair.base) if pair.head is None else (head, pair.head)
        if now is None:
            continue
        row = CaseRow(
            now.suite, now.case, pair.name.target, side.find_case(now.suite, now.case), None,
            base=pair.base, change="not selected" if pair.kind in unselected else pair.kind,
        )  # fmt: skip
        if pair.head is not None:
            row = replace(row, outcome=now.outcome, results=now.trials)
            for result in now.trials:
                head_ledger.add(result, row.known)
        yield row


def write_compared_html(compared: Compared, max_size: int, home: str = "") -> Iterator[bytes]:
    base, head = compared.comparison.base, compared.comparison.head
    page = PageWriter(max_size, compared=True, served=bool(home))
    ledgers = Ledger(), Ledger()
    yield from page.write(_compared_rows(compared.comparison, *ledgers))
    # What is to be said of either side stands in the comparison already.
    told = {
        "run": {"name": head.label, "figures": figures_object(ledgers[1].sum_up()), "remarks": []},
        "base": {"name": base.label, "figures": figures_object(ledgers[0].sum_up())},
        "comparison": _comparison_data(compared), "home": home,
    }  # fmt: skip
    more = f"evalcase compare {base.label} {head.label} --format html --max-size 1GB"
    yield from page.finish(told, more)


def _comparison_data(compared: Compared) -> PageObject:
    comparison = compared.comparison
    return {
        "sentences": list(say_result(comparison, compared.gated, str)),
        "sides": [f"{word}: {about}" for word, _, about in list_sides(comparison) if about],
        "warnings": list_remarks(comparison),
        "tracks": [
            {
                "title": write_title(track, comparison),
                "counts": say_counts(track, comparison),
                "tables": list(track_tables(track, compared, has_tags=False)),
                "notes": list(closing_words(track, compared)),
            }
            for track in comparison.tracks
        ],
    }
