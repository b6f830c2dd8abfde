"""One call of a target: the outcome is a checked answer or an error, within its time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, NamedTuple

from evalcase.errors import TargetError
from evalcase.types.answer import Answer
from evalcase.types.codec import decode_object, encode_object
from evalcase.types.grade import copy_question, copy_steps
from evalcase.types.message import Message, fault_of_message, part_text, parts_of, take_message
from evalcase.types.question import Question
from evalcase.types.target import Quota, Target, Warn
from evalcase.types.value import JSON, replace
from evalcase.util.answers import read_ending
from evalcase.util.errors import recordable_details
from evalcase.util.json import NotJsonError, copy_json
from evalcase.util.user_calls import UserCalls

_MORE_TIME = "`timeout_s` of the case, or --timeout, allows more"
_SET_UP = ("system", "developer")
"""Roles of messages that an agent may add, or leave out, before all others."""


class OverTimeError(TimeoutError):
    """An attempt was not done when its time was over."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(f"no answer within {limit_s:g} s ({_MORE_TIME})")


class Attempted(NamedTuple):
    answer: Answer | None
    error: BaseException | None
    duration_s: float
    quota: Quota | None = None
    """How much more the service of the target takes, as it said meanwhile."""
    seen: Mapping[str, JSON] | None = None
    """What is known of a failed call beside its error."""


async def make_attempt(
    name: str, target: Target, question: Question, limit_s: float, calls: UserCalls, warn: Warn
) -> Attempted:
    """Call a target once."""
    if not target.traits.only_reads:
        question = copy_question(question)
    elif target.traits.seen is not None:
        question = replace(question)  # the object by which this call is known

    async def ask() -> object:
        given: object = target.answer(question)
        if isawaitable(given):
            return await given
        what = "the method `answer` of a Target must be async (`async def answer`)"
        why = f"{what}: it returned {type(given).__name__}, which can't be awaited"
        raise TargetError(why, kind="protocol")

    outcome = await calls.run(ask, limit_s, question.case, check_answer)
    quota = _call_trait(target.traits.quota)
    # A late call may have returned or raised anything once it was cancelled.
    error = OverTimeError(limit_s) if outcome.is_late else outcome.error
    answer = outcome.value
    if error is None:
        assert isinstance(answer, Answer)
        try:
            return Attempted(_take_own(answer, question, name, warn), None, outcome.took_s, quota)
        except TargetError as refused:
            error = refused
    seen = _call_trait(target.traits.seen, question)
    return Attempted(None, error, outcome.took_s, quota, seen)


def _call_trait(trait: Callable[..., Any] | None, *arguments: object) -> Any:  # noqa: ANN401
    """What a trait of a target says; None where it breaks, since a target is user code."""
    try:
        said = None if trait is None else trait(*arguments)
        return said if said is None or isinstance(said, Quota) else recordable_details(dict(said))
    except Exception:  # noqa: BLE001 - the outcome of the call is there
        return None


def check_answer(answer: object) -> Answer:
    """The answer of plain values that can be graded and recorded. Raise TargetError if it is none:
    user code can build an Answer that holds anything."""
    if not isinstance(answer, Answer):
        what = f"the target returned {type(answer).__name__}, not an Answer"
        raise TargetError(what, kind="protocol")
    try:
        if answer.last_at != 0:
            raise ValueError(f"`last_at` is {answer.last_at!r:.60}, which is for evalcase to say")
        messages = tuple([_check_message(message) for message in answer.messages])
        checked = replace(answer, messages=messages, steps=copy_steps(answer.steps))
        if checked != Answer(messages):
            decode_object(Answer, encode_object(checked))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise TargetError(f"the target returned a wrong Answer: {error}", kind="protocol") from None
    return checked


def _check_message(message: Message) -> Message:
    fault = fault_of_message(message)
    if fault is not None:
        raise ValueError(f"`messages` are wrong: one {fault}")
    texts = [part for part in parts_of(message.content) if part["type"] in ("text", "output_text")]
    if message.role == "assistant" and None in map(part_text, texts):
        raise ValueError("`messages` are wrong: one has a text part without a text")
    try:
        copied = copy_json(message)
    except NotJsonError as error:
        raise ValueError(f"`messages` is not JSON: {error}") from None
    assert isinstance(copied, dict)
    return take_message(copied)


def _take_own(answer: Answer, question: Question, name: str, warn: Warn) -> Answer:
    """The part of an answer that the target said itself: many an agent returns its whole
    conversation. Raise TargetError if there is none, or if it is not finished."""
    messages = answer.messages
    is_usual = len(messages) == 1 and messages[0].role == "assistant"
    given = 0 if is_usual else _count_repeated(messages, question.messages)
    if given == len(messages) > 0:
        what = "the target returned messages that it was given, and nothing after them"
        raise TargetError(what, kind="protocol")
    if given:
        answer = replace(answer, messages=messages[given:])
        left_out = "these are no part of an answer, and are left out"
        warn(f"answers of `{name}` begin with messages that it was given: {left_out}")
    elif len(messages) > 1 and any(each.role == "user" for each in messages):
        counted = "all that it returned counts as its answer"
        warn(f"answers of `{name}` have messages of a user that it was not given: {counted}")
    end = read_ending(answer)
    if end.kind in ("unfinished", "failed"):
        said = f"the target's reply is {end.kind} (finish reason `{end.reason}`)"
        raise TargetError(said, kind="protocol", details={"text": answer.text[:1000]})
    if end.kind == "cut off":
        graded = "they are graded as far as they go"
        warn(f"answers of `{name}` were cut off (finish reason `{end.reason}`): {graded}")
    return answer


def _count_repeated(said: Sequence[Message], asked: Sequence[Message]) -> int:
    """How many messages come before the answer: all that was asked, or as much of its end as the
    agent remembers."""
    places = [place for place, each in enumerate(said) if each.role not in _SET_UP]
    asked = [each for each in asked if each.role not in _SET_UP]
    for start in range(max(0, len(asked) - len(places)), len(asked)):
        rest = asked[start:]
        if all(each.role == "assistant" for each in rest):
            return 0  # an agent may say again what was said before
        pairs = zip(places, rest, strict=False)
        if all(_is_same_message(said[place], each) for place, each in pairs):
            return places[len(rest) - 1] + 1
    return 0


def _is_same_message(one: Message, other: Message) -> bool:
    """Whether two messages say the same, in whichever form."""
    if one.role != other.role or _list_calls(one) != _list_calls(other):
        return False
    if (one.content or "") == (other.content or ""):
        return True
    texts = one.text, other.text
    return None not in texts and str(texts[0]).split() == str(texts[1]).split()


def _list_calls(message: Message) -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in message.tool_calls]
