from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest

from evalcase.errors import RecordError
from evalcase.store import journal as journal_module
from evalcase.store.journal import Done
from tests.for_each import for_each
from tests.store.faults import WatchedDisk
from tests.store.samples import append_and_wait, open_journal, python, result, row, rows_of, write


def test_a_journal_is_continued_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, [row(1)])
    with closing(open_journal(str(path))) as journal:
        assert (journal.rows, journal.cut) == (1, None)
        assert append_and_wait(journal, row(2))
        assert journal.rows == 2
    assert rows_of(path) == [row(1), row(2)]


def test_no_row_is_acknowledged_before_it_is_synced(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    disk = WatchedDisk()
    early: list[int] = []

    def check(number: int) -> None:
        if f'"case-{number}"'.encode() not in path.read_bytes()[: disk.synced]:
            early.append(number)

    with closing(open_journal(str(path), disk=disk)) as journal:
        for number in range(300):
            journal.append(result(number), lambda number=number: check(number))  # type: ignore[misc]
    assert early == []


def test_rows_that_nobody_waits_for_share_a_sync_with_those_that_come_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "REST_S", 3600)
    disk, groups = WatchedDisk(), []
    delivered = threading.Event()

    def deliver(dones: list[Done]) -> None:
        groups.append(len(dones))
        delivered.set()

    with closing(
        open_journal(str(tmp_path / "journal.jsonl"), disk=disk, deliver=deliver)
    ) as journal:
        disk.calls.clear()
        journal.append(result(0), lambda: None)
        assert delivered.wait(60), "the first waits for nobody"
        delivered.clear()
        for number in range(1, 8):
            journal.append(result(number), lambda: None)
        journal.hurry()
        assert delivered.wait(60), "whoever waits for them says so"
        for number in range(8, 10):
            journal.append(result(number), lambda: None)
    assert groups == [1, 7, 2], "and so does the end"
    assert disk.calls == ["write", "fsync"] * 3


@for_each("keep", [1, 10, -27, -2, -1])
def test_a_torn_last_line_is_cut_off_exactly(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, [row(1), row(2)])
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    path.write_bytes(whole[:first] + whole[first:][:keep])
    with closing(open_journal(str(path))) as journal:
        assert journal.cut == 2
        assert path.read_bytes() == whole[:first]
        assert append_and_wait(journal, row(2))
    assert path.read_bytes() == whole


def test_a_forked_child_that_lives_on_does_not_hold_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    script = (
        "import os, signal, sys\n"
        "from tests.store.samples import open_journal\n"
        "journal = open_journal(sys.argv[1])\n"
        "pid = os.fork()\n"
        "if not pid:\n"
        "    os.write(1, b'the child runs\\n')\n"
        "    signal.pause()\n"
        "os.write(1, b'%d\\n' % pid)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    command = python("-W", "ignore", "-c", script, str(path))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        lines = {parent.stdout.readline().strip(), parent.stdout.readline().strip()}
        (child,) = lines - {"the child runs"}
        parent.wait()
        try:
            open_journal(str(path)).close()
        finally:
            os.kill(int(child), signal.SIGKILL)


def test_fault_23_links_in_a_run_s_folder_lead_to_no_other_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"one line, as in many a file of a home folder\n")
    (tmp_path / "journal.jsonl").symlink_to(mine)
    with pytest.raises(RecordError, match="it is a link"):
        open_journal(str(tmp_path / "journal.jsonl"))
    (tmp_path / "journal.jsonl").unlink()
    (tmp_path / "writer.pid").symlink_to(mine)
    open_journal(str(tmp_path / "journal.jsonl")).close()
    assert mine.read_bytes() == b"one line, as in many a file of a home folder\n"
