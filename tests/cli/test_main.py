"""How the command starts: only what it needs is imported, and that is left alone afterwards."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command import evalcase_process

ASKS_THE_COLLECTOR = """
import gc, json, pathlib

def answer(text):
    pathlib.Path("seen.json").write_text(json.dumps([gc.isenabled(), gc.get_freeze_count()]))
    return "y"
"""


def test_what_is_imported_at_the_start_is_out_of_the_collectors_sight(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(ASKS_THE_COLLECTOR)
    (tmp_path / "a.eval.yaml").write_text("- {id: it, input: x, expected_output: y}\n")
    assert evalcase_process("run", "--target", "python:agent:answer", cwd=tmp_path).code == 0
    enabled, frozen = json.loads((tmp_path / "seen.json").read_text())
    assert enabled, "the agent's own garbage is collected"
    assert frozen > 10_000
