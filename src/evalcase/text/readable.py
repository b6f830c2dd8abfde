"""JSON values, contents of messages and tool calls as text that a person reads.

They may come from anyone: whatever shape they have, there is a text for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json import dumps

from evalcase.model.json_value import JSON, describe_kind
from evalcase.model.message import ToolCall, is_part, names_tool, part_text
from evalcase.text.abridge import shorten_text

_LONGEST = 100
"""Characters that are shown of what names a part."""


def as_json(value: JSON, indent: int | None = None) -> str:
    """Readable JSON: letters of every script as they are, but nothing that UTF-8 can't hold."""
    try:
        text = dumps(value, ensure_ascii=False, indent=indent)
        text.encode()
    except UnicodeEncodeError:
        return dumps(value, indent=indent)
    except (TypeError, ValueError, RecursionError):
        # Data of a Python target may hold what JSON can't: it is for people, so it needn't.
        return f"({describe_kind(value)} that can't be shown)"
    return text


def content_text(content: JSON) -> str:
    """Text as it is; parts joined, those without text named in brackets, apart from others; other
    data as JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list) and content and all(map(is_part, content)):
        return _join_parts([part for part in content if isinstance(part, dict)])
    return as_json(content, indent=2)


def _join_parts(parts: list[dict[str, JSON]]) -> str:
    joined: list[str] = []
    was_text = True
    for part in parts:
        shown, is_text = _write_part(part), part_text(part) is not None
        if not shown:
            continue
        if joined and not (is_text and was_text):
            meets = not joined[-1][-1].isspace() and not shown[0].isspace()
            joined.append(" " if meets else "")
        joined.append(shown)
        was_text = is_text
    return "".join(joined)


def _write_part(part: Mapping[str, JSON]) -> str:
    text = part_text(part)
    if text is not None:
        return text
    named = next(_name_part(part), "")
    return f"[{part['type']}: {shorten_text(named, _LONGEST)}]" if named else f"[{part['type']}]"


def _name_part(part: Mapping[str, JSON]) -> Iterator[str]:
    """What tells a part from others of its type: where it is from, or what it says under the name
    of its type, as a refusal does; what else it has, where it may be data."""
    own = part.get(str(part["type"]))
    own = own.get("url") if isinstance(own, dict) and "url" in own else own
    for value in (part.get("path"), part.get("value"), part.get("url"), own):
        if isinstance(value, str):
            yield value
    rest = {key: value for key, value in part.items() if key != "type"}
    if rest and part["type"] not in ("file", "image"):
        yield as_json(rest)


def call_lines(message: Mapping[str, JSON]) -> Iterator[str]:
    """The tool calls of a message, one in a line."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and names_tool(call):
            made = ToolCall(call)
            yield call_text(made.name, made.arguments)
        else:
            yield as_json(call)


def outcome_lines(message: Mapping[str, JSON]) -> Iterator[str]:
    """The tool calls of a message, each with what it gave where that is known below it."""
    calls = message.get("tool_calls")
    listed = calls if isinstance(calls, list) else []
    for call, line in zip(listed, call_lines(message), strict=True):
        yield line
        if isinstance(call, dict) and "output" in call:
            gave = call["output"]
            yield f"  returned {gave if isinstance(gave, str) else as_json(gave)}"


def call_text(name: str, arguments: JSON) -> str:
    """A call with its arguments, by their names where those are names."""
    return f"{name}({arguments_text(arguments)})"


def arguments_text(arguments: JSON) -> str:
    if isinstance(arguments, dict) and all(str(key).isidentifier() for key in arguments):
        return ", ".join(f"{key}={as_json(value)}" for key, value in arguments.items())
    return "" if arguments is None else as_json(arguments)
