"""How a grader is written: the shortest of its spellings that says all there is to say."""

from __future__ import annotations

from collections.abc import Mapping

from evalcase.types.value import JSON

_TAKES_MAPPINGS = frozenset({"equals", "json_schema", "json_equals", "fields"})
NO_ARGUMENT = object()
"""For a grader without an argument: null is one."""


def write_grader(name: str, value: object = NO_ARGUMENT, /, **options: JSON) -> JSON:
    """A grader with an argument, or with options, or with both."""
    given = {key: option for key, option in options.items() if option is not None}
    if value is NO_ARGUMENT:
        return {name: {**given}} if given else name
    argument: JSON = value  # type: ignore[assignment]
    if not given:
        is_read_as_options = isinstance(argument, dict) and name not in _TAKES_MAPPINGS
        return {"type": name, "value": argument} if is_read_as_options else {name: argument}
    if name in _TAKES_MAPPINGS:
        return {"type": name, "value": argument, **given}
    return {name: {"value": argument, **given}}


def add_options(grader: JSON, options: Mapping[str, JSON]) -> JSON:
    """The same grader with more options."""
    if not options:
        return grader
    if isinstance(grader, str):
        return {grader: {**options}}
    assert isinstance(grader, dict)
    if "type" in grader:
        return {**grader, **options}
    ((name, held),) = grader.items()
    if isinstance(held, dict) and name not in _TAKES_MAPPINGS:
        return {name: {**held, **options}}
    return write_grader(name, held, **options)


def write_not(grader: JSON) -> JSON:
    """The same grader, with passed and failed in each other's places."""
    if isinstance(grader, str):
        return {"type": grader, "not": True}
    assert isinstance(grader, dict)
    if "type" in grader:
        return {**grader, "not": True}
    ((name, held),) = grader.items()
    if isinstance(held, dict) and name not in _TAKES_MAPPINGS:
        return {name: {**held, "not": True}}
    return write_grader(name, held, **{"not": True})
