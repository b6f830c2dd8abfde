"""What a person asked for and no case has: each value of a filter, with the nearest there is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice

from evalcase.model.case import Case
from evalcase.model.nearest import nearest
from evalcase.run.selection import Chooser, SuiteCase

_MOST_KNOWN = 10_000
"""Names among which the nearest is looked for."""
_MOST_TOLD = 3


class Unmatched:
    """Watches cases go by, and strikes out what each of them matches."""

    def __init__(self, choice: Chooser) -> None:
        self._choice = choice
        self._globs = list(dict.fromkeys(choice.selection.globs))
        place_of = choice.place_of
        self._pairs = {(place_of(pair[0]), pair[1]): pair for pair in choice.selection.pairs}
        self._at = {(place_of(each[0]), *each[1:]): each for each in choice.selection.at}
        self._tags = list(dict.fromkeys(choice.selection.tags))
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
        self._globs = [glob for glob in self._globs if not fnmatchcase(case.id, glob)]
        if self._pairs:
            self._pairs.pop((self._choice.place_of(suite), case.id), None)
        if self._tags:
            self._tags = [tag for tag in self._tags if tag not in case.tags]

    def strike_out_targets(self, suite: str, case: Case, targets: Iterable[str]) -> None:
        """Note the targets that a case is asked of."""
        if self._at:
            place = self._choice.place_of(suite)
            for target in targets:
                self._at.pop((place, case.id, target), None)

    def describe(self, cases: Iterable[SuiteCase]) -> str | None:
        """What matched nothing, in words; None if everything did. `cases` are looked at anew."""
        if not (self._globs or self._pairs or self._tags or self._at):
            return None
        seen = list(islice(cases, _MOST_KNOWN))
        ids = dict.fromkeys(case.id for _, case in seen)
        tags = dict.fromkeys(tag for _, case in seen for tag in case.tags)
        said = [f"no case has an id like `{glob}`{_near(glob, ids)}" for glob in self._globs]
        pairs = self._pairs.values()
        said += [f"there is no case `{id}` in {suite}{_near(id, ids)}" for suite, id in pairs]
        said += [
            f"there is no case `{id}` at `{target}` in {suite}"
            for suite, id, target in self._at.values()
        ]
        said += [f"no case has the tag `{tag}`{_near(tag, tags)}" for tag in self._tags]
        return "; ".join(said)


def _near(name: str, known: Collection[str]) -> str:
    """The name that was probably meant; where none is near, some of those that there are."""
    if not known:
        return " (none has any)"
    if any(each.startswith(f"{name}:") for each in known):
        return f" (there are only variants of it: say `{name}:*`)"
    written = name.strip("*")
    close = nearest(written, known) or next((each for each in known if written in each), None)
    if close is not None and written:
        return f" (the nearest is `{close}`)"
    told = ", ".join(f"`{each}`" for each in islice(known, _MOST_TOLD))
    if len(known) > _MOST_TOLD:
        told += f" and {len(known) - _MOST_TOLD:,} more"
    return f" (there {'is' if len(known) == 1 else 'are'} {told})"
