"""Values to answers: the one rule for what Python code, workers and files give back.

| value | answer |
|---|---|
| text | one assistant message with that text |
| a message: a mapping with a role and `content` or `tool_calls` | that message |
| a list with a message in it | those messages; an item that is none is an error |
| a mapping with `messages`, a list of messages | those, with `usage`, `cost_usd` and \
`ends_conversation` beside them |
| a mapping of `content`, `text` or `output` and `tool_calls` (or `toolCalls`, `function_call`), \
or of calls alone | that message, with the same beside it |
| a completion of OpenAI's, `choices` with a `message` | that message, with its usage |
| what OpenAI's Responses API answers, or the items of its `output` alone | messages, with calls \
and usage |
| a list of Anthropic's blocks with `tool_use` in it | a message with these calls |
| Gemini's `candidates` with one `content`, that alone, or parts with `functionCall` | a message |
| any other JSON value | one assistant message with that value as content, keys untouched |
| an `Answer` | itself; what is of a wrong type in it is an error, as in that of any target |
| None, or what JSON can't hold | an error: nothing was answered |

Tuples count as lists. The answer shares nothing with the value, which may change later. Usage that
makes no sense is unknown, with a warning: it is no reason to lose an answer that was paid for. In
an `Answer` it is a mistake of who made it.
"""

from __future__ import annotations

from contextlib import suppress

from evalcase.errors import TargetError
from evalcase.targets.reading.ends import find_end_of_text, refuse_failed_transcript
from evalcase.targets.reading.replies import note_end
from evalcase.targets.reading.text_messages import text_message
from evalcase.types.answer import Answer
from evalcase.types.message import Message
from evalcase.types.target import Warn
from evalcase.types.value import JSON, replace
from evalcase.util.json import NotJsonError, copy_json

_NOTHING = (
    "the target returned None, which is not an answer; does the function end without a `return`?"
)


def ignore_warning(_: str) -> None:
    """Take a warning that nobody wants to see."""


def read_answer(value: object, warn: Warn = ignore_warning) -> Answer:
    """The answer that a value stands for. Raise TargetError where it stands for none."""
    if type(value) is str:
        if value.startswith("{"):
            refuse_failed_transcript(value)
            return Answer(note_end([text_message(value)], find_end_of_text(value)))
        return Answer((text_message(value),))
    if isinstance(value, Answer):
        return _copy_messages(value)
    if value is None:
        raise TargetError(_NOTHING, kind="protocol")
    from evalcase.targets.reading.shaped import read_json

    return read_json(_copy_value(value), warn)


def content_message(content: JSON) -> Message:
    """An assistant message around a value, whatever it looks like."""
    if isinstance(content, str):
        return text_message(content)
    from evalcase.targets.reading.answer_messages import read_messages

    return read_messages([{"role": "assistant", "content": content}])[0]


def _copy_messages(answer: Answer) -> Answer:
    """The same with messages that nobody else holds. Where there are none, it is left as it is:
    the engine refuses that, whichever target returns it."""
    messages: object = answer.messages
    if type(messages) is not tuple or any(type(each) is not Message for each in messages):
        return answer
    from evalcase.targets.reading.answer_messages import read_messages

    plain = _copy_value(list(messages))
    assert isinstance(plain, list)
    return replace(answer, messages=read_messages(plain))


def _copy_value(value: object) -> JSON:
    try:
        return copy_json(value)
    except NotJsonError as error:
        message = f"the target returned {type(value).__name__}: {error}"
        details = {}
        # How a value looks is up to the user's code, too, and may be an error of its own.
        with suppress(Exception):
            details["value"] = ascii(value)[:1000]
        raise TargetError(message, kind="protocol", details=details) from None
