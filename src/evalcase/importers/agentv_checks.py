"""Assertions of AgentV to rubrics and graders. A text is a statement for the judge, and what
promptfoo has as well is mapped as there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from evalcase.importers.draft import NO_ARGUMENT, add_options, write_grader, write_not
from evalcase.importers.javascript import Variables
from evalcase.importers.promptfoo_assertions import NEGATION, Assertion, NoCounterpartError
from evalcase.importers.promptfoo_graders import Mapper, to_seconds
from evalcase.importers.source import Item
from evalcase.types.value import JSON

_JUDGES = ("llm-rubric", "llm-grader", "llm-judge", "rubric", "rubrics", "g-eval")
_SCRIPTS = ("script", "code-grader", "code-judge", "script-grader")
_SHARED = ("name", "weight", "required", "negate", "type", "metric")
_LOST = {
    "field-accuracy": "it takes its values from what is expected; `fields` has them itself",
    "composite": "its parts are put together by rules of its own; `all` and `weighted` are near",
    "skill-trigger": "targets report no skills",
}


class Statement(NamedTuple):
    """A rubric of the case."""

    rubric: JSON


def map_check(item: Item, variables: Variables, mapper: Mapper) -> Iterator[Statement | JSON]:
    """Rubrics and graders of an assertion. Raise NoCounterpartError if there are none."""
    value = item.value
    if isinstance(value, str):
        yield Statement(variables.render(value))
        return
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise NoCounterpartError("this assertion, which has no type")
    kind = str(value["type"]).replace("_", "-")
    if kind in _JUDGES:
        yield from _map_judge(item, value, variables, mapper)
    elif kind in _SCRIPTS:
        fields = {key: each for key, each in value.items() if key not in _SHARED}
        yield _share(_map_script(fields, mapper), value)
    elif kind in _OWN:
        fields = {key: each for key, each in value.items() if key not in _SHARED}
        for grader in _OWN[kind](fields, str(value["type"])):
            yield _share(grader, value)
    elif kind in _LOST:
        raise NoCounterpartError(f"`{value['type']}`: {_LOST[kind]}")
    else:
        for grader in mapper.map(_to_promptfoo(kind, item).render(variables)):
            yield add_options(grader, {"required": _is_required(value)})


def _to_promptfoo(kind: str, item: Item) -> Assertion:
    value = item.mapping()
    dropped = ("type", "negate", "name", "required")
    fields: dict[str, JSON] = {
        key: each for key, each in value.items() if key not in dropped and each is not None
    }
    if value.get("name") is not None:
        fields["metric"] = value["name"]
    if kind == "cost" and "budget" in fields:
        fields["threshold"] = fields.pop("budget")
    if kind == "regex" and "flags" in fields:
        flags = fields.pop("flags")
        if not isinstance(flags, str) or not set(flags) <= set("imsu"):
            raise NoCounterpartError(f"`regex` with the flags `{flags}`")
        flags = flags.replace("u", "")
        fields["value"] = f"(?{flags}){fields.get('value')}" if flags else fields.get("value")
    bare = kind.removeprefix(NEGATION)
    is_negated = (bare != kind) != (value.get("negate") is True)
    inner = tuple(
        _to_promptfoo(str(each.at("type").value).replace("_", "-"), each)
        if isinstance(each.value, dict)
        else Assertion(each, "llm-rubric", False, {"value": each.value})
        for each in item.at("assert").items()
    )
    return Assertion(item, bare, is_negated, fields, inner)


def _map_judge(
    item: Item, value: dict[str, JSON], variables: Variables, mapper: Mapper
) -> Iterator[Statement | JSON]:
    """A text is a statement; so is each item of a list of criteria."""
    held = next((n for n in ("rubrics", "criteria", "value") if value.get(n) is not None), None)
    for name in value:
        if name in ("target", "provider"):
            why = f"`{name}` of a judge: [judge] of the configuration says who judges"
            mapper.notes.append((item.at(name), why))
        elif name not in (*_SHARED, held):
            raise NoCounterpartError(f"`{value['type']}` with `{name}`")
    if held is None:  # it judges by the criteria of the case
        yield _share("judge", value)
        return
    several = item.at(held).items() or [item.at(held)]
    rubrics = [_read_rubric(each.value, variables) for each in several]
    if not any(value.get(name) for name in ("weight", "required", "negate")):
        metric = _name_of(value)
        if metric is not None and len(rubrics) == 1 and isinstance(rubrics[0], str):
            rubrics = [{"id": metric, "text": rubrics[0]}]
        yield from map(Statement, rubrics)
        return
    is_text = len(rubrics) == 1 and isinstance(rubrics[0], str)
    yield _share({"judge": rubrics[0] if is_text else {"rubrics": rubrics}}, value)


def _read_rubric(value: JSON, variables: Variables) -> JSON:
    if isinstance(value, str) and value.strip():
        return variables.render(value)
    if not isinstance(value, dict):
        raise NoCounterpartError("a criterion that is not text")
    text = value.get("outcome", value.get("text", value.get("description")))
    known = ("id", "outcome", "text", "description", "weight", "required", "operator")
    other = next((name for name in value if name not in known), None)
    if other or not isinstance(text, str) or not text.strip():
        raise NoCounterpartError(f"a criterion with `{other}`" if other else "an empty criterion")
    text = variables.render(text)
    if value.get("operator") == "contradiction":
        text = f"Does not contradict this: {text}"
    kept = {key: value[key] for key in ("weight", "required") if value.get(key) is not None}
    id = value.get("id")
    named: dict[str, JSON] = {"id": str(id)} if isinstance(id, str | int) else {}
    return {**named, "text": text, **kept} if named or kept else text


def _share(grader: JSON, value: dict[str, JSON]) -> JSON:
    """A grader with the options that every assertion may have."""
    if value.get("negate") is True:
        grader = write_not(grader)
    given = {"weight": value.get("weight"), "name": _name_of(value)}
    return add_options(grader, {**given, "required": _is_required(value)})


def _name_of(value: dict[str, JSON]) -> JSON:
    name = value.get("name", value.get("metric"))
    return name if isinstance(name, str) and name.strip() else None


def _is_required(value: dict[str, JSON]) -> JSON:
    required = value.get("required")
    if isinstance(required, float | int) and not isinstance(required, bool):
        raise NoCounterpartError("`required` with a number, the score that is needed")
    return True if required is True else None


def _refuse_others(fields: dict[str, JSON], kind: str, *known: str) -> None:
    other = next((name for name in fields if name not in known), None)
    if other is not None:
        raise NoCounterpartError(f"`{kind}` with `{other}`")


def _number(value: JSON, kind: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise NoCounterpartError(f"`{kind}` without a number")
    return value


def _map_script(fields: dict[str, JSON], mapper: Mapper) -> JSON:
    """A program. AgentV runs it in the folder of the eval file, and passes every other key on."""
    command = fields.get("command", fields.get("script", fields.get("value")))
    if not isinstance(command, list) or not command:
        hint = "a program is written as a list: [python, check.py]"
        raise NoCounterpartError("a program that isn't written as a list", hint)
    own, target = fields.get("cwd", "."), fields.get("target", fields.get("provider"))
    cwd = os.path.relpath(os.path.join(mapper.folder.path, str(own)), mapper.root)
    if cwd.startswith(".."):
        raise NoCounterpartError("a program that runs outside the project")
    config = fields.get("config")
    if config is not None and not isinstance(config, dict):
        raise NoCounterpartError("a program whose `config` is not a mapping")
    read = ("command", "script", "value", "cwd", "target", "provider", "config")
    rest = {name: each for name, each in fields.items() if name not in read}
    most = target.get("max_calls", 50) if isinstance(target, dict) else None
    given: dict[str, JSON] = {**(config or {}), **rest}
    return write_grader(
        "script", command, cwd=None if cwd == "." else cwd, config=given or None,
        target=target if isinstance(target, str) else None,
        max_calls=50 if target is True else most,
    )  # fmt: skip


def _map_ends_with(fields: dict[str, JSON], kind: str) -> list[JSON]:
    _refuse_others(fields, kind, "value")
    return [write_grader("ends_with", fields.get("value"))]


def _map_latency(fields: dict[str, JSON], kind: str) -> list[JSON]:
    _refuse_others(fields, kind, "threshold")
    return [{"latency": to_seconds(_number(fields.get("threshold"), kind))}]


def _map_tokens(fields: dict[str, JSON], kind: str) -> list[JSON]:
    _refuse_others(fields, kind, "max_total", "max_input", "max_output")
    given = {name.removeprefix("max_"): _number(each, kind) for name, each in fields.items()}
    total = given.pop("total", None)
    return [write_grader("tokens", NO_ARGUMENT if total is None else total, **given)]


def _map_metrics(fields: dict[str, JSON], kind: str) -> list[JSON]:
    graders: list[JSON] = []
    for name, limit in fields.items():
        number = _number(limit, kind)
        match name:
            case "max_tool_calls":
                graders.append({"tool_calls": {"max": number}})
            case "max_tokens":
                graders.append({"tokens": number})
            case "max_cost_usd":
                graders.append({"cost": number})
            case "max_duration_ms":
                graders.append({"latency": to_seconds(number)})
            case _:
                raise NoCounterpartError(f"`{kind}` with `{name}`")
    if not graders:
        raise NoCounterpartError(f"`{kind}` without limits")
    return graders


def _map_trajectory(fields: dict[str, JSON], kind: str) -> list[JSON]:
    _refuse_others(fields, kind, "mode", "minimums", "expected")
    mode, expected = fields.get("mode"), fields.get("expected")
    if mode == "any_order" and isinstance(fields.get("minimums"), dict) and expected is None:
        return [{"tool_calls": {"needed": fields["minimums"]}}]
    if mode not in ("in_order", "exact") or not isinstance(expected, list) or not expected:
        raise NoCounterpartError(f"`{kind}` of the mode `{mode}`")
    calls: list[JSON] = []
    for each in expected:
        if not isinstance(each, dict) or not set(each) <= {"tool", "args"}:
            raise NoCounterpartError(f"`{kind}` with more than tools and arguments")
        given = each.get("args")
        call = {"tool": each.get("tool")}
        calls.append(call if given in (None, "any") else {**call, "input": given})
    return [write_grader("trajectory", calls, order="exact" if mode == "exact" else None)]


_OWN: dict[str, Callable[[dict[str, JSON], str], list[JSON]]] = {
    "ends-with": _map_ends_with,
    "latency": _map_latency,
    "token-usage": _map_tokens,
    "execution-metrics": _map_metrics,
    "tool-trajectory": _map_trajectory,
}
