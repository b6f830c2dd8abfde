"""Answers of Anthropic's Messages API, whole or as a stream, to a message and usage.

Texts are joined to the content, and calls become `{tool, input, id}`, those of the service and of
MCP servers, too. Every other block, such as thinking or the result of a call, is kept under
`blocks`, what texts cite under `citations`, and `stop_reason` as it is.
Input tokens are all of them: those read from the provider's cache, which are `cached_tokens`, and
those written to it, too.
"""

from __future__ import annotations

from typing import Any

from evalcase.errors import TargetError
from evalcase.targets.chat.api import ReadAnswer
from evalcase.targets.chat.client import no_answer_error, service_error
from evalcase.targets.chat.pieces import Pieces
from evalcase.targets.reading.answer_messages import read_messages
from evalcase.targets.reading.usage import CACHE_WRITTEN, read_anthropic_usage, read_model
from evalcase.targets.web.event_stream import Event
from evalcase.types.answer import Answer
from evalcase.types.target import Warn
from evalcase.types.value import JSON
from evalcase.util.calls import BLOCKS
from evalcase.util.json import parse_json


def read_anthropic_answer(value: dict[str, Any], warn: Warn) -> ReadAnswer:
    """Raise TargetError where there is no answer in it."""
    blocks = value.get("content")
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise no_answer_error("it has no `content`", value)
    if not blocks and value.get("stop_reason") is None:
        raise no_answer_error("its `content` is empty", value)
    try:
        messages = read_messages([_make_message(blocks, value.get("stop_reason"))])
    except TargetError as error:
        raise no_answer_error(str(error), value) from None
    usage = value.get("usage")
    written = usage.get(CACHE_WRITTEN) if isinstance(usage, dict) else None
    answer = Answer(messages, read_anthropic_usage(usage, warn), model=read_model(value))
    return ReadAnswer(answer, written if isinstance(written, int) else 0)


def _make_message(blocks: list[dict[str, Any]], reason: JSON) -> dict[str, JSON]:
    texts = [block for block in blocks if block.get("type") == "text"]
    uses = [block for block in blocks if block.get("type") in BLOCKS]
    rest = [block for block in blocks if block.get("type") not in ("text", *BLOCKS)]
    gave = {block.get("tool_use_id"): block.get("content") for block in rest}
    cited = [each for block in texts for each in block.get("citations") or ()]
    message: dict[str, JSON] = {"role": "assistant"}
    if not all(isinstance(block.get("text"), str) for block in texts):
        raise TargetError("a block of text has none")
    if texts or not uses:
        message["content"] = "".join(block["text"] for block in texts)
    if uses:
        message["tool_calls"] = [_make_call(block, gave.get(block.get("id"))) for block in uses]
    if rest:
        message["blocks"] = list(rest)
    if cited:
        message["citations"] = cited
    return message if reason is None else {**message, "stop_reason": reason}


def _make_call(block: dict[str, Any], output: JSON) -> JSON:
    pairs = {"tool": block.get("name"), "input": block.get("input"), **block, "output": output}
    kept = {key: item for key, item in pairs.items() if key not in ("type", "name")}
    return {key: item for key, item in kept.items() if item is not None}


class AnthropicStream:
    """Puts the pieces of a streamed answer together."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._usage: dict[str, JSON] = {}
        self._blocks: dict[int, _BlockPieces] = {}
        self._is_over = False

    def take(self, event: Event) -> bool:
        value = parse_json(event.data)
        if not isinstance(value, dict):
            raise ValueError("an event is not a JSON object")
        kind = value.get("type", event.name)
        if kind == "error":
            raise service_error(value.get("error"), event.data)
        if kind == "message_start":
            self._update(value.get("message"))
        elif kind == "message_delta":
            self._update(value.get("delta"))
            self._update({"usage": value.get("usage")})
        elif isinstance(kind, str) and kind.startswith("content_block_"):
            self._take_block(kind, value)
        elif kind == "message_stop":
            for block in self._blocks.values():
                block.end()  # not all services say so of each
        self._is_over = kind == "message_stop"
        return self._is_over

    def whole(self) -> dict[str, Any] | None:
        if not self._is_over:
            return None
        blocks = [self._blocks[index].joined() for index in sorted(self._blocks)]
        return {**self._message, "content": blocks, "usage": self._usage}

    def text(self) -> str:
        return "".join(str(block.fields.find("text") or "") for block in self._blocks.values())

    def _update(self, value: JSON) -> None:
        if not isinstance(value, dict):
            return
        usage = value.get("usage")
        if isinstance(usage, dict):
            self._usage.update({key: item for key, item in usage.items() if item is not None})
        self._message.update(value)

    def _take_block(self, kind: str, value: dict[str, Any]) -> None:
        index = value.get("index")
        if not isinstance(index, int):
            raise ValueError("a block has no index")
        if kind == "content_block_start" and isinstance(value.get("content_block"), dict):
            block = self._blocks[index] = _BlockPieces()
            block.fields.add(value["content_block"])
        elif index not in self._blocks:
            raise ValueError("a block goes on that never began")
        elif kind == "content_block_delta" and isinstance(value.get("delta"), dict):
            self._blocks[index].add(value["delta"])
        elif kind == "content_block_stop":
            self._blocks[index].end()


class _BlockPieces:
    """A block of content on its way."""

    def __init__(self) -> None:
        self.fields = Pieces()
        self._input: list[str] = []
        self._cited: list[JSON] = []

    def add(self, delta: dict[str, Any]) -> None:
        for key, piece in delta.items():
            if key == "partial_json":
                self._input.append(str(piece))
            elif key == "citation":
                self._cited.append(piece)
            elif key != "type":
                self.fields.add({key: piece})

    def end(self) -> None:
        """The input of a tool is JSON once all of it is there. Raise ValueError if it is not."""
        text = "".join(self._input)
        if text:
            self.fields.add({"input": parse_json(text.encode())})
            self._input = []

    def joined(self) -> dict[str, JSON]:
        block = self.fields.joined()
        if self._cited:
            before = block.get("citations")
            block["citations"] = [*(before if isinstance(before, list) else ()), *self._cited]
        return block
