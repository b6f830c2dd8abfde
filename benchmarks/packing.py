"""Records of long runs, compressed: what that takes, what it saves, and what reading them costs;
and the list of a thousand runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.measure import command_cost, median_cpus
from benchmarks.reporting import lengthen
from benchmarks.sums import command, newest_run, run_command, write_project
from benchmarks.sums import command_cost as cost_of

_BASE = 10_000
_RUNS = 1_000
_PACK = """
import sys
from evalcase.record.folder import read_run
from evalcase.record.packing import pack_journal
assert pack_journal(read_run(sys.argv[1]), print)
"""


def packing_figures(folder: Path) -> Iterator[Figure]:
    """Of 100,000 results."""
    return _figures(folder, 100_000)


def packing_million_figures(folder: Path) -> Iterator[Figure]:
    """Of a million, which takes some minutes and two gigabytes of disk."""
    return _figures(folder, 1_000_000)


def _figures(folder: Path, count: int) -> Iterator[Figure]:
    project = write_project(folder / "packing", _BASE)
    try:
        subprocess.run(run_command(project, "python:adding:add"), check=True, capture_output=True)
        run = project / ".evalcase" / "runs" / newest_run(project)
        lengthen(run, count // _BASE)
        plain_s, _ = cost_of(project, "report")
        size = (run / "journal.jsonl").stat().st_size
        packing_s, memory = command_cost([sys.executable, "-c", _PACK, str(run)])
        packed = (run / "journal.jsonl.gz").stat().st_size
        detail = f"{size / 1e6:,.0f} MB → {packed / 1e6:,.0f} MB"
        yield Figure(f"{count:,} results: journal ÷ compressed", size / packed, "×", None, detail)
        yield Figure(f"compressing {count:,} results", packing_s, "s")
        yield Figure(f"compressing {count:,} results: resident", memory / 1e6, "MB", 300)
        packed_s, memory = cost_of(project, "report")
        detail = f"{packed_s:.2f} s / {plain_s:.2f} s"
        yield Figure(
            "report of it ÷ before it was compressed", packed_s / plain_s, "×", None, detail
        )
        yield Figure("report of it: resident", memory / 1e6, "MB", 300)
    finally:
        shutil.rmtree(project)


def list_figures(folder: Path) -> Iterator[Figure]:
    """A folder with a thousand runs of three cases."""
    project = write_project(folder / "listing", 3)
    try:
        subprocess.run(run_command(project, "python:adding:add"), check=True, capture_output=True)
        first = project / ".evalcase" / "runs" / newest_run(project)
        for number in range(1, _RUNS):
            _copy(first, f"20260101-{number // 60 % 24:02}{number % 60:02}00-{number:06x}")
        few, all_s = median_cpus(
            [command(project, "list"), command(project, "list", "--limit", str(_RUNS))], 5
        )
        yield Figure(f"list, where there are {_RUNS:,} runs", few, "s", 0.3)
        yield Figure(f"list --limit {_RUNS}", all_s, "s")
    finally:
        shutil.rmtree(project)


def _copy(run: Path, name: str) -> None:
    other = shutil.copytree(run, run.with_name(name))
    about = json.loads((other / "run.json").read_bytes())
    (other / "run.json").write_text(json.dumps({**about, "id": name}))
