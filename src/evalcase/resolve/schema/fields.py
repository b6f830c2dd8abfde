"""The fields of cases and suites in the JSON Schema: what each may hold, with a sentence."""

from __future__ import annotations

from evalcase.resolve.schema.variables import variable_fields
from evalcase.resolve.schema.words import SuiteSchema, optional, ref
from evalcase.resolve.values import NOT_SKIPPED


def case_fields() -> dict[str, SuiteSchema]:
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
            examples=["The answer is 4"],
        ),
        "turns": optional(
            "array",
            "A conversation: what is said in each turn, after the `input`, and what is expected.",
            minItems=1,
            items=ref("turn"),
        ),
        "stop_on_failure": optional(
            "boolean", "Whether the turns after one that failed are left out."
        ),
        "user": ref("user", description="A conversation in which another target plays the user."),
        "description": optional("string", "What the case is about, for readers."),
        "skip": {
            "description": "A reason to leave the case out, or `true`.",
            "type": ["boolean", "string", "null"],
            "minLength": 1,
            "if": {"enum": list(NOT_SKIPPED)},
            "then": {"type": ["boolean", "null"]},
        },
        "conversation_id": optional("string", "The conversation that the case is part of."),
        **_graded_by(),
        "suite_graders": optional(
            "boolean", "Whether the graders of the suite apply too; they do, if it is not said."
        ),
        **_run_fields(),
        **variable_fields(),
        "rendered": optional(
            "boolean",
            "Whether values stand in the place of tags already, as `evalcase show` prints it.",
        ),
    }


def turn_fields() -> dict[str, SuiteSchema]:
    """Those of one turn of a conversation."""
    return {
        "input": ref("input", description="What is said to the target in this turn."),
        "expected_output": ref(
            "expectedOutput", description="What the answer of this turn should be."
        ),
        **_graded_by(),
    }


def user_fields() -> dict[str, SuiteSchema]:
    """Those of a user whom a target plays."""
    return {
        "goal": optional(
            "string", "What the user wants. The target that is tested is not told.", pattern=r"\S"
        ),
        "target": optional(
            "string",
            "What plays the user: a target named in the configuration, or `kind:value`.",
            minLength=1,
        ),
        "max_turns": optional("integer", "How often the user may speak.", minimum=1, examples=[10]),
        "persona": optional("string", "Who the user is, and how they talk.", pattern=r"\S"),
        "facts": {
            "description": "What the user knows, and tells when it is asked for: sentences, or "
            "values by name.",
            "type": ["string", "array", "object", "null"],
            "pattern": r"\S",
            "minItems": 1,
            "minProperties": 1,
            "items": {"type": "string"},
        },
        "first": ref(
            "input",
            description="What the user says first. Without it, the target that plays them begins.",
        ),
    }


def _graded_by() -> dict[str, SuiteSchema]:
    return {
        "criteria": optional(
            "string", "What a good answer does, in prose, for a judge.", pattern=r"\S"
        ),
        "rubrics": optional(
            "array", "What a judge checks, point by point.", minItems=1, items=ref("rubric")
        ),
        "graders": ref("graders", description="What decides whether the answer is good."),
    }


def suite_fields() -> dict[str, SuiteSchema]:
    """All but the list of cases."""
    return {
        "$schema": optional("string", "Where this schema is found, for editors."),
        "name": optional(
            "string", "The name of the suite. Without it, that of the file.", minLength=1
        ),
        "description": optional("string", "What the suite is about, for readers."),
        "input": ref("input", description="Messages that are put before those of every case."),
        "graders": ref("graders", description="Graders for every case, before its own."),
        **_run_fields(),
        **variable_fields(),
    }


def _run_fields() -> dict[str, SuiteSchema]:
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
        "repeat": ref(
            "repeat",
            description="How many trials each case has, and what share of them must pass.",
            examples=[5],
        ),
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
