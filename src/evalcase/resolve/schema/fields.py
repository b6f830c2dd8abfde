"""The fields of cases and suites in the JSON Schema: what each may hold, with a sentence."""

from __future__ import annotations

from evalcase.resolve.schema.variables import variable_fields
from evalcase.resolve.schema.words import SuiteSchema, describe_optional, refer_to
from evalcase.resolve.values import NOT_SKIPPED


def case_fields() -> dict[str, SuiteSchema]:
    return {
        "id": describe_optional(
            "string",
            "A name that is unique in the suite; by default, one is made from the input.",
            minLength=1,
            pattern=r"\S",
        ),
        "input": refer_to(
            "input",
            description="What the target is given: text, messages, or a mapping of data.",
            examples=["What is 2 + 2?"],
        ),
        "expected_output": refer_to(
            "expectedOutput",
            description="What is expected: text, a value, or messages with tool calls.",
            examples=["The answer is 4"],
        ),
        "turns": describe_optional(
            "array",
            "A conversation: what is said in each turn, after the `input`, and what is expected.",
            minItems=1,
            items=refer_to("turn"),
        ),
        "stop_on_failure": describe_optional(
            "boolean", "Whether to skip the turns after one that failed."
        ),
        "user": refer_to(
            "user", description="A conversation in which another target plays the user."
        ),
        "description": describe_optional("string", "What the case is about, for readers."),
        "skip": {
            "description": "A reason to leave the case out, or `true`.",
            "type": ["boolean", "string", "null"],
            "minLength": 1,
            "if": {"enum": list(NOT_SKIPPED)},
            "then": {"type": ["boolean", "null"]},
        },
        "conversation_id": describe_optional(
            "string", "The conversation that the case is part of."
        ),
        **_graded_by(),
        "suite_graders": describe_optional(
            "boolean", "Whether the graders of the suite apply too; by default, they do."
        ),
        **_run_fields(),
        **variable_fields(),
        "rendered": describe_optional(
            "boolean",
            "Whether variables are already replaced by their values, as `evalcase show` prints it.",
        ),
    }


def turn_fields() -> dict[str, SuiteSchema]:
    """Those of one turn of a conversation."""
    return {
        "input": refer_to("input", description="What is said to the target in this turn."),
        "expected_output": refer_to(
            "expectedOutput", description="What the answer of this turn should be."
        ),
        **_graded_by(),
    }


def user_fields() -> dict[str, SuiteSchema]:
    """Those of a user whom a target plays."""
    return {
        "goal": describe_optional(
            "string", "What the user wants. The target that is tested is not told.", pattern=r"\S"
        ),
        "target": describe_optional(
            "string",
            "What plays the user: a target named in the configuration, or `kind:value`.",
            minLength=1,
        ),
        "max_turns": describe_optional(
            "integer", "How often the user may speak.", minimum=1, examples=[10]
        ),
        "persona": describe_optional(
            "string", "Who the user is, and how they talk.", pattern=r"\S"
        ),
        "facts": {
            "description": "What the user knows and tells if asked: sentences, or values by name.",
            "type": ["string", "array", "object", "null"],
            "pattern": r"\S",
            "minItems": 1,
            "minProperties": 1,
            "items": {"type": "string"},
        },
        "first": refer_to(
            "input",
            description="What the user says first; by default, the one who plays them decides.",
        ),
    }


def _graded_by() -> dict[str, SuiteSchema]:
    return {
        "criteria": describe_optional(
            "string", "What a good answer does, in prose, for a judge.", pattern=r"\S"
        ),
        "rubrics": describe_optional(
            "array", "What a judge checks, point by point.", minItems=1, items=refer_to("rubric")
        ),
        "graders": refer_to("graders", description="What decides whether the answer is good."),
    }


def suite_fields() -> dict[str, SuiteSchema]:
    """All but the list of cases."""
    return {
        "$schema": describe_optional("string", "The location of the schema, for editors."),
        "name": describe_optional(
            "string", "The name of the suite; by default, that of the file.", minLength=1
        ),
        "description": describe_optional("string", "What the suite is about, for readers."),
        "input": refer_to("input", description="Messages to put before those of every case."),
        "graders": refer_to("graders", description="Graders for every case, before its own."),
        **_run_fields(),
        **variable_fields(),
    }


def _run_fields() -> dict[str, SuiteSchema]:
    """The fields that a suite and a case share, where the case's own one wins."""
    return {
        "target": describe_optional(
            "string",
            "What answers the input: a target named in the configuration, or `kind:value`.",
            minLength=1,
            examples=["python:my_agent:answer"],
        ),
        "targets": describe_optional(
            "array",
            "Several targets, each of which gets every input.",
            minItems=1,
            items={
                "type": "string",
                "minLength": 1,
                "description": "A target, written as in `target`.",
            },
        ),
        "threshold": describe_optional(
            "number",
            "The weighted mean of the grades needed to pass; by default, every grader must pass.",
            minimum=0,
            maximum=1,
            examples=[0.8],
        ),
        "repeat": refer_to(
            "repeat",
            description="How many trials each case has, and what share of them must pass.",
            examples=[5],
        ),
        "timeout_s": describe_optional(
            "number",
            "The time limit of one attempt, in seconds.",
            exclusiveMinimum=0,
            examples=[60],
        ),
        "tags": describe_optional(
            "array",
            "Words to select cases by.",
            items={"type": "string", "description": "One tag."},
            examples=[["smoke"]],
        ),
        "metadata": describe_optional(
            "object", "Anything you like; graders and results get it untouched."
        ),
    }
