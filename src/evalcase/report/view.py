"""evalcase view: the pages of all runs of a project, served to this machine alone and read-only.

Addresses are /TOKEN/ for the list, /TOKEN/run/ID and /TOKEN/compare/BASE/HEAD for pages, and
/TOKEN/runs and /TOKEN/rows/ID?offset=BYTES for what has come since. Requests are answered only for
a browser of this machine that was given the address, and not if another page sent them. No answer
can be framed, stored or read by another origin.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import tempfile
import webbrowser
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from hmac import compare_digest
from typing import Any, BinaryIO, TextIO, TypeVar
from urllib.parse import unquote

from aiohttp import web
from msgspec import Struct, field
from msgspec.structs import asdict

from evalcase.errors import ConfigError, EvalcaseError
from evalcase.report.aggregate import Figuring, Ledger
from evalcase.report.case_data import CaseRow, case_data
from evalcase.report.compare import compare_sides
from evalcase.report.evaluated import read_evaluated, remark_on
from evalcase.report.figures import Mean
from evalcase.report.formats import Reported, find_suite_places
from evalcase.report.gates import Compared, find_gated
from evalcase.report.page import (
    RUNS_SCRIPTS,
    SERVED_SCRIPTS,
    build_shell,
    pack_json,
    row_data,
    write_compact,
    write_compared_html,
    write_html,
)
from evalcase.report.sides import open_sides
from evalcase.report.terminal import Reader
from evalcase.store.folder import Run, folder_of_run, is_own
from evalcase.store.reader import is_written, read_end
from evalcase.store.runs import list_runs
from evalcase.store.stored import GrowingJournal, StoredRun
from evalcase.util.environment import Environment, monotonic

T = TypeVar("T")
_PATIENCE_S = 1.0
"""How long runs are read for one answer; the next one goes on with the rest."""


class Listing(Struct):
    folder: str
    root: str
    state: str | None
    """Of the project and of the user whose runs these are, as far as they are."""
    _known: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = field(default_factory=dict)

    def find(self, id: str) -> Run | None:
        """A run by its id. No path is made of what a request names."""
        return next((each.run for each in list_runs(self.folder) if each.id == id), None)

    def tell(self) -> dict[str, Any]:
        """All runs, newest first; `pending` while some have yet to be read."""
        until, pending, told = monotonic() + _PATIENCE_S, False, []
        for listed in list_runs(self.folder):
            about: dict[str, Any] = {"id": listed.id, "status": listed.status}
            if listed.run is None:
                told.append({**about, "problem": listed.problem})
                continue
            about |= {"created_at": listed.run.created_at, "status": _state_of_run(listed.run)}
            is_running = about["status"] == "running"
            read = self._read(listed.run, running=is_running, may_read=monotonic() < until)
            pending = pending or read is None
            told.append(about | (read or {}))
        return {"runs": told, "pending": pending}

    def _read(self, run: Run, *, running: bool, may_read: bool) -> dict[str, Any] | None:
        """What a journal says, also while it is written; None if there is no time to read it."""
        about = os.stat(run.journal) if os.path.exists(run.journal) else None
        mark = (running, *((about.st_size, about.st_mtime_ns) if about is not None else (0, 0)))
        before, found = self._known.get(run.path, ((), {}))
        if before == mark or not may_read:
            return found if before == mark else None
        try:
            own = is_own(run, self.state, self.root)
            found = _read_run(run, self.root, own=own, running=running)
        except EvalcaseError as error:
            found = {"problem": str(error)}
        self._known[run.path] = (mark, found)
        return found


def _state_of_run(run: Run) -> str:
    status = read_end(run.journal).status
    return "running" if status == "incomplete" and is_written(run.journal) else status


def _read_run(run: Run, root: str, *, own: bool, running: bool) -> dict[str, Any]:
    ledger, find_place = Ledger(), find_suite_places(root, folder_of_run(run))
    with StoredRun(run) as stored:
        for case in stored.cases():
            ledger.add_verdict(find_place(case.suite), case.case, case.target, case.verdict)
        evaluated, remark = read_evaluated(stored), remark_on(stored, own=own, running=running)
    totals = evaluated.totals
    # What a last row says is told without this: it is wrong where results are lost.
    is_lacking = evaluated.status == "incomplete" and evaluated.notice
    figures = ledger.sum_up(evaluated)
    figuring = Figuring(figures.interval)
    return {
        **({"status": evaluated.status} if is_lacking else {}),
        # The rate of all, and of each suite at each target, with the intervals that `report` has.
        "rate": _rate_data(figures.all.rate),
        "parts": [
            {
                "suite": suite, "target": target,
                "rate": _rate_data(figuring.slice([*cells.values()], {}).rate),
            }
            for (suite, target), cells in ledger.places.items()
        ],
        "cases": totals.cases.total, "cost": totals.spent_usd,
        "verdicts": {name: count for name, count in asdict(totals.cases).items() if count},
        "remark": remark.text, "apart": remark.is_apart,
    }  # fmt: skip


def _rate_data(rate: Mean) -> Sequence[float | None] | None:
    """A share and its interval, null where that can't be estimated; None of nothing."""
    return None if rate.value is None else (rate.value, rate.low, rate.high)


_HOST = "127.0.0.1"
_SHUTDOWN_S = 0.5
"""How long an answer may still take once the server is stopped."""
_LARGEST = 1_000_000_000
"""A page that is served may be larger than one that is kept."""
_LONGEST_HEADER = 1 << 16
_FOREIGN = frozenset({"cross-site", "same-site"})
_NO_SCRIPT = "default-src 'none'"
"""The policy of answers that are no page."""
_LOGGER = logging.getLogger("evalcase.view")


async def serve_viewer(
    listing: Listing, reader: Reader, environment: Environment, out: TextIO, *, run: Run | None,
    port: int, opens_browser: bool,
) -> None:  # fmt: skip
    """Serve until Ctrl-C, with the page of a run, or the list, opened first. Raise ConfigError if
    the port can't be used."""
    token = urlsafe_b64encode(os.urandom(32)).rstrip(b"=").decode()
    viewer = Viewer(token, listing, reader)
    # aiohttp logs every request that is not HTTP, which is nothing for the terminal.
    silent = logging.getLogger("evalcase.view.http")
    silent.disabled = True
    server = web.Server(
        viewer.answer, access_log=None, logger=silent,
        max_line_size=_LONGEST_HEADER, max_field_size=_LONGEST_HEADER,
    )  # fmt: skip
    runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=_SHUTDOWN_S)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, _HOST, port).start()
        except OSError as error:
            why = f"port {port} can't be used: {error.strerror or error}"
            raise ConfigError(why) from error
        viewer.port = runner.addresses[0][1]
        address = f"http://{_HOST}:{viewer.port}/{token}/"
        if run is not None:
            address += f"run/{os.path.basename(run.path)}"
        out.write(f"{address}\npress Ctrl-C to stop\n")
        out.flush()
        if opens_browser and has_screen(environment.variables, sys.platform):
            await asyncio.to_thread(webbrowser.open, address)
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


def has_screen(environment: Mapping[str, str], platform: str) -> bool:
    """Whether a browser would have a window. Without one, Python might start one in the terminal,
    over what stands there."""
    if platform in ("win32", "darwin"):
        return True
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


class Viewer:
    """Answers requests. Records are read in a thread, one page at a time."""

    def __init__(self, token: str, listing: Listing, reader: Reader) -> None:
        self._token = token
        self._listing = listing
        self._reader = reader
        self._turn = asyncio.Lock()
        self._growing: dict[str, GrowingJournal] = {}
        self.port = 0

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Whatever goes wrong with a request or a record is said, and ends nothing."""
        try:
            self._check(request)
            return await self._answer(request)
        except web.HTTPException as refused:
            response = _respond_in_words(refused.status, refused.text or "")
            response.force_close()  # a body is not read
            return response
        except ConfigError as error:
            return _respond_in_words(409, str(error))
        except EvalcaseError as error:
            return _respond_in_words(500, str(error))
        except ConnectionError:
            raise  # the browser has left
        except Exception:
            _LOGGER.exception("a request can't be answered")
            return _respond_in_words(500, "this can't be shown; the terminal says why")

    def _check(self, request: web.BaseRequest) -> None:
        hosts = [f"{name}:{self.port}" for name in (_HOST, "localhost")]
        if request.headers.getall("Host", []) not in [[each] for each in hosts]:
            raise web.HTTPBadRequest(text="this address is not that of evalcase view")
        if request.method not in ("GET", "HEAD"):
            raise web.HTTPMethodNotAllowed("", [], text="nothing can be changed here")
        if _is_foreign(request.headers, hosts):
            raise web.HTTPForbidden(text="another page may not ask for this")
        given = _split_path(request)[1]
        if not compare_digest(given.encode("utf-8", "replace"), self._token.encode()):
            raise web.HTTPForbidden(text="open the address in your terminal")
        if request.body_exists:
            raise web.HTTPRequestEntityTooLarge(0, 0, text="nothing can be sent here")

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        match [unquote(step) for step in _split_path(request)[2:]]:
            case [""]:
                told = await self._in_turn(self._listing.tell)
                shell = build_shell(RUNS_SCRIPTS)
                page = b"".join((shell.head, pack_json("runs", write_compact(told)), shell.tail))
                return _respond(page, shell.policy)
            case ["runs"]:
                return _respond_json(await self._in_turn(self._listing.tell))
            case ["run", id]:
                run = await self._find(id)
                return await self._send_page(lambda: self._make_page(run))
            case ["rows", id]:
                run, offset = await self._find(id), request.query.get("offset", "")
                if not (offset.isascii() and offset.isdigit() and len(offset) < 16):
                    raise web.HTTPBadRequest(text="`offset` must be a number of bytes")
                rows = await self._in_turn(lambda: self._rows_data(run, int(offset)))
                return _respond_json(rows)
            case ["compare", *ids] if len(ids) == 2:
                base, head = [await self._find(id) for id in ids]
                return await self._send_page(lambda: self._make_comparison(base, head))
        raise web.HTTPNotFound(text="Not Found")

    def _rows_data(self, run: Run, offset: int) -> dict[str, Any]:
        tail = self._journal_of(run).read_since(offset)
        rows = []
        for each in tail.cases:
            suite, case, target, _ = each.results[0].key
            row = CaseRow(suite, case, target, each.case, each.outcome, each.results)
            rows.append({**row_data(row), "detail": case_data(row)})
        return {"offset": tail.offset, "state": _state_of_run(run), "rows": rows}

    def _make_page(self, run: Run) -> Iterable[bytes]:
        watch = None
        if _state_of_run(run) == "running":
            # Before it is read: what comes in between is told once more, and nothing is missed.
            reached = self._journal_of(run).reach()
            watch = {"address": f"../rows/{os.path.basename(run.path)}", "offset": reached}
        with StoredRun(run) as stored:
            reported = Reported(stored, self._reader, max_size=_LARGEST)
            yield from write_html(reported, home="../", watch=watch)

    def _make_comparison(self, base: Run, head: Run) -> Iterable[bytes]:
        with ExitStack() as stack:
            sides = open_sides((base.path, head.path), self._reader.config, stack)
            comparison = compare_sides(*sides[:3], chosen=sides.chosen)
            gated = find_gated(comparison, "passed", ()) if comparison.pairs else []
            compared = Compared(comparison, gated, ())
            yield from write_compared_html(compared, _LARGEST, home="../../")

    def _journal_of(self, run: Run) -> GrowingJournal:
        return self._growing.setdefault(run.path, GrowingJournal(run.journal))

    async def _find(self, id: str) -> Run:
        run = await asyncio.to_thread(self._listing.find, id)
        if run is None:
            raise web.HTTPNotFound(text="there is no such run")
        return run

    async def _in_turn(self, make: Callable[[], T]) -> T:
        async with self._turn:
            return await asyncio.to_thread(make)

    async def _send_page(self, make: Callable[[], Iterable[bytes]]) -> web.Response:
        """Make a page whole before any of it is sent, so that half a page is never seen, and a
        client that reads slowly holds a file and nothing else."""
        file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed when it is sent
        await self._in_turn(lambda: file.writelines(make()))
        file.seek(0)
        return _respond(file, build_shell(SERVED_SCRIPTS).policy)


def _split_path(request: web.BaseRequest) -> list[str]:
    """The steps of the path as it was sent: an escaped slash is no slash. The first is empty, the
    second is the token."""
    steps = request.raw_path.partition("?")[0].split("/")
    return steps if len(steps) > 1 else ["", ""]


def _is_foreign(headers: Mapping[str, str], hosts: list[str]) -> bool:
    """Whether another page sent a request."""
    origin = headers.get("Origin")
    if origin is not None and origin.removeprefix("http://") not in hosts:
        return True
    if headers.get("Sec-Fetch-Site") not in _FOREIGN:
        return False
    # A person who follows a link in a mail or a chat opens a page, and nothing reads it.
    asked = (headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest"))
    return asked != ("navigate", "document")


def _respond(
    body: bytes | BinaryIO, policy: str = _NO_SCRIPT, kind: str = "text/html", status: int = 200
) -> web.Response:
    headers = {
        "Content-Security-Policy": f"{policy}; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
    return web.Response(
        body=body, status=status, headers=headers, content_type=kind, charset="utf-8"
    )


def _respond_json(value: dict[str, Any]) -> web.Response:
    return _respond(write_compact(value).encode(), kind="application/json")


def _respond_in_words(status: int, text: str) -> web.Response:
    return _respond(f"{text}\n".encode(), kind="text/plain", status=status)
