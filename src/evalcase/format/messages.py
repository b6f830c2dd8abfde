"""`input` and `expected_output` in all their short forms, to lists of messages."""

from __future__ import annotations

from typing import Any, Literal

from evalcase.format.findings import Findings
from evalcase.types.message import ROLES, is_lone_part, is_message, is_part, named_file, said_text
from evalcase.types.problem import QUOTE_IT, Fix, KeyPath, hint_at
from evalcase.types.value import describe_kind
from evalcase.util.similar import (
    ROLES_ELSEWHERE,
    nearest_field,
    suggest_field,
)

Messages = list[dict[str, Any]]
UsualRole = Literal["user", "assistant"]
"""The role that a message has where only its content is written: `user` in an input."""

_ROLES = frozenset(ROLES)
_ROLE_LIST = "the roles are " + ", ".join(ROLES)
_EMPTY_EXPECTATION = "leave it out, or write the full message: [{role: assistant, content: []}]"
_CASE_FIELDS = frozenset({
    "expected_output", "expected_messages", "expected_outcome", "criteria", "rubrics", "graders",
    "evaluators", "assert",
})  # fmt: skip
"""What a case says of a good answer: in a message, the target would see it."""


def read_input(value: Any, path: KeyPath, findings: Findings) -> Messages | None:
    if type(value) is list:
        return _read_list(value, "user", path, findings)
    if type(value) is str:
        if not value or value.isspace():
            findings.add("empty-input", path, "the input is blank")
        return [{"role": "user", "content": value}]
    if type(value) is dict:
        return _read_mapping(value, "user", path, findings)
    wanted = "a string, a message, a list of messages or a mapping"
    message = f"`input` is {wanted}, not {describe_kind(value)}"
    findings.add("wrong-type", path, message, QUOTE_IT)
    return None


def read_expected_output(value: Any, path: KeyPath, findings: Findings) -> Messages | None:
    if type(value) is list:
        if not value or any(map(is_message, value)):
            return _read_list(value, "assistant", path, findings)
        _check_content(value, "assistant", path, findings)
    elif type(value) is dict:
        return _read_mapping(value, "assistant", path, findings)
    return [{"role": "assistant", "content": value}]


def _read_mapping(
    value: dict[str, Any], usual: UsualRole, path: KeyPath, findings: Findings
) -> Messages | None:
    """One message, or data."""
    if is_message(value):
        return _read_list([value], usual, path, findings, is_single=True)
    _check_content(value, usual, path, findings)
    return [{"role": usual, "content": value}]


def _read_list(
    value: list[Any], usual: UsualRole, path: KeyPath, findings: Findings, is_single: bool = False
) -> Messages | None:
    if not value:
        hint = None if usual == "user" else _EMPTY_EXPECTATION
        findings.add("empty-list", path, f"`{path[-1]}` is an empty list", hint)
        return None
    before, odd = findings.errors, []
    for index, message in enumerate(value):
        if is_message(message):
            _check_message(message, usual, path if is_single else (*path, index), findings)
        else:
            odd.append(index)
    for index in odd:
        what, hint = _describe_odd(value[index], usual)
        code, message = "mixed-messages", f"this list holds messages, but this is {what}"
        if len(odd) == len(value):
            code, message = "wrong-type", f"a list in `input` holds messages, not {what}"
        findings.add(code, (*path, index), message, hint)
    return value if findings.errors == before else None


def _describe_odd(item: Any, usual: UsualRole) -> tuple[str, str]:
    """What stands where a message should, and what to write there."""
    example = f"{{role: {usual}, content: …}}"
    if type(item) is not dict:
        hint = f"write {example} around it" if type(item) is str else f"a message is {example}"
        return describe_kind(item), hint
    role, guess = item.get("role"), None
    if type(role) is str:
        guess = suggest_field(role, ROLES, elsewhere=ROLES_ELSEWHERE)
    elif len(item) == 1 and not _ROLES.isdisjoint(item):
        guess = f"write {{role: {next(iter(item))}, content: …}}"
    return "a mapping that is not a message", guess or f"a message is {example}"


def _check_message(
    message: dict[str, Any], usual: UsualRole, path: KeyPath, findings: Findings
) -> None:
    role, content = message["role"], message.get("content")
    as_data = (
        "or, if this mapping is data and not a message, write it as the content of one: "
        f"{{role: {usual}, content: {{role: …}}}}"
    )
    if type(role) is not str:
        what = f"a role is a string, not {describe_kind(role)}"
        findings.add("unknown-role", (*path, "role"), what, _ROLE_LIST)
    elif role not in _ROLES:
        meant = nearest_field(role, ROLES, elsewhere=ROLES_ELSEWHERE)
        hint = hint_at(meant) or f"{_ROLE_LIST}; {as_data}"
        fix = None if meant is None else Fix(meant, of_name=True)
        findings.add("unknown-role", (*path, "role"), f"`{role}` is not a role", hint, fix=fix)
    if message.get("tool_calls") is not None:
        _check_tool_calls(message["tool_calls"], (*path, "tool_calls"), findings)
    elif "content" not in message:
        known = ("content", "tool_calls")
        guesses = (suggest_field(key, known, elsewhere={}) for key in message if key != "role")
        hint = next(filter(None, guesses), f"add `content`; {as_data}")
        what = "this message has neither `content` nor `tool_calls`"
        findings.add("empty-message", path, what, hint)
    if type(content) is list or type(content) is dict:
        _check_content(content, usual, (*path, "content"), findings)
    for key in message if usual == "user" and not _CASE_FIELDS.isdisjoint(message) else ():
        if key in _CASE_FIELDS:
            what = f"`{key}` is inside a message, where the target sees it"
            findings.add("misplaced-field", (*path, key), what, "move it out, to the case", "key")


def _check_tool_calls(calls: Any, path: KeyPath, findings: Findings) -> None:
    if type(calls) is not list:
        findings.add("wrong-type", path, f"`tool_calls` is a list, not {describe_kind(calls)}")
        return
    if not calls:
        findings.add("empty-list", path, "`tool_calls` is an empty list", "leave it out")
    for index, call in enumerate(calls):
        name = None
        if type(call) is dict:
            function = call.get("function")
            in_function = function.get("name") if type(function) is dict else None
            name = call.get("tool", in_function)
        if type(name) is not str or not name:
            message = "a tool call must name its tool"
            hint = "write {tool: name, input: …}, or {function: {name: …, arguments: …}}"
            findings.add("bad-tool-call", (*path, index), message, hint)


_PART_KEYS = {
    "text": ("text", "value"),
    "output_text": ("text", "value"),
    "refusal": ("refusal",),
    "file": ("path", "value"),
    "image": ("path", "url", "data", "value"),
}
"""The types of parts that mean something here, with the keys that may hold the text or the file.
Parts of other types are kept as they are."""
_BESIDE_IMAGES = frozenset({"type", "media_type", "mime_type", "detail"})


def _check_content(content: Any, usual: UsualRole, path: KeyPath, findings: Findings) -> None:
    """Check content parts: those in a list, and a file or an image that a target is given, which
    needs no list around it. Other content is data."""
    if type(content) is list:
        parts = [is_part(item) for item in content]
        if all(parts):
            for index, part in enumerate(content):
                if part["type"] in _PART_KEYS:
                    _check_part(part, (*path, index), findings)
        elif any(map(_is_known_part, content)):
            message = "this is not a content part, so the whole list is plain data"
            hint = "give it a type: {type: text, text: …}"
            findings.add("odd-part", (*path, parts.index(False)), message, hint)
    elif usual == "user" and is_lone_part(content):
        _check_part(content, path, findings)
    elif _is_known_part(content):
        _check_lone_part(content, usual, path, findings)


def _is_known_part(value: Any) -> bool:
    return is_part(value) and value["type"] in _PART_KEYS


def _check_lone_part(
    part: dict[str, Any], usual: UsualRole, path: KeyPath, findings: Findings
) -> None:
    """Warn of data that has the keys of a part and no others."""
    keys = _PART_KEYS[part["type"]]
    key = next((key for key in part if key in keys), None)
    if not part.keys() <= {"type", "media_type", *keys} or type(part.get(key or "")) is not str:
        return
    written = f"[{{type: {part['type']}, {key}: …}}]"
    how = "the target is given it as JSON" if usual == "user" else "it is compared as JSON"
    hint = f"write {{role: {usual}, content: {written}}}"
    if path[-1] == "content":
        hint = f"put it into a list: {written}"
    findings.add("odd-part", path, f"this looks like a content part, but is data: {how}", hint)


def _check_part(part: dict[str, Any], path: KeyPath, findings: Findings) -> None:
    """Note the file that a part names; warn of a part that has neither a file nor a text."""
    name, kind = named_file(part), part["type"]
    keys = _PART_KEYS[kind]
    if name is not None:
        findings.add_file(name, (*path, next(key for key in keys if part.get(key) == name)))
        return
    if kind == "image":
        # It may be in the shape of some provider, which has other keys.
        is_whole = "path" not in part and any(part[key] for key in part.keys() - _BESIDE_IMAGES)
    else:
        is_whole = said_text(part) is not None
    if not is_whole:
        what = "file name" if "path" in keys else "text"
        article = "an" if kind in ("image", "output_text") else "a"
        message = f"{article} {kind} part has its {what} in `{keys[0]}`"
        findings.add("odd-part", path, message, f"write {{type: {kind}, {keys[0]}: …}}")
