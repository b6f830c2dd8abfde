"""How the command starts: only what it needs is imported, and that is left alone afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.command import environment, evalcase_process

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


def test_the_version_is_told_without_anything_else(tmp_path: Path) -> None:
    assert not imported({"typing", "gc", "evalcase.cli.app"}, "--version", cwd=tmp_path)


def imported(names: set[str], *arguments: str, cwd: Path) -> set[str]:
    """Which of these modules the command imports."""
    code = "import sys, atexit; atexit.register(lambda: sys.stderr.write(' '.join(sys.modules)))\n"
    code += f"sys.argv = ['evalcase', *{arguments!r}]\nimport evalcase.__main__"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, env=environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return names & set(done.stderr.split())


PRESSED = """
import sys

class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == "evalcase.cli.run":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Pressed())
sys.argv[1:] = ["run"]
from evalcase.cli.main import main
main()
"""


def test_ctrl_c_while_it_starts_is_no_crash(tmp_path: Path) -> None:
    """Before the command is there, nobody else sees to it: an import may be under way."""
    done = subprocess.run(
        [sys.executable, "-c", PRESSED], cwd=tmp_path, env=environment(), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "evalcase: interrupted\n")
