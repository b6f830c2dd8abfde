"""Regular expressions of suites, searched by the `regex` package within a time limit.

A search that is over in a few milliseconds happens in the event loop. Anything slower happens in a
thread: `regex` releases the interpreter while it searches, so no other trial waits.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import NamedTuple, TypeVar

import regex

from evalcase.errors import EvalcaseError
from evalcase.util.user_calls import run_aside

LIMIT_S = 2.0
"""How long one search may take, unless a grader says otherwise."""
_LOOP_S = 0.005
"""How long the event loop may be blocked by the searches of one grading."""
_SHORT_PATTERN, _SHORT_TEXT = 500, 20_000
"""`regex` looks at its time limit every so many steps. With long patterns or texts, those steps may
take much longer than the limit, so such searches never happen in the event loop."""

T = TypeVar("T")


class MatchSpan(NamedTuple):
    start: int
    end: int


class TakesLongError(Exception):
    """A search is too slow for the event loop."""


class Searcher:
    """Searches for the patterns of one grading."""

    def __init__(
        self, limit_s: float | None = None, is_given_up: Callable[[], bool] = lambda: False
    ) -> None:
        """Without a limit, it is called in the event loop, and raises TakesLongError."""
        self._limit_s = limit_s
        self.is_given_up = is_given_up

    def find(
        self, pattern: str, text: str, *, full: bool = False, ignore_case: bool = False
    ) -> MatchSpan | None:
        """Where a text matches, or None. Raise EvalcaseError if that takes too long."""
        in_loop = self._limit_s is None
        if in_loop and (len(pattern) > _SHORT_PATTERN or len(text) > _SHORT_TEXT):
            raise TakesLongError
        compiled = _compile(pattern, ignore_case)
        search = compiled.fullmatch if full else compiled.search
        try:
            found = search(text, timeout=_LOOP_S if in_loop else self._limit_s)
        except TimeoutError:
            if in_loop:
                raise TakesLongError from None
            shown = pattern if len(pattern) <= 60 else f"{pattern[:60]}…"
            where = f"a text of {len(text):,} characters"
            what = f"to look for `{shown}` in {where} took longer than {self._limit_s:g} s"
            raise EvalcaseError(what) from None
        return None if found is None else MatchSpan(*found.span())


def settle(
    judge: Callable[[Searcher], T], limit_s: float = LIMIT_S, *, takes_long: bool = False
) -> T | Awaitable[T]:
    """Judge by patterns: here if all searches are quick, else once more in a thread."""
    if not takes_long:
        try:
            return judge(Searcher())
        except TakesLongError:
            pass
    return run_aside(lambda is_given_up: judge(Searcher(limit_s, is_given_up)))


@lru_cache(maxsize=512)
def _compile(pattern: str, ignore_case: bool) -> regex.Pattern[str]:
    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except (regex.error, RecursionError) as error:
        raise EvalcaseError(f"`{pattern:.60}` is not a pattern: {error}") from None
