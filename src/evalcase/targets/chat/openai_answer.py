"""Answers of OpenAI's chat API, whole or as a stream, to a message, usage and what is left to say.

The message stays in OpenAI's shape, which the rest of evalcase reads, too. What is null in it is
left out, and `finish_reason` is put beside the rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from evalcase.errors import TargetError
from evalcase.targets.chat.api import ReadAnswer
from evalcase.targets.chat.client import no_answer_error, service_error
from evalcase.targets.chat.pieces import Pieces
from evalcase.targets.reading.answer_messages import read_messages
from evalcase.targets.reading.usage import read_model, read_openai_usage
from evalcase.targets.web.event_stream import Event
from evalcase.types.answer import Answer
from evalcase.types.target import Warn
from evalcase.types.value import JSON
from evalcase.util.json import parse_json


def read_openai_answer(value: dict[str, Any], warn: Warn) -> ReadAnswer:
    """Raise TargetError where there is no answer in it."""
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise no_answer_error("it has no `choices`", value)
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise no_answer_error("its first choice has no `message`", value)
    try:
        messages = read_messages([_keep_message(message, choices[0].get("finish_reason"), value)])
    except TargetError as error:
        raise no_answer_error(str(error), value) from None
    usage = read_openai_usage(value.get("usage"), warn)
    return ReadAnswer(Answer(messages, usage, model=read_model(value)))


def _keep_message(message: dict[str, Any], reason: JSON, value: dict[str, Any]) -> dict[str, JSON]:
    kept = {key: item for key, item in message.items() if item is not None}
    if kept.get("tool_calls") == []:
        del kept["tool_calls"]
    if "content" not in kept and "tool_calls" not in kept:
        # Cut off or refused is an answer of sorts. Nothing at all is none.
        if reason is None and "refusal" not in kept:
            raise no_answer_error("its message is empty", value)
        kept = {"content": None, **kept}
    kept = {"role": "assistant", **kept}
    return kept if reason is None else {**kept, "finish_reason": reason}


class OpenAIStream:
    """Puts the pieces of a streamed answer together."""

    def __init__(self) -> None:
        self._message = Pieces(_WHOLE)
        self._calls: dict[int, _CallPieces] = {}
        self._last = 0
        """The highest number of a call so far."""
        self._reason: JSON = None
        self._usage: JSON = None
        self._model: JSON = None

    def take(self, event: Event) -> bool:
        if event.data.strip() == b"[DONE]":
            return True
        chunk = parse_json(event.data)
        if not isinstance(chunk, dict):
            raise ValueError("an event is not a JSON object")
        if chunk.get("error") is not None or event.name == "error":
            raise service_error(chunk.get("error", chunk), event.data)
        if chunk.get("usage") is not None:
            self._usage = chunk["usage"]
        self._model = chunk.get("model") or self._model
        choices = chunk.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            self._take_choice(choices[0])
        return False

    def whole(self) -> dict[str, Any] | None:
        if self._reason is None:
            return None  # it never came to its end, whatever else came
        message = self._message.joined()
        if self._calls:
            message["tool_calls"] = [self._calls[index].joined() for index in sorted(self._calls)]
        choice = {"message": message, "finish_reason": self._reason}
        return {"choices": [choice], "usage": self._usage, "model": self._model}

    def text(self) -> str:
        return str(self._message.find("content") or "")

    def _take_choice(self, choice: dict[str, Any]) -> None:
        if choice.get("finish_reason") is not None:
            self._reason = choice["finish_reason"]
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return
        calls = delta.get("tool_calls") or []
        if not isinstance(calls, list):
            raise ValueError("its tool calls are not a list")
        for call in calls:
            self._take_call(call)
        self._message.add(_choose_given(delta, "tool_calls"))

    def _take_call(self, piece: JSON) -> None:
        if not isinstance(piece, dict):
            raise ValueError("a piece of a tool call is not a mapping")
        index = piece.get("index", self._last)
        if not isinstance(index, int):
            raise ValueError("a tool call has an odd index")
        known = self._calls[index].about.find("id") if index in self._calls else None
        if piece.get("id") and known and piece["id"] != known:
            index = self._last + 1  # some services count them all as the same one
        call = self._calls.setdefault(index, _CallPieces(Pieces(_WHOLE), Pieces(_WHOLE)))
        self._last = max(self._last, index)
        call.about.add(_choose_given(piece, "index", "function"))
        function = piece.get("function")
        if isinstance(function, dict):
            call.function.add(_choose_given(function))


class _CallPieces(NamedTuple):
    """A tool call on its way."""

    about: Pieces
    function: Pieces

    def joined(self) -> dict[str, JSON]:
        function = self.function.joined()
        return {**self.about.joined(), **({"function": function} if function else {})}


_WHOLE = frozenset({"role", "id", "type"})


def _choose_given(pieces: dict[str, Any], *without: str) -> dict[str, JSON]:
    """What a piece says: some services send every key each time, with null for nothing new."""
    return {
        key: item for key, item in pieces.items() if item is not None and key not in without
    }  # fmt: skip
