"""The parts of the JSON Schema that fields refer to, but messages and graders: rubrics and repeats,
and the old grouping that is called `execution`."""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.model.defaults import MOST_REPEATS
from evalcase.model.grader_options import DeclaredGrader
from evalcase.model.levels import Levels
from evalcase.resolve.fields import CASE_ALIASES
from evalcase.resolve.schema.graders import grader_parts
from evalcase.resolve.schema.messages import message_parts
from evalcase.resolve.schema.words import (
    SuiteSchema,
    describe_anything,
    describe_mapping,
    describe_must_pass,
    describe_optional,
    describe_weight,
    match_absent,
    match_present,
    not_both,
    pattern_of,
    refer_to,
)


def gather_parts(graders: Sequence[DeclaredGrader]) -> dict[str, SuiteSchema]:
    """Everything that the fields of cases and suites refer to, by name."""
    return {
        **message_parts(),
        "rubric": _describe_rubric(),
        **grader_parts(graders),
        "repeat": _describe_repeat(),
        "execution": _describe_execution(),
    }


def execution_rules(target: SuiteSchema) -> list[SuiteSchema]:
    """What `execution` may hold beside the fields that took its place, which win."""
    targets = [match_absent("target"), match_absent("targets")]
    inner: SuiteSchema = {"type": "object", **match_present("evaluators")}
    grouped: SuiteSchema = {
        "required": ["execution"],
        "patternProperties": {pattern_of(["execution"]): inner},
    }
    return [
        {"if": {"allOf": targets}, "then": _in_execution({"target": target})},
        {"if": match_absent("graders"), "then": _in_execution({"evaluators": refer_to("graders")})},
        *[
            {
                "if": {"allOf": [match_absent("graders"), match_present(older), grouped]},
                "then": {"properties": {older: False}},
            }
            for older, primary in CASE_ALIASES.items()
            if primary == "graders"
        ],
    ]


def _in_execution(properties: SuiteSchema) -> SuiteSchema:
    """Where `execution` is no mapping, its own schema says so."""
    patterns = {pattern_of([name]): schema for name, schema in properties.items()}
    inner: SuiteSchema = {
        "if": {"type": "object"},
        "then": {"type": "object", "patternProperties": patterns},
    }
    return {"patternProperties": {pattern_of(["execution"]): inner}}


def _describe_execution() -> SuiteSchema:
    # What they hold is checked by `execution_rules`, where it is used at all.
    fields = {
        "target": describe_anything("The target; write `target` instead."),
        "evaluators": describe_anything("The graders; write `graders` instead."),
    }
    return {**describe_mapping(fields), "type": ["object", "null"]}


def _describe_rubric() -> SuiteSchema:
    fields: SuiteSchema = {
        "id": describe_optional("string", "A name for this point in reports.", minLength=1),
        "text": describe_optional("string", "What a good answer does.", pattern=r"\S"),
        "description": describe_optional("string", "Another name for `text`.", pattern=r"\S"),
        "weight": describe_weight(),
        "required": describe_must_pass(),
        "levels": _describe_levels(),
    }
    point = describe_mapping(fields)
    rules = [
        *_rules_of(point),
        {"anyOf": [match_present("text"), match_present("description")]},
        not_both("text", "description"),
    ]
    return {
        "title": "Rubric",
        "type": ["string", "object"],
        "pattern": r"\S",
        "if": {"type": "object"},
        "then": {**point, "allOf": rules},
        "examples": ["Names the capital"],
    }


def _describe_levels() -> SuiteSchema:
    """What answers of each level are like, numbered from 0."""
    about = "What an answer of each level is like, from 0 to the best."
    return {**Levels().schema(), "type": ["object", "null"], "description": about}


def _rules_of(schema: SuiteSchema) -> list[object]:
    rules = schema["allOf"]
    assert isinstance(rules, list)
    return rules


def _describe_repeat() -> SuiteSchema:
    fields: SuiteSchema = {
        "times": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_REPEATS,
            "description": "How many trials each case has.",
            "examples": [5],
        },
        "pass_rate": describe_optional(
            "number",
            "The share of trials that must pass; by default, all of them.",
            minimum=0,
            maximum=1,
            examples=[0.8],
        ),
    }
    return {
        "type": ["integer", "object", "null"],
        "minimum": 1,
        "maximum": MOST_REPEATS,
        "if": {"type": "object"},
        "then": {"title": "Repeat", **describe_mapping(fields), "required": ["times"]},
    }
