"""One call of a target: the outcome is an answer that was checked, or an error, within its time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import NamedTuple

from evalcase.errors import TargetError
from evalcase.types.answer import MOST_TOKENS, MOST_USD, Answer, Usage
from evalcase.types.codec import decode_object, encode_object
from evalcase.types.grade import copy_question, copy_steps
from evalcase.types.message import Message, fault_of_message, part_text, parts_of, take_message
from evalcase.types.question import Question
from evalcase.types.target import Quota, Target
from evalcase.types.value import JSON, replace
from evalcase.util.answers import read_ending
from evalcase.util.errors import recordable_details
from evalcase.util.json import NotJsonError, copy_json
from evalcase.util.user_calls import UserCalls


def check_answer(answer: object) -> Answer:
    """The answer. Raise TargetError, in words that say what is wrong with it."""
    if type(answer) is Answer and _is_one_text(answer):
        return answer
    checked = _check_values(answer)
    end = read_ending(checked)
    if end.kind in ("unfinished", "failed"):
        said = f"the target's reply is {end.kind} (finish reason `{end.reason}`)"
        raise TargetError(said, kind="protocol", details={"text": checked.text[:1000]})
    return checked


def _check_values(answer: object) -> Answer:
    if not isinstance(answer, Answer):
        what = f"the target returned {type(answer).__name__}, not an Answer"
        raise TargetError(what, kind="protocol")
    fault = _fault_of(answer)
    if fault is not None:
        raise TargetError(f"the target returned an Answer whose {fault}", kind="protocol")
    if all(map(_is_usual, answer.messages)) and not answer.steps:
        return answer
    # Plain values all through: those of a class of their own may do anything when they are used.
    messages = tuple([_copy_message(message) for message in answer.messages])
    return replace(answer, messages=messages, steps=copy_steps(answer.steps))


def _is_one_text(answer: Answer) -> bool:
    """Whether it is what nearly all are: one text of an assistant, of which nothing else is
    known."""
    messages: object = answer.messages
    return (
        type(messages) is tuple and len(messages) == 1
        and type(messages[0]) is Message and _is_usual(messages[0])
        and answer.usage is None and answer.cost_usd is None and answer.model is None
        and answer.asked_as is None and answer.earlier is None
        and answer.truncated is answer.cached is answer.scrubbed is False and answer.last_at == 0
        and answer.ends_conversation is False and answer.steps == () and answer.trace is None
    )  # fmt: skip


def _fault_of(answer: Answer) -> str | None:
    messages: object = answer.messages
    if type(messages) is not tuple:
        return f"`messages` is {type(messages).__name__}, not a tuple of Message"
    for message in messages:
        fault = _fault_of_message(message)
        if fault is not None:
            return fault
    usage: object = answer.usage
    if usage is not None and not _has_counts(usage):
        return "`usage` is not a Usage of whole numbers"
    cost: object = answer.cost_usd
    if cost is not None and not _is_amount(cost):
        return f"`cost_usd` is {cost!r:.60}, not a number from 0 to {MOST_USD:g}"
    return _fault_of_rest(answer)


def _fault_of_rest(answer: Answer) -> str | None:
    """Whether the record could be read again with all the rest of it."""
    if answer.last_at != 0:
        return f"`last_at` is {answer.last_at!r:.60}, which is for evalcase to say"
    if answer == Answer(answer.messages, answer.usage, answer.cost_usd):
        return None
    try:
        decode_object(Answer, encode_object(answer))
    except (ValueError, TypeError, AttributeError) as error:
        return f"fields can't be recorded: {error}"
    return None


def _fault_of_message(message: object) -> str | None:
    if type(message) is not Message:
        return f"`messages` holds {type(message).__name__}, not Message"
    if _is_usual(message):
        return None
    fault = fault_of_message(message)
    if fault is not None:
        return f"`messages` are wrong: one {fault}"
    texts = [part for part in parts_of(message.content) if part["type"] in ("text", "output_text")]
    if message.role == "assistant" and None in map(part_text, texts):
        return "`messages` are wrong: one has a text part without a text, which stands in `text`"
    try:
        copy_json(message)
    except (NotJsonError, RecursionError) as error:
        return f"`messages` is not JSON: {error}"
    return None


def _is_usual(message: Message) -> bool:
    """Whether it is what nearly all are: text of an assistant."""
    if len(message) != 2 or type(message.get("content")) is not str:
        return False
    role: object = message.get("role")
    return type(role) is str and role == "assistant"


def _copy_message(message: Message) -> Message:
    copied = copy_json(message)
    assert isinstance(copied, dict)
    return take_message(copied)


def _has_counts(usage: object) -> bool:
    if not isinstance(usage, Usage):
        return False
    counts: tuple[object, ...] = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    return all(
        count is None or (type(count) is int and 0 <= count <= MOST_TOKENS) for count in counts
    )


def _is_amount(cost: object) -> bool:
    return type(cost) in (int, float) and 0 <= cost <= MOST_USD  # type: ignore[operator]


_MORE_TIME = "`timeout_s` of the case, or --timeout, allows more"


class OverTimeError(TimeoutError):
    """An attempt was not done when its time was over."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(f"no answer within {limit_s:g} s ({_MORE_TIME})")


class Attempted(NamedTuple):
    answer: Answer | None
    error: BaseException | None
    duration_s: float
    quota: Quota | None = None
    """What the target's service said meanwhile of how much more it takes."""
    seen: Mapping[str, JSON] | None = None
    """What is known of a call that came to nothing, beside its error."""


async def make_attempt(
    target: Target, question: Question, limit_s: float, calls: UserCalls
) -> Attempted:
    """Call a target once."""
    if not target.traits.only_reads:
        question = copy_question(question)
    elif target.traits.seen is not None:
        question = replace(question)  # this call's own, by which it is known

    async def ask() -> object:
        given: object = target.answer(question)
        if isawaitable(given):
            return await given
        what = "the method `answer` of a Target must be async (`async def answer`)"
        why = f"{what}: it returned {type(given).__name__}, which can't be awaited"
        raise TargetError(why, kind="protocol")

    outcome = await calls.run(ask, limit_s, question.case, check_answer)
    quota = None if target.traits.quota is None else _take_quota(target.traits.quota)
    # A call that is late may have returned or raised anything once it was cancelled.
    error = OverTimeError(limit_s) if outcome.is_late else outcome.error
    if error is not None:
        return Attempted(None, error, outcome.took_s, quota, _see_question(target, question))
    assert isinstance(outcome.value, Answer)
    return Attempted(outcome.value, None, outcome.took_s, quota, None)


def _take_quota(take: Callable[[], Quota | None]) -> Quota | None:
    try:
        said = take()
    except Exception:  # noqa: BLE001 - a target may be anybody's, and the answer is there
        return None
    return said if isinstance(said, Quota) else None


def _see_question(target: Target, question: Question) -> Mapping[str, JSON] | None:
    look = target.traits.seen
    try:
        return None if look is None else recordable_details(dict(look(question)))
    except Exception:  # noqa: BLE001 - a target may be anybody's, and the error is there
        return None


_SET_UP = ("system", "developer")
"""Roles of messages that an agent may add, or leave out, before all others."""
_LEFT_OUT = "these are no part of an answer, and are left out"
_COUNTED = "all that it returned counts as its answer"
_AS_FAR = "they are graded as far as they go"
_NOTHING_ELSE = "the target returned messages that it was given, and nothing after them"


def take_own(
    tried: Attempted, question: Question, name: str, warn: Callable[[str], None]
) -> Attempted:
    """What a target said itself, with a warning where it returned more than that. It is looked at
    where the target was asked, before secrets are taken out of it."""
    own = leave_out_question(tried, question)
    if own.answer is None:
        return own
    end = read_ending(own.answer)
    if end.kind == "cut off":
        warn(f"answers of `{name}` were cut off (finish reason `{end.reason}`): {_AS_FAR}")
    if own is not tried:
        warn(f"answers of `{name}` begin with messages that it was given: {_LEFT_OUT}")
    elif len(own.answer.messages) > 1 and any(each.role == "user" for each in own.answer.messages):
        warn(f"answers of `{name}` have messages of a user that it was not given: {_COUNTED}")
    return own


def leave_out_question(tried: Attempted, question: Question) -> Attempted:
    """The same without messages of the question that the answer begins with, up to the last; an
    error if there are no others."""
    answer = tried.answer
    if answer is None or (len(answer.messages) == 1 and answer.messages[0].role == "assistant"):
        return tried  # as most are
    given = _count_repeated(answer.messages, question.messages)
    if not given:
        return tried
    if given == len(answer.messages):
        return tried._replace(answer=None, error=TargetError(_NOTHING_ELSE, kind="protocol"))
    return tried._replace(answer=replace(answer, messages=answer.messages[given:]))


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
