"""Run as a process: kill whoever compresses a journal at every one of its disk operations. Each
time all rows must be there, a writer must be able to go on, and the next attempt must do."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from evalcase.record import packing
from evalcase.record.about import RunAbout
from evalcase.record.folder import Run
from evalcase.system import packed
from evalcase.system.disk import LocalDisk
from tests.record.faults import LethalDisk
from tests.record.samples import row, rows_of, write

ROWS = [row(number) for number in range(100)]


def pack_in_child(run: Run, disk: LocalDisk) -> bool:
    """Whether it was killed."""
    pid = os.fork()
    if pid == 0:
        packing.pack_journal(run, lambda _: os._exit(1), disk)
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status) or status == 0, status
    return os.WIFSIGNALED(status)


def main(folder: str) -> None:
    packing.WORTH_IT, packed.BLOCK = 0, 12_000  # so that there are several parts
    killed = 0
    for when in ("before", "amid", "after"):
        for point in range(1, 20):
            path = Path(folder, f"{when}-{point}")
            path.mkdir()
            run = Run(path.name, str(path), "", RunAbout({}))
            write(path / "journal.jsonl", ROWS)
            was_killed = pack_in_child(run, LethalDisk(when, point))
            killed += was_killed
            assert rows_of(Path(run.journal)) == ROWS
            write(Path(run.journal), [row(1_000)])
            assert rows_of(Path(run.journal)) == [*ROWS, row(1_000)]
            pack_in_child(run, LocalDisk())
            assert [each.name for each in path.iterdir()] == ["journal.jsonl.gz"]
            assert rows_of(Path(run.journal)) == [*ROWS, row(1_000)]
            if not was_killed and when != "amid":
                break  # there are no more operations
    sys.stdout.write(str(killed))


if __name__ == "__main__":
    main(sys.argv[1])
