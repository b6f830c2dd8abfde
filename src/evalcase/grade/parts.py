"""What a grader looks at: the whole answer, or each part of its JSON that a `path` leads to.

This is the one place that follows paths, so that no grader has to: what can't be looked at fails,
also with `not: true`, and several parts are graded one by one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Sequence
from functools import lru_cache
from inspect import isawaitable

from evalcase.errors import EvalcaseError, GraderError
from evalcase.grade.checked import check_score
from evalcase.grade.decided import PartScore, PartScores
from evalcase.types.grade import Score
from evalcase.types.grader import Context, Grader, NamedGrader, Part
from evalcase.types.value import describe_kind, replace
from evalcase.util.answers import find_block, has_text, say_silence, shows_nothing, value_of_answer
from evalcase.util.json import BadJsonError, Found, JsonPath, MissingError
from evalcase.util.text import as_json

_LONGEST = 80

Seen = Score | PartScores
"""What a grader says of the whole answer, or of parts."""


def look_at_answer(named: NamedGrader, context: Context) -> Seen | Awaitable[Seen]:
    """What a grader says of an answer, or of the parts that it is told to look at."""
    kind = named.grader.kind
    # What is made of others asks them, and each of those is looked at here by itself.
    if context.answer.truncated and not (kind.measures or kind.combines):
        raise EvalcaseError(
            "the answer was truncated, as it was larger than evalcase stores, so it can't be graded"
        )
    blocked = find_block(context.answer)
    if blocked is not None and not (kind.grades_blocked or kind.combines):
        what = f"the provider blocked the answer (finish reason `{blocked}`)"
        raise GraderError("blocked", f"{what}: only `finish` can grade it")
    if kind.reads is None:
        return named.grader.grade(context)
    try:
        is_whole_text = named.path is None and kind.reads == "text"
        if is_whole_text and not has_text(context.answer) and not named.grader.accepts_silence():
            said = context.answer.text
            return _score_unseen(f"there is {say_silence(context.answer.last, said)}")
        if named.path is None:
            return named.grader.grade(context)
        found = _path(named.path).find_all(value_of_answer(context.answer))
    except BadJsonError as error:
        at = "" if named.path is None else f", so there is nothing at `{named.path}`"
        return _score_unseen(f"the answer is not JSON: {error}{at}")
    except MissingError as error:
        return _score_unseen(str(error))
    return _look_at_parts(named.grader, context, found)


_path = lru_cache(maxsize=256)(JsonPath)


def _score_unseen(reason: str) -> Score:
    """There is nothing to look at, so that there is nothing to turn round."""
    return Score(0.0, reason, passed=False, stands=True)


def _look_at_parts(
    grader: Grader, context: Context, found: Sequence[Found]
) -> Seen | Awaitable[Seen]:
    outcomes = [_look_at_part(grader, context, each) for each in found]
    if all(isinstance(outcome, Score) for outcome in outcomes):
        return _put_together(found, outcomes)
    return _wait_for_parts(found, outcomes)


def _look_at_part(grader: Grader, context: Context, found: Found) -> Score | Awaitable[Score]:
    if grader.kind.reads != "text":
        return grader.grade(replace(context, part=Part(*found)))
    if not isinstance(found.value, str):
        shown = as_json(found.value)
        shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
        what = describe_kind(found.value)
        return _score_unseen(f"there is {what}, not text" + (f": {shown}" if what != shown else ""))
    if shows_nothing(found.value) and not grader.accepts_silence():
        return _score_unseen(f"there is {say_silence((), found.value)}")
    return grader.grade(replace(context, part=Part(*found)))


async def _wait_for_parts(
    found: Sequence[Found], outcomes: Sequence[Score | Awaitable[Score]]
) -> PartScores:
    try:
        scores = [await each if isawaitable(each) else each for each in outcomes]
    finally:
        for each in outcomes:  # those after one that broke have not been begun
            if isinstance(each, Coroutine):
                each.close()
    return _put_together(found, scores)


def _put_together(found: Sequence[Found], scores: Sequence[object]) -> PartScores:
    pairs = zip(found, scores, strict=True)
    return PartScores([PartScore(part.path, check_score(score)) for part, score in pairs])
