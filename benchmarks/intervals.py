"""How often the intervals of a run hold the truth: cases drawn again and again from one seed, from
a world whose truth is known. Of plain rates that can be worked out without drawing anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import comb, fsum
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.figures import Figure
from evalcase.stats.intervals import (
    Cluster,
    Estimate,
    all_pass,
    any_passes,
    bound_unseen,
    estimate_clusters,
    estimate_exact_around,
    estimate_share,
    estimate_units,
)

TIMES = 2000
RATES = [number / 200 for number in range(1, 200)]
Draw = Callable[[Random], float]


def exact_share(hits: float, total: float) -> Estimate:
    return estimate_exact_around(hits / total, total)


class Shape(NamedTuple):
    """Scores of some kind, and their true mean."""

    name: str
    mean: float
    draw: Draw


SHAPES = (
    Shape("evenly spread", 0.5, lambda random: random.random()),
    Shape("mostly high", 0.8, lambda random: random.betavariate(8, 2)),
    Shape("at both ends", 0.5, lambda random: random.betavariate(0.3, 0.3)),
    Shape("in steps of a quarter", 0.68, lambda random: _steps(random, (5, 10, 30, 50, 30))),
    Shape("close together", 0.9, lambda random: min(1.0, random.uniform(0.85, 0.95))),
    Shape("all but a tenth are 1", 0.95, lambda random: _rarely(random, 0.1)),
    Shape("all but one in fifty are 1", 0.99, lambda random: _rarely(random, 0.02)),
)


class World(NamedTuple):
    """Cases that pass with a chance of their own each, drawn from a beta distribution."""

    share: float
    alike: float
    """The smaller, the more a case passes always or never."""

    def draw(self, random: Random) -> float:
        return random.betavariate(self.share * self.alike, (1 - self.share) * self.alike)

    def moment(self, k: int, share: float | None = None) -> float:
        """The mean of the k-th power of the chance of a case."""
        found, a = 1.0, (self.share if share is None else share) * self.alike
        for number in range(k):
            found *= (a + number) / (self.alike + number)
        return found


WORLDS = (World(0.5, 2.0), World(0.9, 1.0), World(0.9, 20.0), World(0.98, 1.0))
CLUSTERED = (World(0.6, 0.2), World(0.6, 2.0), World(0.6, 50.0), World(0.9, 1.0))


def interval_figures(_: Path) -> Iterator[Figure]:
    """Coverage of every interval that a summary shows."""
    yield from _rate_figures()
    for shape in SHAPES:
        for total in (5, 10, 20, 100):
            named = f"scores {shape.name}, {total} cases"
            yield _share(named, cover_scores(shape, total, TIMES, 1))
    for world in WORLDS:
        for total in (5, 20, 100):
            named = f"{total} cases 5 times, {world.share:.0%} pass, alike {world.alike:g}"
            for what, share in cover_repeats(world, total, TIMES, 1).items():
                yield _share(f"{named}: {what}", share)
    for world in CLUSTERED:
        for number in (3, 5, 10, 20, 50):
            named = f"{number} clusters of 5, {world.share:.0%} pass, alike {world.alike:g}"
            yield _share(named, cover_clusters(world, number, TIMES, 1))


def _rate_figures() -> Iterator[Figure]:
    for total in (5, 10, 20, 50, 200):
        for name, estimate in (("Wilson", estimate_share), ("exact", exact_share)):
            held = cover_rates(estimate, total)
            yield _share(f"rate, {total} cases, {name}: mean", fsum(held) / len(held))
            yield _share(f"rate, {total} cases, {name}: least", min(held))
    for total in (10, 60):
        yield _share(f"no failure in {total}: the bound holds", cover_unseen(total))


def _share(name: str, share: float) -> Figure:
    return Figure(name, 100 * share, "%")


def cover_rates(estimate: Callable[[int, int], Estimate | None], total: int) -> list[float]:
    """The chance that the interval of so many cases holds their true rate, for many rates."""
    intervals = [estimate(hits, total) for hits in range(total + 1)]
    return [
        fsum(
            comb(total, hits) * rate**hits * (1 - rate) ** (total - hits)
            for hits, found in enumerate(intervals)
            if _holds(found, rate)
        )
        for rate in RATES
    ]


def cover_unseen(total: int) -> float:
    """The chance that a run either fails somewhere, or has a true rate of failures below the bound:
    at the rate where that is least."""
    return 1 - (1 - bound_unseen(total)) ** total


def cover_scores(shape: Shape, total: int, times: int, seed: int) -> float:
    random, held = Random(seed), 0
    for _ in range(times):
        held += _holds(_estimate([shape.draw(random) for _ in range(total)]), shape.mean)
    return held / times


def cover_repeats(
    world: World, total: int, times: int, seed: int, tries: int = 5
) -> dict[str, float]:
    """Of cases that are tried several times: the share of trials that pass, pass@3 and pass^3."""
    random, k = Random(seed), 3
    truths = {
        "trials": world.share, "pass@3": 1 - world.moment(k, 1 - world.share),
        "pass^3": world.moment(k),
    }  # fmt: skip
    held = dict.fromkeys(truths, 0)
    for _ in range(times):
        passed = [_count(random, tries, world.draw(random)) for _ in range(total)]
        found = {
            "trials": [each / tries for each in passed],
            "pass@3": [any_passes(k, tries, each) for each in passed],
            "pass^3": [all_pass(k, tries, each) for each in passed],
        }
        for name, truth in truths.items():
            held[name] += _holds(_estimate(found[name]), truth)
    return {name: count / times for name, count in held.items()}


def cover_clusters(world: World, number: int, times: int, seed: int, size: int = 5) -> float:
    """Of clusters from a little to rather large, each with a chance of its own to pass."""
    random, held = Random(seed), 0
    for _ in range(times):
        clusters = []
        for _ in range(number):
            cases = random.randint(1, 2 * size - 1)
            clusters.append(Cluster(cases, _count(random, cases, world.draw(random))))
        held += _holds(estimate_clusters(clusters), world.share)
    return held / times


def _estimate(values: Sequence[float]) -> Estimate | None:
    return estimate_units(len(values), sum(values), sum(value * value for value in values))


def _count(random: Random, tries: int, chance: float) -> int:
    return sum(random.random() < chance for _ in range(tries))


def _holds(found: Estimate | None, truth: float) -> bool:
    assert found is not None
    return found.low <= truth <= found.high


def _steps(random: Random, weights: Sequence[int]) -> float:
    (step,) = random.choices(range(len(weights)), weights)
    return step / (len(weights) - 1)


def _rarely(random: Random, chance: float) -> float:
    return random.random() if random.random() < chance else 1.0
