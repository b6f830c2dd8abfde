"""What a grader looks at: the whole answer, or each part of its JSON that a `path` leads to.

This is the one place that follows paths, so that no grader has to: nothing there fails, several
parts are graded one by one, and the lowest score counts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from functools import lru_cache
from inspect import isawaitable

from evalcase.errors import EvalcaseError
from evalcase.grade.checked import check_score
from evalcase.model.grade import Score
from evalcase.model.grader import Context, NamedGrader, Part
from evalcase.model.quick_dataclass import replace
from evalcase.text.answer_value import value_of_answer
from evalcase.text.json_path import Found, JsonPath, MissingError
from evalcase.text.strict_json import BadJsonError

_SHOWN = 3


def look_at(named: NamedGrader, context: Context) -> Score | Awaitable[Score]:
    """What a grader says of an answer, or of the parts that it is told to look at."""
    reads = named.grader.kind.reads
    if reads is None:
        return named.grader.grade(context)
    if context.answer.truncated:
        raise EvalcaseError(
            "the answer was cut, as it was larger than evalcase keeps, so it can't be graded"
        )
    try:
        if named.path is None:
            return named.grader.grade(context)
        found = _path(named.path).find_all(value_of_answer(context.answer))
    except BadJsonError as error:
        at = "" if named.path is None else f", so there is nothing at `{named.path}`"
        return Score(0.0, f"the answer is not JSON: {error}{at}")
    except MissingError as error:
        return Score(0.0, str(error))
    return _look_at_parts(named, context, found)


_path = lru_cache(maxsize=256)(JsonPath)


def _look_at_parts(
    named: NamedGrader, context: Context, found: Sequence[Found]
) -> Score | Awaitable[Score]:
    outcomes = [named.grader.grade(replace(context, part=Part(*each))) for each in found]
    scores = [outcome for outcome in outcomes if isinstance(outcome, Score)]
    if len(scores) == len(outcomes):
        return _lowest(found, scores, named.threshold)
    return _wait_for_parts(named, found, outcomes)


async def _wait_for_parts(
    named: NamedGrader, found: Sequence[Found], outcomes: Sequence[Score | Awaitable[Score]]
) -> Score:
    scores = [await each if isawaitable(each) else check_score(each) for each in outcomes]
    return _lowest(found, scores, named.threshold)


def _lowest(found: Sequence[Found], scores: Sequence[Score], threshold: float) -> Score:
    """The score of the part that is worst, with what is said of those that don't pass."""
    graded = [
        (score.value, part.path, score)
        for part, score in zip(found, scores, strict=True)
        if score.value is not None
    ]
    if len(graded) < len(scores):
        return Score(None, next(each.reason for each in scores if each.value is None))
    lowest = min(graded, key=lambda each: each[0])
    if len(graded) == 1:
        return replace(lowest[2], reason=f"at `{lowest[1]}`: {lowest[2].reason}")
    failed = [each for each in graded if each[0] < threshold]
    if not failed:
        return replace(lowest[2], reason=f"all {len(graded)} parts: {lowest[2].reason}")
    said = [f"at `{path}`: {score.reason}" for _, path, score in failed[:_SHOWN]]
    more = [f"and {len(failed) - _SHOWN} more"] if len(failed) > _SHOWN else []
    reason = f"{len(failed)} of {len(graded)} parts fail: {'; '.join([*said, *more])}"
    return replace(lowest[2], reason=reason)
