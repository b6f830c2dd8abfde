"""Memory of long runs: what each further case costs, and the whole of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.sums import newest_run, resume_peak_bytes, run_peak_bytes, write_project


def many_figures(folder: Path) -> Iterator[Figure]:
    """Up to 300,000 cases, which takes two minutes. Fewer than 100,000 may be held in memory."""
    return _figures(folder, 100_000, 300_000)


def million_figures(folder: Path) -> Iterator[Figure]:
    """Up to a million, which takes many."""
    return _figures(folder, 100_000, 1_000_000)


def _figures(folder: Path, few: int, many: int) -> Iterator[Figure]:
    (small, _), (large, resumed) = _peaks(folder, few), _peaks(folder, many)
    detail = f"{small / 1e6:.0f} MB → {large / 1e6:.0f} MB"
    each = (large - small) / (many - few)
    yield Figure(f"run: memory per further case, {few:,} → {many:,}", each, "bytes", 100, detail)
    yield Figure(f"run: resident at {many:,} JSONL cases", large / 1e6, "MB", 300)
    yield Figure(f"resume: resident at {many:,} JSONL cases", resumed / 1e6, "MB", 300)


def _peaks(folder: Path, count: int) -> tuple[int, int]:
    """Of a run, and of finding that nothing is left of it."""
    project = write_project(folder / "many", count)
    try:
        ran = run_peak_bytes(project, "python:adding:add")
        return ran, resume_peak_bytes(project, newest_run(project))
    finally:
        shutil.rmtree(project)  # hundreds of megabytes, and quick to write again
