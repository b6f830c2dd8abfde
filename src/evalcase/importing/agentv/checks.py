"""What AgentV asserts of an answer, to rubrics and graders: a text is a statement for the judge,
and what promptfoo has as well is mapped as it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from evalcase.importing.graders import NO_ARGUMENT, add_options, write_grader, write_not
from evalcase.importing.promptfoo.assertions import NEGATION, Assertion
from evalcase.importing.promptfoo.mapping import Mapper, to_seconds
from evalcase.importing.promptfoo.unmapped import NoCounterpartError
from evalcase.importing.source import Item
from evalcase.importing.templates import Variables
from evalcase.types.value import JSON

_JUDGES = ("llm-rubric", "llm-grader", "llm-judge", "rubric", "rubrics", "g-eval")
_SCRIPTS = ("script", "code-grader", "code-judge", "script-grader")
_SHARED = ("name", "weight", "required", "negate", "type", "metric")


class Statement(NamedTuple):
    """Something that a judge is asked about an answer."""

    rubric: JSON


class CheckMapper:
    """Maps what is asserted, for one file."""

    def __init__(self, mapper: Mapper) -> None:
        self.mapper = mapper

    def map(self, item: Item, variables: Variables) -> Iterator[Statement | JSON]:
        """Statements and graders. Raise NoCounterpartError where there are none."""
        value = item.value
        if isinstance(value, str):
            yield Statement(variables.render(value))
            return
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            raise NoCounterpartError("this assertion, which has no type")
        name = str(value["type"]).replace("_", "-")
        if name in _JUDGES:
            yield from self._map_judge(item, variables)
            return
        own = _OWN.get(name) or (_map_script if name in _SCRIPTS else None)
        if own is not None:
            fields = {key: each for key, each in value.items() if key not in _SHARED}
            for grader in own(fields, item):
                yield _with_shared(grader, value)
            return
        if name in _LOST:
            raise NoCounterpartError(f"`{value['type']}`: {_LOST[name]}")
        for grader in self.mapper.map(self._as_promptfoo(name, item).render(variables)):
            yield add_options(grader, _read_required(value))

    def _as_promptfoo(self, name: str, item: Item) -> Assertion:
        value = item.value
        assert isinstance(value, dict)
        dropped = ("type", "negate", "name", "required")
        fields: dict[str, JSON] = {
            key: each for key, each in value.items() if key not in dropped and each is not None
        }
        if value.get("name") is not None:
            fields["metric"] = value["name"]
        if name == "cost" and "budget" in fields:
            fields["threshold"] = fields.pop("budget")
        if name == "regex" and "flags" in fields:
            fields["value"] = _with_flags(str(fields.get("value")), fields.pop("flags"))
        bare = name.removeprefix(NEGATION)
        is_negated = (bare != name) != (value.get("negate") is True)
        inner = tuple(
            self._as_promptfoo(str(each.at("type").value).replace("_", "-"), each)
            if isinstance(each.value, dict)
            else Assertion(each, "llm-rubric", False, {"value": each.value})
            for each in item.at("assert").items()
        )
        return Assertion(item, bare, is_negated, fields, inner)

    def _map_judge(self, item: Item, variables: Variables) -> Iterator[Statement | JSON]:
        """A text is a statement; so is each of a list of criteria."""
        value = item.value
        assert isinstance(value, dict)
        held = next((n for n in ("rubrics", "criteria", "value") if value.get(n) is not None), None)
        for name in value:
            if name in ("target", "provider"):
                why = f"`{name}` of a judge: [judge] of the configuration says who judges"
                self.mapper.notes.append((item.at(name), why))
            elif name not in (*_SHARED, held):
                raise NoCounterpartError(f"`{value['type']}` with `{name}`")
        if held is None:
            raise NoCounterpartError(f"`{value['type']}` without a text to judge by")
        several = list(item.at(held).items()) or [item.at(held)]
        rubrics = [_read_rubric(each, variables) for each in several]
        is_plain = not any(value.get(name) for name in ("weight", "required", "negate"))
        if is_plain:
            yield from map(Statement, rubrics)
            return
        judge: JSON = {"judge": {"rubrics": rubrics}}
        if len(rubrics) == 1 and isinstance(rubrics[0], str):
            judge = {"judge": rubrics[0]}
        yield _with_shared(judge, value)


def _read_rubric(item: Item, variables: Variables) -> JSON:
    value = item.value
    if isinstance(value, str) and value.strip():
        return variables.render(value)
    if not isinstance(value, dict):
        raise NoCounterpartError("a criterion that is not text")
    text = value.get("outcome", value.get("text", value.get("description")))
    known = ("id", "outcome", "text", "description", "weight", "required", "operator")
    other = next((name for name in value if name not in known), None)
    if other is not None or not isinstance(text, str) or not text.strip():
        raise NoCounterpartError(f"a criterion with `{other}`" if other else "an empty criterion")
    text = variables.render(text)
    if value.get("operator") == "contradiction":
        text = f"Does not contradict this: {text}"
    kept = {key: value[key] for key in ("weight", "required") if value.get(key) is not None}
    id = value.get("id")
    named: dict[str, JSON] = {"id": str(id)} if isinstance(id, str | int) else {}
    return {**named, "text": text, **kept} if named or kept else text


def _with_flags(pattern: str, flags: JSON) -> str:
    if flags in ("", "u"):
        return pattern
    if not isinstance(flags, str) or not set(flags) <= set("ims"):
        raise NoCounterpartError(f"`regex` with the flags `{flags}`")
    return f"(?{flags}){pattern}"


def _with_shared(grader: JSON, value: dict[str, JSON]) -> JSON:
    if value.get("negate") is True:
        grader = write_not(grader)
    weight, name = value.get("weight"), value.get("name")
    given: dict[str, JSON] = {"weight": weight, "name": name, **_read_required(value)}
    return add_options(grader, {key: each for key, each in given.items() if each is not None})


def _read_required(value: dict[str, JSON]) -> dict[str, JSON]:
    required = value.get("required")
    if isinstance(required, float | int) and not isinstance(required, bool):
        raise NoCounterpartError("`required` with a number, the score that is needed")
    return {"required": True} if required is True else {}


def _refuse_others(fields: dict[str, JSON], known: tuple[str, ...], item: Item) -> None:
    other = next((name for name in fields if name not in known), None)
    if other is not None:
        raise NoCounterpartError(f"`{item.at('type').value}` with `{other}`")


def _map_script(fields: dict[str, JSON], item: Item) -> list[JSON]:
    _refuse_others(fields, ("command", "script", "value", "config"), item)
    command = fields.get("command", fields.get("script", fields.get("value")))
    if not isinstance(command, list) or not command:
        hint = "a program is written as a list: [python, check.py]"
        raise NoCounterpartError("a program that isn't written as a list", hint)
    config = fields.get("config")
    return [write_grader("script", command, config=config)]


def _ends_with(fields: dict[str, JSON], item: Item) -> list[JSON]:
    _refuse_others(fields, ("value",), item)
    return [write_grader("ends_with", fields.get("value"))]


def _map_latency(fields: dict[str, JSON], item: Item) -> list[JSON]:
    _refuse_others(fields, ("threshold",), item)
    return [write_grader("latency", to_seconds(_read_number(fields.get("threshold"), item)))]


def _map_tokens(fields: dict[str, JSON], item: Item) -> list[JSON]:
    _refuse_others(fields, ("max_total", "max_input", "max_output"), item)
    given = {name.removeprefix("max_"): _read_number(each, item) for name, each in fields.items()}
    total = given.pop("total", None)
    return [write_grader("tokens", NO_ARGUMENT if total is None else total, **given)]


def _map_metrics(fields: dict[str, JSON], item: Item) -> list[JSON]:
    graders: list[JSON] = []
    for name, limit in fields.items():
        number = _read_number(limit, item)
        if name == "max_tool_calls":
            graders.append({"tool_calls": {"max": number}})
        elif name == "max_tokens":
            graders.append({"tokens": number})
        elif name == "max_cost_usd":
            graders.append({"cost": number})
        elif name == "max_duration_ms":
            graders.append({"latency": to_seconds(number)})
        else:
            raise NoCounterpartError(f"`{item.at('type').value}` with `{name}`")
    if not graders:
        raise NoCounterpartError(f"`{item.at('type').value}` without limits")
    return graders


def _map_trajectory(fields: dict[str, JSON], item: Item) -> list[JSON]:
    _refuse_others(fields, ("mode", "minimums", "expected"), item)
    mode, expected = fields.get("mode"), fields.get("expected")
    if mode == "any_order" and isinstance(fields.get("minimums"), dict) and expected is None:
        return [{"tool_calls": {"needed": fields["minimums"]}}]
    if mode not in ("in_order", "exact") or not isinstance(expected, list) or not expected:
        raise NoCounterpartError(f"`{item.at('type').value}` of the mode `{mode}`")
    calls = [_map_call(each, item) for each in expected]
    return [write_grader("trajectory", calls, order="exact" if mode == "exact" else None)]


def _map_call(value: JSON, item: Item) -> JSON:
    if not isinstance(value, dict) or not set(value) <= {"tool", "args"}:
        raise NoCounterpartError(f"`{item.at('type').value}` with more than tools and arguments")
    given = value.get("args")
    call: dict[str, JSON] = {"tool": value.get("tool")}
    return call if given in (None, "any") else {**call, "input": given}


def _read_number(value: JSON, item: Item) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise NoCounterpartError(f"`{item.at('type').value}` without a number")
    return value


_LOST = {
    "field-accuracy": "it takes its values from what is expected; `fields` has them itself",
    "composite": "its parts are put together by rules of its own; `all` and `weighted` are near",
    "skill-trigger": "targets report no skills",
}
_OWN: dict[str, Callable[[dict[str, JSON], Item], list[JSON]]] = {
    "ends-with": _ends_with,
    "latency": _map_latency,
    "token-usage": _map_tokens,
    "execution-metrics": _map_metrics,
    "tool-trajectory": _map_trajectory,
}
