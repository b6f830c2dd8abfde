"""Messages to turns of a chat, in which every result of a tool names its call.

Calls have either spelling, ids are made where there are none, and tool messages without an id are
matched to calls: by `name` or `tool`, else in order. The `output` of a call becomes a tool message,
unless the messages have one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from evalcase.errors import TargetError
from evalcase.types.message import Message, ToolCall
from evalcase.types.target import Warn
from evalcase.types.value import JSON

_CALL_KEYS = frozenset({"id", "type", "function", "tool", "input", "output"})
_COMMON_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id"})
_OF_ANSWERS = frozenset({"finish_reason", "stop_reason", "annotations"})
"""What an API puts beside an answer and takes back from nobody. It stands in every later turn of a
conversation, where no person has written it."""


class SentCall(NamedTuple):
    """A call of a tool as it is sent: with an id, and with arguments as data and as text."""

    id: str
    name: str
    arguments: JSON
    text: str
    """The arguments as JSON text; where they came as text, just that."""


class ChatTurn(NamedTuple):
    role: str
    content: JSON
    calls: tuple[SentCall, ...] = ()
    call_id: str | None = None
    """For the result of a tool: whose it is."""
    extras: dict[str, JSON] = {}


def read_turns(messages: Iterable[Message], warn: Warn) -> list[ChatTurn]:
    """The turns. Raise TargetError for a tool message that no call can be found for."""
    return _TurnReader(list(messages), warn).turns()


def warn_of_extras(turn: ChatTurn, known: frozenset[str], api: str, warn: Warn) -> None:
    """Say which keys of a message are not sent, because the API would refuse them."""
    for key in turn.extras.keys() - known - _OF_ANSWERS:
        warn(f"`{key}` of a message is not sent: {api} doesn't know it")


class _TurnReader:
    def __init__(self, messages: list[Message], warn: Warn) -> None:
        self._messages = messages
        self._warn = warn
        self._ids = {call.id for message in messages for call in message.tool_calls}
        self._made = 0
        self._open: dict[str, str] = {}
        """Calls without a result so far: their names by their ids."""
        self._outputs: dict[str, JSON] = {}
        """Results that stand with their call, by the same ids."""

    def turns(self) -> list[ChatTurn]:
        turns: list[ChatTurn] = []
        for number, message in enumerate(self._messages):
            if message.role == "tool":
                turns.append(_make_turn(message, call_id=self._find_call(message, number)))
                continue
            turns.extend(self._pending_outputs())
            turns.append(_make_turn(message, calls=tuple(map(self._call, message.tool_calls))))
        turns.extend(self._pending_outputs())
        return turns

    def _call(self, call: ToolCall) -> SentCall:
        for key in call.keys() - _CALL_KEYS:
            self._warn(f"`{key}` of a tool call is not sent: no API knows it")
        id = call.id if isinstance(call.id, str) and call.id else self._make_id()
        self._open[id] = call.name
        if "output" in call:
            self._outputs[id] = call.output
        arguments = {} if call.arguments is None else call.arguments
        raw = None if "tool" in call else call["function"].get("arguments")
        text = raw if isinstance(raw, str) else json.dumps(arguments, ensure_ascii=False)
        return SentCall(id, call.name, arguments, text)

    def _make_id(self) -> str:
        while True:
            self._made += 1
            id = f"call_{self._made}"
            if id not in self._ids:
                return id

    def _find_call(self, message: Message, number: int) -> str:
        id = message.get("tool_call_id")
        if not isinstance(id, str) or not id:
            id = self._guess_call(message)
        if id is None:
            hint = "give it the `tool_call_id` of a call before it"
            raise TargetError(
                f"message {number + 1} is the result of a tool without a call; {hint}"
            )
        self._open.pop(id, None)
        self._outputs.pop(id, None)
        return id

    def _guess_call(self, message: Message) -> str | None:
        name = message.get("name", message.get("tool"))
        named = [id for id, tool in self._open.items() if tool == name]
        candidates = named or list(self._open)
        # A call that has a result already is the less likely one.
        without = [id for id in candidates if id not in self._outputs]
        return next(iter(without or candidates), None)

    def _pending_outputs(self) -> Iterator[ChatTurn]:
        for id, output in list(self._outputs.items()):
            del self._outputs[id], self._open[id]
            yield ChatTurn("tool", output, call_id=id)


def _make_turn(
    message: Message, calls: tuple[SentCall, ...] = (), call_id: str | None = None
) -> ChatTurn:
    extras = {key: value for key, value in message.items() if key not in _COMMON_KEYS}
    return ChatTurn(message.role, message.content, calls, call_id, extras)
