"""Run as a process: kill a run at every one of its disk operations, then resume it, killed again.

Each life of a run is a forked child of this process. It writes the number of every trial that was
acknowledged to a pipe, at the moment it is, so that what it said is known however it died.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

from evalcase.store.folder import Run, RunAbout, create_run
from evalcase.store.index import read_index
from evalcase.store.journal import open_journal
from evalcase.store.reader import JournalLines
from evalcase.store.rows import End
from evalcase.store.runs import list_runs, newest_unfinished
from evalcase.util.files import Disk
from tests.store.faults import LethalDisk
from tests.store.rows import read_results, read_totals
from tests.store.samples import result

TRIALS = 16
AT_ONCE = 2


def live(runs: str, disk: Disk, said: int) -> None:
    """Begin the run, or go on with it, and do what is left to do."""
    run = newest_unfinished(runs) or begin(runs, disk)
    with open_journal(run.journal, disk=disk) as journal:
        over = read_index(run.journal)
        free = threading.Semaphore(AT_ONCE)
        for number in range(TRIALS):
            if over.find(result(number).key) is not None:
                continue
            free.acquire()

            def done(number: int = number) -> None:
                os.write(said, bytes([number]))
                free.release()

            journal.append(result(number), done)
        journal.append(End("completed"), lambda: None)


def begin(runs: str, disk: Disk) -> Run:
    now = datetime(2026, 11, 15, 21, 30, tzinfo=UTC).timestamp()
    return create_run(runs, RunAbout({}), now=now, random=os.urandom, disk=disk)


def one_life(runs: str, disk: Disk) -> tuple[bool, list[int]]:
    """Whether it was killed, and which trials it had acknowledged by then."""
    hear, said = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            live(runs, disk, said)
            status = 0
        finally:
            os._exit(status)
    os.close(said)
    with os.fdopen(hear, "rb") as pipe:
        acknowledged = list(pipe.read())
    status = os.waitpid(pid, 0)[1]
    if not os.WIFSIGNALED(status) and status != 0:
        raise SystemExit("a life ended by itself, and badly")
    return os.WIFSIGNALED(status), acknowledged


def check(runs: str, acknowledged: list[int]) -> None:
    """What was said to be finished is there, once, and as it was."""
    assert len(acknowledged) == len(set(acknowledged)), "a finished trial was run again"
    listed = [each for each in list_runs(runs) if each.status != "damaged"]
    if not listed or not Path(listed[0].path, "journal.jsonl").exists():
        assert not acknowledged
        return
    journal = str(Path(listed[0].path, "journal.jsonl"))
    found = {each.key.case: each for each in read_results(journal)}
    for number in acknowledged:
        assert found[f"case-{number}"] == result(number)
    assert read_totals(journal).trials.total == len(found) == len(read_index(journal))


def main(folder: str) -> None:
    """Every point of a first life; then two more lives that end early, and one that does not."""
    killed, torn = 0, 0
    # All that is imported on the way is imported here, and not again in each child.
    live(str(Path(folder, "whole")), Disk(), os.open(os.devnull, os.O_WRONLY))
    later = itertools.cycle(range(1, 14))
    for when in ("before", "after", "amid"):
        for point in range(1, 41):
            runs = str(Path(folder, f"{when}-{point}"))
            acknowledged: list[int] = []
            disks = LethalDisk(when, point), LethalDisk("amid", next(later))
            for disk in (*disks, LethalDisk(when, next(later)), Disk()):
                was_killed, more = one_life(runs, disk)
                acknowledged += more
                check(runs, acknowledged)
                killed += was_killed
                torn += is_torn(runs)
                if any(each.status == "completed" for each in list_runs(runs)):
                    break  # killed or not, it had said so
            [whole] = [each for each in list_runs(runs) if each.status == "completed"]
            assert read_totals(str(Path(whole.path, "journal.jsonl"))).trials.total == TRIALS
    sys.stdout.write(json.dumps({"killed": killed, "torn": torn}))


def is_torn(runs: str) -> bool:
    run = newest_unfinished(runs)
    if run is None or not Path(run.journal).exists():
        return False
    lines = JournalLines(run.journal)
    return bool(list(lines)) and lines.torn is not None


if __name__ == "__main__":
    main(sys.argv[1])
