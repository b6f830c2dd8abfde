"""What may be said of tool calls: a list of them as they are expected, and rules for some tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from evalcase.graders.compare.call_match import Call
from evalcase.graders.compare.matcher_options import FieldMatchers
from evalcase.types.message import ToolCall
from evalcase.types.options import OptionFault, Place, about, of_kind
from evalcase.types.problem import KeyPath, hint_at, nearest_meaning
from evalcase.types.read_options import ANYTHING, only_these
from evalcase.types.value import JSON, Value, describe_kind

Arguments = Literal["exact", "contains", "within", "ignore"]
_KEYS = ("tool", "input", "output", "id", "type", "function")
_MEANT = {**{key: key for key in _KEYS}, "args": "input", "arguments": "input", "name": "tool"}


class ToolRule(Value, frozen=True):
    """How the arguments of one tool are compared."""

    arguments: Annotated[
        Arguments | None,
        about("How to compare its arguments, instead of the general setting."),
    ] = None
    fields: Annotated[
        FieldMatchers | None, about("Paths in its arguments, each with a value or a matcher.")
    ] = None

    def conflicts(self) -> Iterator[OptionFault]:
        if self.arguments is None and self.fields is None:
            yield OptionFault((), "it needs `arguments` or `fields`", code="missing-option")


def _faults_of_call(call: JSON, path: KeyPath, what: str) -> Iterator[OptionFault]:
    if isinstance(call, str) and call:
        return
    if not isinstance(call, dict):
        why = f"{what} is a mapping or the name of a tool, not {describe_kind(call)}"
        yield OptionFault(path, why, "write {tool: NAME, input: {…}}", code="wrong-type")
        return
    meant = {key: nearest_meaning(key, _MEANT) for key in call if key not in _KEYS}
    for key, near in meant.items():
        hint = hint_at(near) or f"it has {', '.join(_KEYS)}"
        yield OptionFault((*path, key), f"{what} has no `{key}`", hint, "key", "unknown-option")
    function = call.get("function")
    name = call.get("tool", function.get("name") if isinstance(function, dict) else None)
    # What is misspelt is not missing.
    if (not isinstance(name, str) or not name) and "tool" not in meant.values():
        yield OptionFault(path, f"{what} names no `tool`", "write {tool: NAME, input: {…}}")


def _read_call(call: JSON) -> Call:
    if isinstance(call, str):
        return Call(call, None, is_open=True)
    assert isinstance(call, dict)
    made = ToolCall(call)
    return Call(made.name, made.arguments)


def _check_calls(value: list[JSON], place: Place) -> Iterator[OptionFault]:
    for number, each in enumerate(value):
        yield from _faults_of_call(each, (*place.path, number), f"call {number + 1}")


ExpectedCalls = Annotated[
    tuple[Call, ...],
    of_kind(
        "a list of tool calls",
        written=list[Any],
        check=_check_calls,
        read=lambda value: tuple(_read_call(each) for each in value),
        hint=lambda _: "write - {tool: NAME, input: {…}}",
        schema={
            "type": "array",
            "items": {
                "if": {"type": "object"},
                "then": only_these({key: {"anyOf": list(ANYTHING)} for key in _KEYS}),
                "else": {"type": "string", "minLength": 1},
            },
        },
    ),
]
"""Tool calls, each as `{tool, input}`, in OpenAI's form, or as the name of the tool alone."""
