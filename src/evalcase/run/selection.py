"""Cases in, those to run out: by what a person asked for, the same on every machine.

Chance and shards go by the path of a suite within its project and the id of a case. So it doesn't
matter where the project lies, from where its suites are named, or in which order.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from heapq import nsmallest
from itertools import islice
from typing import NamedTuple

from msgspec import field

from evalcase.model.case import Case
from evalcase.model.name_pattern import fits_pattern
from evalcase.model.option import option
from evalcase.model.shape import Number
from evalcase.model.value import Value, replace

SuiteCase = tuple[str, Case]
"""The path of a suite, and one of its cases."""

_END = 1 << 64


class Shard(Value, frozen=True):
    """One of several equal parts of a run, counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


class FailedOf(Value, frozen=True):
    """The cases of an earlier run that did not pass there."""

    run: str
    """Its id."""
    cases: tuple[tuple[str, str], ...]
    """The place of the suite in the project, and the id of the case."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases to run. Each part narrows what the one before leaves."""

    globs: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    """Cases by suite and id, beside those that a glob finds."""
    tags: tuple[str, ...] = ()
    sample: int | None = option(
        Number(1, whole=True), "So many cases, drawn by the seed.", default=None
    )
    seed: int = 0
    limit: int | None = option(
        Number(1, whole=True), "At most so many cases, from the beginning.", default=None
    )
    shard: Shard | None = None
    """It comes last: what shards are dealt from is what a run without shards would run."""
    failed_of: FailedOf | None = None
    at: tuple[tuple[str, str, str], ...] = ()
    """Cases by suite, id and target, beside those: they are asked of these targets only."""


_ALL = Selection()


def draw_seed(
    entropy: Callable[[int], bytes], *, sample: object, stop: object, shard: object
) -> int:
    """The seed of a run that was given none: a random one if anything is drawn by it. All shards
    of a run must draw the same cases, so theirs is 0."""
    if shard is not None or (sample is None and stop is None):
        return 0
    return int.from_bytes(entropy(3), "big")


class ShardRange(NamedTuple):
    """What a shard has of all cases: those whose number lies from `low` up to `end`."""

    low: int
    end: int


def deal_cases(numbers: array[int], shard: Shard) -> ShardRange:
    """Deal cases by their numbers: in their order, to shards that differ by one at most."""
    dealt = array("Q", sorted(numbers))
    low, end = (len(dealt) * each // shard.of for each in (shard.number - 1, shard.number))
    return ShardRange(dealt[low] if low else 0, dealt[end] if end < len(dealt) else _END)


class Chooser(Value, frozen=True):
    """A selection, and what it takes to make it among the suites of a project."""

    selection: Selection
    place_of: Callable[[str], str]
    """Where a suite lies in its project."""
    part: ShardRange | None = None
    """What the shard has; None where there is no shard."""
    only: frozenset[tuple[str, str]] | None = None
    """The places and ids of the cases among which the selection is made; None for all."""
    named: frozenset[tuple[str, str]] = frozenset()
    """The places and ids of the cases that are chosen by name."""
    at: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    """The same for those that are asked of some of their targets only, with these."""
    dealt: str | None = None
    """What tells the cases that shards were dealt from apart from others."""

    @property
    def narrows(self) -> bool:
        """Whether anything is chosen at all, and not simply all."""
        return replace(self.selection, seed=0) != _ALL

    def choose(self, cases: Iterable[SuiteCase]) -> Iterator[SuiteCase]:
        """The chosen ones, as a stream where that is possible."""
        if not self.narrows:
            return iter(cases)
        chosen = self.choose_for_all(cases)
        if self.part is None:
            return chosen
        low, end = self.part
        return (pair for pair in chosen if low <= self.number(*pair) < end)

    def choose_for_all(self, cases: Iterable[SuiteCase]) -> Iterator[SuiteCase]:
        """Those of all shards together, which are dealt from these."""
        chosen: Iterator[SuiteCase] = (pair for pair in cases if self._wants(*pair))
        if self.selection.sample is not None:
            chosen = self._sample(chosen, self.selection.sample)
        limit = self.selection.limit
        return islice(chosen, limit if limit is None else min(limit, sys.maxsize))

    def number(self, suite: str, case: Case) -> int:
        """What decides to which shard a case is dealt."""
        return shard_number(self.place_of(suite), case.id)

    def asks(self, suite: str, case: Case, target: str) -> bool:
        """Whether a case that is chosen is asked of one of its targets."""
        if not self.at:
            return True
        targets = self.at.get((self.place_of(suite), case.id))
        return targets is None or target in targets or self._finds(suite, case)

    def targets_asked(self, suite: str, case: Case, targets: tuple[str, ...]) -> tuple[str, ...]:
        """Those of its targets that a case is asked of."""
        if not self.at:
            return targets
        return tuple([name for name in targets if self.asks(suite, case, name)])

    def _wants(self, suite: str, case: Case) -> bool:
        selection = self.selection
        if self.only is not None and (self.place_of(suite), case.id) not in self.only:
            return False
        if selection.tags and not any(tag in case.tags for tag in selection.tags):
            return False
        if not selection.globs and not selection.pairs and not selection.at:
            return True
        if self.at and (self.place_of(suite), case.id) in self.at:
            return True
        return self._finds(suite, case)

    def _finds(self, suite: str, case: Case) -> bool:
        """Whether a case is chosen for all of its targets."""
        if self.named and (self.place_of(suite), case.id) in self.named:
            return True
        return any(fits_pattern(case.id, glob) for glob in self.selection.globs)

    def _sample(self, cases: Iterable[SuiteCase], size: int) -> Iterator[SuiteCase]:
        """A random part that depends on the seed and the ids only, in the order of the file."""
        seed = str(self.selection.seed)
        ranked = (
            (number_of(seed, self.place_of(suite), case.id), order, (suite, case))
            for order, (suite, case) in enumerate(cases)
        )
        drawn = nsmallest(size, ranked, key=lambda each: each[:2])
        return (pair for _, _, pair in sorted(drawn, key=lambda each: each[1]))


def make_choice(selection: Selection, place_of: Callable[[str], str]) -> Chooser:
    """The choice that a selection is, before shards are dealt."""
    failed_of = selection.failed_of
    only = frozenset(failed_of.cases) if failed_of is not None else None
    named = frozenset((place_of(suite), id) for suite, id in selection.pairs)
    at: dict[tuple[str, str], set[str]] = {}
    for suite, id, target in selection.at:
        at.setdefault((place_of(suite), id), set()).add(target)
    some = {name: frozenset(targets) for name, targets in at.items()}
    return Chooser(selection, place_of, only=only, named=named, at=some)


def shard_number(place: str, id: str) -> int:
    """What decides to which shard a case is dealt, by the place of its suite and its id."""
    return number_of("shard", place, id)


def number_of(*texts: str) -> int:
    """A number that chance decides by, the same for the same texts."""
    # What isn't UTF-8 in a file name is a lone surrogate here.
    data = "\0".join(texts).encode("utf-8", "surrogatepass")
    return int.from_bytes(sha256(data).digest()[:8], "big")
