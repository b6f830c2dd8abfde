"""The part of the JSON Schema that graders are: every kind by its name, with its options.

It is made of what the graders declare. A choice is an `if` with a list of names behind it, because
editors then say which names there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.model.grader_options import SHARED, DeclaredGrader
from evalcase.model.json_value import JSON
from evalcase.model.option import options_of, properties_of
from evalcase.resolve.schema.grader_aliases import (
    GraderAlias,
    alias_parts,
    aliases_of,
    any_alias,
    named_alias,
    part_of,
    typed_alias,
)
from evalcase.resolve.schema.words import (
    SuiteSchema,
    describe_anything,
    describe_mapping,
    escape_name,
    limit_names,
    pattern_of,
    refer_to,
    refer_to_field,
)


def grader_parts(graders: Sequence[DeclaredGrader]) -> dict[str, SuiteSchema]:
    """What `graders` holds, by name: each kind's options, and the spellings that lead to them."""
    aliases = aliases_of(graders)
    return {
        "graders": {"type": ["array", "null"], "items": refer_to("grader")},
        "grader": _describe_grader(graders, aliases),
        "graderName": _describe_name(graders, aliases),
        "typedGrader": _describe_typed(graders, aliases),
        "namedGrader": _describe_named(graders, aliases),
        _SHARED: {"properties": properties_of(SHARED, nullable=True)},
        **{part_of(each): _describe_options(each) for each in graders},
        **alias_parts(aliases),
    }


_SHARED = "graderOptions"
"""What every kind can be told, which is said once."""


def _describe_grader(
    graders: Sequence[DeclaredGrader], aliases: Sequence[GraderAlias]
) -> SuiteSchema:
    """A name, `{name: argument}`, `{name: {options}}` or `{type: name, …}`."""
    by_type: SuiteSchema = {"type": "object", "required": ["type"]}
    spelled: SuiteSchema = {
        "if": by_type,
        "then": refer_to("typedGrader"),
        "else": refer_to("namedGrader"),
    }
    rules: list[SuiteSchema] = [
        {"if": {"type": "string"}, "then": refer_to("graderName")},
        {"if": {"type": "object"}, "then": spelled},
    ]
    incomplete = [each.kind.name for each in graders if _list_needed(each)]
    incomplete += [name for each in aliases if _list_needed(each.grader) for name in each.names]
    if incomplete:
        # Its title is what editors say is expected in the place of the name alone.
        more: SuiteSchema = {"type": "object", "title": "{name: argument}"}
        alone: SuiteSchema = {"type": "string", "pattern": pattern_of(incomplete)}
        rules.append({"if": alone, "then": more})
    return {"title": "Grader", "type": ["string", "object"], "allOf": rules}


def _list_needed(grader: DeclaredGrader) -> list[str]:
    return [name for name, each in grader.options.items() if each.needed]


def _describe_name(
    graders: Sequence[DeclaredGrader], aliases: Sequence[GraderAlias]
) -> SuiteSchema:
    """The name of a grader with the sentence about it, or with what it names behind a colon."""
    names: list[SuiteSchema] = [
        {"const": each.kind.name, "description": each.kind.about} for each in graders
    ]
    longer = [each for each in graders if each.in_name is not None]
    older = [
        {"pattern": each.pattern, "description": each.about, "deprecated": True} for each in aliases
    ]
    return {
        "type": "string",
        "anyOf": [*names, *map(_with_colon, longer), *older],
        "allOf": [{"if": _with_colon(each), "then": _match_whole_name(each)} for each in longer],
    }


def _with_colon(grader: DeclaredGrader) -> SuiteSchema:
    return {"type": "string", "pattern": f"^{escape_name(grader.kind.name)}:"}


def _match_whole_name(grader: DeclaredGrader) -> SuiteSchema:
    """What it names behind a colon, as its option declares it."""
    assert grader.in_name is not None
    pattern = str(options_of(grader.made_by)[grader.in_name].shape.schema()["pattern"])
    return {"pattern": f"^{escape_name(grader.kind.name)}:{pattern.removeprefix('^')}"}


def _describe_options(grader: DeclaredGrader) -> SuiteSchema:
    """The options of a kind as a mapping."""
    own = properties_of(grader.options, nullable=True)
    shared = properties_of(SHARED, nullable=True)
    properties = {
        name: refer_to_field(_SHARED, name) if each == shared.get(name) else each
        for name, each in own.items()
    }
    return {
        "title": grader.kind.name,
        **describe_mapping(properties),
        "required": _list_needed(grader),
    }


def _refer_to_options(grader: DeclaredGrader, without: str | None = None) -> SuiteSchema:
    """The options of a kind where they stand beside something else."""
    return {
        name: refer_to_field(part_of(grader), name) for name in grader.options if name != without
    }


def _describe_typed(
    graders: Sequence[DeclaredGrader], aliases: Sequence[GraderAlias]
) -> SuiteSchema:
    """A grader by its `type`, with its options beside it."""
    rules: list[SuiteSchema] = []
    for each in graders:
        # No `const`: while somebody types, editors take `json` for the beginning of others.
        names = [each.kind.name]
        for alias in aliases:
            names += alias.names if alias.has_our_options and alias.grader is each else ()
        exactly: SuiteSchema = {"type": "string", "pattern": pattern_of(names)}
        rules.append({"if": _has_type(exactly), "then": _beside_type(each)})
        if each.in_name is not None:
            without = _beside_type(each, without=each.in_name)
            rules.append({"if": _has_type(_with_colon(each)), "then": without})
    for alias in aliases:
        another: SuiteSchema = {"type": "string", "pattern": alias.pattern}
        rules.append({"if": _has_type(another), "then": typed_alias(alias)})
    return {
        "type": "object",
        "required": ["type"],
        "properties": {"type": refer_to("graderName")},
        "allOf": rules,
    }


def _has_type(schema: SuiteSchema) -> SuiteSchema:
    return {"properties": {"type": schema}}


def _beside_type(grader: DeclaredGrader, without: str | None = None) -> SuiteSchema:
    properties: SuiteSchema = {
        "type": {"description": grader.kind.about},
        **_refer_to_options(grader, without),
    }
    needed = [name for name in _list_needed(grader) if name != without]
    return {"title": grader.kind.name, **describe_mapping(properties), "required": needed}


def _describe_named(
    graders: Sequence[DeclaredGrader], aliases: Sequence[GraderAlias]
) -> SuiteSchema:
    """A grader by its name, with its argument or its options as the value."""
    longer = [each for each in graders if each.in_name is not None]
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "properties": {
            **{each.kind.name: _argument_or_options(each) for each in graders},
            # Where it is there, this part doesn't hold: it is only offered.
            "type": describe_anything("The name of the grader, with its options beside it."),
        },
        "patternProperties": {
            **{str(_with_colon(each)["pattern"]): _beside_name(each) for each in longer},
            **{each.pattern: named_alias(each, _argument_of(each)) for each in aliases},
        },
        "allOf": [limit_names(_describe_key(graders, longer, aliases))],
    }


def _argument_of(alias: GraderAlias) -> SuiteSchema:
    name = alias.argument
    return {"type": "null"} if name is None else _describe_argument(alias.grader, name)


def _describe_key(
    graders: Sequence[DeclaredGrader],
    longer: Sequence[DeclaredGrader],
    aliases: Sequence[GraderAlias],
) -> SuiteSchema:
    names: SuiteSchema = {"enum": [each.kind.name for each in graders]}
    if aliases:
        names = {"if": any_alias(aliases), "then": True, "else": names}
    for each in longer:
        names = {"if": _with_colon(each), "then": _match_whole_name(each), "else": names}
    return {"type": "string", **names}


def _beside_name(grader: DeclaredGrader) -> SuiteSchema:
    """The options that are left where the argument stands in the name."""
    fields = describe_mapping(_refer_to_options(grader, without=grader.in_name))
    return {"description": grader.kind.about, **fields, "type": ["object", "null"]}


def _argument_or_options(grader: DeclaredGrader) -> SuiteSchema:
    about: SuiteSchema = {"description": grader.kind.about}
    name = grader.kind.argument
    if any(each != name for each in _list_needed(grader)):
        # The argument can't stand alone.
        return refer_to(part_of(grader), **about)
    if name is None:
        # Without a type, editors insert the name alone.
        more: SuiteSchema = {"type": "object", "title": f"options of {grader.kind.name}"}
        nothing: SuiteSchema = {"if": {"type": "null"}, "then": True, "else": more}
        return {**about, **_or_options(grader, nothing)}
    argument = _describe_argument(grader, name)
    if grader.kind.takes_mapping:
        return {**about, **argument}
    kinds = argument.pop("type", None)
    if kinds is None:
        return {**describe_anything(grader.kind.about), **_or_options(grader, argument)}
    either = [*(kinds if isinstance(kinds, list) else [kinds]), "object"]
    if either[0] != "array" and "examples" in argument:
        # Editors insert one with the name; a list they would put at the wrong margin.
        about["examples"] = argument.pop("examples")
    return {**about, "type": either, **_or_options(grader, argument)}


def _or_options(grader: DeclaredGrader, argument: SuiteSchema) -> SuiteSchema:
    return {"if": {"type": "object"}, "then": refer_to(part_of(grader)), "else": argument}


def _describe_argument(grader: DeclaredGrader, name: str) -> SuiteSchema:
    found: JSON = properties_of({name: grader.options[name]}, nullable=True)[name]
    assert isinstance(found, dict)
    argument: SuiteSchema = {key: value for key, value in found.items() if key != "description"}
    return argument or describe_anything(grader.kind.about)
