"""Results in, one at a time; out what a summary says of them. It grows with what went wrong, up to
a limit, and never with what passed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from evalcase.model.result import Result, Verdict
from evalcase.report.terminal.failures import detail_lines, reason
from evalcase.report.terminal.style import Style

MOST_CASES = 20
"""Cases of one verdict that are shown in full."""
_MOST_REPEATED = 1000
_SLOWEST = 3
_NAMED = 3
TROUBLED: tuple[Verdict, ...] = ("failed", "errored", "ungraded")


class Name(NamedTuple):
    """A case at a target, all of its repeats together."""

    suite: str
    case: str
    target: str


class Slow(NamedTuple):
    duration_s: float
    name: Name


@dataclass(slots=True)
class Shown:
    """A case that did not pass: its first such trial, and how many there are."""

    result: Result
    lines: list[str]
    trials: int = 1
    same: int = 0
    """Trials of other cases that errored in the same way."""
    named: list[str] = field(default_factory=list)
    """The first of those cases."""


@dataclass(slots=True)
class Row:
    """What came of one target."""

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    cost_usd: float | None = None
    busy_s: float = 0.0


@dataclass(slots=True)
class Gathered:
    shown: dict[tuple[Verdict, Name], Shown] = field(default_factory=dict)
    more: Counter[Verdict] = field(default_factory=Counter)
    """Trials that are not shown, since many others are."""
    targets: dict[str, Row] = field(default_factory=dict)
    slowest: list[Slow] = field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0
    repeats: dict[Name, tuple[int, int]] = field(default_factory=dict)
    """Of the repeated cases that did not always pass: how many trials did, of how many."""


def gather(read: Callable[[], Iterable[Result]], style: Style, width: int) -> Gathered:
    """Read the results once, and a second time where cases were repeated."""
    gathered = Gathered()
    troubled: set[Name] = set()
    repeated = False
    for result in read():
        name = Name(*result.key[:3])
        repeated = repeated or result.key.repeat > 1
        _count(gathered, result)
        if result.verdict in TROUBLED:
            _show(gathered, result, name, style, width)
            if len(troubled) < _MOST_REPEATED:
                troubled.add(name)
    if repeated and troubled:
        gathered.repeats = _rates(read(), troubled)
    return gathered


def _count(gathered: Gathered, result: Result) -> None:
    row = gathered.targets.setdefault(result.key.target, Row())
    row.verdicts[result.verdict] += 1
    row.busy_s += result.duration_s
    slow = gathered.slowest
    if len(slow) < _SLOWEST or result.duration_s > slow[-1].duration_s:
        gathered.slowest = _slowest([*slow, Slow(result.duration_s, Name(*result.key[:3]))])
    answer = result.answer
    if answer is not None and answer.cost_usd is not None:
        row.cost_usd = (row.cost_usd or 0.0) + answer.cost_usd
    if answer is not None and answer.usage is not None:
        gathered.input_tokens += answer.usage.input_tokens or 0
        gathered.output_tokens += answer.usage.output_tokens or 0


def _slowest(slow: list[Slow]) -> list[Slow]:
    """The slowest trials, no case twice."""
    best: dict[Name, Slow] = {}
    for each in sorted(slow, key=lambda each: -each.duration_s):
        best.setdefault(each.name, each)
    return list(best.values())[:_SLOWEST]


def _show(gathered: Gathered, result: Result, name: Name, style: Style, width: int) -> None:
    known = gathered.shown.get((result.verdict, name))
    like = _alike(gathered, result)
    if known is not None:
        known.trials += 1
    elif like is not None:
        like.same += 1
        if len(like.named) < _NAMED and name.case not in like.named:
            like.named.append(name.case)
    elif sum(verdict == result.verdict for verdict, _ in gathered.shown) < MOST_CASES:
        lines = list(detail_lines(result, style, width))
        gathered.shown[result.verdict, name] = Shown(result, lines)
    else:
        gathered.more[result.verdict] += 1


def _alike(gathered: Gathered, result: Result) -> Shown | None:
    """One that errored for the same reason: a key that is missing is told once, not 300 times."""
    if result.verdict != "errored":
        return None
    why = reason(result)
    errored = (shown for (verdict, _), shown in gathered.shown.items() if verdict == "errored")
    return next((shown for shown in errored if reason(shown.result) == why), None)


def _rates(results: Iterable[Result], names: set[Name]) -> dict[Name, tuple[int, int]]:
    rates: dict[Name, tuple[int, int]] = {}
    for result in results:
        name = Name(*result.key[:3])
        if name in names:
            passed, tried = rates.get(name, (0, 0))
            rates[name] = passed + (result.verdict == "passed"), tried + 1
    return {name: rate for name, rate in rates.items() if rate[1] > 1}
