"""Trials in, cases out: what is compared of a case at a target, all of its trials together."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from json import dumps
from math import nan
from typing import NamedTuple

from msgspec import Struct, field

from evalcase.report.compare.side import PlacedName, Side
from evalcase.types.answer import Answer
from evalcase.types.result import Result, Verdict
from evalcase.util.table import mark_of

_MASK = 0xFFFF_FFFF_FFFF_FFFF
AMOUNTS = ("latency", "input tokens", "output tokens", "cost")
"""What is measured of an answer beside how good it is, in the order in which it is noted."""


class RunningMean:
    """The mean of what there is."""

    __slots__ = ("count", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0

    def add(self, value: float | None) -> None:
        if value is not None:
            self.count += 1
            self.total += value

    @property
    def value(self) -> float:
        """Not a number where there is nothing."""
        return self.total / self.count if self.count else nan

    def at_worst(self, trials: int) -> float | None:
        """What it would be if each of so many trials that has no value had 0; None if all have
        one, or none has."""
        return self.total / trials if 0 < self.count < trials else None


def _make_amounts() -> tuple[RunningMean, ...]:
    return tuple(RunningMean() for _ in AMOUNTS)


class CaseStanding(NamedTuple):
    """What a case came to: two that are equal say that nothing changed."""

    verdict: Verdict | None
    answers: int
    passed: int
    trials: int
    score: str
    """As text: what is not a number is not equal to itself."""


class Unit(Struct):
    """A case at a target."""

    name: PlacedName
    shown: Result
    """The first trial that shows why its verdict is what it is."""
    verdict: Verdict | None = None
    """None where some of its trials have no result."""
    trials: int = 0
    passed: int = 0
    errored: int = 0
    repeats: int = 1
    score: RunningMean = field(default_factory=RunningMean)
    amounts: tuple[RunningMean, ...] = field(default_factory=_make_amounts)
    graders: dict[str, tuple[RunningMean, RunningMean]] = field(default_factory=dict)
    """By name: how often it passed, and its score."""
    answers: int = 0
    """A mark of all that was said, in whatever order."""
    question: int = 0
    """A mark of what was asked."""
    grading: int = 0
    """A mark of what it was graded by."""

    @property
    def share(self) -> float:
        """Of its trials, those that passed."""
        return self.passed / self.trials if self.trials else nan

    def standing(self) -> CaseStanding:
        return CaseStanding(
            self.verdict, self.answers, self.passed, self.trials, str(self.score.value)
        )

    def add(self, result: Result) -> None:
        verdict = result.verdict
        self.trials += 1
        self.passed += verdict == "passed"
        self.errored += verdict == "errored"
        if self.shown.verdict == "passed" and self.verdict != "passed":
            self.shown = result
        self.score.add(result.score)
        self.question = mark_of(result.question_hash)
        self.grading = mark_of(result.grading_hash)
        if result.answer is not None:
            self._measure(result.answer, result.duration_s)
        for grade in result.grades:
            held = self.graders.get(grade.grader)
            if held is None:
                held = self.graders[grade.grader] = RunningMean(), RunningMean()
            held[0].add(float(grade.passed))
            held[1].add(grade.score)

    def _measure(self, answer: Answer, duration_s: float) -> None:
        self.answers = (self.answers + mark_of(_write_said(answer))) & _MASK
        usage, earlier = answer.usage, answer.earlier
        # What is from a cache or a file took what it took when it was first given.
        values = (
            duration_s if earlier is None else earlier.duration_s,
            usage.input_tokens if usage is not None else None,
            usage.output_tokens if usage is not None else None,
            answer.cost_usd if earlier is None else earlier.cost_usd,
        )
        for mean, value in zip(self.amounts, values, strict=True):
            mean.add(value)


def _write_said(answer: Answer) -> str:
    messages = answer.messages
    if len(messages) == 1 and len(messages[0]) == 2 and isinstance(messages[0].content, str):
        return messages[0].content  # as most are
    return dumps(messages, sort_keys=True)


def fold_units(side: Side, targets: Collection[str]) -> Iterator[Unit]:
    """The cases of some targets, each when the last of its trials has come."""
    kept, place_of = side.kept, side.place_of
    wanted = frozenset(targets)
    held: dict[tuple[str, str, str], Unit] = {}
    for result in kept.results():
        key = result.key
        if key.target not in wanted:
            continue
        outcome, group = kept.outcome(result), key[:3]
        unit = held.get(group)
        if unit is None:
            name = PlacedName(place_of(key.suite), key.case, key.target)
            unit = held[group] = Unit(name, result, outcome.verdict, repeats=outcome.repeats)
        unit.add(result)
        if unit.trials >= outcome.trials:
            del held[group]
            yield unit
    yield from held.values()  # a file may have lost some
