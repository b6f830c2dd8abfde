"""Anthropic's Messages API. A later system message is sent as a text of the user, neighbours of the
same role become one message, and results of tools come first in theirs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from evalcase.errors import TargetError
from evalcase.targets.base import Files, part_of
from evalcase.targets.batch import AnthropicBatches
from evalcase.targets.chat import (
    ChatApi,
    ChatOptions,
    ChatTarget,
    ChatTurn,
    SentCall,
    has_address,
    read_turns,
    shorten,
    split_model,
    write_parts,
)
from evalcase.targets.presets import ANTHROPIC, Preset
from evalcase.targets.replies import leave_out, read_anthropic
from evalcase.targets.streams import join_pieces
from evalcase.types.target import Question, TargetKind, Warn
from evalcase.types.value import JSON, describe_kind
from evalcase.util.json import parse_json

_EXTRAS = frozenset({"blocks", "is_error"})
_VERSION = "2023-06-01"
"""Of the API; `headers` can name another one."""
_SYSTEM = ("system", "developer")
_LATER = (
    "a system message that is not at the beginning is sent as a text of the user, because "
    "Anthropic's API takes none there"
)


class MessagesApi(ChatApi):
    path = "/v1/messages"
    headers: ClassVar[Mapping[str, str]] = {"anthropic-version": _VERSION}
    batches = AnthropicBatches
    own_params = frozenset({"model", "messages", "system"})
    defaults: ClassVar[Mapping[str, JSON]] = {"max_tokens": 4096}
    last_events = frozenset({"message_stop"})
    schema_modes = ("json_schema",)
    schema_place = ("output_config", "format")

    def write_messages(self, question: Question, files: Files, warn: Warn) -> dict[str, JSON]:
        turns = read_turns(question.messages, warn)
        for turn in turns:
            turn.warn_of_extras(_EXTRAS, "Anthropic's API", warn)
        first = next((at for at, turn in enumerate(turns) if turn.role not in _SYSTEM), len(turns))
        system = [
            block for turn in turns[:first] for block in _write_blocks(turn.content, files, warn)
        ]
        merged: list[tuple[str, list[JSON]]] = []
        for turn in turns[first:]:
            if turn.role in _SYSTEM:
                warn(_LATER)
            role = "assistant" if turn.role == "assistant" else "user"
            if not merged or merged[-1][0] != role:
                merged.append((role, []))
            merged[-1][1].extend(_write_turn(turn, files, warn))
        for _, blocks in merged:  # results of tools come first
            blocks.sort(key=lambda block: part_of(block).get("type") != "tool_result")
        messages: list[JSON] = [
            {"role": role, "content": shorten(blocks)} for role, blocks in merged
        ]
        return {**({"system": shorten(system)} if system else {}), "messages": messages}

    def write_schema(self, schema: JSON) -> dict[str, JSON]:
        return {"type": "json_schema", "schema": schema}

    def read_reply(self, reply: dict[str, Any], warn: Warn) -> list[JSON]:
        del warn
        return read_anthropic(reply)

    def join_events(self, events: list[dict[str, Any]]) -> dict[str, Any] | None:
        if not events or events[-1]["type"] not in self.last_events:
            return None
        message: dict[str, Any] = {}
        usage: dict[str, JSON] = {}
        blocks: dict[int, list[dict[str, Any]]] = {}
        for event in events:
            kind = event["type"]
            if kind == "content_block_start":
                blocks[event["index"]] = [event["content_block"]]
            elif kind == "content_block_delta":
                blocks[event["index"]].append(event["delta"])
            elif kind in ("message_start", "message_delta"):
                said = event["message" if kind == "message_start" else "delta"]
                message |= said
                counts = {**(said.get("usage") or {}), **(event.get("usage") or {})}
                usage |= {key: count for key, count in counts.items() if count is not None}
        content = [_join_block(*blocks[at]) for at in sorted(blocks)]
        return {**message, "content": content, "usage": usage}


def _write_turn(turn: ChatTurn, files: Files, warn: Warn) -> list[JSON]:
    blocks = _write_blocks(turn.content, files, warn)
    if turn.role == "tool":
        result: dict[str, JSON] = {"type": "tool_result", "tool_use_id": turn.call_id}
        if blocks:
            result["content"] = shorten(blocks)
        if "is_error" in turn.extras:
            result["is_error"] = turn.extras["is_error"]
        return [result]
    if turn.role in _SYSTEM:
        return [
            {"type": "text", "text": "<system>"},
            *blocks,
            {"type": "text", "text": "</system>"},
        ]
    if turn.calls and turn.content == "":
        blocks = []  # the API refuses an empty text, and beside a call it says nothing
    kept = turn.extras.get("blocks")
    return [*(kept if isinstance(kept, list) else []), *blocks, *map(_write_use, turn.calls)]


def _write_use(call: SentCall) -> JSON:
    if not isinstance(call.arguments, dict):
        what = f"input is {describe_kind(call.arguments)}, and Anthropic's API takes a mapping"
        raise TargetError(f"a call of `{call.name}` can't be sent: its {what}")
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}


def _write_blocks(content: JSON, files: Files, warn: Warn) -> list[JSON]:
    return [_write_block(part, warn) for part in write_parts(content, files)]


def _write_block(part: dict[str, Any], warn: Warn) -> JSON:
    rest = leave_out(part, ("type", "image_url", "file"))
    match part:
        case {"type": "image_url", "image_url": {"url": str(url), **about}}:
            if "detail" in about:
                warn("`detail` of an image is not sent: Anthropic's API doesn't know it")
            return {"type": "image", "source": _write_source(url), **rest}
        case {"type": "image_url", "image_url": str(url)}:
            return {"type": "image", "source": _write_source(url), **rest}
        case {"type": "file", "file": {"file_data": str(url), "filename": str(name)}}:
            return {"type": "document", "source": _write_source(url), "title": name, **rest}
    return part


def _write_source(url: str) -> JSON:
    head, comma, data = url.partition(",")
    scheme, _, kind = head.partition(":")
    if scheme.lower() == "data" and kind.endswith(";base64") and comma:
        return {"type": "base64", "media_type": kind.partition(";")[0], "data": data}
    return {"type": "url", "url": url}


def _join_block(start: dict[str, Any], *deltas: dict[str, Any]) -> JSON:
    """A block of content. The input of a tool is JSON once all of it is there."""
    own = ("type", "partial_json", "citation")
    block = join_pieces([start, *(leave_out(delta, own) for delta in deltas)])
    given = "".join(str(delta["partial_json"]) for delta in deltas if "partial_json" in delta)
    if given:
        block["input"] = parse_json(given)
    cited = [delta["citation"] for delta in deltas if "citation" in delta]
    if cited:
        block["citations"] = [*(start.get("citations") or ()), *cited]
    return block


class AnthropicOptions(ChatOptions, frozen=True, kw_only=True):
    @property
    def preset(self) -> Preset:
        return ANTHROPIC

    @property
    def chat_api(self) -> ChatApi:
        return MessagesApi()


class AnthropicTarget(ChatTarget):
    kind: ClassVar[TargetKind] = TargetKind(
        "anthropic", "Calls a model through Anthropic's Messages API.", AnthropicOptions,
        value="model", split_value=partial(split_model, "anthropic"),
        carries_address=has_address, priced=True,
    )  # fmt: skip
