"""Rows of a run in, the page out, written as they come: only compressed columns are held."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

from msgspec.structs import asdict

from evalcase.report.figures.json_object import figures_object
from evalcase.report.page.assets import SCRIPTS, SERVED_SCRIPTS, build_shell
from evalcase.report.page.chunks import Chunks, KeptChunks, pack_element, squeeze_json
from evalcase.report.page.columns import PAGE_VERDICTS, ColumnTable
from evalcase.report.page.detail import tell_case
from evalcase.report.page.messages import Told
from evalcase.report.page.subject import CaseRow, RunFacts
from evalcase.types.value import Value


class Page(Value, frozen=True):
    """What a page is of."""

    run: RunFacts
    base: RunFacts | None = None
    """The run that it is compared with."""
    comparison: Told | None = None
    """What is said of the two together."""
    more: str = ""
    """The command that shows what had to be left out."""
    home: str = ""
    """Where the list of all runs is, seen from the page, if it is served."""
    watch: Told | None = None
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
        table.add(row, *chunks.add(tell_case(row), may_drop=_may_drop(row)))
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
    kept = chunks.choose(max_size - size - longest)
    yield from chunks.read(kept)
    yield _pack_run(page, table, kept, max_size)
    yield shell.tail


def _pack_run(page: Page, table: ColumnTable, kept: KeptChunks, max_size: int) -> bytes:
    return pack_element("run", squeeze_json(_tell_run(page, table, kept, max_size)))


def _may_drop(row: CaseRow) -> bool:
    """Whether nobody would miss it: it passed, and nothing changed."""
    return row.verdict == "passed" and (row.base is None or row.base.change == "same")


def _tell_run(page: Page, table: ColumnTable, kept: KeptChunks, max_size: int) -> Told:
    told: Told = {
        "run": _tell_facts(page.run),
        "verdicts": PAGE_VERDICTS,
        "suites": list(table.suites), "targets": list(table.targets),
        "tags": list(table.tags), "graders": list(table.graders), "vars": list(table.variables),
        "columns": list(table.columns),
        "count": table.count,
    }  # fmt: skip
    if page.home:
        told |= {"home": page.home, "watch": page.watch}
    if kept.cases:
        told["left_out"] = {
            "cases": kept.cases,
            "chunks": kept.dropped,
            "cap": max_size,
            "command": page.more,
        }
    if page.base is not None:
        told["base"] = _tell_facts(page.base)
        told["comparison"] = page.comparison or {}
    return told


def _tell_facts(run: RunFacts) -> dict[str, Any]:
    return {**asdict(run), "figures": figures_object(run.figures)}
