"""Coroutines that don't end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import asyncio, evalcase, json

async def swallow(text):
    while True:
        try:
            await asyncio.sleep(100)
        except BaseException:
            pass

async def answer(question):
    await swallow(question)

async def generate():
    while True:
        try:
            await swallow("x")
            yield
        except BaseException:
            pass

async def iterates(question):
    async for _ in generate():
        pass

case = {"id": "one", "input": "x", "timeout_s": 0.05}
suite = evalcase.loads(json.dumps({"cases": [case]}))
evaluated = evalcase.evaluate(suite, [answer, iterates, "echo"], graders=[swallow])
print(evaluated.totals.trials.errored)
"""


def test_one_that_swallows_everything_keeps_no_program_from_its_end(tmp_path: Path) -> None:
    (tmp_path / "evalcase.toml").write_text("grader_timeout_s = 0.05\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, check=False, capture_output=True,
        text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, ["3"])
