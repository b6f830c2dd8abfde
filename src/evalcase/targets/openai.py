"""OpenAI's APIs, at OpenAI or at any service that speaks them: chat completions, responses and
embeddings. `presets` has the addresses of providers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from evalcase.errors import TargetError
from evalcase.targets.base import Files, last_user_content, write_content
from evalcase.targets.batch import OpenAIBatches
from evalcase.targets.chat import (
    ChatApi,
    ChatOptions,
    ChatTarget,
    ChatTurn,
    has_address,
    read_turns,
    shorten,
    split_model,
    write_parts,
)
from evalcase.targets.presets import OPENAI, PRESETS, Preset
from evalcase.targets.replies import leave_out, read_completion, read_response
from evalcase.targets.streams import join_pieces, service_error
from evalcase.types.options import about
from evalcase.types.target import Question, TargetKind, Warn
from evalcase.types.value import JSON, replace

_EXTRAS = frozenset({"name", "refusal", "audio", "function_call", "reasoning", "reasoning_content"})
_WHOLE = frozenset({"role", "id", "type"})


class CompletionsApi(ChatApi):
    """`/chat/completions`. Answers stay in OpenAI's shape, which the rest of evalcase reads."""

    path = "/chat/completions"
    batches = OpenAIBatches
    own_params = frozenset({"model", "messages"})
    stream_defaults: ClassVar[Mapping[str, JSON]] = {"stream_options": {"include_usage": True}}
    schema_modes = ("json_schema", "json_object")
    schema_place = ("response_format", "")

    def write_messages(self, question: Question, files: Files, warn: Warn) -> dict[str, JSON]:
        turns = read_turns(question.messages, warn)
        return {"messages": [_write_message(turn, files, warn) for turn in turns]}

    def write_schema(self, schema: JSON) -> dict[str, JSON]:
        named: JSON = {"name": "answer", "strict": True, "schema": schema}
        return {"type": "json_schema", "json_schema": named}

    def read_reply(self, reply: dict[str, Any], warn: Warn) -> list[JSON]:
        return read_completion(reply, warn)

    def join_events(self, events: list[dict[str, Any]]) -> dict[str, Any] | None:
        choices = [event["choices"][0] for event in events if event.get("choices")]
        reason = _last(choices, "finish_reason")
        if reason is None:
            return None
        deltas = [choice["delta"] for choice in choices if choice.get("delta")]
        message = join_pieces(deltas, (*_WHOLE, "tool_calls"))
        if any(delta.get("tool_calls") for delta in deltas):
            message["tool_calls"] = _join_calls(deltas)
        about = {key: _last(events, key) for key in ("usage", "model")}
        return {"choices": [{"message": message, "finish_reason": reason}], **about}


def _write_message(turn: ChatTurn, files: Files, warn: Warn) -> dict[str, JSON]:
    turn.warn_of_extras(_EXTRAS, "OpenAI's API", warn)
    content = None if turn.content is None else shorten(write_parts(turn.content, files))
    message: dict[str, JSON] = {"role": turn.role, "content": content}
    if turn.calls:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": text}}
            for id, name, _, text in turn.calls
        ]
    if turn.call_id is not None:
        message["tool_call_id"] = turn.call_id
    return {**message, **{key: item for key, item in turn.extras.items() if key in _EXTRAS}}


def _last(values: Sequence[dict[str, Any]], key: str) -> JSON:
    return next((value[key] for value in reversed(values) if value.get(key)), None)


def _join_calls(deltas: Iterable[dict[str, Any]]) -> list[JSON]:
    """The calls of a stream, whose pieces name them by their index."""
    pieces: dict[int, list[dict[str, JSON]]] = {}
    ids: dict[int, JSON] = {}
    last = 0
    for piece in (each for delta in deltas for each in delta.get("tool_calls") or ()):
        index = piece.get("index", last)
        if piece.get("id") and ids.get(index, piece["id"]) != piece["id"]:
            index = last + 1  # some services count them all as the same one
        last = max(last, index)
        if piece.get("id"):
            ids[index] = piece["id"]
        rest = leave_out(piece, ("index", "function"))
        pieces.setdefault(index, []).append({**rest, **(piece.get("function") or {})})
    calls = [join_pieces(pieces[index], _WHOLE) for index in sorted(pieces)]
    named = ("name", "arguments")
    return [
        {**leave_out(call, named), "function": {key: call[key] for key in named if key in call}}
        for call in calls
    ]


_RESPONSE_EXTRAS = frozenset({"reasoning", "items", "phase"})
"""Keys of earlier answers that are not sent back: without `store` the service doesn't know them."""


class ResponsesApi(ChatApi):
    """`/responses`. Answers are not stored at the provider, unless `params` has `store = true`."""

    path = "/responses"
    batches = OpenAIBatches
    own_params = frozenset({"model", "input"})
    last_events = frozenset({"response.completed", "response.incomplete", "response.failed"})
    defaults: ClassVar[Mapping[str, JSON]] = {"store": False}
    schema_modes = ("json_schema", "json_object")
    schema_place = ("text", "format")

    def write_messages(self, question: Question, files: Files, warn: Warn) -> dict[str, JSON]:
        turns = read_turns(question.messages, warn)
        answered = {turn.call_id for turn in turns}
        items: list[JSON] = []
        for turn in turns:
            turn.warn_of_extras(_RESPONSE_EXTRAS, "OpenAI's Responses API", warn)
            if turn.role == "tool":
                output = write_content(turn.content)
                items.append(
                    {"type": "function_call_output", "call_id": turn.call_id, "output": output}
                )
                continue
            if turn.content is not None and not (turn.calls and turn.content == ""):
                kind = "output_text" if turn.role == "assistant" else "input_text"
                parts = [_write_item_part(each, kind) for each in write_parts(turn.content, files)]
                content = turn.content if isinstance(turn.content, str) else parts
                items.append({"role": turn.role, "content": content})
            # The service refuses a call without a result, such as one of its own web searches.
            items += [
                {"type": "function_call", "call_id": id, "name": name, "arguments": text}
                for id, name, _, text in turn.calls
                if id in answered
            ]
        return {"input": items}

    def read_reply(self, reply: dict[str, Any], warn: Warn) -> list[JSON]:
        return read_response(reply, warn)

    def join_events(self, events: list[dict[str, Any]]) -> dict[str, Any] | None:
        """The last event has the whole response."""
        last = events[-1] if events else {}
        response = last.get("response") if last.get("type") in self.last_events else None
        if isinstance(response, dict) and response.get("error") is not None:
            raise service_error(response["error"], json.dumps(response).encode())
        return response


def _write_item_part(part: dict[str, Any], kind: str) -> JSON:
    match part:
        case {"type": "text", "text": text}:
            return {"type": kind, "text": text}
        case {"type": "image_url", "image_url": {"url": url}}:
            rest = {**leave_out(part["image_url"], ("url",)), **leave_out(part, ("image_url",))}
            return {**rest, "type": "input_image", "image_url": url}
        case {"type": "file", "file": dict(file)}:
            return {"type": "input_file", **file, **leave_out(part, ("type", "file"))}
    return part


class EmbeddingsApi(ChatApi):
    """`/embeddings`: the answer to a text is its vector, a list of numbers."""

    path = "/embeddings"
    batches = OpenAIBatches
    own_params = frozenset({"model", "input", "stream", "encoding_format"})

    def write_messages(self, question: Question, files: Files, warn: Warn) -> dict[str, JSON]:
        del files, warn
        return {"input": write_content(last_user_content(question))}

    def read_reply(self, reply: dict[str, Any], warn: Warn) -> list[JSON]:
        del warn
        match reply.get("data"):
            case [{"embedding": [*vector]}]:
                return [{"role": "assistant", "content": vector}]
        raise TargetError("it has no `embedding`")


class OpenAIOptions(ChatOptions, frozen=True, kw_only=True):
    api: Annotated[
        Literal["chat", "responses", "embeddings"] | None,
        about("The API; by default `chat`, or `embeddings` if the model's name has `embed` in it."),
    ] = None

    @property
    def preset(self) -> Preset:
        return PRESETS.get(self.kind, OPENAI)

    @property
    def chat_api(self) -> ChatApi:
        if self.api == "responses":
            return ResponsesApi()
        if self.api == "embeddings" or (self.api is None and "embed" in self.model.lower()):
            return EmbeddingsApi()
        return CompletionsApi()


class OpenAITarget(ChatTarget):
    kind: ClassVar[TargetKind] = TargetKind(
        "openai", "Calls a model through OpenAI's API.", OpenAIOptions,
        value="model", split_value=partial(split_model, "openai"),
        carries_address=has_address, priced=True,
    )  # fmt: skip


def kind_of_preset(name: str) -> TargetKind:
    """The kind of a provider that speaks OpenAI's API."""
    about = f"Calls a model of {PRESETS[name].name} through OpenAI's API."

    def split(value: str) -> dict[str, JSON]:
        return {"kind": name, **split_model(name, value)}

    return replace(OpenAITarget.kind, name=name, about=about, split_value=split)
