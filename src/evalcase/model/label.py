"""What a person says of an answer, and what a judge said of it: two values that can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from evalcase.model.value import Value


class AnswerName(NamedTuple):
    """Which answer is meant. It is the same in every run and every repeat in which it was given."""

    suite: str
    case: str
    target: str
    hash: str
    """`Answer.fingerprint()`."""


class Label(Value, frozen=True):
    suite: str
    """The path of the suite, as the run named it."""
    case: str
    target: str
    answer_hash: str
    """Of the answer that the person saw."""
    passed: bool
    by: str
    """Who says so."""
    repeat: int | None = None
    """The trial in which they saw it. The same answer in another one has the same label."""
    criterion: str | None = None
    """Where it is about one criterion only, its id."""
    drawn_from: float | None = None
    """Where as many answers were drawn of those that a judge passed as of those that it failed, the
    share of the run that is of the same kind: such labels are no fair sample, and have to be
    weighed. It doesn't say which kind, since who labels must not know."""
    note: str = ""
    """Whatever the person wants to remember."""

    @property
    def answer(self) -> AnswerName:
        return AnswerName(self.suite, self.case, self.target, self.answer_hash)


class Judged(NamedTuple):
    """What a grader said of an answer in one trial."""

    answer: AnswerName
    repeat: int
    passed: bool | None
    """None where it gave no verdict."""
    length: int
    """Characters of the answer."""
    criteria: Mapping[str, bool]
    """Whether each criterion is met, by its id; empty for what is no judge."""
    votes: Mapping[str, Mapping[str, int]]
    """For each criterion that was voted on, how often each verdict was given."""

    def verdict_on(self, criterion: str | None) -> bool | None:
        """On the whole answer, or on one criterion; None where there is none."""
        return self.passed if criterion is None else self.criteria.get(criterion)
