"""The parts of the JSON Schema that fields refer to, but messages and graders: rubrics and repeats,
and the old grouping that is called `execution`."""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.model.grader_options import DeclaredGrader
from evalcase.model.levels import Levels
from evalcase.resolve.fields import CASE_ALIASES
from evalcase.resolve.schema.graders import grader_parts
from evalcase.resolve.schema.messages import message_parts
from evalcase.resolve.schema.words import (
    SuiteSchema,
    absent,
    anything,
    mapping,
    must_pass,
    not_both,
    optional,
    pattern_of,
    present,
    ref,
    weight,
)


def parts(graders: Sequence[DeclaredGrader]) -> dict[str, SuiteSchema]:
    """Everything that the fields of cases and suites refer to, by name."""
    return {
        **message_parts(),
        "rubric": _rubric(),
        **grader_parts(graders),
        "repeat": _repeat(),
        "execution": _execution(),
    }


def execution_rules(target: SuiteSchema) -> list[SuiteSchema]:
    """What `execution` may hold beside the fields that took its place, which win."""
    targets = [absent("target"), absent("targets")]
    inner: SuiteSchema = {"type": "object", **present("evaluators")}
    grouped: SuiteSchema = {
        "required": ["execution"],
        "patternProperties": {pattern_of(["execution"]): inner},
    }
    return [
        {"if": {"allOf": targets}, "then": _in_execution({"target": target})},
        {"if": absent("graders"), "then": _in_execution({"evaluators": ref("graders")})},
        *[
            {
                "if": {"allOf": [absent("graders"), present(older), grouped]},
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


def _execution() -> SuiteSchema:
    # What they hold is checked by `execution_rules`, where it is used at all.
    fields = {
        "target": anything("The target; write `target` instead."),
        "evaluators": anything("The graders; write `graders` instead."),
    }
    return {**mapping(fields), "type": ["object", "null"]}


def _rubric() -> SuiteSchema:
    fields: SuiteSchema = {
        "id": optional("string", "A name for this point in reports.", minLength=1),
        "text": optional("string", "What a good answer does.", pattern=r"\S"),
        "description": optional("string", "Another name for `text`.", pattern=r"\S"),
        "weight": weight(),
        "required": must_pass(),
        "levels": _levels(),
    }
    point = mapping(fields)
    rules = [
        *_rules_of(point),
        {"anyOf": [present("text"), present("description")]},
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


def _levels() -> SuiteSchema:
    """What answers of each level are like, numbered from 0."""
    about = "What an answer of each level is like, from 0 to the best."
    return {**Levels().schema(), "type": ["object", "null"], "description": about}


def _rules_of(schema: SuiteSchema) -> list[object]:
    rules = schema["allOf"]
    assert isinstance(rules, list)
    return rules


def _repeat() -> SuiteSchema:
    fields: SuiteSchema = {
        "times": {
            "type": "integer",
            "minimum": 1,
            "description": "How many trials each case has.",
            "examples": [5],
        },
        "pass_rate": optional(
            "number",
            "The share of trials that must pass; all of them, if it is not said.",
            minimum=0,
            maximum=1,
            examples=[0.8],
        ),
    }
    return {
        "type": ["integer", "object", "null"],
        "minimum": 1,
        "if": {"type": "object"},
        "then": {"title": "Repeat", **mapping(fields), "required": ["times"]},
    }
