"""Content of messages, looked at for parts that lack what makes them, or that are data unawares."""

from __future__ import annotations

from typing import Any, NamedTuple

from evalcase.model.finding import KeyPath
from evalcase.model.message import is_lone_part, is_part, said_text
from evalcase.model.part_files import named_file
from evalcase.resolve.findings import Findings


class _Makes(NamedTuple):
    """What makes a part of a type."""

    a_part: str
    what: str
    keys: tuple[str, ...]
    """Those that may say it, the usual one first."""


_MAKES = {
    "text": _Makes("a text part", "text", ("text", "value")),
    "output_text": _Makes("an output_text part", "text", ("text", "value")),
    "refusal": _Makes("a refusal part", "text", ("refusal",)),
    "file": _Makes("a file part", "file name", ("path", "value")),
    "image": _Makes("an image part", "file name", ("path", "url", "data", "value")),
}
"""All types that mean something here. A part of any other is kept as it is."""
_BESIDE = frozenset({"type", "media_type", "mime_type", "detail"})


def check_content(content: Any, path: KeyPath, findings: Findings) -> None:
    """Look at content parts. Other content is data, whatever it holds.

    A file or an image that a target is given needs no list around it; what is expected of an
    answer is data then, and is compared as such.
    """
    if type(content) is not list:
        if is_lone_part(content) and _is_input(path):
            _check_part(content, path, findings)
        elif may_be_part(content) and _is_like_part(content):
            _report_lone_part(content, path, findings)
        return
    parts = [is_part(item) for item in content]
    if not all(parts):
        if any(map(may_be_part, content)):
            message = "this is not a content part, so the whole list is plain data"
            hint = "give it a type: {type: text, text: …}"
            findings.add("odd-part", (*path, parts.index(False)), message, hint)
        return
    for index, part in enumerate(content):
        if part["type"] in _MAKES:
            _check_part(part, (*path, index), findings)


def may_be_part(content: Any) -> bool:
    """Whether content has a type of which there are parts: hardly any data has."""
    if type(content) is not dict:
        return False
    type_ = content.get("type")
    return type(type_) is str and type_ in _MAKES


def usual_role(path: KeyPath) -> str:
    """The role that a message would have where only its content is written."""
    return "user" if _is_input(path) else "assistant"


def _is_input(path: KeyPath) -> bool:
    return "input" in path or "input_messages" in path or "user" in path


def _is_like_part(content: dict[str, Any]) -> bool:
    """Whether content has all that a part of its type has, and nothing that only data would."""
    says = _MAKES[content["type"]].keys
    known = {"type", "media_type", *says}
    return content.keys() <= known and any(type(content.get(key)) is str for key in says)


def _report_lone_part(part: dict[str, Any], path: KeyPath, findings: Findings) -> None:
    key = next(key for key in part if key in _MAKES[part["type"]].keys)
    written, role = f"[{{type: {part['type']}, {key}: …}}]", usual_role(path)
    how = "the target is given it as JSON" if _is_input(path) else "it is compared as JSON"
    hint = f"write {{role: {role}, content: {written}}}"
    if path[-1] == "content":
        hint = f"put it into a list: {written}"
    message = f"this looks like a content part, but is data: {how}"
    findings.add("odd-part", path, message, hint)


def _check_part(part: dict[str, Any], path: KeyPath, findings: Findings) -> None:
    """Look whether a part has what makes it, and whether the file that it names is there."""
    name, makes = named_file(part), _MAKES[part["type"]]
    if name is not None:
        key = next(key for key in makes.keys if part.get(key) == name)
        findings.add_file(name, (*path, key))
    elif not _is_made(part):
        key = makes.keys[0]
        message = f"{makes.a_part} has its {makes.what} in `{key}`"
        findings.add("odd-part", path, message, f"write {{type: {part['type']}, {key}: …}}")


def _is_made(part: dict[str, Any]) -> bool:
    """Whether a part that names no file has what makes it. An image may be in the shape of some
    provider, which has keys of its own."""
    if part["type"] != "image":
        return said_text(part) is not None
    return "path" not in part and any(part[key] for key in part.keys() - _BESIDE)
