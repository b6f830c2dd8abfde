"""What a person asked for and no case has: each value of a filter, with the nearest there is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from evalcase.model.case import Case
from evalcase.model.name_pattern import fits_pattern
from evalcase.run.selection import Chooser, SuiteCase

if TYPE_CHECKING:
    from evalcase.run.known_cases import KnownCases

_MOST_SAID = 10
"""Values of each filter that are told, each with the nearest there is: that takes a while."""


class Unmatched:
    """Watches cases go by, and strikes out what each of them matches."""

    def __init__(self, choice: Chooser) -> None:
        self._choice = choice
        self._globs = list(dict.fromkeys(choice.selection.globs))
        place_of = choice.place_of
        self._pairs = {(place_of(pair[0]), pair[1]): pair for pair in choice.selection.pairs}
        self._at = {(place_of(each[0]), *each[1:]): each for each in choice.selection.at}
        self._tags = list(dict.fromkeys(choice.selection.tags))
        self._suites: dict[str, str] = {}
        """The paths of suites by their places, where cases are asked for by these."""
        self._asked: dict[tuple[str, str], tuple[str, ...]] = {}
        """The targets of those cases that were asked for with one."""
        self.failed = set(choice.only or ())
        """Of the cases that did not pass in another run: those that have not come by."""

    def watch(self, cases: Iterable[SuiteCase]) -> Iterator[SuiteCase]:
        """The same cases, looked at on their way."""
        watched = self._globs or self._pairs or self._tags or self._at or self.failed
        return self._watch(cases) if watched else iter(cases)

    def _watch(self, cases: Iterable[SuiteCase]) -> Iterator[SuiteCase]:
        for suite, case in cases:
            if self._globs or self._pairs or self._tags or self._at:
                self._strike_out(suite, case)
            if self.failed:
                self.failed.discard((self._choice.place_of(suite), case.id))
            yield suite, case

    def _strike_out(self, suite: str, case: Case) -> None:
        self._globs = [glob for glob in self._globs if not fits_pattern(case.id, glob)]
        if self._pairs or self._at:
            place = self._choice.place_of(suite)
            self._suites.setdefault(place, suite)
            self._pairs.pop((place, case.id), None)
        if self._tags:
            self._tags = [tag for tag in self._tags if tag not in case.tags]

    def strike_out_targets(self, suite: str, case: Case, targets: tuple[str, ...]) -> None:
        """Note the targets that a case is asked of."""
        if self._at:
            place = self._choice.place_of(suite)
            if (place, case.id) in self._choice.at:
                self._asked[place, case.id] = targets
            for target in targets:
                self._at.pop((place, case.id, target), None)

    def describe(self, cases: Iterable[SuiteCase]) -> str | None:
        """What matched nothing, in words; None if everything did. `cases` are looked at anew."""
        if not (self._globs or self._pairs or self._tags or self._at):
            return None
        from evalcase.run.known_cases import KnownCases, describe_near

        wanted = {id for _, id, *_ in (*self._pairs, *self._at)}
        known = KnownCases(cases, self._choice.place_of, self._suites, wanted)
        said = [
            f"no case has an id like `{each}`{describe_near(each, known.ids)}"
            for each in self._globs[:_MOST_SAID]
        ]
        said += [
            f"there is no case `{id}` in {suite}{known.describe_case(place, id)}"
            for (place, id), (suite, _) in islice(self._pairs.items(), _MOST_SAID)
        ]
        said += [
            f"there is no case `{id}` at `{target}` in {suite}{self._hint(place, id, known)}"
            for (place, id, target), (suite, *_) in islice(self._at.items(), _MOST_SAID)
        ]
        said += [
            f"no case has the tag `{each}`{describe_near(each, known.tags)}"
            for each in self._tags[:_MOST_SAID]
        ]
        asked = len(self._globs) + len(self._pairs) + len(self._at) + len(self._tags)
        if asked > len(said):
            said.append(f"and {asked - len(said):,} more match nothing")
        return "; ".join(said)

    def _hint(self, place: str, id: str, known: KnownCases) -> str:
        asked = self._asked.get((place, id))
        if asked is not None:
            return f" (it is asked of {', '.join(f'`{each}`' for each in asked)})"
        if known.has_case(place, id):
            return " (it exists, but the other options leave it out)"
        return known.describe_case(place, id)
