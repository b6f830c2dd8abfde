"""Two runs of the same cases, simulated again and again from one seed: how often do intervals of
95 % hold the truth, and how often is a difference found where there is none?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.figures import Figure
from evalcase.stats.intervals import Cluster
from evalcase.stats.paired import (
    Change,
    estimate_clustered,
    estimate_scores,
    estimate_verdicts,
    mcnemar_p,
    sign_flip_p,
)

TIMES = 4000
ALPHA = 0.05
VERDICTS = (
    (10, 0.1, 0.1), (10, 0.3, 0.05), (50, 0.05, 0.0), (50, 0.1, 0.02), (200, 0.045, 0.015),
    (200, 0.02, 0.02), (1000, 0.01, 0.0),
)  # fmt: skip


class Clusters(NamedTuple):
    """Cases that change together: each cluster has shares of its own of fixed and broken ones."""

    number: int
    size: int
    """Its mean: sizes go from half of it to half as much again."""
    fixed: float
    broken: float
    alike: float
    """The smaller, the more alike are the cases of a cluster; at 0.1 nearly all are the same."""


CLUSTERS = [
    Clusters(number, size, fixed, broken, alike)
    for number, size in ((5, 10), (10, 5), (10, 20), (20, 5), (50, 10))
    for fixed, broken, alike in ((0.1, 0.1, 20.0), (0.3, 0.1, 1.0), (0.3, 0.1, 0.1))
]
RARE = Clusters(50, 20, 0.02, 0.0, 1.0)
"""Few clusters change, and those wholly: no interval is right for that."""


def paired_figures(_: Path) -> Iterator[Figure]:
    """Coverage of each kind of interval, and false alarms of each test."""
    for pairs, fixed, broken in VERDICTS:
        name = f"{pairs} pairs, {fixed:.1%} fixed, {broken:.1%} broken"
        yield _share(f"{name}: interval", cover_verdicts(pairs, fixed, broken, TIMES, 1))
    for pairs in (10, 20, 50, 200):
        yield _share(f"scores of {pairs} pairs: interval", cover_changes(pairs, 0.1, TIMES, 1))
    for setting in [*CLUSTERS, RARE]:
        name = (
            f"{setting.number} clusters of {setting.size}, {setting.fixed:.0%} fixed, "
            f"{setting.broken:.0%} broken, alike {setting.alike:g}"
        )
        yield _share(f"{name}: interval", cover_clusters(setting, TIMES, 1))
    for pairs, changing in ((20, 0.3), (50, 0.2), (200, 0.1)):
        name = f"no difference, {pairs} pairs, {changing:.0%} change: false alarms of"
        yield _share(f"{name} McNemar", alarm_verdicts(pairs, changing, TIMES, 1), ALPHA)
    for pairs in (10, 50):
        name = f"no difference, scores of {pairs} pairs: false alarms of"
        yield _share(f"{name} sign-flip", alarm_scores(pairs, TIMES // 10, 1), ALPHA)


def _share(name: str, share: float, most: float | None = None) -> Figure:
    return Figure(name, 100 * share, "%", None if most is None else 100 * most)


def cover_verdicts(pairs: int, fixed: float, broken: float, times: int, seed: int) -> float:
    """The share of simulated comparisons whose interval holds the true change."""
    random, held = Random(seed), 0
    for _ in range(times):
        counts = Counter(_turn(random, fixed, broken) for _ in range(pairs))
        held += _holds(estimate_verdicts(counts[1], counts[-1], pairs), fixed - broken)
    return held / times


def cover_changes(pairs: int, effect: float, times: int, seed: int) -> float:
    """The same for scores: most cases don't change, and those that do do so by any amount."""
    random, held = Random(seed), 0
    for _ in range(times):
        found = [_differ(random, effect) for _ in range(pairs)]
        squares, largest = sum(each * each for each in found), max(map(abs, found))
        held += _holds(estimate_scores(pairs, sum(found), squares, largest), 0.4 * effect)
    return held / times


def cover_clusters(setting: Clusters, times: int, seed: int) -> float:
    """The same for cases that change together."""
    random, held = Random(seed), 0
    for _ in range(times):
        clusters = [_cluster(setting, random) for _ in range(setting.number)]
        held += _holds(estimate_clustered(clusters), setting.fixed - setting.broken)
    return held / times


def alarm_verdicts(pairs: int, changing: float, times: int, seed: int) -> float:
    """How often a change is found where as many get better as get worse."""
    random, found = Random(seed), 0
    for _ in range(times):
        counts = Counter(_turn(random, changing / 2, changing / 2) for _ in range(pairs))
        found += mcnemar_p(counts[1], counts[-1]) < ALPHA
    return found / times


def alarm_scores(pairs: int, times: int, seed: int) -> float:
    """The same for scores."""
    random, found = Random(seed), 0
    for number in range(times):
        values = [_differ(random, 0.0) for _ in range(pairs)]
        found += sign_flip_p(Counter(map(abs, values)), sum(values), number) < ALPHA
    return found / times


def _holds(change: Change | None, truth: float) -> bool:
    return change is not None and change.low <= truth <= change.high


def _turn(random: Random, fixed: float, broken: float) -> int:
    at = random.random()
    return 1 if at < fixed else -1 if at < fixed + broken else 0


def _differ(random: Random, effect: float) -> float:
    return effect + random.uniform(-0.5, 0.5) if random.random() < 0.4 else 0.0


def _cluster(setting: Clusters, random: Random) -> Cluster:
    """Shares from a Dirichlet distribution, by its gammas."""
    shares = (setting.fixed, setting.broken, 1 - setting.fixed - setting.broken)
    drawn = [random.gammavariate(setting.alike * each, 1) if each else 0.0 for each in shares]
    total = sum(drawn) or 1.0
    size = max(1, random.randint(setting.size // 2, setting.size + setting.size // 2))
    turns = [_turn(random, drawn[0] / total, drawn[1] / total) for _ in range(size)]
    return Cluster(size, float(sum(turns)))
