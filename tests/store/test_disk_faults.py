"""Fault 3: disk full, read-only, EIO on fsync."""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from evalcase.errors import RecordError
from evalcase.store.journal import JournalFailure, open_journal
from tests.for_each import for_each
from tests.store.faults import ForgetfulDisk, SmallDisk
from tests.store.samples import append_and_wait, python, result, row, rows_of


@for_each("room", [0, 1, 700, 1500, 2000])
def test_fault_03_a_full_disk_stops_the_journal_and_says_what_is_safe(
    tmp_path: Path, room: int
) -> None:
    path = tmp_path / "journal.jsonl"
    failures: list[JournalFailure] = []
    ended = threading.Semaphore(0)  # a row is on disk, or the journal has failed

    def fail(failure: JournalFailure) -> None:
        failures.append(failure)
        ended.release()

    journal = open_journal(str(path), disk=SmallDisk(room=room), on_failure=fail)
    safe = -1
    while not failures:
        safe += 1
        journal.append(result(safe), ended.release)
        assert ended.acquire(timeout=60)
    with pytest.raises(RecordError, match="No space left"):
        journal.append(result(safe), lambda: None)
    assert failures == [journal.failure]
    assert failures[0].error.errno == errno.ENOSPC
    assert failures[0].rows == safe
    assert failures[0].last == (f"case-{safe - 1}" if safe else None)
    with pytest.raises(RecordError, match=f"'case-{safe - 1}'" if safe else "no row is safe"):
        journal.close()
    assert rows_of(path) == [row(number) for number in range(safe)]

    with open_journal(str(path)) as again:  # room was made
        assert append_and_wait(again, row(safe))
    assert rows_of(path) == [row(number) for number in range(safe + 1)]


def test_fault_03_a_failed_sync_is_final(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    # The first two syncs are those of opening: of the journal, and of its folder.
    failed = threading.Event()
    disk = ForgetfulDisk(fails_at=4)
    journal = open_journal(str(path), disk=disk, on_failure=lambda _: failed.set())
    assert append_and_wait(journal, row(1))
    acknowledged: list[int] = []
    journal.append(result(2), lambda: acknowledged.append(2))
    assert failed.wait(60)
    assert acknowledged == []
    assert journal.failure is not None
    assert journal.failure.error.errno == errno.EIO
    assert journal.failure.last == "case-1"
    with pytest.raises(RecordError):
        journal.append(result(3), lambda: None)
    with pytest.raises(RecordError, match="Input/output error; safe are the first 1 rows"):
        journal.close()
    # Row 2 can't be trusted to stay, so nobody may take it for finished.
    assert rows_of(path) == [row(1)]


def test_fault_03_a_sync_that_fails_on_opening(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    for fails_at in (1, 2):
        with pytest.raises(RecordError, match="Input/output error"):
            open_journal(str(path), disk=ForgetfulDisk(fails_at=fails_at))
    open_journal(str(path)).close()  # nobody holds the lock


def fill(folder: Path, *arguments: str, around: tuple[str, ...] = ()) -> list[object]:
    """Let a process write until its disk is full; what it says of that."""
    command = [*around, *python("-m", "tests.store.fill_disk", str(folder), *arguments)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    said: list[object] = json.loads(ran.stdout)
    return said


def test_fault_03_a_file_that_may_not_grow(tmp_path: Path) -> None:
    """The kernel's own short write and error, by a limit on the size of files."""
    acknowledged, rows, error, found = fill(tmp_path, "100000")
    assert acknowledged == rows
    assert error == errno.EFBIG
    assert isinstance(found, int)
    assert isinstance(rows, int)
    assert found >= rows > 50


def test_fault_03_a_full_file_system(tmp_path: Path) -> None:
    around = ("unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=64k small "$0" && exec "$@"')
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here")
    probe = subprocess.run([*around, str(tmp_path), "true"], check=False, capture_output=True)
    if probe.returncode:
        pytest.skip("no file system can be mounted here")
    acknowledged, rows, error, found = fill(tmp_path, around=(*around, str(tmp_path)))
    assert acknowledged == rows
    assert error == errno.ENOSPC
    assert isinstance(found, int)
    assert isinstance(rows, int)
    assert found >= rows > 20


def test_fault_03_a_read_only_file_system(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.mkdir()  # root may write anywhere, but not here
    with pytest.raises(RecordError, match="can't be written: Is a directory"):
        open_journal(str(path))
