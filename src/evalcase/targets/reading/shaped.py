"""Values in the shape of messages or of a model's reply to answers, and data to the content of
one; `answers` has the table. A run whose target returns texts doesn't import this."""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.targets.reading.answer_messages import read_messages
from evalcase.targets.reading.answers import content_message, ignore_warning
from evalcase.targets.reading.ends import find_end, refuse_failed_events, refuse_failed_reply
from evalcase.targets.reading.parts import find_candidate, is_turn, read_gemini_usage
from evalcase.targets.reading.replies import (
    find_choice,
    find_converse,
    find_message,
    find_ollama,
    is_blocks,
    note_end,
    note_unread,
)
from evalcase.targets.reading.responses import (
    is_items,
    is_response,
    read_items,
    read_response,
)
from evalcase.targets.reading.usage import (
    read_anthropic_usage,
    read_cost,
    read_model,
    read_openai_usage,
    read_usage,
    read_usage_in_camel_case,
)
from evalcase.types.answer import Answer
from evalcase.types.message import Message, is_message
from evalcase.types.target import Warn
from evalcase.types.value import JSON, replace
from evalcase.util.text import list_some

BODIES = ("messages", "output_messages", "output")
"""What a mapping may call its list of messages, the best first."""

EXTRAS = frozenset({
    "usage", "token_usage", "cost_usd", "truncated", "duration_ms", "ends_conversation",
})  # fmt: skip
"""What may stand beside it. The time is accepted and not used: the engine measures its own."""
_MOST_NAMED = 5


def read_json(value: JSON, warn: Warn = ignore_warning) -> Answer:
    """The same, for a value that is known to be JSON and nobody else's."""
    return read_shape(value, warn) or Answer(note_end([content_message(value)], find_end(value)))


def read_shape(value: JSON, warn: Warn) -> Answer | None:
    """The answer of a value in the shape of messages or of a model's reply; None for data."""
    if isinstance(value, dict):
        answer = _read_mapping(value, warn)
        if answer is None or is_message(value):
            return answer
        return replace(answer, messages=note_unread(answer.messages, value))
    if not isinstance(value, list):
        return None
    refuse_failed_events(value)
    if is_items(value):
        return Answer(read_messages(read_items(value, warn)))
    if any(map(is_message, value)) or any(map(is_turn, value)):
        return Answer(read_messages(value))
    if is_blocks(value):
        return Answer((content_message(value),))
    return None


def _read_mapping(value: dict[str, JSON], warn: Warn) -> Answer | None:
    refuse_failed_reply(value)
    if is_message(value) and value.get("type") == "message":  # as Anthropic's service has it
        usage = read_anthropic_usage(value.get("usage"), warn)
        whole: JSON = {**value, "content": value.get("content") or None}
        return Answer(read_messages([whole]), usage, model=read_model(value))
    if is_message(value) or is_turn(value):
        return Answer(read_messages([value]))
    if is_response(value):
        usage = read_openai_usage(value.get("usage"), warn, "input", "output")
        return Answer(read_messages(read_response(value, warn)), usage, model=read_model(value))
    name = messages_name(value)
    if name is not None:
        return _read_envelope(value, name, warn)
    choice = find_choice(value)
    if choice is not None:
        usage = read_openai_usage(value.get("usage"), warn)
        return Answer(read_messages([choice]), usage, model=read_model(value))
    candidate = find_candidate(value)
    if candidate is None and "content" in value:  # one candidate alone
        candidate = find_candidate({"candidates": [value]})
    if candidate is not None:
        counts = value.get("usageMetadata", value.get("usage_metadata"))
        model = read_model({"model": value.get("modelVersion", value.get("model_version"))})
        return Answer(read_messages([candidate]), read_gemini_usage(counts, warn), model=model)
    ollama = find_ollama(value)
    if ollama is not None:
        return Answer(read_messages([ollama]), model=read_model(value))
    converse = find_converse(value)
    if converse is not None:
        return Answer(read_messages([converse]), read_usage_in_camel_case(value.get("usage"), warn))
    message = find_message(value, EXTRAS)
    return None if message is None else with_extras(read_messages([message]), value, warn)


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
        note_end(messages, find_end(value)), usage, cost_usd, value.get("truncated") is True,
        ends_conversation=value.get("ends_conversation") is True,
    )  # fmt: skip


def _read_envelope(value: dict[str, JSON], name: str, warn: Warn) -> Answer:
    items = value[name]
    assert isinstance(items, list)
    unread = [f"{key!r:.40}" for key in value if key != name and key not in EXTRAS]
    if unread:
        named = list_some(unread[:_MOST_NAMED], len(unread))
        are = "is" if len(unread) == 1 else "are"
        warn(f"{named} beside `{name}` in an answer {are} not read; usage and cost_usd are")
    return with_extras(read_messages(items), value, warn)
