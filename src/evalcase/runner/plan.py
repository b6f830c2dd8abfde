"""Cases to trials: against which targets, how often."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from evalcase.types.case import Case
from evalcase.types.result import Trial

_ONCE = (1,)

Says = Callable[[str, Case, str], bool]
"""Says something of a suite, a case of it, and a target."""


def times_of(case: Case, repeat: int | None) -> int:
    """How many trials there are of a case for each target; one of the command line wins."""
    data = case._data
    if repeat is None and "repeat" not in data:
        return 1
    return 1 if case.skip else repeat or case.repeat


def plan_trials(
    cases: Iterable[tuple[str, Case]],
    target: str,
    default: str | None,
    repeat: int | None,
    overridden: bool,
    asks: Says | None = None,
    stands: Says | None = None,
) -> Iterator[Trial]:
    """The trials of one target: of the cases that name it, or that name none if it is the default.

    Targets of the command line are `overridden` onto every case, and so is its `repeat`. Skipped
    cases are planned too: their result says so. `asks` says which of its targets a case is
    asked of, where that is not all of them. A case whose one trial `stands` as it is makes none.
    """
    for number, (suite, case) in enumerate(cases):
        named = overridden or target in (case.targets or (default,))
        if named and (asks is None or asks(suite, case, target)):
            times = times_of(case, repeat)
            if times == 1 and stands is not None and stands(suite, case, target):
                continue
            for each in _ONCE if times == 1 else range(1, times + 1):
                yield Trial(suite, case, target, each, times, number)
