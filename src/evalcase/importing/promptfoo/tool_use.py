"""Assertions about tools: what promptfoo reads from a trace, evalcase reads from the answer."""

from __future__ import annotations

from evalcase.importing.graders import NO_ARGUMENT, write_grader
from evalcase.importing.promptfoo.assertions import Assertion
from evalcase.importing.promptfoo.unmapped import NoCounterpartError
from evalcase.types.value import JSON

TOOL_USE = (
    "trajectory:tool-used", "trajectory:tool-sequence", "trajectory:tool-args-match",
    "trajectory:step-count",
)  # fmt: skip
_ORDERS = {"in_order": "in_order", "exact": "exact"}
_MODES = {"partial": "contains", "exact": "exact"}


def map_tool_use(assertion: Assertion, *, counts_scores: bool) -> JSON:
    """The grader of calls that says the same, whether it is negated or not."""
    if assertion.type == "trajectory:tool-used":
        return _map_used(assertion)
    if assertion.is_negated:
        raise NoCounterpartError(f"`{assertion.name}`, which turns a sequence round")
    if assertion.type == "trajectory:tool-sequence":
        grader = _map_sequence(assertion)
        if counts_scores:
            raise NoCounterpartError(
                f"`{assertion.name}` where points are counted: it is met by halves here"
            )
        return grader
    if assertion.type == "trajectory:step-count":
        return _map_count(assertion)
    return _map_arguments(assertion)


def _map_used(assertion: Assertion) -> JSON:
    value = assertion.value
    names = [value] if isinstance(value, str) else value
    if isinstance(names, list) and names:
        tools = [_read_name(each, assertion) for each in names]
        if assertion.is_negated:
            return {"tool_calls": {"forbidden": [*tools]}}
        return {"tool_calls": {"needed": dict.fromkeys(tools, 1)}}
    _refuse_others(value, ("name", "pattern", "min"), assertion)
    assert isinstance(value, dict)
    least = value.get("min", 1)
    if not isinstance(least, int) or isinstance(least, bool) or least < 1:
        raise NoCounterpartError(f"`{assertion.name}` with `min: {least}`")
    if assertion.is_negated:
        raise NoCounterpartError(f"`{assertion.name}` with `min`")
    return {"tool_calls": {"needed": {_read_name(value, assertion): least}}}


def _map_sequence(assertion: Assertion) -> JSON:
    value = assertion.value
    steps: JSON = value
    order: JSON = "in_order"
    if isinstance(value, dict):
        _refuse_others(value, ("steps", "mode"), assertion)
        steps, order = value.get("steps"), value.get("mode", "in_order")
    if not isinstance(steps, list) or not steps or order not in _ORDERS:
        raise NoCounterpartError(f"`{assertion.name}` without steps that can be read")
    calls: list[JSON] = [_read_name(each, assertion) for each in steps]
    options: dict[str, JSON] = {"arguments": "ignore"}
    if order != "in_order":
        options["order"] = order
    return write_grader("trajectory", calls, **options)


def _map_arguments(assertion: Assertion) -> JSON:
    value = assertion.value
    _refuse_others(value, ("name", "pattern", "args", "arguments", "mode"), assertion)
    assert isinstance(value, dict)
    given = value.get("args", value.get("arguments"))
    mode = _MODES.get(str(value.get("mode", "partial")))
    if not isinstance(given, dict) or mode is None:
        raise NoCounterpartError(f"`{assertion.name}` without arguments that can be read")
    call: JSON = {"tool": _read_name(value, assertion), "input": given}
    return write_grader("trajectory", [call], arguments=None if mode == "contains" else mode)


def _map_count(assertion: Assertion) -> JSON:
    value = assertion.value
    _refuse_others(value, ("type", "min", "max"), assertion)
    assert isinstance(value, dict)
    if value.get("type") != "tool":
        raise NoCounterpartError(f"`{assertion.name}` of other steps than calls of tools")
    limits = {name: value[name] for name in ("min", "max") if name in value}
    if not limits:
        raise NoCounterpartError(f"`{assertion.name}` without `min` and `max`")
    return write_grader("tool_calls", NO_ARGUMENT, **limits)


def _refuse_others(value: JSON, known: tuple[str, ...], assertion: Assertion) -> None:
    if not isinstance(value, dict):
        raise NoCounterpartError(f"`{assertion.name}` without a value that can be read")
    for name in value:
        if name not in known:
            raise NoCounterpartError(f"`{assertion.name}` with `{name}`")


def _read_name(step: JSON, assertion: Assertion) -> str:
    """The name of a tool, which may not stand for several."""
    if isinstance(step, dict):
        step = step.get("name", step.get("pattern")) if set(step) <= _OF_CALLS else None
    if not isinstance(step, str) or not step or "*" in step or "?" in step:
        raise NoCounterpartError(f"`{assertion.name}` of tools that are not named")
    return step


_OF_CALLS = {"name", "pattern", "min", "args", "arguments", "mode", "type"}
