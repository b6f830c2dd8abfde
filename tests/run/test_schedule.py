import asyncio
from collections.abc import Awaitable, Callable, Iterator

from evalcase.runner.pacing import Limits, Pace
from evalcase.runner.schedule import Engine
from evalcase.types.result import Result, Trial
from tests.for_each import for_each
from tests.targets.trials import trial


class Harness:
    """An engine whose trials take some turns of the event loop, and what it did."""

    def __init__(self, limits: Limits) -> None:
        self.engine = Engine(limits)
        self.trying: Callable[[Trial], Awaitable[Result]] = self.try_one
        self.waiting: dict[str, asyncio.Event] = {}
        self.events: list[str] = []
        self.under_way: dict[str, int] = {}
        self.most: dict[str, int] = {}
        self.kept: list[str] = []
        self.changed = asyncio.Event()

    async def one(self, trial: Trial) -> None:
        self.events.append(f"started {trial.case.id}")
        self.changed.set()
        await self.keep((await self.trying(trial)).key.case)

    async def try_one(self, trial: Trial) -> Result:
        for name in (trial.target, "all"):
            self.under_way[name] = self.under_way.get(name, 0) + 1
            self.most[name] = max(self.most.get(name, 0), self.under_way[name])
        try:
            for _ in range(3):
                await asyncio.sleep(0)
            if trial.case.id in self.waiting:
                await self.waiting[trial.case.id].wait()
        finally:
            for name in (trial.target, "all"):
                self.under_way[name] -= 1
        return Result(trial.key, "hash", "passed")

    async def keep(self, case: str) -> None:
        await asyncio.sleep(0)
        self.kept.append(case)
        self.changed.set()

    async def until(self, come: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not come():
                self.changed.clear()
                await self.changed.wait()

    async def run(self, **counts: int) -> None:
        async with asyncio.timeout(20):
            work = {name: trials(name, count) for name, count in counts.items()}
            await self.engine.run(work, self.one)


def trials(target: str, count: int) -> Iterator[Trial]:
    for number in range(count):
        yield trial(id=f"{target}{number}")._replace(target=target)


@for_each("concurrency", [1, 3, 100])
def test_every_trial_is_run_once(concurrency: int) -> None:
    harness = Harness(Limits(concurrency))
    asyncio.run(harness.run(a=20, b=7, c=0))
    assert sorted(harness.kept) == sorted(
        [*(f"a{n}" for n in range(20)), *(f"b{n}" for n in range(7))]
    )
    assert harness.most["all"] == min(concurrency, 27)
    assert harness.engine.stop_reason is None


def test_stop_starts_no_more_and_keeps_what_is_under_way() -> None:
    async def main() -> None:
        harness = Harness(Limits(2))
        for name in ("a0", "a1"):
            harness.waiting[name] = asyncio.Event()
        run = asyncio.create_task(harness.run(a=10))
        await harness.until(lambda: len(harness.events) == 2)
        harness.engine.stop("interrupted")
        for event in harness.waiting.values():
            event.set()
        await run
        assert sorted(harness.kept) == ["a0", "a1"]
        assert harness.events == ["started a0", "started a1"]
        assert harness.engine.stop_reason == "interrupted"

    asyncio.run(main())


def test_stop_gives_up_trials_that_only_wait_for_their_next_attempt() -> None:
    async def main() -> None:
        harness = Harness(Limits(3))
        engine = harness.engine

        async def try_one(trial: Trial) -> Result:
            if trial.case.id == "a0":
                await engine.sleep(1000)
            if trial.case.id == "a1":
                pace = Pace(1)
                await pace.begin()
                async with engine.aside():
                    await pace.begin()
            return await harness.try_one(trial)

        harness.trying = try_one
        harness.waiting["a2"] = asyncio.Event()
        run = asyncio.create_task(harness.run(a=10))
        await harness.until(lambda: len(harness.events) == 3)
        engine.stop("interrupted")
        harness.waiting["a2"].set()
        await run
        assert harness.kept == ["a2"]

    asyncio.run(main())


def test_a_target_that_only_waits_takes_no_place_from_the_others() -> None:
    async def main() -> None:
        harness = Harness(Limits(2))
        engine = harness.engine
        over = asyncio.Event()

        async def try_one(trial: Trial) -> Result:
            if trial.target == "busy":
                waiting = asyncio.create_task(over.wait())
                async with engine.aside():
                    await waiting
            return await harness.try_one(trial)

        harness.trying = try_one
        run = asyncio.create_task(harness.run(busy=5, quick=30))
        await harness.until(lambda: len(harness.kept) == 30)
        over.set()
        await run
        assert len(harness.kept) == 35
        assert harness.most["all"] <= 2

    asyncio.run(main())
