"""`compare` of two runs of very many results: time and memory, over sizes."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.measure import command_cost
from evalcase.store.folder import VERSION
from evalcase.types.answer import Answer, Usage
from evalcase.types.case import Case, canonical_case
from evalcase.types.grade import Grade
from evalcase.types.result import Result
from evalcase.types.target import TrialKey
from evalcase.types.value import encode_object
from tests.store.rows import case_row, encode_row

MOST_MB = 300
EVALCASE = (sys.executable, "-m", "evalcase")


def comparing_figures(folder: Path) -> Iterator[Figure]:
    """Of 10,000 and 100,000 results in each of two runs, which takes a minute."""
    return _figures(folder, 10_000, 100_000)


def comparing_million_figures(folder: Path) -> Iterator[Figure]:
    """Of 10,000 and a million, which takes many minutes and three gigabytes of disk."""
    return _figures(folder, 10_000, 1_000_000)


def _figures(folder: Path, few: int, many: int) -> Iterator[Figure]:
    (quick_s, _), (slow_s, peak) = _measure(folder, few), _measure(folder, many)
    yield Figure(f"compare two runs of {few:,}: CPU", quick_s, "s")
    yield Figure(f"compare two runs of {many:,}: CPU", slow_s, "s")
    growth = slow_s / quick_s / (many / few)
    yield Figure("compare: growth ÷ that of its input", growth, "×", 1.5)
    yield Figure(f"compare two runs of {many:,}: resident", peak / 1e6, "MB", MOST_MB)


def _measure(folder: Path, count: int) -> tuple[float, int]:
    project = folder / "comparing"
    shutil.rmtree(project, ignore_errors=True)
    project.mkdir(parents=True)
    (project / "evalcase.toml").touch()
    try:
        for number in (1, 2):
            write_run(project, number, count)
        return command_cost([*EVALCASE, "compare", "--json"], project)
    finally:
        shutil.rmtree(project)


def write_run(project: Path, number: int, count: int) -> Path:
    """The record of a run, as `evalcase run` would have written it. In the second, one case in
    fifty is broken, one in forty fixed, and one in three is answered in other words."""
    id = f"20260301-09000{number}-a1b2c3"
    run = project / ".evalcase" / "runs" / id
    run.mkdir(parents=True)
    about = {
        "suites": {}, "targets": ["agent"], "options": {}, "trials": count, "cases": count,
        "cwd": ".",
    }  # fmt: skip
    made = {
        "version": VERSION,
        "id": id,
        "created_at": f"2026-03-01T09:00:0{number}Z",
        "about": about,
    }
    (run / "run.json").write_text(json.dumps(made))
    with (run / "journal.jsonl").open("wb") as journal:
        for at in range(count):
            journal.write(encode_row(case_row("s.eval.jsonl", _case(at))))
            row = {"type": "result", **encode_object(_result(at, is_head=number == 2))}
            journal.write(encode_row(row))
        journal.write(encode_row({"type": "end", "status": "completed", "duration_s": 1.0}))
    return run


def _case(at: int) -> Case:
    return canonical_case(
        {
            "id": f"case-{at}", "input": [{"role": "user", "content": f"What is {at} + 1?"}],
            "expected_output": [{"role": "assistant", "content": str(at + 1)}],
            "tags": [f"tag-{at % 7}"], "metadata": {"topic": at % 1000},
        }
    )  # fmt: skip


def _result(at: int, *, is_head: bool) -> Result:
    passed = at % 40 != 0 if not is_head else at % 50 != 1
    words = "It is" if is_head and at % 3 == 0 else "That is"
    said = Answer.of_text(f"{words} {at + 1}.").messages
    grade = Grade("contains", float(passed), passed, "" if passed else "not found")
    return Result(
        TrialKey("s.eval.jsonl", f"case-{at}", "agent", 1), "0" * 16,
        "passed" if passed else "failed", Answer(said, Usage(100 + at % 50, 20), 0.001), (grade,),
        duration_s=0.5 + at % 17 / 10, grading_hash="1" * 16, number=at,
    )  # fmt: skip
