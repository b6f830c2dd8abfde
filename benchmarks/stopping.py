"""Runs that may be stopped early, simulated from one seed: how often is the decision wrong, and how
much of a suite has to be run for it?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.figures import Figure
from evalcase.stats.intervals import ALPHA, PassSequence
from evalcase.stats.paired import weigh_change

TIMES = 10_000


class Stopped(NamedTuple):
    """Of simulated runs, the share that was stopped with a wrong decision, and how much of the
    suite was run in the mean."""

    wrong: float
    run: float


def stopping_figures(_: Path) -> Iterator[Figure]:
    """False alarms where there is least to tell, and what is saved where there is more."""
    for total, rate in ((50, 0.8), (200, 0.9), (500, 0.8)):
        need = round(total * rate)
        for passing in (need, need - 1):
            found = stop_likely(total, passing, need, TIMES // 2, seed=1)
            name = f"--stop likely, {passing} of {total} pass, {need} needed: wrong"
            yield Figure(name, 100 * found.wrong, "%", 100 * ALPHA)
        for passing in (round(total * (rate - 0.1)), round(total * (rate + 0.08))):
            found = stop_likely(total, passing, need, TIMES // 10, seed=1)
            name = f"--stop likely, {passing} of {total} pass, {need} needed: run"
            yield Figure(name, 100 * found.run, "%")
            name = f"--stop certain, {passing} of {total} pass, {need} needed: run"
            yield Figure(name, 100 * stop_certain(total, passing, need, TIMES // 10, 1), "%")
    for total, changing in ((200, 0.1), (500, 0.2), (1000, 0.3)):
        alarms = stop_against(total, changing / 2, changing / 2, TIMES, seed=1)
        name = f"--against, {total} cases, {changing:.0%} change either way: false alarms"
        yield Figure(name, 100 * alarms.wrong, "%", 100 * ALPHA)
    worse = stop_against(500, 0.03, 0.12, TIMES // 10, seed=1)
    yield Figure("--against, 500 cases, 3% fixed, 12% broken: run", 100 * worse.run, "%")


def stop_likely(total: int, passing: int, need: int, times: int, seed: int) -> Stopped:
    """Suites of which so many cases pass, each run in an order of its own until it is decided."""
    random, wrong, ran = Random(seed), 0, 0
    cases = [True] * passing + [False] * (total - passing)
    for _ in range(times):
        random.shuffle(cases)
        sequence = PassSequence(total)
        for passed in cases:
            sequence.add(passed)
            if sequence.low >= need or sequence.high < need:
                break
        wrong += (sequence.low >= need) != (passing >= need)
        ran += sequence.seen
    return Stopped(wrong / times, ran / times / total)


def stop_certain(total: int, passing: int, need: int, times: int, seed: int) -> float:
    """How much of a suite is run until nothing can change the decision."""
    random, ran = Random(seed), 0
    cases = [True] * passing + [False] * (total - passing)
    for _ in range(times):
        random.shuffle(cases)
        passed = failed = 0
        for case in cases:
            passed, failed = passed + case, failed + (not case)
            if passed >= need or failed > total - need:
                break
        ran += passed + failed
    return ran / times / total


def stop_against(total: int, fixed: float, broken: float, times: int, seed: int) -> Stopped:
    """Two runs, compared case by case until the difference is plain."""
    random, wrong, ran = Random(seed), 0, 0
    for _ in range(times):
        better = worse = 0
        for _ in range(total):
            ran += 1
            at = random.random()
            better += at < fixed
            worse += fixed <= at < fixed + broken
            if at < fixed + broken and weigh_change(better, worse) >= 1 / ALPHA:
                wrong += (better > worse) != (fixed > broken) or fixed == broken
                break
    return Stopped(wrong / times, ran / times / total)
