"""Fault 1: kill -9 at any moment. Every trial that was acknowledged is in the journal."""

from __future__ import annotations

import json
import random
import subprocess
import time
from pathlib import Path

import pytest

from evalcase.store.index import read_index, read_results, read_totals
from evalcase.store.journal import open_journal
from evalcase.types.result import Result
from tests.store.samples import python, result


def test_fault_01_killed_at_every_disk_operation_and_again_while_resuming(tmp_path: Path) -> None:
    command = python("-W", "ignore", "-m", "tests.store.kill_points", str(tmp_path))
    ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout)
    assert seen["killed"] > 60
    assert seen["torn"] > 5


@pytest.mark.parametrize("seed", range(3))
def test_fault_01_killed_at_random_moments(tmp_path: Path, seed: int) -> None:
    """A writer at full speed, killed from outside, then another on the same journal."""
    moments = random.Random(seed)
    path = tmp_path / "journal.jsonl"
    acknowledged: list[int] = []
    for _ in range(4):
        command = python("-m", "tests.store.write_for_ever", str(path))
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            time.sleep(moments.random() * 0.05)
            writer.kill()
            said = writer.stdout.read()
        # The last line may itself be cut off; then it was not said.
        acknowledged += [int(line) for line in said.split(b"\n")[:-1]]
        check(path, acknowledged)
    open_journal(str(path)).close()
    check(path, acknowledged)


def check(path: Path, acknowledged: list[int]) -> None:
    assert len(acknowledged) == len(set(acknowledged))
    found = {each.key: each for each in read_results(str(path))}
    assert [
        number for number in acknowledged if found[result(number).key] != expected(number)
    ] == []
    assert read_totals(str(path)).trials.total == len(found) == len(read_index(str(path)))


def expected(number: int) -> Result:
    return result(number, text="word " * (number % 3000))
