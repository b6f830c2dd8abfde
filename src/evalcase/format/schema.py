"""The JSON Schema of eval files, for editors: made from the declarations of fields and options.

This module adds what declarations don't say: short forms, older names, and fields that exclude or
need each other. Older names and those of other tools are accepted here; `check` reads them closely.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from msgspec import Struct

from evalcase.format.fields import (
    CASE,
    CASE_CONTAINERS,
    EXCLUSIVE,
    EXECUTION,
    SUITE,
    TURN,
    Vocabulary,
    WrittenCase,
    WrittenRubric,
    WrittenSuite,
    WrittenTurn,
    all_names,
)
from evalcase.format.graders import SPELLINGS
from evalcase.graders.base import SHARED, DeclaredGrader
from evalcase.types.message import ROLES
from evalcase.types.read_options import (
    ANYTHING,
    Schema,
    describe_value,
    fields_of,
    properties_of,
    schema_of,
)

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_INPUTS = all_names("input")
_ASKING = (*_INPUTS, "turns", "user")
"""One of these a case can't do without."""


def describe_suite(graders: Sequence[DeclaredGrader]) -> Schema:
    """The schema as plain data, fresh on every call, with these graders and no others."""
    return {
        "$schema": _DIALECT,
        "$id": "urn:evalcase:schema:1",
        "title": "evalcase suite",
        "description": "Eval cases for a language model or an agent: a suite with `cases`, a list "
        "of cases, or one case.",
        "type": ["object", "array"],
        "if": {"type": "array"},
        "then": refer_to("caseList"),
        "else": {
            "if": {"type": "object"},
            "then": {
                "if": _has_any(CASE_CONTAINERS),
                "then": refer_to("suite"),
                "else": {
                    "if": _has_any(_INPUTS),
                    "then": refer_to("caseFile"),
                    # Too little is written to tell which it will be, so editors offer both.
                    "else": {"anyOf": [refer_to("suite"), refer_to("caseFile")]},
                },
            },
        },
        "$defs": _make_definitions(graders),
    }


def describe_sidecar(graders: Sequence[DeclaredGrader]) -> Schema:
    """The schema of the file beside a JSONL file, which holds the fields of its suite."""
    return {
        "$schema": _DIALECT,
        "$id": "urn:evalcase:sidecar-schema:1",
        "title": "evalcase suite fields",
        "$ref": "#/$defs/sidecar",
        "$defs": _make_definitions(graders),
    }


def _has_any(names: Sequence[str]) -> Schema:
    return {"type": "object", "anyOf": [{"required": [name]} for name in names]}


def _make_definitions(graders: Sequence[DeclaredGrader]) -> Schema:
    case, suite = describe_fields(WrittenCase), describe_fields(WrittenSuite)
    case["user"]["patternProperties"] = {"^x-": {}}
    cases = refer_to("caseList", description="The eval cases. Ids, if given, must be unique.")
    case_of_file = {name: refer_to_field("case", name) for name in case}
    suite_of_file = {name: refer_to_field("suite", name) for name in suite}
    exclusive = [
        not_both(first, name) for first, second, _ in EXCLUSIVE for name in all_names(second)
    ]
    one_list = [not_both(*pair) for pair in combinations(CASE_CONTAINERS, 2)]
    case_rules = [
        *exclusive,
        {
            "if": {"not": match_present("turns")},
            "then": {"properties": {"stop_on_failure": {"type": "null"}}},
        },
    ]
    rubric = describe_mapping(
        describe_fields(WrittenRubric),
        [_one_of(("text", "description")), not_both("text", "description")],
    )
    return {
        "suite": _describe_named(
            "Suite", {**suite, "cases": cases}, SUITE, _one_of(CASE_CONTAINERS),
            [exclusive[0], *one_list],
        ),
        "sidecar": _describe_named(
            "Suite fields of a JSONL file", suite_of_file, SUITE, {}, exclusive[:1]
        ),
        "caseList": {"type": ["array", "null"], "minItems": 1, "items": refer_to("case")},
        "case": _describe_named("Case", case, CASE, _one_of(_ASKING), case_rules),
        "caseFile": _describe_named(
            "Case", {"$schema": refer_to_field("suite", "$schema"), **case_of_file}, CASE,
            _one_of(_ASKING), case_rules,
        ),
        "turn": {
            "type": ["string", "object"],
            "if": {"type": "object"},
            "then": _describe_named("Turn", describe_fields(WrittenTurn), TURN, _one_of(_INPUTS)),
            "examples": ["And in winter?"],
        },
        "rubric": {
            "title": "Rubric",
            "type": ["string", "object"],
            "pattern": r"\S",
            "if": {"type": "object"},
            "then": rubric,
            "examples": ["Names the capital"],
        },
        **_message_parts(),
        **_grader_parts(graders),
    }  # fmt: skip


def describe_fields(declared: type[Struct]) -> Schema:
    """The fields that a mapping declares; null says nothing, but for those that it requires."""
    return properties_of(fields_of(declared), nullable=True)


def _one_of(names: Sequence[str]) -> Schema:
    return {"anyOf": [match_present(name) for name in names]}


def _describe_named(
    title: str, properties: Schema, names: Vocabulary, needs: Schema, rules: Sequence[Schema] = ()
) -> Schema:
    """A mapping with these fields, which needs some of them. Older names stand behind patterns:
    they are read, and explained, but no editor offers them."""
    older: Schema = {}
    as_new: list[Schema] = []
    for name, primary in names.aliases.items():
        if primary not in properties:
            continue
        about = f"The old name of `{primary}`: `evalcase migrate` renames it."
        older[name] = {"description": about}
        # It holds what its field does. The words about the field belong to its own name.
        shape = {
            key: value
            for key, value in properties[primary].items()
            if key not in ("description", "examples")
        }
        as_new.append({
            "if": {"not": match_present(primary)},
            "then": {"patternProperties": {pattern_of([name]): shape}},
        })  # fmt: skip
    if names.has_execution:
        older[EXECUTION] = {
            "description": "An older grouping: write `target` and `graders` instead.",
            "type": ["object", "null"],
        }
    known = limit_names({
        "if": {"anyOf": [{"pattern": pattern_of(older)}, {"pattern": "^x-"}]},
        "then": True,
        "else": {"enum": list(properties)},
    })  # fmt: skip
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "patternProperties": {
            **{pattern_of([name]): each for name, each in older.items()},
            "^x-": {"description": "Ignored: a place for YAML anchors."},
        },
        # A name that is misspelt is not reported as missing, too.
        "allOf": [{"if": known, "then": needs, "else": known}, *as_new, *rules],
    }


def _message_parts() -> Schema:
    """What `input` and `expected_output` refer to, by name."""
    messages = {"type": "array", "items": refer_to("message", title="Message")}
    if_one = {"if": refer_to("looksLikeMessage"), "then": refer_to("message")}
    has_content = [{"required": ["content"]}, match_present("tool_calls")]
    tool_name = {"type": "string", "minLength": 1}
    function = {"type": "object", "required": ["name"], "properties": {"name": tool_name}}
    part = {
        "type": describe_anything(
            "What kind of piece it is; any other word is kept as it is.",
            examples=["text", "file", "image"],
        ),
        "text": describe_anything("The text of a `text` part."),
        "path": describe_anything("The file of a `file` or `image` part, relative to this file."),
        "value": describe_anything("Another name for `text` or `path`."),
    }
    role = describe_anything("Who speaks.", examples=list(ROLES))
    return {
        "input": {
            "type": ["string", "object", "array", "null"],
            "allOf": [
                {"if": {"type": "array"}, "then": {**messages, "minItems": 1}},
                if_one,
                refer_to("begunMessage"),
            ],
        },
        "expectedOutput": {
            "allOf": [
                {
                    "if": {"type": "array"},
                    "then": {"type": "array", "minItems": 1, "items": refer_to("begunMessage")},
                },
                {
                    "if": {"type": "array", "contains": refer_to("looksLikeMessage")},
                    "then": messages,
                },
                if_one,
                refer_to("begunMessage"),
            ],
        },
        "looksLikeMessage": {
            "type": "object",
            "required": ["role"],
            "anyOf": [*has_content, {"properties": {"role": {"enum": list(ROLES)}}}],
        },
        # Always true: what may become data or a message is offered the role, which decides it.
        "begunMessage": {
            "if": refer_to("looksLikeMessage"),
            "then": True,
            "else": {
                "if": {"type": "object", "maxProperties": 1},
                "then": {"type": "object", "properties": {"role": role}},
            },
        },
        "message": {
            "type": "object",
            "required": ["role"],
            "properties": {
                "role": {"description": "Who speaks.", "enum": list(ROLES)},
                "content": {
                    **describe_anything("Text, a list of parts, or any other value."),
                    "if": {"type": "array"},
                    "then": {"type": "array", "items": refer_to("part", title="Content part")},
                },
                "tool_calls": {
                    "type": ["array", "null"],
                    "description": "The tools that this message calls, in order.",
                    "minItems": 1,
                    "items": refer_to("toolCall", title="Tool call"),
                },
                "name": describe_anything("The name of the speaker or of the tool."),
                "tool_call_id": describe_anything("The id of the call that this message answers."),
            },
            "anyOf": has_content,
        },
        "part": {"if": {"type": "object"}, "then": {"type": "object", "properties": part}},
        "toolCall": {
            "type": "object",
            "properties": {
                "tool": describe_anything("The name of the tool."),
                "input": describe_anything("The input of the tool."),
                "output": describe_anything("The output of the tool."),
                "id": describe_anything("The id of the call."),
                "function": describe_anything("The OpenAI shape: `{name, arguments}`."),
            },
            "if": {"required": ["tool"]},
            "then": {"properties": {"tool": tool_name}},
            "else": {"required": ["function"], "properties": {"function": function}},
        },
    }


def _grader_parts(graders: Sequence[DeclaredGrader]) -> Schema:
    """A grader is a name, `{name: argument}`, `{name: {options}}` or `{type: name, …}`."""
    known = {each.kind.name for each in graders}
    others: dict[str, list[str]] = {}
    for name, spelling in SPELLINGS.items():
        if name not in known and spelling.name in known:
            others.setdefault(spelling.told(), []).append(name)
    foreign: Schema = {
        pattern_of(names): {
            "description": f"Another tool's name: here it is {ours}. `evalcase migrate` renames it."
        }
        for ours, names in others.items()
    }
    with_colon = [_colon_pattern(each) for each in graders if each.in_name is not None]
    incomplete = pattern_of([each.kind.name for each in graders if _needed(each)])
    shared = properties_of(SHARED, nullable=True)
    return {
        "graders": {"type": ["array", "null"], "items": refer_to("grader")},
        "grader": {
            "title": "Grader",
            "type": ["string", "object"],
            "allOf": [
                {"if": {"type": "string"}, "then": refer_to("graderName")},
                {
                    "if": {"type": "object"},
                    "then": {
                        "if": {"type": "object", "required": ["type"]},
                        "then": refer_to("typedGrader"),
                        "else": refer_to("namedGrader"),
                    },
                },
                # Editors show the title as what they expect in place of the name alone.
                {
                    "if": {"type": "string", "pattern": incomplete},
                    "then": {"type": "object", "title": "{name: argument}"},
                },
            ],
        },
        "graderName": {
            "type": "string",
            "anyOf": [
                *[
                    {"const": each.kind.name, "description": each.kind.description}
                    for each in graders
                ],
                *[{"pattern": pattern} for pattern in with_colon],
                *[
                    {"pattern": names, **each, "deprecated": True}
                    for names, each in foreign.items()
                ],
            ],
        },
        "typedGrader": _describe_typed(graders),
        "namedGrader": _describe_by_name(graders, foreign),
        "graderOptions": {"properties": shared},
        **{f"grader-{each.kind.name}": _describe_options(each, shared) for each in graders},
    }


def _needed(grader: DeclaredGrader) -> list[str]:
    return [name for name, each in grader.options.items() if each.needed]


def _colon_pattern(grader: DeclaredGrader) -> str:
    """The name with its argument, as in `python:module:function`."""
    argument = str(schema_of(grader.options[grader.in_name or ""])["pattern"])
    return f"^{escape_name(grader.kind.name)}:{argument.removeprefix('^')}"


def _describe_options(grader: DeclaredGrader, shared: Schema) -> Schema:
    properties = {
        name: refer_to_field("graderOptions", name) if each == shared.get(name) else each
        for name, each in properties_of(grader.options, nullable=True).items()
    }
    title = grader.kind.name
    return {"title": title, **describe_mapping(properties), "required": _needed(grader)}


def _refer_to_options(grader: DeclaredGrader, without: str | None = None) -> Schema:
    part = f"grader-{grader.kind.name}"
    return {name: refer_to_field(part, name) for name in grader.options if name != without}


def _describe_typed(graders: Sequence[DeclaredGrader]) -> Schema:
    """A grader by its `type`, with its options beside it."""
    rules: list[Schema] = []
    for each in graders:
        # No `const`: while somebody types, editors take `json` for the beginning of others.
        patterns: dict[str, str | None] = {pattern_of([each.kind.name]): None}
        if each.in_name is not None:
            patterns[_colon_pattern(each)] = each.in_name
        for pattern, without in patterns.items():
            about = {"description": each.kind.description}
            options = describe_mapping({"type": about, **_refer_to_options(each, without)})
            needed = [name for name in _needed(each) if name != without]
            rules.append({
                "if": {"properties": {"type": {"type": "string", "pattern": pattern}}},
                "then": {"title": each.kind.name, **options, "required": needed},
            })  # fmt: skip
    return {
        "type": "object",
        "required": ["type"],
        "properties": {"type": refer_to("graderName")},
        "allOf": rules,
    }


def _describe_by_name(graders: Sequence[DeclaredGrader], foreign: Schema) -> Schema:
    """A grader by its name, with its argument or its options as the value."""
    with_colon: Schema = {}
    for each in graders:
        if each.in_name is not None:
            options = describe_mapping(_refer_to_options(each, without=each.in_name))
            about = {"description": each.kind.description}
            with_colon[_colon_pattern(each)] = {**about, **options, "type": ["object", "null"]}
    names: Schema = {
        "type": "string",
        "if": {"anyOf": [{"pattern": each} for each in (*with_colon, *foreign)]},
        "then": True,
        "else": {"enum": [each.kind.name for each in graders]},
    }
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "properties": {
            **{each.kind.name: _argument_or_options(each) for each in graders},
            # It is only offered: where `type` is given, this part doesn't apply.
            "type": describe_anything("The name of the grader, with its options beside it."),
        },
        "patternProperties": {**with_colon, **foreign},
        "allOf": [limit_names(names)],
    }


def _argument_or_options(grader: DeclaredGrader) -> Schema:
    kind = grader.kind
    about: Schema = {"description": kind.description}
    if any(each != kind.argument for each in _needed(grader)):
        return refer_to(f"grader-{grader.kind.name}", **about)  # the argument can't stand alone
    either = {"if": {"type": "object"}, "then": refer_to(f"grader-{grader.kind.name}")}
    if kind.argument is None:
        # Without a type, editors insert the name alone.
        more: Schema = {"type": "object", "title": f"options of {kind.name}"}
        return {**about, **either, "else": {"if": {"type": "null"}, "then": True, "else": more}}
    option = grader.options[kind.argument]
    argument = describe_value(option, not option.needed)
    del argument["description"]  # that of the grader says more
    if grader.takes_mapping:
        return {**about, **argument}
    kinds = argument.pop("type", None)
    if kinds is None:
        return {**describe_anything(kind.description), **either, "else": argument}
    kinds = [*(kinds if isinstance(kinds, list) else [kinds]), "object"]
    if kinds[0] != "array" and "examples" in argument:
        # Editors insert one with the name; a list they would put at the wrong margin.
        about["examples"] = argument.pop("examples")
    return {**about, "type": kinds, **either, "else": argument}


# The parts of every schema.


def describe_anything(description: str, **more: Any) -> Schema:
    return {"description": description, "anyOf": list(ANYTHING), **more}


def refer_to_field(part: str, field: str) -> Schema:
    """A reference to what a part says of a field."""
    return refer_to(f"{part}/properties/{field}")


def refer_to(part: str, **more: Any) -> Schema:
    """A reference to a named part; only annotations may stand beside it."""
    return {"$ref": f"#/$defs/{part}", **more}


def match_present(name: str) -> Schema:
    """Matches a mapping that has the field; null counts as absent."""
    return {
        "required": [name],
        "patternProperties": {pattern_of([name]): {"not": {"type": "null"}}},
    }


def not_both(first: str, second: str) -> Schema:
    """Where both are there, the second is not allowed: it is what gets underlined."""
    both: Schema = {"allOf": [match_present(first), match_present(second)]}
    return {"if": both, "then": {"properties": {second: False}}}


def pattern_of(names: Iterable[str]) -> str:
    """Matches exactly these names. Editors don't offer what stands behind a pattern."""
    return f"^(?:{'|'.join(map(escape_name, names))})$"


def escape_name(name: str) -> str:
    """A name in a pattern, by the rules of JavaScript, which allow no needless backslash."""
    return re.sub(r"[\\^$.*+?()[\]{}|/]", r"\\\g<0>", name)


def describe_mapping(properties: Schema, rules: Sequence[Schema] = ()) -> Schema:
    """A mapping with these fields and no others, which follows some rules."""
    return {
        "type": "object",
        "properties": properties,
        "allOf": [limit_names({"enum": list(properties)}), *rules],
    }


def limit_names(names: Schema) -> Schema:
    """What the names of fields have to match; editors count the `<<` of YAML among them.

    It stands in an `allOf`: beside `type: object`, editors would offer the names a second time.
    """
    return {"propertyNames": {"if": {"const": "<<"}, "then": True, "else": names}}
