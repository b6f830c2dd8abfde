"""How the command starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.command import environment

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
