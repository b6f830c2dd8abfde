"""Which cases are run, and the trials of each: filters, sample, limit and shard; filters that match
nothing are reported.

Samples and shards depend on the path of a suite within its project and on the id of a case. So
they are the same on every machine, from every folder, in any order of the suites.
"""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from heapq import nsmallest
from itertools import islice
from typing import NamedTuple

from msgspec import field

from evalcase.config.options import FailedOf, Selection, Shard, number_of, shard_number
from evalcase.errors import ConfigError
from evalcase.report.evaluated import read_evaluated
from evalcase.store.folder import folder_of_run
from evalcase.store.stored import StoredRun
from evalcase.types.case import Case
from evalcase.types.problem import nearest_meaning, plain_name
from evalcase.types.value import Value, fits_pattern, replace
from evalcase.util.project import paths_from
from evalcase.util.text import list_some

SuiteCase = tuple[str, Case]
"""The path of a suite, and one of its cases."""

_ALL = Selection()
_END = 1 << 64


class ShardRange(NamedTuple):
    """The cases of a shard: those whose number is at least `low` and below `end`."""

    low: int
    end: int


def deal_cases(numbers: array[int], shard: Shard) -> ShardRange:
    """The range of a shard. Shards get equally many cases, or one more."""
    dealt = array("Q", sorted(numbers))
    low, end = (len(dealt) * each // shard.of for each in (shard.number - 1, shard.number))
    return ShardRange(dealt[low] if low else 0, dealt[end] if end < len(dealt) else _END)


class Selector(Value, frozen=True):
    """Applies a selection to the cases of some suites."""

    selection: Selection
    place_of: Callable[[str], str]
    """The path of a suite within its project."""
    part: ShardRange | None = None
    """The range of the shard; None without shards."""
    only: frozenset[tuple[str, str]] | None = None
    """The places and ids of the cases that --failed-of leaves; None for all."""
    globs: tuple[str, ...] = ()
    """Patterns of ids, one of them must match."""
    named: frozenset[tuple[str, str]] = frozenset()
    """The places and ids of cases that are selected by name."""
    at: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    """The same for cases that are selected for some of their targets."""
    dealt: str | None = None
    """A hash of the cases from which the shards were dealt."""

    @property
    def narrows(self) -> bool:
        return replace(self.selection, seed=0) != _ALL

    def select(self, cases: Iterable[SuiteCase]) -> Iterator[SuiteCase]:
        """The selected cases, as a stream unless they are sampled."""
        if not self.narrows:
            return iter(cases)
        selected = self.select_for_all_shards(cases)
        if self.part is None:
            return selected
        low, end = self.part
        return (pair for pair in selected if low <= self.number(*pair) < end)

    def select_for_all_shards(self, cases: Iterable[SuiteCase]) -> Iterator[SuiteCase]:
        selected: Iterator[SuiteCase] = (pair for pair in cases if self._wants(*pair))
        if self.selection.sample is not None:
            selected = self._sample(selected, self.selection.sample)
        limit = self.selection.limit
        return islice(selected, limit if limit is None else min(limit, sys.maxsize))

    def number(self, suite: str, case: Case) -> int:
        return shard_number(self.place_of(suite), case.id)

    def asks(self, suite: str, case: Case, target: str) -> bool:
        """Whether a selected case is run on one of its targets."""
        targets = self.at.get((self.place_of(suite), case.id))
        return targets is None or target in targets or self._names(suite, case)

    def _wants(self, suite: str, case: Case) -> bool:
        selection = self.selection
        if self.only is not None and (self.place_of(suite), case.id) not in self.only:
            return False
        if selection.tags and not any(tag in case.tags for tag in selection.tags):
            return False
        if not selection.cases:
            return True
        if self.at and (self.place_of(suite), case.id) in self.at:
            return True
        return self._names(suite, case)

    def _names(self, suite: str, case: Case) -> bool:
        """Whether a case is selected for all of its targets."""
        if self.named and (self.place_of(suite), case.id) in self.named:
            return True
        return any(fits_pattern(case.id, glob) for glob in self.globs)

    def _sample(self, cases: Iterable[SuiteCase], size: int) -> Iterator[SuiteCase]:
        """A random sample in the order of the file. It depends on the seed and the ids only."""
        seed = str(self.selection.seed)
        ranked = (
            (number_of(seed, self.place_of(suite), case.id), order, (suite, case))
            for order, (suite, case) in enumerate(cases)
        )
        drawn = nsmallest(size, ranked, key=lambda each: each[:2])
        return (pair for _, _, pair in sorted(drawn, key=lambda each: each[1]))


def make_selector(selection: Selection, place_of: Callable[[str], str]) -> Selector:
    failed_of = selection.failed_of
    globs, named = [], set()
    at: dict[tuple[str, str], frozenset[str]] = {}
    for case in selection.cases:
        if isinstance(case, str):
            globs.append(case)
            continue
        suite, id, *target = case
        name = place_of(suite), id
        if target:
            at[name] = at.get(name, frozenset()).union(target)
        else:
            named.add(name)
    return Selector(
        selection, place_of, only=frozenset(failed_of.cases) if failed_of is not None else None,
        globs=tuple(globs), named=frozenset(named), at=at,
    )  # fmt: skip


# Filters that match nothing

_MOST_REPORTED = 10
"""Values of filters that a message names."""
_MOST_KNOWN = 10_000
"""Names among which the nearest is looked for."""
_MOST_LISTED = 3


class UnmatchedFilters:
    """The values of filters that no case has matched so far."""

    def __init__(self, selector: Selector) -> None:
        self._selector = selector
        self._globs = list(dict.fromkeys(selector.globs))
        self._tags = list(dict.fromkeys(selector.selection.tags))
        self._named = {
            (selector.place_of(each[0]), *each[1:]): each
            for each in selector.selection.cases
            if not isinstance(each, str)
        }
        """Cases that are named with their suite, and perhaps a target."""
        self.failed = set(selector.only or ())
        """Cases of --failed-of that the suites have not shown."""
        self.total = 0
        """How many cases there were."""

    def watch(self, cases: Iterable[SuiteCase]) -> Iterator[SuiteCase]:
        """The same cases. Each removes the values that it matches."""
        for suite, case in cases:
            self.total += 1
            if self._globs:
                self._globs = [glob for glob in self._globs if not fits_pattern(case.id, glob)]
            if self._tags:
                self._tags = [tag for tag in self._tags if tag not in case.tags]
            if self._named or self.failed:
                name = self._selector.place_of(suite), case.id
                self._named.pop(name, None)
                self.failed.discard(name)
            yield suite, case

    def remove_targets(self, suite: str, case: Case, targets: tuple[str, ...]) -> None:
        """Remove the values that name one of the targets that a case is run on."""
        place = self._selector.place_of(suite)
        for target in targets:
            self._named.pop((place, case.id, target), None)

    def describe(self, cases: Iterable[SuiteCase]) -> str | None:
        """A sentence about each value that is left, with the nearest name among the cases; None if
        none is left."""
        if not (self._globs or self._named or self._tags):
            return None
        ids, tags = dict[str, None](), dict[str, None]()
        for _, case in islice(cases, _MOST_KNOWN):
            ids[case.id] = None
            tags.update(dict.fromkeys(case.tags))
        said = [
            f"no case has an id like `{each}`{_describe_near(each, ids)}" for each in self._globs
        ]
        for suite, id, *target in self._named.values():
            at = f" at `{target[0]}`" if target else ""
            near = "" if id in ids else _describe_near(id, ids)
            said.append(f"there is no case `{id}`{at} in {suite}{near}")
        said += [f"no case has the tag `{each}`{_describe_near(each, tags)}" for each in self._tags]
        more = len(said) - _MOST_REPORTED
        return "; ".join([*said[:_MOST_REPORTED], *([f"and {more:,} more"] if more > 0 else [])])


def _describe_near(name: str, known: Collection[str]) -> str:
    """The nearest name, or some of those that there are, in brackets."""
    if not known:
        return " (none has any)"
    if any(each.startswith(f"{name}:") for each in known):
        return f" (it only has variants: use `{name}:*`)"
    meant = {plain_name(each): each for each in reversed(list(known))}
    close = nearest_meaning(name.strip("*"), meant)
    if close is not None:
        return f" (the nearest is `{close}`)"
    listed = list_some((f"`{each}`" for each in islice(known, _MOST_LISTED)), len(known))
    return f" (there {'is' if len(known) == 1 else 'are'} {listed})"


# Trials


def times_of(case: Case, repeat: int | None) -> int:
    """How many trials there are of a case for each target; one of the command line wins."""
    data = case._data
    if repeat is None and "repeat" not in data:
        return 1
    return 1 if case.skip else repeat or case.repeat


def find_failed(name: str, runs_dir: str, root: str) -> FailedOf:
    """The cases of a run, by its name, that did not pass at one of their targets.

    They are names and nothing more: what is read and asked is for others to say. Raise ConfigError
    if there is no such run, or if all of its cases passed.
    """
    from evalcase.store.runs import find_run  # with --failed-of only

    with StoredRun(*find_run(name, runs_dir)) as stored:
        stored.refuse_interrupted()
        place_of = paths_from(root, os.path.join(root, folder_of_run(stored.run)))
        failed = {
            (place_of(each.suite), each.case): True
            for each in stored.cases()
            if each.verdict not in ("passed", "skipped")
        }
        id = os.path.basename(os.path.realpath(stored.run.path))
        done = read_evaluated(stored)
        missing = (done.not_run or 0) - done.lost + done.totals.unfinished
        if missing > 0:
            raise ConfigError(
                f"run {id} is not complete: {missing:,} of its cases have no verdict yet; "
                f"`evalcase resume {id}` continues it"
            )
    if not failed:
        raise ConfigError(f"run {id} has no cases that did not pass: there is nothing to run")
    return FailedOf(id, tuple(failed))
