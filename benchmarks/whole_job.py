"""A whole job beside that of pydantic-evals: a file loaded and checked, every case run and graded.

Ours keeps every result on disk, too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure, ratio
from benchmarks.measure import command_cpu
from benchmarks.sums import run_command, write_project

COUNT, ROUNDS = 10_000, 2
BARS = {"YAML": 1 / 3, "JSONL": 1 / 2}
PEER = Path(__file__).parent / "peers" / "pydantic_evals_job.py"


def whole_job_figures(folder: Path) -> Iterator[Figure]:
    """CPU of whole commands; pydantic-evals reads JSON where we read JSONL."""
    for form, bar in BARS.items():
        project = write_project(folder / f"job-{form.lower()}", COUNT)
        theirs = _write_theirs(project, form)
        if form == "YAML":
            _rewrite_as_yaml(project)
        peer = [sys.executable, str(PEER), str(theirs)]
        ours = run_command(project, "python:adding:add")
        rounds = [(command_cpu(peer), command_cpu(ours)) for _ in range(ROUNDS)]
        theirs_s, ours_s = (min(column) for column in zip(*rounds, strict=True))
        name = f"the whole job, {COUNT:,} {form} ÷ that of pydantic-evals"
        yield ratio(name, ours_s, theirs_s, bar)


def _cases(project: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (project / "sums.eval.jsonl").open()]


def _rewrite_as_yaml(project: Path) -> None:
    lines = [
        f"- id: {case['id']}\n  input: {case['input']}\n"
        f'  expected_output: "{case["expected_output"]}"\n'
        for case in _cases(project)
    ]
    (project / "sums.eval.jsonl").unlink()
    (project / "sums.eval.yaml").write_text("cases:\n" + "".join(lines))


def _write_theirs(project: Path, form: str) -> Path:
    """The same cases as pydantic-evals writes them."""
    cases = [
        {"name": each["id"], "inputs": each["input"], "expected_output": each["expected_output"]}
        for each in _cases(project)
    ]
    if form == "JSONL":
        path = project / "theirs.json"
        path.write_text(json.dumps({"name": "sums", "cases": cases}))
        return path
    lines = [
        f"- name: {case['name']}\n  inputs: {case['inputs']}\n"
        f'  expected_output: "{case["expected_output"]}"\n'
        for case in cases
    ]
    path = project / "theirs.yaml"
    path.write_text("name: sums\ncases:\n" + "".join(lines))
    return path
