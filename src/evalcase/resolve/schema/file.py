"""The JSON Schema (2020-12) of what people write: a suite file, a list of cases, or one case.

Editors complete and underline with it; it says the same as the checks, as far as a schema can.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from evalcase.model.grader_options import DeclaredGrader
from evalcase.model.simulated_user import USER_NEEDS
from evalcase.resolve.fields import CASE_ALIASES, CASE_CONTAINERS, EXECUTION, SUITE_ALIASES
from evalcase.resolve.schema.fields import (
    case_fields,
    suite_fields,
    turn_fields,
    user_fields,
)
from evalcase.resolve.schema.parts import execution_rules, gather_parts
from evalcase.resolve.schema.words import (
    SuiteSchema,
    limit_names,
    match_absent,
    match_present,
    not_both,
    pattern_of,
    refer_to,
    refer_to_field,
)

Aliases = dict[str, tuple[str, ...]]

_INPUTS = ("input", "input_messages")
_ASKING = (*_INPUTS, "turns", "user")
"""One of these a case can't do without."""


def _older_names(aliases: dict[str, str]) -> Aliases:
    """Aliases by what they stand for; the containers of cases have rules of their own."""
    older: Aliases = {}
    for old, primary in aliases.items():
        if primary != "cases":
            older[primary] = (*older.get(primary, ()), old)
    return older


_CASE_ALIASES = _older_names(CASE_ALIASES)
_SUITE_ALIASES = _older_names(SUITE_ALIASES)


def describe_suite(graders: Sequence[DeclaredGrader]) -> SuiteSchema:
    """The schema as plain data, fresh on every call, with these graders and no others."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:evalcase:schema:1",
        "title": "evalcase suite",
        "description": "Eval cases for a language model or an agent: a suite with `cases`, a list "
        "of cases, or one case.",
        "type": ["object", "array"],
        "if": {"type": "array"},
        "then": refer_to("caseList"),
        "else": {"if": {"type": "object"}, "then": _mapping_file()},
        "$defs": _make_definitions(graders),
    }


def describe_sidecar(graders: Sequence[DeclaredGrader]) -> SuiteSchema:
    """That of the file beside a JSONL file, which holds the fields of its suite."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:evalcase:sidecar-schema:1",
        "title": "evalcase suite fields",
        "$ref": "#/$defs/sidecar",
        "$defs": _make_definitions(graders),
    }


def _mapping_file() -> SuiteSchema:
    return {
        "if": _has_any(CASE_CONTAINERS),
        "then": refer_to("suite"),
        "else": {
            "if": _has_any(_INPUTS),
            "then": refer_to("caseFile"),
            # Too little is written to tell which it will be, so editors should offer both.
            "else": {"anyOf": [refer_to("suite"), refer_to("caseFile")]},
        },
    }


def _has_any(names: Sequence[str]) -> SuiteSchema:
    return {"type": "object", "anyOf": [{"required": [name]} for name in names]}


def _make_definitions(graders: Sequence[DeclaredGrader]) -> dict[str, SuiteSchema]:
    of_case, of_suite = case_fields(), suite_fields()
    older_of_suite, older_of_case = _names_in(_SUITE_ALIASES), _names_in(_CASE_ALIASES)
    suite_rules = _make_rules(_SUITE_ALIASES, of_suite)
    case_rules = [*_make_rules(_CASE_ALIASES, of_case), *_make_talk_rules()]
    cases = refer_to("caseList", description="The eval cases. Ids, if given, must be unique.")
    return {
        "suite": {
            "title": "Suite",
            **_describe_fields(
                {**of_suite, "cases": cases},
                [*older_of_suite, *CASE_CONTAINERS[1:]],
                [*suite_rules, *_one_container()],
                CASE_CONTAINERS,
            ),
        },
        "sidecar": {
            "title": "Suite fields of a JSONL file",
            **_describe_fields(_as_in("suite", of_suite), older_of_suite, suite_rules),
        },
        "caseList": {
            "type": ["array", "null"],
            "minItems": 1,
            "items": refer_to("case"),
        },
        "case": {"title": "Case", **_describe_fields(of_case, older_of_case, case_rules, _ASKING)},
        "caseFile": {
            "title": "Case",
            **_describe_fields(
                {"$schema": refer_to_field("suite", "$schema"), **_as_in("case", of_case)},
                older_of_case,
                case_rules,
                _ASKING,
            ),
        },
        "turn": _describe_turn(older_of_case),
        "user": _describe_user(),
        **gather_parts(graders),
    }


def _describe_turn(older: Sequence[str]) -> SuiteSchema:
    """What is said, as text; or a small case."""
    fields = turn_fields()
    return {
        "type": ["string", "object"],
        "if": {"type": "object"},
        "then": {
            "title": "Turn",
            **_describe_fields(
                fields, older, _alias_rules(_CASE_ALIASES, fields), _INPUTS, groups=False
            ),
        },
        "examples": ["And in winter?"],
    }


def _describe_user() -> SuiteSchema:
    """A user whom a target plays, or none."""
    fields = _describe_fields(user_fields(), (), (), USER_NEEDS, groups=False, all_of_them=True)
    return {
        "type": ["object", "null"],
        "if": {"type": "object"},
        "then": {"title": "User", **fields},
    }


def _make_talk_rules() -> list[SuiteSchema]:
    """What a case with turns can't have, and one without them neither."""
    only: SuiteSchema = {
        "if": match_absent("turns"),
        "then": {"properties": {"stop_on_failure": {"type": "null"}}},
    }
    expected = ("expected_output", "expected_messages")
    pairs = [("turns", "user"), *[(talk, name) for talk in ("turns", "user") for name in expected]]
    return [*(not_both(*pair) for pair in pairs), only]


def _names_in(aliases: Aliases) -> list[str]:
    return [name for names in aliases.values() for name in names]


def _as_in(part: str, fields: dict[str, SuiteSchema]) -> dict[str, SuiteSchema]:
    return {name: refer_to_field(part, name) for name in fields}


def _describe_fields(
    properties: dict[str, SuiteSchema],
    older: Sequence[str],
    rules: Sequence[SuiteSchema],
    needed: Sequence[str] = (),
    *,
    groups: bool = True,
    all_of_them: bool = False,
) -> SuiteSchema:
    """A mapping with these fields, one of some needed, or all of them. Older names stand behind
    patterns: they are read, and explained, but no editor offers them; the old grouping where it
    `groups`."""
    primary = {**SUITE_ALIASES, **CASE_ALIASES}
    grouping: dict[str, SuiteSchema] = (
        {pattern_of([EXECUTION]): _refer_to_execution()} if groups else {}
    )
    old = [*older, *[EXECUTION] * groups]
    known: list[SuiteSchema] = [{"enum": old}] if old else []
    names = limit_names(
        {
            "if": {"anyOf": [*known, {"pattern": "^x-"}]},
            "then": True,
            "else": {"enum": list(properties)},
        }
    )
    # A name that is misspelt is not reported as missing, too.
    how = "allOf" if all_of_them else "anyOf"
    some: SuiteSchema = {how: [match_present(name) for name in needed]} if needed else {}
    return {
        "type": "object",
        "properties": properties,
        "patternProperties": {
            **{pattern_of([name]): _describe_alias(primary[name]) for name in older},
            **grouping,
            "^x-": {"description": "Ignored: a place for YAML anchors."},
        },
        "allOf": [{"if": names, "then": some, "else": names}, *rules],
    }


def _make_rules(aliases: Aliases, fields: dict[str, SuiteSchema]) -> list[SuiteSchema]:
    """What several fields decide together.

    An alias is checked only when its primary is not there; beside it, it is ignored.
    """
    return [
        not_both("target", "targets"),
        *execution_rules(_shape_of(fields["target"])),
        *_alias_rules(aliases, fields),
    ]


def _alias_rules(aliases: Aliases, fields: dict[str, SuiteSchema]) -> list[SuiteSchema]:
    rules: list[SuiteSchema] = []
    for primary, names in aliases.items():
        in_use: SuiteSchema = {"patternProperties": {pattern_of(names): _shape_of(fields[primary])}}
        rules.append({"if": match_absent(primary), "then": in_use})
        rules += [
            {"if": match_absent(primary), "then": not_both(*pair)}
            for pair in combinations(names, 2)
        ]
    return rules


def _one_container() -> list[SuiteSchema]:
    return [
        {"patternProperties": {pattern_of(CASE_CONTAINERS[1:]): refer_to("caseList")}},
        *(not_both(*pair) for pair in combinations(CASE_CONTAINERS, 2)),
    ]


def _shape_of(field: SuiteSchema) -> SuiteSchema:
    """What a field may hold, without the words about it, which belong to its own name."""
    return {key: value for key, value in field.items() if key not in ("description", "examples")}


def _describe_alias(primary: str) -> SuiteSchema:
    about = f"The old name of `{primary}`: `evalcase migrate` renames it."
    if primary != "cases":
        about += f" Ignored if `{primary}` is set."
    # Some editors strike out all that is deprecated: a line will do, a list may be the whole file.
    return {"description": about, "if": {"type": "string"}, "then": {"deprecated": True}}


def _refer_to_execution() -> SuiteSchema:
    return refer_to(
        "execution", description="An older grouping: write `target` and `graders` instead."
    )
