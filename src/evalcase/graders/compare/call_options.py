"""What may be said of tool calls: a list of them as they are expected, and rules for some tools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalcase.graders.compare.call_match import Call
from evalcase.graders.compare.matcher_options import FieldMap, Matcher
from evalcase.model.conflict import conflict
from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON, describe_kind
from evalcase.model.message import ToolCall
from evalcase.model.nearest import hint_at, nearest_meaning
from evalcase.model.option import ANYTHING, only_these, option
from evalcase.model.shape import Choice, OptionFault
from evalcase.model.value import Value

ARGUMENTS = ("exact", "contains", "within", "ignore")
_KEYS = ("tool", "input", "output", "id", "type", "function")
_MEANT = {**{key: key for key in _KEYS}, "args": "input", "arguments": "input", "name": "tool"}


@dataclass(frozen=True, slots=True)
class ToolRule:
    """How the arguments of one tool are compared."""

    arguments: str | None = option(
        Choice(ARGUMENTS), "How to compare its arguments, instead of the general setting.",
        default=None,
    )  # fmt: skip
    fields: dict[str, Matcher] | None = option(
        FieldMap(), "Paths in its arguments, each with a value or a matcher.", default=None
    )

    @conflict
    def _says_nothing(self) -> Iterator[OptionFault]:
        if self.arguments is None and self.fields is None:
            yield OptionFault((), "it needs `arguments` or `fields`", code="missing-option")


class CallList(Value, frozen=True):
    """Tool calls, each as `{tool, input}`, in OpenAI's form, or as the name of the tool alone."""

    @property
    def words(self) -> str:
        return "a list of tool calls"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, list):
            what = f"`{path[-1]}` is {self.words}, not {describe_kind(value)}"
            yield OptionFault(path, what, "write - {tool: NAME, input: {…}}", code="wrong-type")
            return
        for number, each in enumerate(value):
            yield from _faults_of_call(each, (*path, number), f"call {number + 1}")

    def read(self, value: JSON) -> tuple[Call, ...]:
        assert isinstance(value, list)
        return tuple(_read_call(each) for each in value)

    def schema(self) -> dict[str, JSON]:
        call: JSON = {
            "if": {"type": "object"},
            "then": only_these({key: {"anyOf": list(ANYTHING)} for key in _KEYS}),
            "else": {"type": "string", "minLength": 1},
        }
        return {"type": "array", "items": call}


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
