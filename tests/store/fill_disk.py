"""Run as a process: write rows until the disk refuses, then say what is safe and what is there."""

from __future__ import annotations

import contextlib
import json
import resource
import sys
import threading
from pathlib import Path

from evalcase.errors import RecordError
from evalcase.store.journal import open_journal
from tests.store.samples import result, rows_of


def main(folder: str, limit: int) -> None:
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    path = Path(folder) / "journal.jsonl"
    acknowledged: list[int] = []
    free = threading.Semaphore(5)

    def done() -> None:
        acknowledged.append(1)
        free.release()

    journal = open_journal(str(path), on_failure=lambda _: free.release())
    with contextlib.suppress(RecordError):
        for number in range(100_000):
            free.acquire()
            journal.append(result(number), done)
    failure = journal.failure
    assert failure is not None
    found = [each["case"] for each in rows_of(path)]
    assert found == [f"case-{number}" for number in range(len(found))]
    assert failure.last == (f"case-{failure.rows - 1}" if failure.rows else None)
    sys.stdout.write(json.dumps([len(acknowledged), failure.rows, failure.error.errno, len(found)]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
