"""The options of a grader, as a case has them, to a grader that is ready to use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature

from evalcase.errors import ConfigError
from evalcase.model.grader import Grader, NamedGrader
from evalcase.model.json_value import JSON, kind
from evalcase.text.suggest import did_you_mean

_COMMON = ("name", "weight", "required", "threshold", "timeout_s", "not")


def configure(grader_class: Callable[..., Grader], spec: Mapping[str, JSON]) -> NamedGrader:
    """Make a grader of its canonical form `{type, …}`. Raise ConfigError if an option is wrong.

    `name` is what results call it; without it they say its `type`.
    """
    type_ = str(spec["type"])
    options = {key: spec[key] for key in spec if key != "type" and key not in _COMMON}
    _check_names(grader_class, type_, options)
    name, weight, required, threshold, timeout_s, negated = (spec.get(each) for each in _COMMON)
    return NamedGrader(
        _name(type_, name), grader_class(**options), _weight(type_, weight), required is True,
        _threshold(type_, threshold), negated is True,
        float(timeout_s) if isinstance(timeout_s, int | float) else None,
    )  # fmt: skip


def _name(type_: str, name: JSON) -> str:
    if name is None:
        return type_
    if not isinstance(name, str) or not name:
        raise ConfigError(f"grader `{type_}`: `name` is a string that is not empty")
    return name


def _weight(type_: str, weight: JSON) -> float:
    if weight is None:
        return 1.0
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise ConfigError(f"grader `{type_}`: `weight` is a number, not {kind(weight)}")
    if not 0 <= weight <= 1e100:
        raise ConfigError(f"grader `{type_}`: `weight` is between 0 and 1e100")
    return float(weight)


def _threshold(type_: str, value: JSON) -> float:
    if value is None:
        return 1.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigError(f"grader `{type_}`: `threshold` is a number from 0 to 1, not {value}")
    return float(value)


def _check_names(
    grader_class: Callable[..., Grader], type_: str, options: Mapping[str, JSON]
) -> None:
    known = signature(grader_class).parameters
    open_ended = any(each.kind is Parameter.VAR_KEYWORD for each in known.values())
    for option in options:
        if option not in known and not open_ended:
            raise ConfigError(_unknown(type_, option, [*known, *_COMMON]))
    for option, parameter in known.items():
        if option not in options and _is_needed(parameter):
            raise ConfigError(f"grader `{type_}` needs `{option}`")


def _is_needed(parameter: Parameter) -> bool:
    spread = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    return parameter.default is Parameter.empty and parameter.kind not in spread


def _unknown(type_: str, option: str, known: list[str]) -> str:
    if option == "value":
        return f"grader `{type_}` takes no argument"
    hint = did_you_mean(option, known) or f"there are {', '.join(known)}"
    return f"grader `{type_}` has no option `{option}`: {hint}"
