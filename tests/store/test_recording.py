import asyncio
import tempfile
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.errors import RecordError
from evalcase.store.index import Tally, read_index
from evalcase.store.journal import RunWriter, rows_ahead
from evalcase.types.answer import Answer
from evalcase.types.grade import Grade
from evalcase.types.result import Result, Trial
from evalcase.types.value import replace
from evalcase.util.files import Disk
from evalcase.util.secrets import Scrubber
from tests.store.faults import SmallDisk
from tests.store.rows import read_results, read_rows, read_totals
from tests.store.samples import VERDICTS, open_journal, result, trial


@dataclass
class SlowDisk(Disk):
    """Syncs the journal only while `go` is set."""

    go: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)

    def fsync(self, fd: int) -> None:
        self.asked.set()
        assert self.go.wait(60)
        super().fsync(fd)

    def hold(self) -> None:
        """Sync nothing from now on."""
        self.go.clear()
        self.asked.clear()

    async def until_asked(self) -> None:
        """Wait until it is asked to sync, and all that could be done meanwhile is."""
        assert await asyncio.to_thread(self.asked.wait, 60)
        await turn_loop()


async def turn_loop() -> None:
    """Let everybody go on who can."""
    for _ in range(10):
        await asyncio.sleep(0)


class Kept:
    """A journal with a keeper, as a run has it."""

    def __init__(
        self, path: Path, disk: Disk | None = None, ahead: int = 100, **secrets: str
    ) -> None:
        self.path = str(path / "journal.jsonl")
        self.shown: list[Result] = []
        self.failed = asyncio.Event()
        loop = asyncio.get_running_loop()
        scrubber = Scrubber(secrets, secrets)
        self.journal = open_journal(
            self.path, scrubber=scrubber, disk=disk,
            deliver=lambda dones: _soon(loop, *dones),
            on_failure=lambda _: _soon(loop, self.failed.set),
        )  # fmt: skip
        self.recording = RunWriter(self.journal, Tally(), self.shown.append, ahead)

    async def keep(self, kept: Result) -> None:
        await self.keep_of(trial(int(kept.key.case.removeprefix("case-"))), kept)

    async def keep_of(self, trial: Trial, kept: Result) -> None:
        await self.recording.append(trial, kept)

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
async def test_nothing_is_shown_before_it_is_on_disk(tmp_path: Path) -> None:
    disk = SlowDisk()
    disk.go.set()
    kept = Kept(tmp_path, disk)
    disk.hold()
    await kept.keep(result(1))
    await disk.until_asked()
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
        disk.hold()
        for number in range(most - 1):
            await kept.keep(result(number, text=text))
        last = asyncio.create_task(kept.keep(result(most, text=text)))
        await disk.until_asked()
        assert not last.done()
        disk.go.set()
        await last
        assert len(await kept.close()) == most

    asyncio.run(asyncio.wait_for(run(), 30))


def test_one_trial_at_a_time_is_on_disk_before_the_next_begins() -> None:
    assert [rows_ahead(concurrency) for concurrency in (1, 2, 10, 1000)] == [0, 25, 225, 250]


@in_loop
async def test_what_can_not_be_written_is_an_error_that_can(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    await kept.keep(result(0, grades=(Grade("odd", 1.0, True, "", {"a": {1, 2}}),)))
    await kept.close()
    (shown,) = kept.shown
    assert (shown.verdict, shown.answer, shown.grades) == ("errored", None, ())
    assert "can't be recorded" in shown.reason
    kept = Kept(tmp_path)
    await kept.keep(result(1, duration_s=-100.0))
    await kept.close()
    assert kept.shown[0].verdict == "errored"


@in_loop
async def test_once_the_journal_has_failed_nobody_goes_on(tmp_path: Path) -> None:
    kept = Kept(tmp_path, SmallDisk(room=1000))
    tasks = [asyncio.create_task(kept.keep(result(number))) for number in range(50)]
    await kept.failed.wait()
    later = asyncio.create_task(kept.keep(result(99)))
    await turn_loop()
    assert not later.done()
    for task in (*tasks, later):
        task.cancel()
    with pytest.raises(RecordError):
        kept.journal.close()
    await asyncio.sleep(0)
    assert [each.key.case for each in kept.shown] == [
        each.key.case for each in read_results(kept.path)
    ][: len(kept.shown)]


@in_loop
async def test_each_case_is_written_once_before_its_first_result(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    for number, repeat in ((1, 1), (2, 1), (1, 2), (2, 2)):
        key = result(number).key._replace(repeat=repeat)
        await kept.keep_of(trial(number), result(number, key=key))
    await kept.close()
    rows = [(row["type"], row["case"]) for _, row in read_rows(kept.path)]
    assert rows == [
        ("case", "case-1"), ("result", "case-1"), ("case", "case-2"), ("result", "case-2"),
        ("result", "case-1"), ("result", "case-2"),
    ]  # fmt: skip
    index = read_index(kept.path)
    assert index.find_case("evals/math.eval.yaml", "case-2") == trial(2).case
    assert index.find_case("evals/other.eval.yaml", "case-2") is None
    index.close()


@given(st.data())
def test_what_is_counted_on_the_way_is_what_the_journal_says(data: st.DataObject) -> None:
    """Totals are tallied as rows are acknowledged; the journal must say the same."""

    results: list[tuple[int, Result]] = []
    for number in range(data.draw(st.integers(0, 12))):
        repeats = data.draw(st.integers(1, 3))
        rate = data.draw(st.sampled_from([0.3, 0.5, 1.0]))
        for repeat in range(1, data.draw(st.integers(1, repeats)) + 1):
            answered = data.draw(st.booleans())
            cost = data.draw(st.none() | st.floats(0, 1))
            grade = Grade("judge", 1.0, True, "", cost_usd=data.draw(st.none() | st.just(0.1)))
            results.append((number, result(
                number, key=result(number).key._replace(repeat=repeat),
                verdict=data.draw(st.sampled_from(VERDICTS)), repeats=repeats, pass_rate=rate,
                answer=replace(Answer.of_text("4"), cost_usd=cost) if answered else None,
                grades=(grade,) if answered else (),
            )))  # fmt: skip

    async def run(folder: Path) -> None:
        kept = Kept(folder)
        for number, each in results:
            await kept.keep_of(trial(number), each)
        await kept.close()
        assert kept.recording.totals() == read_totals(kept.path)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))
