"""What judging adds to the requests that it makes, and grading kept answers again beside a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.judge_server import VERDICT
from benchmarks.measure import command_cpu
from benchmarks.serving import started
from benchmarks.sums import command, newest_run, run_command, write_project

ANSWERS, JUDGED, ROUNDS = 10_000, 1_000, 3
KEY = "EVALCASE_BENCH_KEY"


def regrading_figures(folder: Path) -> Iterator[Figure]:
    """Answers that are kept, graded by the suites once more: no target is asked."""
    project = write_project(folder / "regrading", ANSWERS)
    run = run_command(project, "python:adding:add")
    ran = min(command_cpu(run) for _ in range(ROUNDS))
    grade = command(project, "grade", newest_run(project), "--json")
    graded = min(command_cpu(grade) for _ in range(ROUNDS))
    name = f"grade of {ANSWERS:,} kept answers ÷ running them"
    yield Figure(name, graded / ran, "×", None, f"{graded:.2f} s / {ran:.2f} s")


def judging_figures(folder: Path) -> Iterator[Figure]:
    """CPU per case of a run that is judged, less that of one which asks the same server as much."""
    os.environ[KEY] = "key-of-a-server-that-asks-for-none"
    with started("benchmarks.judge_server") as url:
        config = f"""
[targets.model]
kind = "openai"
model = "always"
base_url = "{url}"
key_env = "{KEY}"
[judge]
target = "model"
"""
        judged = _write(folder / "judged", {"criteria": "Says what the sum is."}, config)
        asked = _write(folder / "asked", {"expected_output": VERDICT}, config)
        pairs = [
            (command_cpu(run_command(judged, "python:adding:add")),
             command_cpu(run_command(asked, "model")))
            for _ in range(ROUNDS)
        ]  # fmt: skip
    judging, asking = (min(column) / JUDGED * 1000 for column in zip(*pairs, strict=True))
    detail = f"{judging:.2f} ms / {asking:.2f} ms"
    yield Figure("a judged case, CPU beyond asking as much", judging - asking, "ms", 1.0, detail)


def _write(folder: Path, fields: dict[str, str], config: str) -> Path:
    project = write_project(folder, JUDGED, config)
    with (project / "sums.eval.jsonl").open("w") as file:
        for number in range(JUDGED):
            case = {"id": f"sum-{number}", "input": f"What is {number}+1?", **fields}
            file.write(json.dumps(case) + "\n")
    return project
