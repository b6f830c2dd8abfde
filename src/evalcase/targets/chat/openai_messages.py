"""Messages of a question in the shape of OpenAI's chat API.

Of the extra keys of messages, `name`, `refusal`, `audio` and `function_call` are sent, and what
`reasoning` and `reasoning_content` hold, which other services of that shape ask for. A warning
tells of any other. Content parts of a type that isn't evalcase's own are sent as they are.
"""

from __future__ import annotations

from evalcase.targets.asking.files import Files
from evalcase.targets.chat.parts import (
    ContentPart,
    ImagePart,
    PdfPart,
    TextPart,
    read_content_parts,
)
from evalcase.targets.chat.turns import ChatTurn, SentCall, read_turns, warn_of_extras
from evalcase.types.question import Question
from evalcase.types.target import Warn
from evalcase.types.value import JSON

_EXTRAS = frozenset({"name", "refusal", "audio", "function_call", "reasoning", "reasoning_content"})


def write_openai_messages(question: Question, files: Files, warn: Warn) -> dict[str, JSON]:
    """`messages`. Raise TargetError for content that can't be sent."""
    turns = read_turns(question.messages, warn)
    return {"messages": [_write_message(turn, files, warn) for turn in turns]}


def _write_message(turn: ChatTurn, files: Files, warn: Warn) -> dict[str, JSON]:
    warn_of_extras(turn, _EXTRAS, "OpenAI's API", warn)
    message: dict[str, JSON] = {"role": turn.role, "content": _write_parts(turn.content, files)}
    if turn.calls:
        message["tool_calls"] = [_write_call(call) for call in turn.calls]
    if turn.call_id is not None:
        message["tool_call_id"] = turn.call_id
    sent = {key: value for key, value in turn.extras.items() if key in _EXTRAS}
    return {**message, **sent}


def _write_parts(content: JSON, files: Files) -> JSON:
    parts = read_content_parts(content, files)
    if content is None:
        return None
    if len(parts) == 1 and isinstance(parts[0], TextPart) and not parts[0].extras:
        return parts[0].text
    return [_write_part(part) for part in parts]


def _write_part(part: ContentPart) -> JSON:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text, **part.extras}
    if isinstance(part, ImagePart):
        image: dict[str, JSON] = {"url": part.address}
        if "detail" in part.extras:
            image["detail"] = part.extras["detail"]
        extras = {key: value for key, value in part.extras.items() if key != "detail"}
        return {"type": "image_url", "image_url": image, **extras}
    if isinstance(part, PdfPart):
        data = f"data:application/pdf;base64,{part.data}"
        return {"type": "file", "file": {"filename": part.name, "file_data": data}, **part.extras}
    return part


def _write_call(call: SentCall) -> JSON:
    function: JSON = {"name": call.name, "arguments": call.text}
    return {"id": call.id, "type": "function", "function": function}
