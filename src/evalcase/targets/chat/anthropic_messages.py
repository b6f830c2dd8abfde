"""Messages of a question in the shape of Anthropic's Messages API.

System and developer messages at the beginning become `system`. One that stands later is sent where
it stands, as a text of the user between `<system>` and `</system>`, and a warning says so.
Neighbours of the same role become one message, in which results of tools come first.

Of the extra keys of messages, `blocks` (blocks of an earlier answer, such as thinking) are sent
before the rest of their message, and `is_error` with the result of a tool. A warning tells of any
other. Content parts of a type that isn't evalcase's own, or OpenAI's for images, are sent as they
are.
"""

from __future__ import annotations

from evalcase.errors import TargetError
from evalcase.targets.asking.files import Files
from evalcase.targets.chat.parts import (
    ContentPart,
    ImagePart,
    PdfPart,
    TextPart,
    read_address,
    read_content_parts,
)
from evalcase.targets.chat.turns import ChatTurn, SentCall, read_turns, warn_of_extras
from evalcase.types.question import Question
from evalcase.types.target import Warn
from evalcase.types.value import JSON, describe_kind

_EXTRAS = frozenset({"blocks", "is_error"})
_SYSTEM = ("system", "developer")
_LATER = (
    "a system message that is not at the beginning is sent as a text of the user, because "
    "Anthropic's API takes none there"
)


def write_anthropic_messages(question: Question, files: Files, warn: Warn) -> dict[str, JSON]:
    """`messages`, and `system` if there is one. Raise TargetError for what can't be sent."""
    turns = read_turns(question.messages, warn)
    for turn in turns:
        warn_of_extras(turn, _EXTRAS, "Anthropic's API", warn)
    first = next((at for at, turn in enumerate(turns) if turn.role not in _SYSTEM), len(turns))
    system = [block for turn in turns[:first] for block in _write_blocks(turn.content, files, warn)]
    messages: JSON = list(_merge_turns(turns[first:], files, warn))
    return (
        {"system": _shorten_blocks(system), "messages": messages}
        if system
        else {"messages": messages}
    )


def _merge_turns(turns: list[ChatTurn], files: Files, warn: Warn) -> list[JSON]:
    merged: list[tuple[str, list[JSON]]] = []
    for turn in turns:
        if turn.role in _SYSTEM:
            warn(_LATER)
        role = "assistant" if turn.role == "assistant" else "user"
        if not merged or merged[-1][0] != role:
            merged.append((role, []))
        merged[-1][1].extend(_turn_blocks(turn, files, warn))
    return [
        {"role": role, "content": _shorten_blocks(_results_first(each))} for role, each in merged
    ]


def _turn_blocks(turn: ChatTurn, files: Files, warn: Warn) -> list[JSON]:
    blocks = _write_blocks(turn.content, files, warn)
    if turn.role == "tool":
        return [_write_result(turn, blocks)]
    if turn.role in _SYSTEM:
        before: JSON = {"type": "text", "text": "<system>"}
        after: JSON = {"type": "text", "text": "</system>"}
        return [before, *blocks, after]
    if turn.calls and turn.content == "":
        blocks = []  # the API refuses an empty text, and beside a call it says nothing
    kept = turn.extras.get("blocks")
    before_all = kept if isinstance(kept, list) else []
    return [*before_all, *blocks, *map(_write_use, turn.calls)]


def _write_result(turn: ChatTurn, blocks: list[JSON]) -> JSON:
    result: dict[str, JSON] = {"type": "tool_result", "tool_use_id": turn.call_id}
    if blocks:
        result["content"] = _shorten_blocks(blocks)
    if "is_error" in turn.extras:
        result["is_error"] = turn.extras["is_error"]
    return result


def _write_use(call: SentCall) -> JSON:
    if not isinstance(call.arguments, dict):
        what = f"input is {describe_kind(call.arguments)}, and Anthropic's API takes a mapping"
        raise TargetError(f"a call of `{call.name}` can't be sent: its {what}")
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}


def _results_first(blocks: list[JSON]) -> list[JSON]:
    return sorted(
        blocks,
        key=lambda block: not (isinstance(block, dict) and block.get("type") == "tool_result"),
    )


def _shorten_blocks(blocks: list[JSON]) -> JSON:
    """One plain text as itself, which says the same and is easier to read in a record."""
    if len(blocks) == 1 and isinstance(blocks[0], dict) and blocks[0].keys() == {"type", "text"}:
        return blocks[0]["text"]
    return blocks


def _write_blocks(content: JSON, files: Files, warn: Warn) -> list[JSON]:
    parts = read_content_parts(content, files)
    if any(isinstance(part, ImagePart) and "detail" in part.extras for part in parts):
        warn("`detail` of an image is not sent: Anthropic's API doesn't know it")
    return [_write_block(part) for part in parts]


def _write_block(part: ContentPart) -> JSON:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text, **part.extras}
    if isinstance(part, ImagePart):
        return _write_image(part)
    if isinstance(part, PdfPart):
        source: JSON = {"type": "base64", "media_type": "application/pdf", "data": part.data}
        return {"type": "document", "source": source, "title": part.name, **part.extras}
    return _write_other(part)


def _write_image(part: ImagePart) -> JSON:
    extras = {key: value for key, value in part.extras.items() if key != "detail"}
    source: JSON = {"type": "base64", "media_type": part.media_type, "data": part.data}
    if part.url is not None:
        source = {"type": "url", "url": part.url}
    return {"type": "image", "source": source, **extras}


def _write_other(part: dict[str, JSON]) -> JSON:
    image = part.get("image_url") if part["type"] == "image_url" else None
    url = image.get("url") if isinstance(image, dict) else image
    return _write_image(read_address(url, {})) if isinstance(url, str) else part
