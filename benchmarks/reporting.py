"""Reports of long runs: the time and the memory that they take, and whether both stay in bounds."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure
from benchmarks.sums import command_cost, newest_run, run_command, write_project
from tests.store.rows import decode_row, encode_row

_BASE = 10_000
_TAGS = 7
FORMS = {
    "report": ("report",),
    "report --cluster": ("report", "--cluster", "tags.0"),
    "report --format json": ("report", "--format", "json"),
}  # fmt: skip


def report_figures(folder: Path) -> Iterator[Figure]:
    """Of 10,000 results and of ten times as many."""
    return _figures(folder, 100_000)


def report_million_figures(folder: Path) -> Iterator[Figure]:
    """Of 10,000 and of a million, which takes some minutes and a gigabyte of disk."""
    return _figures(folder, 1_000_000)


def _figures(folder: Path, many: int) -> Iterator[Figure]:
    project = write_project(folder / "reporting", _BASE, tags=_TAGS)
    try:
        subprocess.run(run_command(project, "python:adding:add"), check=True, capture_output=True)
        run = project / ".evalcase" / "runs" / newest_run(project)
        few = {name: command_cost(project, *form) for name, form in FORMS.items()}
        lengthen(run, many // _BASE)
        for name, form in FORMS.items():
            (small_s, small), (large_s, large) = few[name], command_cost(project, *form)
            each = (large - small) / (many - _BASE)
            yield Figure(f"{name} of {_BASE:,} results", small_s, "s")
            yield Figure(f"{name} of {many:,} results", large_s, "s")
            yield Figure(f"{name} of {many:,}: resident", large / 1e6, "MB")
            yield Figure(f"{name}: memory per further result", each, "bytes")
    finally:
        shutil.rmtree(project)


def lengthen(run: Path, times: int) -> None:
    """Make the record of a run that of so many times as many cases: all of them again and again,
    under other names."""
    journal, longer = run / "journal.jsonl", run / "longer.jsonl"
    with journal.open("rb") as lines, longer.open("wb") as file:
        for number, line in enumerate(lines):
            row = decode_row(line)
            copies = times if "case" in row else 1
            for copy in range(copies):
                file.write(encode_row(_rename(row, copy, number) if copy else row))
    longer.replace(journal)


def _rename(row: dict[str, Any], copy: int, number: int) -> dict[str, Any]:
    name = f"{row['case']}-{copy}"
    if "data" in row:
        return {**row, "case": name, "data": {**row["data"], "id": name}}
    return {**row, "case": name, "number": copy * _BASE + number}
