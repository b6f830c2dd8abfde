"""Run as a process: go on with a journal, and print the number of every row that is on disk."""

from __future__ import annotations

import itertools
import os
import sys
import threading

from evalcase.store.journal import open_journal
from tests.store.samples import result


def main(path: str) -> None:
    with open_journal(path) as journal:
        os.write(1, b"ready\n")
        free = threading.Semaphore(10)
        for number in itertools.count(journal.rows):
            free.acquire()

            def done(number: int = number) -> None:
                os.write(1, b"%d\n" % number)
                free.release()

            journal.append(result(number, text="word " * (number % 3000)), done)


if __name__ == "__main__":
    main(sys.argv[1])
