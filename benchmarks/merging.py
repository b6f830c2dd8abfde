"""Shards of a long run put together: the time and the memory that it takes."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.sums import command_cost, run_command, write_project
from evalcase.config.options import shard_number
from tests.store.rows import decode_row, encode_row

_SHARDS = 4
_BASE = 40
_SUITE = "sums.eval.jsonl"


def merging_figures(folder: Path) -> Iterator[Figure]:
    """Of 100,000 results and of twice as many."""
    return _figures(folder, 100_000, 200_000)


def merging_million_figures(folder: Path) -> Iterator[Figure]:
    """Of 100,000 and a million, which takes some minutes and three gigabytes of disk."""
    return _figures(folder, 100_000, 1_000_000)


def _figures(folder: Path, few: int, many: int) -> Iterator[Figure]:
    (few_s, _), (many_s, memory) = _cost(folder, few), _cost(folder, many)
    yield Figure(f"merge of {few:,} results in {_SHARDS} shards", few_s, "s")
    yield Figure(f"merge of {many:,} results in {_SHARDS} shards", many_s, "s")
    yield Figure(f"merge of {many:,} results: resident", memory / 1e6, "MB", 300)
    growth = many_s / few_s / (many / few)
    yield Figure("merge: growth ÷ that of its input", growth, "×", 1.2)


def _cost(folder: Path, count: int) -> tuple[float, int]:
    project = write_project(folder / "merging", _BASE)
    try:
        names = [f"shard-{number}" for number in range(1, _SHARDS + 1)]
        for number, name in enumerate(names, 1):
            shard = ["--shard", f"{number}/{_SHARDS}", "--runs-dir", name]
            command = [*run_command(project, "python:adding:add"), *shard]
            subprocess.run(command, check=True, capture_output=True)
        _lengthen([_run_in(project / name) for name in names], count)
        return command_cost(project, "merge", *names, "--json")
    finally:
        shutil.rmtree(project)


def _run_in(folder: Path) -> Path:
    (run,) = [path for path in folder.iterdir() if path.is_dir()]
    return run


def _lengthen(runs: list[Path], count: int) -> None:
    """Have each shard hold those of so many cases that would be dealt to it, all with what came of
    its first one."""
    journals = [run / "journal.jsonl" for run in runs]
    rows = [[decode_row(line) for line in journal.open("rb")] for journal in journals]
    written = [0] * _SHARDS
    files = [journal.open("wb") for journal in journals]
    for place in range(count):
        id = f"sum-{place}"
        shard = shard_number(_SUITE, id) * _SHARDS >> 64
        case, result, *_ = rows[shard]
        data = {**case["data"], "id": id}
        files[shard].write(encode_row({**case, "case": id, "data": data}))
        files[shard].write(encode_row({**result, "case": id, "number": place}))
        written[shard] += 1
    for run, file, there, trials in zip(runs, files, rows, written, strict=True):
        file.write(encode_row({**there[-1], "trials": trials}))
        file.close()
        _plan(run / "run.json", trials)


def _plan(path: Path, trials: int) -> None:
    about = json.loads(path.read_bytes())
    about["about"] |= {"trials": trials, "cases": trials}
    path.write_text(json.dumps(about))
