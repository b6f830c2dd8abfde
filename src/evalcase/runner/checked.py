"""Whether what a target returned is an answer that can be graded and recorded: Python lets an
Answer of the user's own making hold anything."""

from __future__ import annotations

from evalcase.errors import TargetError
from evalcase.types.answer import MOST_TOKENS, MOST_USD, Answer, Usage
from evalcase.types.codec import decode_object, encode_object
from evalcase.types.grade import copy_steps
from evalcase.types.message import Message, fault_of_message, part_text, parts_of, take_message
from evalcase.types.value import replace
from evalcase.util.answers import read_ending
from evalcase.util.json import NotJsonError, copy_json


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
