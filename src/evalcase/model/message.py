"""Messages and tool calls: the JSON objects they are, read-only, with names for what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from evalcase.model.json_value import JSON, are_same, copy_value

ROLES = ("system", "developer", "user", "assistant", "tool")
_ROLES = frozenset(ROLES)
OTHER_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "function": "tool"}
"""What other tools call some of them."""
_WITH_FILES = frozenset({"file", "image"})
_OF_TEXT = frozenset({"text", "output_text"})
_PARTS = _OF_TEXT | {
    "file", "image", "image_url", "input_image", "input_text", "input_file", "audio",
    "input_audio", "document", "video", "refusal", "thinking", "redacted_thinking", "thought",
    "reasoning", "inlineData", "inline_data", "fileData", "executableCode", "executable_code",
    "empty", "reasoningContent", "tool_use", "toolUse",
}  # fmt: skip


class ReadOnly(dict[str, Any]):
    """A JSON object that can be read, compared and dumped like a dict, and not changed."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """A fresh copy that may be changed."""
        data: dict[str, Any] = copy_value(self)
        return data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and are_same(dict(self), dict(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict.__repr__(self)})"

    def copy(self) -> dict[str, Any]:
        return self.to_dict()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} can't be changed; change what to_dict() returns")

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse


class ToolCall(ReadOnly):
    """A call of a tool, in the short form `{tool, input}` or in OpenAI's `{function: {…}}`."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the tool, from either form."""
        name: str = self["tool"] if "tool" in self else self["function"]["name"]
        return name

    @property
    def arguments(self) -> JSON:
        """What the tool is given, from either form; None where nothing is said.

        OpenAI's form has its arguments as JSON text: that is parsed. Text that isn't JSON, or
        has a key twice and so says two things, or a number that nothing holds, is returned as it
        stands.
        """
        if "tool" in self:
            return self.get("input")
        arguments: JSON = self["function"].get("arguments")
        if not isinstance(arguments, str):
            return arguments
        from evalcase.model.json_decoder import decode_strictly  # most messages call no tool

        try:
            parsed: JSON = decode_strictly(arguments)
        except (ValueError, RecursionError):
            return arguments
        return parsed

    @property
    def output(self) -> JSON:
        return self.get("output")

    @property
    def id(self) -> str | None:
        return self.get("id")


def names_tool(call: object) -> bool:
    """Whether a value is a call that says which tool it is of, in either form."""
    if not isinstance(call, dict):
        return False
    if "tool" in call:
        return isinstance(call["tool"], str)
    function = call.get("function")
    return isinstance(function, dict) and isinstance(function.get("name"), str)


class Message(ReadOnly):
    """One message of a conversation, with every key it was written with, in that order."""

    __slots__ = ()

    def __init__(self, data: object = None, /, **keys: object) -> None:
        """`Message({"role": "user", "content": "hi"})`, or the keys by name. Raise TypeError or
        ValueError where that is no message."""
        if data is not None and not isinstance(data, Mapping):
            right = "Message({'role': 'user', 'content': …})"
            raise TypeError(f"a Message is made of a mapping, {right}, not of {data!r:.60}")
        super().__init__(data or {}, **keys)
        fault = fault_of_message(self)
        if fault is not None:
            raise ValueError(f"a Message {fault}")

    @classmethod
    def copy_of(cls, data: dict[str, Any]) -> Message:
        """A message that shares nothing with its data that could be changed."""
        is_flat = len(data) == 2 and type(data.get("content")) is str
        return take_message(data if is_flat else copy_value(data))

    @property
    def role(self) -> str:
        role: str = self["role"]
        return role

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


class _Taken(ReadOnly):
    """A message before it is called one: nobody need look at what was checked before."""

    __slots__ = ()


def take_message(data: dict[str, Any]) -> Message:
    """The message of data that is known to be one, at a third of the cost."""
    taken: Any = _Taken(data)
    taken.__class__ = Message
    message: Message = taken
    return message


def fault_of_message(message: Mapping[str, Any]) -> str | None:
    """What is wrong with a message, after the words `a message`; None if nothing is."""
    role = message.get("role")
    if role not in ROLES:
        return f"has one of the roles {', '.join(ROLES)}, not {role!r:.60}{_hint_at_role(role)}"
    calls = message.get("tool_calls")
    if calls is not None and not (isinstance(calls, list) and all(map(names_tool, calls))):
        return f"has `tool_calls`, each with the name of a tool, not {calls!r:.60}"
    if calls is None and "content" not in message:
        return "has `content` or `tool_calls`, and not neither"
    return None


def _hint_at_role(role: object) -> str:
    if not isinstance(role, str):
        return ""
    from evalcase.model.nearest import find_nearest  # only a mistake needs it

    meant = OTHER_ROLES.get(role) or find_nearest(role, ROLES)
    return "" if meant is None else f": did you mean {meant!r}?"


def check_messages(messages: object, whose: str) -> None:
    """Raise TypeError for anything but a tuple of messages."""
    if type(messages) is not tuple:
        hint = "Answer.of_text(…) is one of text" if whose == "an Answer" else "tuple(…) makes one"
        what = f"`messages` of {whose} is {type(messages).__name__}, not a tuple of Message"
        raise TypeError(f"{what}: {hint}")
    for each in messages:
        if not isinstance(each, Message):
            what = f"`messages` of {whose} holds {type(each).__name__}, not Message"
            raise TypeError(f"{what}: Message({{'role': …, 'content': …}}) makes one")


def is_message(value: object) -> bool:
    """Whether a value is meant as a message, be it a correct one or not."""
    if not isinstance(value, dict) or "role" not in value:
        return False
    if "content" in value or value.get("tool_calls") is not None:
        return True
    role = value["role"]
    return isinstance(role, str) and role in _ROLES


def is_part(value: object) -> bool:
    """Whether an item of a content list is a content part."""
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def is_known_part(part: Mapping[str, JSON]) -> bool:
    """Whether a part is of a type that messages have; data may have types, too."""
    kind = str(part.get("type"))
    return kind in _PARTS or kind.endswith(("_result", "-result", "Response", "Result"))


def is_lone_part(content: object) -> bool:
    """Whether content that is no list is plainly a part all the same: a file or an image."""
    if not isinstance(content, dict) or not isinstance(content.get("path"), str):
        return False
    kind = content.get("type")
    return isinstance(kind, str) and kind in _WITH_FILES


def parts_of(content: JSON) -> list[dict[str, JSON]]:
    """The content parts: of a list of nothing else, or of one file or image that is in no list."""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and is_part(part)]
        return parts if len(parts) == len(content) else []
    return [content] if isinstance(content, dict) and is_lone_part(content) else []


def text_of(content: JSON) -> str | None:
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not content or not all(map(is_part, content)):
        return None
    texts = [said_text(part) for part in content if isinstance(part, dict)]
    return "".join(text for text in texts if text is not None)


def part_text(part: Mapping[str, JSON]) -> str | None:
    """The text of a text part, which may call it `text` or `value`; of OpenAI's Responses, too."""
    if part.get("type") not in _OF_TEXT:
        return None
    text = part.get("text", part.get("value"))
    return text if isinstance(text, str) else None


def said_text(part: Mapping[str, JSON]) -> str | None:
    """The text of a part that says something: of a text, or of a refusal."""
    if part.get("type") != "refusal":
        return part_text(part)
    text = part.get("refusal")
    return text if isinstance(text, str) else None


def lacks_text(content: JSON) -> bool:
    """Whether a text part has no text: what it says stands elsewhere, and nobody would see it."""
    parts = parts_of(content) if isinstance(content, list) else ()
    return any(part["type"] in _OF_TEXT and part_text(part) is None for part in parts)
