"""OpenAI's Responses API, `api = "responses"`. Answers are not stored at the provider, unless
`params` has `store = true`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from evalcase.errors import TargetError
from evalcase.targets.answers import read_messages
from evalcase.targets.base import Files, write_content
from evalcase.targets.chat import Assembler, ChatApi, SchemaMode, no_answer_error, service_error
from evalcase.targets.messages import (
    ChatTurn,
    ContentPart,
    ImagePart,
    PdfPart,
    TextPart,
    read_content_parts,
    read_turns,
)
from evalcase.targets.replies import read_response
from evalcase.targets.usage import read_model, read_service_usage
from evalcase.targets.web import Event
from evalcase.types.answer import Answer
from evalcase.types.question import Question
from evalcase.types.target import Warn
from evalcase.types.value import JSON
from evalcase.util.json import parse_json

if TYPE_CHECKING:
    from evalcase.targets.batch import BatchService

_EXTRAS = frozenset({"reasoning", "items", "phase"})
"""Keys of earlier answers that are not sent back: without `store` the service doesn't know them."""
_ENDS = ("response.completed", "response.incomplete", "response.failed")


class ResponsesApi(ChatApi):
    path = "/responses"
    own_params = frozenset({"model", "input"})
    defaults: ClassVar[Mapping[str, JSON]] = {"store": False}
    schema_modes = ("json_schema", "json_object")

    def write_messages(self, question: Question, files: Files, warn: Warn) -> dict[str, JSON]:
        turns = read_turns(question.messages, warn)
        answered = {turn.call_id for turn in turns}
        items: list[JSON] = []
        for turn in turns:
            turn.warn_of_extras(_EXTRAS, "OpenAI's Responses API", warn)
            if turn.role == "tool":
                output = write_content(turn.content)
                items.append(
                    {"type": "function_call_output", "call_id": turn.call_id, "output": output}
                )
                continue
            if turn.content is not None and not (turn.calls and turn.content == ""):
                items.append({"role": turn.role, "content": _write_parts(turn, files)})
            # The service refuses a call without a result, such as one of its own web searches.
            items += [
                {"type": "function_call", "call_id": id, "name": name, "arguments": text}
                for id, name, _, text in turn.calls
                if id in answered
            ]
        return {"input": items}

    def write_schema(
        self, schema: JSON, mode: SchemaMode, params: Mapping[str, JSON]
    ) -> dict[str, JSON]:
        given = params.get("text")
        kept = given if isinstance(given, dict) else {}
        form: JSON = {"type": "json_object"}
        if mode == "json_schema":
            form = {"type": "json_schema", "name": "answer", "strict": True, "schema": schema}
        return {"text": {**kept, "format": form}}

    def read_answer(self, reply: dict[str, Any], warn: Warn) -> Answer:
        if not isinstance(reply.get("output"), list):
            raise no_answer_error("it has no `output`", reply)
        try:
            messages = read_messages(read_response(reply, warn))
        except TargetError as error:
            raise no_answer_error(str(error), reply) from None
        usage = read_service_usage(reply.get("usage"), warn)
        return Answer(messages, usage, model=read_model(reply))

    def make_assembler(self) -> Assembler:
        return ResponsesStream()

    def make_batches(self) -> BatchService:
        from evalcase.targets.batch import OpenAIBatches  # few targets use batches

        return OpenAIBatches("/v1/responses")


def _write_parts(turn: ChatTurn, files: Files) -> JSON:
    if isinstance(turn.content, str):
        return turn.content
    parts = read_content_parts(turn.content, files)
    return [_write_part(part, is_answer=turn.role == "assistant") for part in parts]


def _write_part(part: ContentPart, *, is_answer: bool) -> JSON:
    if isinstance(part, TextPart):
        return {"type": "output_text" if is_answer else "input_text", "text": part.text}
    if isinstance(part, ImagePart):
        return {"type": "input_image", "image_url": part.address, **part.extras}
    if isinstance(part, PdfPart):
        data = f"data:application/pdf;base64,{part.data}"
        return {"type": "input_file", "filename": part.name, "file_data": data, **part.extras}
    return part


class ResponsesStream(Assembler):
    """The last event of a stream has the whole response."""

    def __init__(self) -> None:
        self._response: dict[str, Any] | None = None
        self._texts: list[str] = []

    def take(self, event: Event) -> bool:
        if event.data.strip() == b"[DONE]":
            return True
        value = parse_json(event.data)
        if not isinstance(value, dict):
            raise ValueError("an event is not a JSON object")
        kind, response = value.get("type", event.name), value.get("response")
        if kind == "error":
            raise service_error(value.get("error", value), event.data)
        if kind == "response.output_text.delta":
            self._texts.append(str(value.get("delta")))
        if kind not in _ENDS or not isinstance(response, dict):
            return False
        if response.get("error") is not None:
            raise service_error(response["error"], event.data)
        self._response = response
        return True

    def whole(self) -> dict[str, Any] | None:
        return self._response

    def text(self) -> str:
        return "".join(self._texts)
