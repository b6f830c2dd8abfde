from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from evalcase.errors import RecordError
from evalcase.model.grade import Grade
from evalcase.model.result import Result
from evalcase.record.disk import Disk, LocalDisk
from evalcase.record.journal import open_journal
from evalcase.record.keep import Keeper, rows_ahead
from evalcase.record.reader import read_results
from evalcase.text.secrets import Scrubber
from tests.record.faults import SmallDisk
from tests.record.samples import result


@dataclass
class SlowDisk(LocalDisk):
    """Syncs the journal only while `go` is set."""

    go: threading.Event = field(default_factory=threading.Event)

    def fsync(self, fd: int) -> None:
        assert self.go.wait(60)
        super().fsync(fd)


class Kept:
    """A journal with a keeper, as a run has it."""

    def __init__(
        self, path: Path, disk: Disk | None = None, ahead: int = 100, **secrets: str
    ) -> None:
        self.path = str(path / "journal.jsonl")
        self.shown: list[Result] = []
        self.failed = asyncio.Event()
        loop = asyncio.get_running_loop()
        scrubber = Scrubber(secrets) if secrets else None
        self.journal = open_journal(
            self.path, scrubber=scrubber, disk=disk,
            deliver=lambda dones: _soon(loop, *dones),
            on_failure=lambda _: _soon(loop, self.failed.set),
        )  # fmt: skip
        self.keep = Keeper(self.journal, self.shown.append, ahead, scrubber).keep

    async def close(self) -> list[str]:
        """The cases that were shown, once all is written."""
        self.journal.close()
        await asyncio.sleep(0)
        return [each.key.case for each in self.shown]


def _soon(loop: asyncio.AbstractEventLoop, *functions: Callable[[], None]) -> None:
    for function in functions:
        loop.call_soon_threadsafe(function)


def in_loop(function: Callable[[Path], Awaitable[None]]) -> Callable[[Path], None]:
    def test(tmp_path: Path) -> None:
        asyncio.run(asyncio.wait_for(function(tmp_path), 30))

    return test


@in_loop
async def test_what_is_kept_is_shown_and_on_disk(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    for number in range(250):
        await kept.keep(result(number))
    assert await kept.close() == [f"case-{number}" for number in range(250)]
    assert list(read_results(kept.path)) == kept.shown


@in_loop
async def test_nothing_is_shown_before_it_is_on_disk(tmp_path: Path) -> None:
    disk = SlowDisk()
    disk.go.set()
    kept = Kept(tmp_path, disk)
    disk.go.clear()
    await kept.keep(result(1))
    await asyncio.sleep(0.05)
    assert kept.shown == []
    disk.go.set()
    assert await kept.close() == ["case-1"]


@pytest.mark.parametrize(
    ("text", "ahead", "most"), [("", 100, 101), ("", 0, 1), ("x" * 1_500_000, 100, 3)]
)
def test_only_so_many_may_be_on_their_way(tmp_path: Path, text: str, ahead: int, most: int) -> None:
    async def run() -> None:
        disk = SlowDisk()
        disk.go.set()
        kept = Kept(tmp_path, disk, ahead)
        disk.go.clear()
        for number in range(most - 1):
            await kept.keep(result(number, text=text))
        last = asyncio.create_task(kept.keep(result(most, text=text)))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(last), 0.05)
        disk.go.set()
        await last
        assert len(await kept.close()) == most

    asyncio.run(asyncio.wait_for(run(), 30))


def test_one_trial_at_a_time_is_on_disk_before_the_next_begins() -> None:
    assert [rows_ahead(concurrency) for concurrency in (1, 2, 10, 1000)] == [0, 10, 90, 100]


@in_loop
async def test_what_can_not_be_written_is_an_error_that_can(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    await kept.keep(result(0, grades=(Grade("odd", 1.0, True, "", {"a": {1, 2}}),)))
    await kept.close()
    (shown,) = kept.shown
    assert (shown.verdict, shown.answer, shown.grades) == ("errored", None, ())
    assert "can't be recorded" in shown.reason


@in_loop
async def test_what_is_shown_has_no_secrets(tmp_path: Path) -> None:
    kept = Kept(tmp_path, KEY="hunter2hunter2")
    await kept.keep(result(1, text="it is hunter2hunter2"))
    await kept.close()
    answer = kept.shown[0].answer
    assert answer is not None
    assert answer.text == "it is ***KEY***"


@in_loop
async def test_once_the_journal_has_failed_nobody_goes_on(tmp_path: Path) -> None:
    kept = Kept(tmp_path, SmallDisk(room=1000))
    tasks = [asyncio.create_task(kept.keep(result(number))) for number in range(50)]
    await kept.failed.wait()
    later = asyncio.create_task(kept.keep(result(99)))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(later, 0.05)
    for task in tasks:
        task.cancel()
    with pytest.raises(RecordError):
        kept.journal.close()
    await asyncio.sleep(0)
    assert [each.key.case for each in kept.shown] == [
        each.key.case for each in read_results(kept.path)
    ][: len(kept.shown)]


@in_loop
async def test_a_journal_that_is_closed_takes_nothing(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    await kept.close()
    with pytest.raises(RecordError, match="is closed"):
        await kept.keep(result(1))
