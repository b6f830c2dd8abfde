"""A score to a grade, by the threshold and the `not` of its grader; and the grades of parts to one.

Where a path leads to several parts, each of them has a grade of its own, `not` included, and all
have to pass: what holds for the whole answer holds for every part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evalcase.types.grade import Grade, Score, reaches
from evalcase.types.grader import NamedGrader
from evalcase.types.value import replace
from evalcase.util.text import write_score

_SHOWN = 3


class PartScore(NamedTuple):
    """What a grader says of one part of an answer."""

    path: str
    score: Score


class PartScores(NamedTuple):
    """What it says of all the parts that its path leads to, at least one."""

    parts: Sequence[PartScore]


def grade_of(named: NamedGrader, score: Score) -> Grade:
    """What a score comes to in its case."""
    value, stands = score.value, score.stands
    if value == 1 and score.passed is None and score.reason and not named.negated:
        # Whatever is asked for is reached, and there is nothing to add.
        return Grade(
            named.name, value, True, score.reason, {**score.details}, named.weight, named.required,
            None, 0, None, 0, None, None, stands,
        )  # fmt: skip
    passed, by_threshold = _decide_pass(named, score)
    if named.negated and stands:
        passed, by_threshold = False, False
    turns = named.negated and not stands and value is not None
    if turns and value is not None:
        value, passed, by_threshold = 1.0 - value, not passed, False
    reason = _write_reason(named, value, passed, score.reason, by_threshold)
    if turns and not passed:
        reason = f"{reason}; with `not: true` that fails"
    return Grade(
        named.name, value, passed, reason, {**score.details}, named.weight, named.required,
        stands=stands,
    )  # fmt: skip


def _decide_pass(named: NamedGrader, score: Score) -> tuple[bool, bool]:
    """Whether it passes before `not`, and whether it is the threshold that says so.

    A threshold that is given has to be reached also where the grader says itself that it passed.
    """
    if score.value is None:
        return False, False
    if score.passed is not None and (named.threshold is None or not score.passed):
        return score.passed, False
    return reaches(score.value, named.needed_score), True


def _write_reason(
    named: NamedGrader, value: float | None, passed: bool, reason: str, by_threshold: bool
) -> str:
    """Why, with the arithmetic where a part of the score was not enough, or was enough since a
    threshold says so. A comparison says itself what is missing."""
    is_whole = passed and not (by_threshold and named.threshold is not None)
    is_clear = is_whole or not value or named.grader.kind.compares_expected
    if value is None or (reason and is_clear):
        return reason
    told = f"score {write_score(value, *(() if passed else (named.needed_score,)))}"
    if by_threshold and not is_whole:
        told = f"{told}, needs {named.needed_score:g}"
    return f"{reason} ({told})" if reason else told


def grade_of_parts(named: NamedGrader, scores: PartScores) -> Grade:
    """The grade of all parts: the lowest score, and passed if every one of them is."""
    parts = [(path, grade_of(named, score)) for path, score in scores.parts]
    ungraded = next((grade for _, grade in parts if grade.score is None), None)
    if ungraded is not None:
        return ungraded
    # What is shown of them is the worst: one that fails, if any does.
    path, worst = min(parts, key=lambda part: (part[1].passed, part[1].score))
    if len(parts) == 1:
        return replace(worst, reason=f"at `{path}`: {worst.reason}")
    failed = [(path, grade) for path, grade in parts if not grade.passed]
    return replace(
        worst,
        score=min(grade.score for _, grade in parts if grade.score is not None),
        reason=_reason_of_parts(failed, len(parts)) or f"all {len(parts)} parts: {worst.reason}",
        stands=bool(failed) and all(grade.stands for _, grade in failed),
    )


def _reason_of_parts(failed: Sequence[tuple[str, Grade]], parts: int) -> str:
    if not failed:
        return ""
    said = [f"at `{path}`: {grade.reason}" for path, grade in failed[:_SHOWN]]
    more = [f"and {len(failed) - _SHOWN} more"] if len(failed) > _SHOWN else []
    return f"{len(failed)} of {parts} parts fail: {'; '.join([*said, *more])}"
