"""The JSON Schema (2020-12) of what people write: a suite file, a list of cases, or one case.

Editors complete and underline with it; it says the same as the checks, as far as a schema can.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from evalcase.model.grader_options import DeclaredGrader
from evalcase.resolve.fields import CASE_ALIASES, CASE_CONTAINERS, EXECUTION, SUITE_ALIASES
from evalcase.resolve.schema_parts import execution_rules, parts
from evalcase.resolve.schema_words import (
    Schema,
    absent,
    not_both,
    optional,
    pattern_of,
    present,
    ref,
)
from evalcase.resolve.values import NOT_SKIPPED

Aliases = dict[str, tuple[str, ...]]


def _older_names(aliases: dict[str, str]) -> Aliases:
    """Aliases by what they stand for; the containers of cases have rules of their own."""
    older: Aliases = {}
    for old, primary in aliases.items():
        if primary != "cases":
            older[primary] = (*older.get(primary, ()), old)
    return older


_CASE_ALIASES = _older_names(CASE_ALIASES)
_SUITE_ALIASES = _older_names(SUITE_ALIASES)


def schema(graders: Sequence[DeclaredGrader]) -> dict[str, object]:
    """The schema as plain data, fresh on every call, with these graders and no others."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:evalcase:schema:1",
        "title": "evalcase suite",
        "description": "Eval cases for a language model or an agent: a suite with `cases`, a list "
        "of cases, or one case.",
        "type": ["object", "array"],
        "if": {"type": "array"},
        "then": ref("caseList"),
        "else": {
            "if": {"anyOf": [{"required": [name]} for name in CASE_CONTAINERS]},
            "then": ref("suite"),
            "else": {
                "if": {"anyOf": [{"required": [name]} for name in ("input", "input_messages")]},
                "then": ref("caseFile"),
                # Too little is written to tell which it will be, so editors should offer both.
                "else": {"anyOf": [ref("suite"), ref("caseFile")]},
            },
        },
        "$defs": _definitions(graders),
    }


def _definitions(graders: Sequence[DeclaredGrader]) -> dict[str, Schema]:
    of_case = {**_case_fields()}
    of_suite = {**_suite_fields()}
    older = [*_names_in(_SUITE_ALIASES), *CASE_CONTAINERS[1:]]
    return {
        "suite": {
            **_fields({**of_suite, "cases": ref("caseList")}, older, "suiteRules", "oneContainer"),
            "title": "Suite",
            "description": "A suite: its cases, and what holds for all of them.",
        },
        "sidecar": {
            **_fields(
                {name: ref(f"suite/properties/{name}") for name in of_suite},
                _names_in(_SUITE_ALIASES),
                "suiteRules",
            ),
            "title": "Suite fields of a JSONL file",
            "description": "What holds for all cases of the JSONL file beside it.",
        },
        "suiteRules": _rules(_SUITE_ALIASES, of_suite),
        "oneContainer": {
            "anyOf": [present(name) for name in CASE_CONTAINERS],
            "allOf": [
                {"patternProperties": {pattern_of(CASE_CONTAINERS[1:]): ref("caseList")}},
                *(not_both(*pair) for pair in combinations(CASE_CONTAINERS, 2)),
            ],
        },
        "caseList": {
            "description": "The eval cases. Ids, where given, are unique.",
            "type": ["array", "null"],
            "minItems": 1,
            "items": ref("case"),
        },
        "case": {
            **_fields(of_case, _names_in(_CASE_ALIASES), "caseRules"),
            "title": "Case",
            "description": "One eval case: what the target is given, and what is expected of it.",
        },
        "caseFile": {
            **_fields(
                {
                    "$schema": ref("suite/properties/$schema"),
                    **{name: ref(f"case/properties/{name}") for name in of_case},
                },
                _names_in(_CASE_ALIASES),
                "caseRules",
            ),
            "title": "Case",
            "description": "A file that is one eval case.",
        },
        "caseRules": {
            **_rules(_CASE_ALIASES, of_case),
            "anyOf": [present("input"), present("input_messages")],
        },
        **parts(graders),
    }


def _names_in(aliases: Aliases) -> list[str]:
    return [name for names in aliases.values() for name in names]


def _fields(properties: dict[str, Schema], older: Sequence[str], *rules: str) -> Schema:
    """A mapping with these fields. Older names stand behind patterns: they are read, and explained,
    but no editor offers them."""
    primary = {**SUITE_ALIASES, **CASE_ALIASES}
    known = {"enum": [*older, EXECUTION]}
    return {
        "type": "object",
        "properties": properties,
        "patternProperties": {
            **{pattern_of([name]): _alias(primary[name]) for name in older},
            pattern_of([EXECUTION]): _execution(),
            "^x-": {"description": "Ignored: a place for YAML anchors."},
        },
        "propertyNames": {
            "if": {"anyOf": [known, {"pattern": "^x-"}]},
            "then": True,
            "else": {"enum": list(properties)},
        },
        "allOf": [ref(rule) for rule in rules],
    }


def _rules(aliases: Aliases, fields: dict[str, Schema]) -> Schema:
    """What several fields decide together.

    An alias is checked only when its primary is not there; beside it, it is ignored.
    """
    rules = [not_both("target", "targets"), *execution_rules(_shape_of(fields["target"]))]
    for primary, names in aliases.items():
        in_use: Schema = {"patternProperties": {pattern_of(names): _shape_of(fields[primary])}}
        rules.append({"if": absent(primary), "then": in_use})
        rules += [
            {"if": absent(primary), "then": not_both(*pair)} for pair in combinations(names, 2)
        ]
    return {"allOf": rules}


def _shape_of(field: Schema) -> Schema:
    """What a field may hold, without the words about it, which belong to its own name."""
    return {key: value for key, value in field.items() if key not in ("description", "examples")}


def _alias(primary: str) -> Schema:
    return {"description": f"The old name of `{primary}`, ignored beside it.", "deprecated": True}


def _execution() -> Schema:
    return ref(
        "execution",
        description="An older grouping: write `target` and `graders` instead.",
        deprecated=True,
    )


def _run_fields() -> dict[str, Schema]:
    """The fields that a suite and a case share, where the case's own one wins."""
    return {
        "target": optional(
            "string",
            "What answers the input: a target named in the configuration, or `kind:value`.",
            minLength=1,
            examples=["python:my_agent:answer"],
        ),
        "targets": optional(
            "array",
            "Several targets, each of which gets every input.",
            minItems=1,
            items={
                "type": "string",
                "minLength": 1,
                "description": "A target, written as in `target`.",
            },
        ),
        "threshold": optional(
            "number",
            "The weighted mean of the grades that is enough to pass. Without it every grader must "
            "pass.",
            minimum=0,
            maximum=1,
            examples=[0.8],
        ),
        "repeat": ref("repeat"),
        "timeout_s": optional(
            "number",
            "The time limit of one attempt, in seconds.",
            exclusiveMinimum=0,
            examples=[60],
        ),
        "tags": optional(
            "array",
            "Words to select cases by.",
            items={"type": "string", "description": "One tag."},
            examples=[["smoke"]],
        ),
        "metadata": optional("object", "Anything you like; graders and results get it untouched."),
    }


def _case_fields() -> dict[str, Schema]:
    return {
        "id": optional(
            "string",
            "A name that is unique in the suite. Without it, one is made from the input.",
            minLength=1,
            pattern=r"\S",
        ),
        "input": ref(
            "input",
            description="What the target is given: text, messages, or a mapping of data.",
            examples=["What is 2 + 2?"],
        ),
        "expected_output": ref(
            "expectedOutput",
            description="What is expected: text, a value, or messages with tool calls.",
            examples=["4"],
        ),
        "description": optional("string", "What the case is about, for readers."),
        "skip": {
            "description": "A reason to leave the case out, or `true`.",
            "type": ["boolean", "string", "null"],
            "minLength": 1,
            "if": {"enum": list(NOT_SKIPPED)},
            "then": {"type": ["boolean", "null"]},
        },
        "conversation_id": optional("string", "The conversation that the case is part of."),
        "criteria": optional(
            "string", "What a good answer does, in prose, for a judge.", minLength=1
        ),
        "rubrics": optional(
            "array", "What a judge checks, point by point.", minItems=1, items=ref("rubric")
        ),
        "graders": ref("graders", description="What decides whether the answer is good."),
        "suite_graders": optional(
            "boolean", "Whether the graders of the suite apply too; they do, if it is not said."
        ),
        **_run_fields(),
    }


def _suite_fields() -> dict[str, Schema]:
    return {
        "$schema": optional("string", "Where this schema is found, for editors."),
        "name": optional(
            "string", "The name of the suite. Without it, that of the file.", minLength=1
        ),
        "description": optional("string", "What the suite is about, for readers."),
        "input": ref("input", description="Messages that are put before those of every case."),
        "graders": ref("graders", description="Graders for every case, before its own."),
        **_run_fields(),
    }
