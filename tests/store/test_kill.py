"""Fault 1: kill -9 at any moment. Every trial that was acknowledged is in the journal."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.store.samples import python


def test_fault_01_killed_at_every_disk_operation_and_again_while_resuming(tmp_path: Path) -> None:
    command = python("-W", "ignore", "-m", "tests.store.kill_points", str(tmp_path))
    ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout)
    assert seen["killed"] > 60
    assert seen["torn"] > 5
