"""`input` and `expected_output` in all their short forms, to lists of messages."""

from __future__ import annotations

from typing import Any

from evalcase.model.finding import QUOTE_IT, Fix, KeyPath
from evalcase.model.json_value import describe_kind
from evalcase.model.message import ROLES, is_message
from evalcase.model.nearest import hint_at
from evalcase.resolve.content_parts import check_content, may_be_part, usual_role
from evalcase.resolve.findings import Findings
from evalcase.text.suggest import (
    ROLES_ELSEWHERE,
    describe_foreign_letter,
    nearest_field,
    suggest_field,
)

_ROLES = frozenset(ROLES)
_OF_CASES = frozenset({
    "expected_output", "expected_messages", "expected_outcome", "criteria", "rubrics", "graders",
    "evaluators", "assert",
})  # fmt: skip
"""What a case says of a good answer, and what no message has."""

Messages = list[dict[str, Any]]


def read_input(value: Any, path: KeyPath, findings: Findings) -> Messages | None:
    """The messages that an `input` stands for; None, with a finding, where it is none."""
    if type(value) is str:
        if not value or value.isspace():
            findings.add("empty-input", path, "the input is blank")
        return [{"role": "user", "content": value}]
    if type(value) is list:
        return value if are_plain(value) else _message_list(value, path, findings)
    if type(value) is dict:
        if is_message(value):
            return _message_list([value], path, findings, single=True)
        check_content(value, path, findings)
        return [{"role": "user", "content": value}]
    wanted = "a string, a message, a list of messages or a mapping"
    message = f"`input` is {wanted}, not {describe_kind(value)}"
    findings.add("wrong-type", path, message, QUOTE_IT)
    return None


def read_expected_output(value: Any, path: KeyPath, findings: Findings) -> Messages | None:
    """The messages that an `expected_output` stands for; None where it is at fault."""
    if type(value) is dict:
        if is_message(value):
            return _message_list([value], path, findings, single=True)
        check_content(value, path, findings)
    if type(value) is list:
        if are_plain(value):
            return value
        for item in value:
            if is_message(item):
                return _message_list(value, path, findings)
        if not value:
            return _message_list(value, path, findings)
        check_content(value, path, findings)
    return [{"role": "assistant", "content": value}]


def are_plain(value: list[Any]) -> bool:
    """Whether a list holds nothing but messages of text, of data that is no list, or of calls that
    name their tools.

    Nearly all do, and need no closer look: this is the hottest path of loading.
    """
    for item in value:
        if type(item) is not dict:
            return False
        role, content = item.get("role"), item.get("content")
        if type(role) is not str or role not in _ROLES:
            return False
        if type(content) is not str and (type(content) is list or may_be_part(content)):
            return False
        if "tool_calls" in item:
            calls = item["tool_calls"]
            if type(calls) is not list or not calls or not all(map(_names_a_tool, calls)):
                return False
        elif "content" not in item:
            return False
        if len(item) > 2 and not _OF_CASES.isdisjoint(item):
            return False
    return bool(value)


def _message_list(
    value: list[Any], path: KeyPath, findings: Findings, single: bool = False
) -> Messages | None:
    if not value:
        hint = None if str(path[-1]).startswith("input") else _EMPTY_EXPECTATION
        findings.add("empty-list", path, f"`{path[-1]}` is an empty list", hint)
        return None
    before = findings.errors
    mixed = any(map(is_message, value))
    for index, item in enumerate(value):
        _check_message(item, path if single else (*path, index), mixed, findings)
    return value if findings.errors == before else None


_EMPTY_EXPECTATION = "leave it out, or write the full message: [{role: assistant, content: []}]"


def _check_message(item: Any, path: KeyPath, mixed: bool, findings: Findings) -> None:
    """Look at an item of a list, of which others are messages if it is `mixed`."""
    if not is_message(item):
        _report_odd_item(item, path, mixed, findings)
        return
    role = item["role"]
    if type(role) is not str or role not in _ROLES:
        _report_role(role, (*path, "role"), findings)
    calls = item.get("tool_calls")
    if calls is not None:
        _check_tool_calls(calls, (*path, "tool_calls"), findings)
    elif "content" not in item:
        _report_empty(item, path, findings)
    check_content(item.get("content"), (*path, "content"), findings)
    if len(item) > 2 and not _OF_CASES.isdisjoint(item):
        _warn_of_misplaced(item, path, findings)


def _warn_of_misplaced(item: dict[str, Any], path: KeyPath, findings: Findings) -> None:
    """A slip of indentation shows a target what is expected of it."""
    if "expected_output" in path or "expected_messages" in path:
        return
    for key in filter(_OF_CASES.__contains__, item):
        message = f"`{key}` is inside a message, where the target sees it"
        findings.add("misplaced-field", (*path, key), message, "move it out, to the case", "key")


def _report_odd_item(item: Any, path: KeyPath, mixed: bool, findings: Findings) -> None:
    example = f"{{role: {usual_role(path)}, content: …}}"
    what, hint = describe_kind(item), f"a message is {example}"
    if type(item) is str:
        hint = f"write {example} around it"
    elif type(item) is dict:
        role = item.get("role")
        what = "a mapping that is not a message"
        if type(role) is str:
            hint = _suggest_role(role) or hint
        elif len(item) == 1 and not _ROLES.isdisjoint(item):
            hint = f"write {{role: {next(iter(item))}, content: …}}"
    if mixed:
        findings.add("mixed-messages", path, f"this list holds messages, but this is {what}", hint)
    else:
        findings.add("wrong-type", path, f"a list in `input` holds messages, not {what}", hint)


def _report_role(role: Any, path: KeyPath, findings: Findings) -> None:
    if type(role) is not str:
        findings.add(
            "unknown-role", path, f"a role is a string, not {describe_kind(role)}", _ROLE_LIST
        )
        return
    message = f"`{role}` is not a role{describe_foreign_letter(role)}"
    meant = nearest_field(role, ROLES, elsewhere=ROLES_ELSEWHERE)
    if meant is not None:
        fix = Fix(meant, of_name=True)
        findings.add("unknown-role", path, message, hint_at(meant), fix=fix)
    else:
        findings.add("unknown-role", path, message, f"{_ROLE_LIST}; {_as_data(path)}")


def _suggest_role(role: str) -> str | None:
    return suggest_field(role, ROLES, elsewhere=ROLES_ELSEWHERE)


_ROLE_LIST = "the roles are " + ", ".join(ROLES)


def _report_empty(item: dict[str, Any], path: KeyPath, findings: Findings) -> None:
    known = ("content", "tool_calls")
    guesses = (suggest_field(key, known, elsewhere={}) for key in item if key != "role")
    hint = next(filter(None, guesses), None)
    if hint is None:
        hint = f"add `content`; {_as_data(path)}"
    message = "this message has neither `content` nor `tool_calls`"
    findings.add("empty-message", path, message, hint)


def _as_data(path: KeyPath) -> str:
    return (
        "or, if this mapping is data and not a message, write it as the content of one: "
        f"{{role: {usual_role(path)}, content: {{role: …}}}}"
    )


def _check_tool_calls(calls: Any, path: KeyPath, findings: Findings) -> None:
    if type(calls) is not list:
        findings.add("wrong-type", path, f"`tool_calls` is a list, not {describe_kind(calls)}")
    elif not calls:
        findings.add("empty-list", path, "`tool_calls` is an empty list", "leave it out")
    else:
        for index, call in enumerate(calls):
            if not _names_a_tool(call):
                message = "a tool call must name its tool"
                hint = "write {tool: name, input: …}, or {function: {name: …, arguments: …}}"
                findings.add("bad-tool-call", (*path, index), message, hint)


def _names_a_tool(call: Any) -> bool:
    if type(call) is not dict:
        return False
    function = call.get("function")
    name = call["tool"] if "tool" in call else type(function) is dict and function.get("name")
    return type(name) is str and name != ""
