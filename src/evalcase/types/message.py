"""Messages and tool calls: read-only JSON objects, with names for what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal, NamedTuple, NoReturn, TypeVar

from msgspec import Struct

from evalcase.types.problem import find_nearest
from evalcase.types.value import JSON, Value, are_same, copy_value, decode_strictly, replace

T = TypeVar("T")

ROLES = ("system", "developer", "user", "assistant", "tool")
OTHER_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "function": "tool"}


class ReadOnly(dict[str, Any]):
    """A JSON object that can be read, compared and dumped like a dict, and not changed."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """A fresh copy that may be changed."""
        return {key: copy_value(item) for key, item in self.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and are_same(dict(self), dict(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict.__repr__(self)})"

    copy = to_dict

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} can't be changed; change what to_dict() returns")

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse


class ToolCall(ReadOnly):
    """A call of a tool, in the short form `{tool, input}` or in OpenAI's `{function: {…}}`."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return str(self["tool"] if "tool" in self else self["function"]["name"])

    @property
    def arguments(self) -> JSON:
        """The input of the tool; None where there is none. OpenAI's form has it as JSON text, which
        is parsed; text that is not strict JSON is returned as it is."""
        if "tool" in self:
            return self.get("input")
        arguments: JSON = self["function"].get("arguments")
        if not isinstance(arguments, str):
            return arguments
        with suppress(ValueError, RecursionError):
            arguments = decode_strictly(arguments)
        return arguments

    @property
    def output(self) -> JSON:
        return self.get("output")

    @property
    def id(self) -> str | None:
        return self.get("id")


def names_tool(call: object) -> bool:
    """Whether a value is a call with the name of its tool, in either form."""
    match call:
        case {"tool": tool}:
            return isinstance(tool, str)
        case {"function": {"name": str()}}:
            return True
    return False


class Message(ReadOnly):
    """One message of a conversation, with every key it was written with, in that order."""

    __slots__ = ()

    def __init__(self, data: object = None, /, **keys: object) -> None:
        """`Message({"role": "user", "content": "hi"})`, or the keys by name. Raise TypeError or
        ValueError for anything that is no message."""
        if data is not None and not isinstance(data, Mapping):
            right = "Message({'role': 'user', 'content': …})"
            raise TypeError(f"a Message is made of a mapping, {right}, not of {data!r:.60}")
        super().__init__(data or {}, **keys)
        fault = fault_of_message(self)
        if fault is not None:
            raise ValueError(f"a Message {fault}")

    @classmethod
    def decode(cls, value: object) -> Message:
        """The message of a recorded value. Raise ValueError if it is none."""
        if not isinstance(value, dict) or not isinstance(value.get("role"), str):
            raise ValueError("Expected `a message`")
        if not _are_calls(value.get("tool_calls")):
            raise ValueError("Expected `a message whose calls each name a tool`")
        return take_message(value)

    @classmethod
    def copy_of(cls, data: dict[str, Any]) -> Message:
        """A message of valid data, with which it shares nothing."""
        return take_message(copy_value(data))

    @property
    def role(self) -> str:
        return str(self["role"])

    @property
    def content(self) -> JSON:
        """Text, a list of content parts or any JSON value; None where there is none."""
        return self.get("content")

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls, as a fresh list; empty where there are none."""
        return [ToolCall(copy_value(call)) for call in self.get("tool_calls") or ()]

    @property
    def text(self) -> str | None:
        """The content as text: a string as it is, parts as their joined text, else None."""
        return text_of(self.get("content"))


def take_message(data: dict[str, Any]) -> Message:
    """The message of data that was checked before."""
    message: Message = Message.__new__(Message)
    dict.update(message, data)
    return message


def _are_calls(calls: object) -> bool:
    return calls is None or (isinstance(calls, list) and all(map(names_tool, calls)))


def copy_of(value: T) -> T:
    """A copy of a noun or of several, for user code: what that changes is in no other copy."""
    copy: Any = value
    if isinstance(value, Message):
        copy = Message.copy_of(value)
    elif isinstance(value, Struct):
        held = {name: copy_of(getattr(value, name)) for name in value.__struct_fields__}
        copy = replace(value, **held)
    elif isinstance(value, tuple):
        copy = tuple([copy_of(each) for each in value])
    elif isinstance(value, dict | list):
        copy = copy_value(value)
    return copy  # type: ignore[no-any-return]


def fault_of_message(message: Mapping[str, Any]) -> str | None:
    """What is wrong with a message, after the words `a message`; None if nothing is."""
    role = message.get("role")
    if role not in ROLES:
        name = role if isinstance(role, str) else ""
        meant = OTHER_ROLES.get(name) or find_nearest(name, ROLES)
        hint = "" if meant is None else f": did you mean {meant!r}?"
        return f"has one of the roles {', '.join(ROLES)}, not {role!r:.60}{hint}"
    calls = message.get("tool_calls")
    if calls is not None and not _are_calls(calls):
        return f"has `tool_calls`, each with the name of a tool, not {calls!r:.60}"
    if calls is None and "content" not in message:
        return "has `content` or `tool_calls`, and not neither"
    return None


def check_messages(messages: object, whose: str) -> None:
    if type(messages) is tuple:
        for each in messages:
            if type(each) is not Message:
                break
        else:
            return
    what = f"`messages` of {whose} is a tuple of Message, not {messages!r:.60}"
    raise TypeError(f"{what}; Answer.of_text(…) makes an Answer of text")


def is_message(value: object) -> bool:
    """Whether a value is meant as a message, correct or not."""
    if not isinstance(value, dict) or "role" not in value:
        return False
    if "content" in value or value.get("tool_calls") is not None:
        return True
    return value["role"] in ROLES


_TEXT_PARTS = ("text", "output_text")


def is_part(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def is_lone_part(content: object) -> bool:
    """Whether content that is no list is one part all the same: a file or an image."""
    match content:
        case {"path": str(), "type": "file" | "image"}:
            return True
    return False


def parts_of(content: JSON) -> list[dict[str, JSON]]:
    """The content parts: of a list of nothing else, or of one file or image that is in no list."""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and is_part(part)]
        return parts if len(parts) == len(content) else []
    return [content] if isinstance(content, dict) and is_lone_part(content) else []


def text_of(content: JSON) -> str | None:
    """A string as it is, a list of parts as their joined text, else None."""
    if isinstance(content, str):
        return content
    parts = parts_of(content) if isinstance(content, list) else []
    return "".join(said_text(part) or "" for part in parts) if parts else None


def part_text(part: Mapping[str, JSON]) -> str | None:
    """The text of a text part, whose key is `text` or `value`."""
    text = part.get("text", part.get("value")) if part.get("type") in _TEXT_PARTS else None
    return text if isinstance(text, str) else None


def said_text(part: Mapping[str, JSON]) -> str | None:
    """The text of a text part or of a refusal."""
    text = part.get("refusal") if part.get("type") == "refusal" else part_text(part)
    return text if isinstance(text, str) else None


_PICTURES = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR")
"""How PNG, JPEG, GIF and WebP begin in base64."""


class PictureSource(NamedTuple):
    key: str
    text: str
    kind: Literal["file", "address", "base64"]


def find_picture(part: Mapping[str, JSON]) -> PictureSource | None:
    """The picture of an image part; None for a part in the shape of some provider."""
    for key in ("path", "url", "data", "value"):
        text = part.get(key)
        if not isinstance(text, str) or not text:
            continue
        if key != "path" and is_address(text):
            return PictureSource(key, text, "address")
        # No name of a file is that long.
        if key == "data" or (key == "value" and (text.startswith(_PICTURES) or len(text) > 255)):
            return PictureSource(key, text, "base64")
        if key != "url":
            return PictureSource(key, text, "file")
    return None


def named_file(part: Mapping[str, JSON]) -> str | None:
    if part.get("type") == "file":
        name = part.get("path", part.get("value"))
        return name if isinstance(name, str) and name else None
    found = find_picture(part) if part.get("type") == "image" else None
    return found.text if found and found.kind == "file" else None


def named_files(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The files that content parts name, in order; a file may come several times."""
    parts = (part for message in messages for part in parts_of(message.get("content")))
    return filter(None, map(named_file, parts))


def is_address(text: str) -> bool:
    """Whether a text is the address of an image on the web, or holds the image itself."""
    return text[:8].lower().startswith(("http://", "https://", "data:"))


StepKind = Literal["model", "tool", "agent", "other"]


class Step(Value, frozen=True):
    """One step of a trace. The steps that are part of it follow, one deeper."""

    name: str
    kind: StepKind = "other"
    depth: int = 0
    start_s: float = 0.0
    """How long after the first step it began."""
    duration_s: float | None = None
    error: str | None = None
    """What went wrong, perhaps an empty text; None where nothing did."""
    tool: str | None = None
    input: Any = None
    """The input of the tool; None where it is unknown or large."""
    is_cut: bool = False
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
