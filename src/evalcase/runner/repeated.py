"""What a target was given, taken out of what it returned: many an agent returns its whole
conversation. Calls and texts of earlier turns, or of the case itself, are not its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evalcase.errors import TargetError
from evalcase.runner.attempt import Attempted
from evalcase.types.message import Message
from evalcase.types.question import Question
from evalcase.types.value import replace
from evalcase.util.answers import read_ending

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
