"""The part of the JSON Schema that graders are: every kind by its name, with its options.

It is made of what the graders declare. A choice is an `if` with a list of names behind it, because
editors then say which names there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalcase.model.grader_options import DeclaredGrader
from evalcase.model.json_value import JSON
from evalcase.model.option import options_of, properties_of
from evalcase.resolve.schema_words import Schema, mapping, ref


def grader_parts(graders: Sequence[DeclaredGrader]) -> dict[str, Schema]:
    """What `graders` holds, by name: each kind's options, and the spellings that lead to them."""
    return {
        "graders": {"type": ["array", "null"], "items": ref("grader")},
        "grader": {
            "title": "Grader",
            "description": "A name, `{name: argument}`, `{name: {options}}` or `{type: name, …}`.",
            "type": ["string", "object"],
            **_offered(_complete(graders)),
            "if": {"type": "string"},
            "then": _names(_complete(graders), graders),
            "else": {
                "if": {"type": "object", "required": ["type"]},
                "then": ref("typedGrader"),
                "else": ref("namedGrader"),
            },
        },
        "typedGrader": _typed(graders),
        "namedGrader": _named(graders),
        **{_part(each): _options(each) for each in graders},
    }


def _part(grader: DeclaredGrader) -> str:
    return f"grader-{grader.kind.name}"


def _complete(graders: Iterable[DeclaredGrader]) -> list[str]:
    """The names of those that need no option."""
    return [
        each.kind.name
        for each in graders
        if not any(option.needed for option in each.options.values())
    ]


def _names(names: Iterable[str], graders: Sequence[DeclaredGrader]) -> Schema:
    """A text that is one of some names, or a name with what it names behind a colon."""
    schema: Schema = {"enum": list(names)}
    for each in graders:
        if each.in_name is not None:
            inner = str(options_of(each.made_by)[each.in_name].shape.schema()["pattern"])
            pattern = f"^{each.kind.name}:{inner.removeprefix('^')}"
            schema = {"if": _with_colon(each), "then": {"pattern": pattern}, "else": schema}
    return {"type": "string", **schema}


def _offered(names: Iterable[str]) -> Schema:
    """Always true: the names are there so that editors offer them."""
    return {"anyOf": [{"enum": list(names)}, {}]}


def _with_colon(grader: DeclaredGrader) -> Schema:
    return {"pattern": f"^{grader.kind.name}:"}


def _options(grader: DeclaredGrader) -> Schema:
    """The options of a kind as a mapping."""
    properties = properties_of(grader.options, nullable=True)
    needed = [name for name, each in grader.options.items() if each.needed]
    return {"description": grader.kind.about, **mapping(properties), "required": needed}


def _typed(graders: Sequence[DeclaredGrader]) -> Schema:
    names = [each.kind.name for each in graders]
    rules: list[Schema] = []
    for each in graders:
        rules.append({"if": _has_type({"const": each.kind.name}), "then": _beside_type(each)})
        if each.in_name is not None:
            without = _beside_type(each, without=each.in_name)
            rules.append({"if": _has_type(_with_colon(each)), "then": without})
    return {
        "title": "Grader",
        "description": "A grader by its `type`, with its options beside it.",
        "type": "object",
        "required": ["type"],
        "properties": {
            "type": {
                "description": "The name of the grader.",
                **_offered(names),
                **_names(names, graders),
            }
        },
        "allOf": rules,
    }


def _has_type(schema: Schema) -> Schema:
    return {"properties": {"type": schema}}


def _beside_type(grader: DeclaredGrader, without: str | None = None) -> Schema:
    options = {name: each for name, each in grader.options.items() if name != without}
    properties: Schema = {"type": {}, **properties_of(options, nullable=True)}
    needed = [name for name, each in options.items() if each.needed]
    return {**mapping(properties), "required": needed}


def _named(graders: Sequence[DeclaredGrader]) -> Schema:
    names = [each.kind.name for each in graders]
    with_colon: Schema = {
        f"^{each.kind.name}:": {
            "description": each.kind.about,
            **mapping(_without_argument(each)),
            "type": ["object", "null"],
        }
        for each in graders
        if each.in_name is not None
    }
    return {
        "title": "Grader",
        "description": "A grader by its name, with its argument or its options as the value.",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "propertyNames": _names(names, graders),
        "properties": {each.kind.name: _argument_or_options(each) for each in graders},
        "patternProperties": with_colon,
    }


def _without_argument(grader: DeclaredGrader) -> Schema:
    options = {name: each for name, each in grader.options.items() if name != grader.in_name}
    return dict(properties_of(options, nullable=True))


def _argument_or_options(grader: DeclaredGrader) -> Schema:
    argument = _argument(grader)
    about = {"description": grader.kind.about}
    if grader.kind.takes_mapping:
        return {**about, **argument}
    return {**about, "if": {"type": "object"}, "then": ref(_part(grader)), "else": argument}


def _argument(grader: DeclaredGrader) -> Schema:
    """What the argument may be; where other options are needed, it can't stand alone."""
    options = grader.options
    name = grader.kind.argument
    others = [each for each in options.values() if each.needed and each.name != name]
    if others:
        return {"type": "object"}
    if name is None:
        return {"type": ["object", "null"]}
    found: JSON = properties_of({name: options[name]}, nullable=True)[name]
    assert isinstance(found, dict)
    return {key: value for key, value in found.items() if key != "description"}
