"""The pages of all runs of a project, served to this machine alone and read-only.

Addresses are `/TOKEN/` for the list, `/TOKEN/run/ID` and `/TOKEN/compare/BASE/HEAD` for pages, and
`/TOKEN/runs` and `/TOKEN/rows/ID?offset=BYTES` for what has come since.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any
from urllib.parse import parse_qs, unquote

from evalcase.cli.compared_sides import AskedSides, open_sides
from evalcase.cli.conclusion import RecordPlace
from evalcase.cli.reports.compared_page import write_compared_html
from evalcase.cli.reports.page import write_html
from evalcase.cli.reports.reported import Reported
from evalcase.cli.viewing.guard import NO_SCRIPT, RefusedError, answer_in_words, headers_of
from evalcase.cli.viewing.listing import Listing
from evalcase.errors import ConfigError, EvalcaseError
from evalcase.record.ending import read_end
from evalcase.record.folder import Run
from evalcase.record.kept import KeptRun
from evalcase.record.lock import is_written
from evalcase.record.tail import GrowingJournal, Grown
from evalcase.report.compare.compared import Compared
from evalcase.report.compare.comparison import compare_sides
from evalcase.report.compare.gated import find_gated
from evalcase.report.page.assets import RUNS_SCRIPTS, SERVED_SCRIPTS, build_shell
from evalcase.report.page.chunks import pack_element, squeeze_json
from evalcase.report.page.columns import tell_row
from evalcase.report.page.detail import tell_case
from evalcase.report.page.subject import CaseRow
from evalcase.system.http.served import ServedAnswer, ServedRequest

_LARGEST = 1_000_000_000
"""A page that is served may be larger than one that is kept."""


class Viewer:
    """Answers what the guard lets through. Records are read in a thread, one page at a time."""

    def __init__(self, listing: Listing, place: RecordPlace) -> None:
        self._listing = listing
        self._place = place
        self._turn = asyncio.Lock()
        self._growing: dict[str, GrowingJournal] = {}

    async def answer(self, request: ServedRequest) -> ServedAnswer:
        """Whatever goes wrong with a record is said, and ends nothing."""
        try:
            return await self._answer(request)
        except EvalcaseError as error:
            return answer_in_words(409 if isinstance(error, ConfigError) else 500, str(error))

    async def _answer(self, request: ServedRequest) -> ServedAnswer:
        # The first two are what comes before the first slash, and the token.
        match [unquote(step) for step in request.path.split("/")[2:]]:
            case [""]:
                return await self.show_runs()
            case ["runs"]:
                return _respond_json(await self._in_turn(self._listing.tell))
            case ["run", id] if id:
                return await self.show_run(id)
            case ["rows", id] if id:
                return await self.tell_rows(id, request.query)
            case ["compare", base, head] if base and head:
                return await self.show_comparison(base, head)
        raise RefusedError(404, "Not Found")

    async def show_runs(self) -> ServedAnswer:
        told = await self._in_turn(self._listing.tell)
        shell = build_shell(RUNS_SCRIPTS)
        page = b"".join((shell.head, pack_element("runs", squeeze_json(told)), shell.tail))
        return ServedAnswer(200, _head_of_page(shell.policy), page)

    async def show_run(self, id: str) -> ServedAnswer:
        run = await self._find(id)
        return await self._make_answer(lambda: self._make_page(run))

    async def show_comparison(self, base: str, head: str) -> ServedAnswer:
        runs = [await self._find(id) for id in (base, head)]
        return await self._make_answer(lambda: self._make_comparison(*runs))

    async def tell_rows(self, id: str, query: str) -> ServedAnswer:
        run = await self._find(id)
        text = parse_qs(query).get("offset", [""])[0]
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise RefusedError(400, "`offset` must be a number of bytes")
        return _respond_json(await self._in_turn(lambda: self._tell_rows(run, int(text))))

    def _tell_rows(self, run: Run, offset: int) -> dict[str, Any]:
        tail = self._journal_of(run).read_since(offset)
        return {
            "offset": tail.offset,
            "state": _state_of_run(run),
            "rows": [_tell_grown(each) for each in tail.grown],
        }

    def _make_page(self, run: Run) -> Iterable[bytes]:
        watch = None
        if _state_of_run(run) == "running":
            # Before it is read: what comes in between is told once more, and nothing is missed.
            reached = self._journal_of(run).reach()
            watch = {"address": f"../rows/{os.path.basename(run.path)}", "offset": reached}
        with KeptRun(run) as kept:
            reported = Reported(kept, self._place, max_size=_LARGEST)
            yield from write_html(reported, home="../", watch=watch)

    def _make_comparison(self, base: Run, head: Run) -> Iterable[bytes]:
        with ExitStack() as stack:
            asked = AskedSides((base.path, head.path), None, None)
            sides = open_sides(asked, self._place.config, None, stack)
            comparison = compare_sides(*sides[:3], chosen=sides.chosen)
            gated = find_gated(comparison, "passed", ()) if comparison.pairs else []
            compared = Compared(comparison, gated, ())
            yield from write_compared_html(compared, _LARGEST, home="../../")

    def _journal_of(self, run: Run) -> GrowingJournal:
        return self._growing.setdefault(run.path, GrowingJournal(run.journal))

    async def _find(self, id: str) -> Run:
        run = await asyncio.to_thread(self._listing.find, id)
        if run is None:
            raise RefusedError(404, "there is no such run")
        return run

    async def _in_turn(self, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        async with self._turn:
            return await asyncio.to_thread(make)

    async def _make_answer(self, make: Callable[[], Iterable[bytes]]) -> ServedAnswer:
        """Make a page whole before any of it is sent, so that half a page is never seen, and a
        client that reads slowly holds a file and nothing else."""
        with ExitStack() as stack:
            file = stack.enter_context(tempfile.TemporaryFile())
            async with self._turn:
                await asyncio.to_thread(file.writelines, make())
            stack.pop_all()  # whoever sends it closes it
        return ServedAnswer(200, _head_of_page(build_shell(SERVED_SCRIPTS).policy), file)


def _head_of_page(policy: str) -> dict[str, str]:
    return {"Content-Type": "text/html; charset=utf-8", **headers_of(policy)}


def _state_of_run(run: Run) -> str:
    status = read_end(run.journal).status
    return "running" if status == "incomplete" and is_written(run.journal) else status


def _tell_grown(grown: Grown) -> dict[str, Any]:
    suite, case, target, _ = grown.results[0].key
    row = CaseRow(suite, case, target, grown.case, grown.outcome, grown.results)
    return {**tell_row(row), "detail": tell_case(row)}


def _respond_json(value: dict[str, Any]) -> ServedAnswer:
    text = json.dumps(value, separators=(",", ":"))
    headers = {"Content-Type": "application/json; charset=utf-8", **headers_of(NO_SCRIPT)}
    return ServedAnswer(200, headers, text.encode())
