"""Cases to trials: which of them, against which targets, how often."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from hashlib import sha256
from heapq import nsmallest
from os.path import normpath

from evalcase.model.case import Case
from evalcase.model.quick_dataclass import dataclass
from evalcase.model.trial import Trial


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several equal parts of a run, counted from 1."""

    number: int
    of: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases to run. Each part narrows what the one before leaves."""

    globs: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    """Cases by suite and id, beside those that a glob finds."""
    tags: tuple[str, ...] = ()
    shard: Shard | None = None
    sample: int | None = None
    seed: int = 0
    limit: int | None = None

    def select(self, cases: Iterable[tuple[str, Case]]) -> Iterator[tuple[str, Case]]:
        """The chosen ones of pairs of suite path and case, as a stream where that is possible."""
        if self == _ALL:
            yield from cases
            return
        chosen: Iterable[tuple[str, Case]] = (pair for pair in cases if self._wants(*pair))
        if self.sample is not None:
            chosen = self._sampled(chosen, self.sample)
        for number, pair in enumerate(chosen):
            if self.limit is not None and number >= self.limit:
                return
            yield pair

    def _wants(self, suite: str, case: Case) -> bool:
        if (self.globs or self.pairs) and not self._names(suite, case):
            return False
        if self.tags and not any(tag in case.tags for tag in self.tags):
            return False
        if self.shard is None:
            return True
        # By content and not by place, so that a new case moves no other into another shard.
        return _number("shard", suite, case.id) % self.shard.of == self.shard.number - 1

    def _names(self, suite: str, case: Case) -> bool:
        if any(case.id == id and normpath(suite) == normpath(path) for path, id in self.pairs):
            return True
        return any(fnmatchcase(case.id, glob) for glob in self.globs)

    def _sampled(self, cases: Iterable[tuple[str, Case]], size: int) -> Iterable[tuple[str, Case]]:
        """A random part that depends on the seed and the ids only, in the order of the file."""
        ranked = (
            (_number(str(self.seed), suite, case.id), order, (suite, case))
            for order, (suite, case) in enumerate(cases)
        )
        drawn = nsmallest(size, ranked, key=lambda each: each[:2])
        return [pair for _, _, pair in sorted(drawn, key=lambda each: each[1])]


_ALL = Selection()


def _number(*texts: str) -> int:
    # What isn't UTF-8 in a file name is a lone surrogate here.
    data = "\0".join(texts).encode("utf-8", "surrogatepass")
    return int.from_bytes(sha256(data).digest()[:8], "big")


def times_of(case: Case, repeat: int | None) -> int:
    """How many trials there are of a case for each target; one of the command line wins."""
    data = case.data
    if repeat is None and "repeat" not in data:
        return 1
    return 1 if case.skip else repeat or case.repeat


def plan_trials(
    cases: Iterable[tuple[str, Case]],
    target: str,
    default: str | None,
    repeat: int | None,
    overridden: bool,
) -> Iterator[Trial]:
    """The trials of one target: of the cases that name it, or that name none if it is the default.

    Targets of the command line are `overridden` onto every case, and so is its `repeat`. Skipped
    cases are planned too: their result says so.
    """
    for number, (suite, case) in enumerate(cases):
        if overridden or target in (case.targets or (default,)):
            times = times_of(case, repeat)
            for each in range(1, times + 1):
                yield Trial(suite, case, target, each, times, number)
