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
| a list of Anthropic's blocks with `tool_use` in it | a message with these calls |
| Gemini's `candidates` with one `content`, that alone, or parts with `functionCall` | a message |
| anything else that names calls | an error: they would be overlooked |
| any other JSON value | one assistant message with that value as content, keys untouched |
| an `Answer` | itself; what is of a wrong type in it is an error, as in that of any target |
| None, or what JSON can't hold | an error: nothing was answered |

Tuples count as lists. The answer shares nothing with the value, which may change later. Usage that
makes no sense is unknown, with a warning: it is no reason to lose an answer that was paid for. In
an `Answer` it is a mistake of who made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.model.message import Message, is_message
from evalcase.model.quick_dataclass import maker_of, replace
from evalcase.model.target import Warn
from evalcase.targets.reading.answer_messages import read_messages, text_message
from evalcase.targets.reading.calls import name_of_calls
from evalcase.targets.reading.parts import find_candidate, is_turn, read_gemini_usage
from evalcase.targets.reading.replies import find_choice, find_message, is_blocks, refuse_calls
from evalcase.targets.reading.usage import read_cost, read_model, read_openai_usage, read_usage
from evalcase.text.plain_json import NotJsonError, copy_json

BODIES = ("messages", "output_messages", "output")
"""What a mapping may call its list of messages, the best first."""

EXTRAS = frozenset({
    "usage", "token_usage", "cost_usd", "truncated", "duration_ms", "ends_conversation",
})  # fmt: skip
"""What may stand beside it. The time is accepted and not used: the engine measures its own."""


_NOTHING = (
    "the target returned None, which is not an answer; does the function end without a `return`?"
)
_make_answer = maker_of(Answer)


def _ignore_warning(_: str) -> None:
    """Take a warning that nobody wants to see."""


def read_answer(value: object, warn: Warn = _ignore_warning) -> Answer:
    """The answer that a value stands for. Raise TargetError where it stands for none."""
    if type(value) is str:
        return _make_answer((text_message(value),))
    if isinstance(value, Answer):
        return _copy_messages(value)
    if value is None:
        raise TargetError(_NOTHING, kind="protocol")
    return read_json(_copy_value(value), warn)


def read_json(value: JSON, warn: Warn = _ignore_warning) -> Answer:
    """The same, for a value that is known to be JSON and nobody else's."""
    return read_shape(value, warn) or Answer((content_message(value),))


def read_shape(value: JSON, warn: Warn) -> Answer | None:
    """The answer of a value in the shape of messages or of a model's reply; None for data."""
    if isinstance(value, dict):
        return _read_mapping(value, warn)
    if not isinstance(value, list):
        return None
    if any(map(is_message, value)) or any(map(is_turn, value)):
        return Answer(read_messages(value))
    if is_blocks(value):
        return Answer((content_message(value),))
    refuse_calls(value)
    return None


def _read_mapping(value: dict[str, JSON], warn: Warn) -> Answer | None:
    if is_message(value) or is_turn(value):
        return Answer(read_messages([value]))
    name = messages_name(value)
    if name is not None:
        return _read_envelope(value, name, warn)
    choice = find_choice(value)
    if choice is not None:
        usage = read_openai_usage(value.get("usage"), warn)
        return Answer(read_messages([choice]), usage, model=read_model(value))
    candidate = find_candidate(value) or find_candidate({"candidates": [value]})
    if candidate is not None:
        counts = value.get("usageMetadata", value.get("usage_metadata"))
        model = read_model({"model": value.get("modelVersion", value.get("model_version"))})
        return Answer(read_messages([candidate]), read_gemini_usage(counts, warn), model=model)
    message = find_message(value, EXTRAS)
    return None if message is None else with_extras(read_messages([message]), value, warn)


def content_message(content: JSON) -> Message:
    """An assistant message around a value, whatever it looks like."""
    if isinstance(content, str):
        return text_message(content)
    return read_messages([{"role": "assistant", "content": content}])[0]


def messages_name(value: dict[str, JSON]) -> str | None:
    """The key under which a mapping has a list of messages, if it has one."""
    for name in BODIES:
        items = value.get(name)
        if isinstance(items, list) and any(is_message(each) or is_turn(each) for each in items):
            return name
    return None


def with_extras(messages: Sequence[Message], value: dict[str, JSON], warn: Warn) -> Answer:
    """An answer with the usage and the cost that a mapping names."""
    usage = read_usage(value.get("usage", value.get("token_usage")), warn)
    cost_usd = read_cost(value.get("cost_usd"), warn)
    return Answer(
        tuple(messages), usage, cost_usd, value.get("truncated") is True,
        ends_conversation=value.get("ends_conversation") is True,
    )  # fmt: skip


def _read_envelope(value: dict[str, JSON], name: str, warn: Warn) -> Answer:
    items = value[name]
    assert isinstance(items, list)
    for key in value:
        if key != name and key not in EXTRAS:
            warn(f"{key!r} beside `{name}` in an answer is not read; usage and cost_usd are")
    answer = with_extras(read_messages(items), value, warn)
    if not answer.tool_calls and name_of_calls(value) is not None:
        refuse_calls(value)
    return answer


def _copy_messages(answer: Answer) -> Answer:
    """The same with messages that nobody else holds. Where there are none, it is left as it is:
    the engine refuses that, whichever target returns it."""
    messages: object = answer.messages
    if type(messages) is not tuple or any(type(each) is not Message for each in messages):
        return answer
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
