"""What cases, suites and tags there are, for who asked for one that is not there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping
from itertools import islice

from evalcase.model.nearest import nearest_meaning, plain_name
from evalcase.run.selection import SuiteCase
from evalcase.text.counted import list_some

_MOST_KNOWN = 10_000
"""Names among which the nearest is looked for."""
_MOST_TOLD = 3
_PART = 3
"""So many characters of a name are no longer in another by chance."""


class KnownCases:
    """The first of all cases, by their names."""

    def __init__(
        self,
        cases: Iterable[SuiteCase],
        place_of: Callable[[str], str],
        suites: Mapping[str, str],
        wanted: Container[str],
    ) -> None:
        """`suites` are the paths of all suites by their places, `wanted` ids of cases that may be
        in another suite."""
        self.ids: dict[str, None] = {}
        self.tags: dict[str, None] = {}
        self._suites = suites
        self._by_place: dict[str, dict[str, None]] = {}
        self._having: dict[str, dict[str, None]] = {}
        """The suites that have a case of a wanted id."""
        for suite, case in islice(cases, _MOST_KNOWN):
            self.ids[case.id] = None
            self.tags.update(dict.fromkeys(case.tags))
            if suites:
                self._by_place.setdefault(place_of(suite), {})[case.id] = None
                if case.id in wanted:
                    self._having.setdefault(case.id, {})[suite] = None

    def has_case(self, place: str, id: str) -> bool:
        """Whether a suite has a case, as far as that is known."""
        return id in self._by_place.get(place, ())

    def describe_case(self, place: str, id: str) -> str:
        """Where a case is that a suite has not got, or what was probably meant, in brackets."""
        having = self._having.get(id)
        elsewhere = f"`{id}` is in {_list_names(having)}" if having else None
        if place not in self._suites:
            suites = dict.fromkeys(islice(self._suites.values(), _MOST_KNOWN))
            there_are = elsewhere or _nearest_to(place, suites) or _there_are(suites)
            return f" (that is not a suite of this run; {there_are})"
        own = self._by_place.get(place, {})
        said = [each for each in (_nearest_to(id, own, "`"), elsewhere) if each is not None]
        if not said and own:
            said = [_there_are(own, "`")]
        return f" ({'; '.join(said)})" if said else ""


def describe_near(name: str, known: Collection[str]) -> str:
    """The name that was probably meant, in brackets; where none is near, some of those that there
    are."""
    if not known:
        return " (none has any)"
    return f" ({_nearest_to(name, known, '`') or _there_are(known, '`')})"


def _nearest_to(name: str, known: Collection[str], quote: str = "") -> str | None:
    if any(each.startswith(f"{name}:") for each in known):
        return f"it only has variants: use `{name}:*`"
    written = name.strip("*")
    meant = {plain_name(each): each for each in reversed(list(known))}
    close = nearest_meaning(written, meant) if written else None
    if close is None and len(written) >= _PART:
        close = next((each for each in known if written in each), None)
    return f"the nearest is {quote}{close}{quote}" if close is not None else None


def _there_are(known: Collection[str], quote: str = "") -> str:
    return f"there {'is' if len(known) == 1 else 'are'} {_list_names(known, quote)}"


def _list_names(known: Collection[str], quote: str = "") -> str:
    told = (f"{quote}{each}{quote}" for each in islice(known, _MOST_TOLD))
    return list_some(told, len(known))
