"""How many modules and functions of ours `evalcase run` of one case with one grader executes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure

_SUITE = "cases: [{id: one, input: 'What is 2+2?', graders: [{contains: '4'}]}]\n"
_RUN = """
import json, os, sys, threading

seen = set()

def look(frame, event, arg):
    module = frame.f_globals.get("__name__", "")
    if event == "call" and module.startswith("evalcase") and frame.f_code.co_name != "<module>":
        seen.add((module, frame.f_code.co_qualname))

sys.setprofile(look)
threading.setprofile(look)
sys.argv = ["evalcase", "run", "a.eval.yaml", "--target", "python:agent:answer"]
try:
    from evalcase.cli.main import main
    main()
except SystemExit as end:
    assert end.code == 0, end.code
sys.setprofile(None)
os.write(2, json.dumps([len({module for module, _ in seen}), len(seen)]).encode())
"""


def walk_figures(folder: Path) -> Iterator[Figure]:
    place = folder / "walk"
    place.mkdir(parents=True, exist_ok=True)
    (place / "evalcase.toml").touch()
    (place / "agent.py").write_text("def answer(question): return 'It is 4.'\n")
    (place / "a.eval.yaml").write_text(_SUITE)
    ran = subprocess.run(
        [sys.executable, "-c", _RUN], cwd=place, capture_output=True, text=True, check=True
    )
    modules, functions = json.loads(ran.stderr.splitlines()[-1])
    yield Figure("modules executed for one case with one grader", modules, "", 80)
    yield Figure("functions executed for one case with one grader", functions, "", 500)
