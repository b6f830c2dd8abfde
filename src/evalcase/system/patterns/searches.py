"""Searches of one grading: those that are quick for sure are made at once, others elsewhere.

What judges an answer by patterns is called with a `Searches`. Where it asked for a search that may
take long, that is made in another process, and it is called again with what is known by then: so
it can stay a plain function.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import lru_cache, partial
from typing import TypeVar

from evalcase.system.patterns.search import MatchSpan, Search
from evalcase.text.pattern_cost import worst_steps

LIMIT_S = 2.0
"""How long one search may take."""
_QUICK_STEPS = 1_000_000
"""Some milliseconds of work: as long as the event loop may stand still for a search."""

T = TypeVar("T")


class Searches:
    """Finds patterns. An outcome that is not known yet is noted, and reads as not found."""

    def __init__(self) -> None:
        self.known: dict[Search, MatchSpan | None] = {}
        self.unknown: list[Search] = []

    def find(self, search: Search) -> MatchSpan | None:
        steps = worst_steps(search.pattern, len(search.text), search.full)
        if steps is not None and steps <= _QUICK_STEPS:
            return find_here(search)
        if search not in self.known:
            self.unknown.append(search)
            return None
        return self.known[search]


def find_here(search: Search) -> MatchSpan | None:
    """Search in this thread, which nothing can interrupt."""
    pattern = compile_quietly(search.pattern, search.flags)
    found = (pattern.fullmatch if search.full else pattern.search)(search.text)
    return None if found is None else MatchSpan(*found.span())


@lru_cache(maxsize=512)
def compile_quietly(pattern: str, flags: int) -> re.Pattern[str]:
    """A valid pattern, whatever Python thinks of its style."""
    from warnings import catch_warnings, simplefilter

    with catch_warnings():
        simplefilter("ignore")
        return re.compile(pattern, flags)


def settle_searches(judge: Callable[[Searches], T], limit_s: float = LIMIT_S) -> T | Awaitable[T]:
    """What is judged, at once if all searches are quick."""
    searches = Searches()
    outcome = judge(searches)
    return _settle_later(judge, searches, limit_s) if searches.unknown else outcome


async def settle_aside(
    judge: Callable[[Searches, Callable[[], bool]], T], limit_s: float = LIMIT_S
) -> T:
    """The same for what takes long by itself: it is judged in a thread, and asks now and then
    whether it is given up."""
    from evalcase.system.aside import run_aside

    searches = Searches()
    while True:
        outcome = await run_aside(partial(judge, searches))
        if not searches.unknown:
            return outcome
        await _find_unknown(searches, limit_s)


async def _settle_later(judge: Callable[[Searches], T], searches: Searches, limit_s: float) -> T:
    while searches.unknown:
        await _find_unknown(searches, limit_s)
        outcome = judge(searches)
    return outcome


async def _find_unknown(searches: Searches, limit_s: float) -> None:
    from evalcase.system.patterns.searchers import find_elsewhere  # slow to import, seldom needed

    for search in dict.fromkeys(searches.unknown):
        searches.known[search] = await find_elsewhere(search, limit_s)
    searches.unknown.clear()


def end_searches() -> None:
    """End the processes that searched, if there are any."""
    import sys

    known = sys.modules.get("evalcase.system.patterns.searchers")
    if known is not None:
        known.end_searchers()
