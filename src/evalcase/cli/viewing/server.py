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
from contextlib import ExitStack, suppress
from typing import Any, BinaryIO

from aiohttp import web

from evalcase.cli.compared_sides import AskedSides, open_sides
from evalcase.cli.conclusion import RecordPlace
from evalcase.cli.reports.compared_page import write_compared_html
from evalcase.cli.reports.page import write_html
from evalcase.cli.reports.reported import Reported
from evalcase.cli.viewing.guard import NO_SCRIPT, Guard, answer_in_words, headers_of
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

_LARGEST = 1_000_000_000
"""A page that is served may be larger than one that is kept."""
_BLOCK = 1 << 18


class Viewer:
    """Answers what the guard lets through. Records are read in a thread, one page at a time."""

    def __init__(self, listing: Listing, place: RecordPlace) -> None:
        self._listing = listing
        self._place = place
        self._turn = asyncio.Lock()
        self._growing: dict[str, GrowingJournal] = {}

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/{token}/", self.show_runs),
            web.get("/{token}/runs", self.tell_runs),
            web.get("/{token}/run/{id}", self.show_run),
            web.get("/{token}/rows/{id}", self.tell_rows),
            web.get("/{token}/compare/{base}/{head}", self.show_comparison),
        ]

    async def show_runs(self, request: web.Request) -> web.StreamResponse:
        told = await self._in_turn(self._listing.tell)
        shell = build_shell(RUNS_SCRIPTS)
        pieces = [shell.head, pack_element("runs", squeeze_json(told)), shell.tail]
        return await self._send(request, pieces, shell.policy)

    async def tell_runs(self, request: web.Request) -> web.StreamResponse:
        del request
        return _respond_json(await self._in_turn(self._listing.tell))

    async def show_run(self, request: web.Request) -> web.StreamResponse:
        run = await self._find(request.match_info["id"])
        return await self._send_made(request, lambda: self._make_page(run))

    async def show_comparison(self, request: web.Request) -> web.StreamResponse:
        runs = [await self._find(request.match_info[name]) for name in ("base", "head")]
        return await self._send_made(request, lambda: self._make_comparison(*runs))

    async def tell_rows(self, request: web.Request) -> web.StreamResponse:
        run = await self._find(request.match_info["id"])
        text = request.query.get("offset", "")
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise web.HTTPBadRequest(reason="`offset` must be a number of bytes")
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
            raise web.HTTPNotFound(reason="there is no such run")
        return run

    async def _in_turn(self, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        async with self._turn:
            return await asyncio.to_thread(make)

    async def _send_made(
        self, request: web.Request, make: Callable[[], Iterable[bytes]]
    ) -> web.StreamResponse:
        """Make a page whole before any of it is sent, so that half a page is never seen, and a
        client that reads slowly holds a file and nothing else."""
        with tempfile.TemporaryFile() as file:
            async with self._turn:
                await asyncio.to_thread(file.writelines, make())
            file.seek(0)
            return await self._send(request, _read_blocks(file), build_shell(SERVED_SCRIPTS).policy)

    async def _send(
        self, request: web.Request, pieces: Iterable[bytes], policy: str
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers=headers_of(policy))
        response.content_type, response.charset = "text/html", "utf-8"
        with suppress(ConnectionError):  # whoever asked has left
            await response.prepare(request)
            if request.method != "HEAD":
                for piece in pieces:
                    await response.write(piece)
            await response.write_eof()
        return response


def make_app(viewer: Viewer, guard: Guard) -> web.Application:
    """The application: whatever goes wrong with a record is said, and ends nothing."""

    @web.middleware
    async def watch(request: web.Request, handler: Any) -> web.StreamResponse:  # noqa: ANN401 - aiohttp's
        return await guard(request, handler)

    @web.middleware
    async def explain(request: web.Request, handler: Any) -> web.StreamResponse:  # noqa: ANN401 - aiohttp's
        try:
            response: web.StreamResponse = await handler(request)
        except EvalcaseError as error:
            return answer_in_words(409 if isinstance(error, ConfigError) else 500, str(error))
        return response

    app = web.Application(middlewares=[watch, explain])
    app.add_routes(viewer.routes())
    return app


def _state_of_run(run: Run) -> str:
    status = read_end(run.journal).status
    return "running" if status == "incomplete" and is_written(run.journal) else status


def _tell_grown(grown: Grown) -> dict[str, Any]:
    suite, case, target, _ = grown.results[0].key
    row = CaseRow(suite, case, target, grown.case, grown.outcome, grown.results)
    return {**tell_row(row), "detail": tell_case(row)}


def _respond_json(value: dict[str, Any]) -> web.Response:
    text = json.dumps(value, separators=(",", ":"))
    headers = headers_of(NO_SCRIPT)
    return web.Response(text=text, content_type="application/json", headers=headers)


def _read_blocks(file: BinaryIO) -> Iterable[bytes]:
    while block := file.read(_BLOCK):
        yield block
