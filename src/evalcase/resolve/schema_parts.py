"""The parts of the JSON Schema that fields refer to: messages, graders, rubrics and their kin.

Every choice is an `if`/`then` rather than an `anyOf`, because editors then underline the one place
that is wrong instead of listing every shape that would have been right.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.model.grader_options import DeclaredGrader
from evalcase.model.message import ROLES
from evalcase.resolve.schema_graders import grader_parts
from evalcase.resolve.schema_words import (
    Schema,
    absent,
    mapping,
    must_pass,
    not_both,
    optional,
    pattern_of,
    present,
    ref,
    weight,
)


def parts(graders: Sequence[DeclaredGrader]) -> dict[str, Schema]:
    """Everything that the fields of cases and suites refer to, by name."""
    return {
        **_message_parts(),
        "rubric": _rubric(),
        **grader_parts(graders),
        "repeat": _repeat(),
        "execution": {
            **mapping(
                {
                    # What they hold is checked by `execution_rules`, where it is used at all.
                    "target": {"description": "The target; write `target` instead."},
                    "evaluators": {"description": "The graders; write `graders` instead."},
                }
            ),
            "type": ["object", "null"],
        },
    }


def execution_rules(target: Schema) -> list[Schema]:
    """What `execution` may hold beside the fields that took its place, which win."""
    targets = [absent("target"), absent("targets")]
    return [
        {"if": {"allOf": targets}, "then": _in_execution({"target": target})},
        {"if": absent("graders"), "then": _in_execution({"evaluators": ref("graders")})},
        {
            "if": {
                "allOf": [
                    absent("graders"),
                    present("evaluators"),
                    {
                        "required": ["execution"],
                        "patternProperties": {
                            pattern_of(["execution"]): {"type": "object", **present("evaluators")}
                        },
                    },
                ]
            },
            "then": {"properties": {"evaluators": False}},
        },
    ]


def _in_execution(properties: Schema) -> Schema:
    patterns = {pattern_of([name]): schema for name, schema in properties.items()}
    return {"patternProperties": {pattern_of(["execution"]): {"patternProperties": patterns}}}


def _message_parts() -> dict[str, Schema]:
    return {
        "input": {
            "type": ["string", "object", "array", "null"],
            "allOf": [
                {"if": {"type": "array"}, "then": {"minItems": 1, "items": ref("message")}},
                {"if": ref("looksLikeMessage"), "then": ref("message")},
            ],
        },
        "expectedOutput": {
            "allOf": [
                {"if": {"type": "array"}, "then": {"minItems": 1}},
                {
                    "if": {"type": "array", "contains": ref("looksLikeMessage")},
                    "then": {"items": ref("message")},
                },
                {"if": ref("looksLikeMessage"), "then": ref("message")},
            ],
        },
        "looksLikeMessage": {
            "type": "object",
            "required": ["role"],
            "anyOf": [
                {"required": ["content"]},
                present("tool_calls"),
                {"properties": {"role": {"enum": list(ROLES)}}},
            ],
        },
        "message": {
            "title": "Message",
            "description": "One message of a conversation. It may have keys of its own.",
            "type": "object",
            "required": ["role"],
            "properties": {
                "role": {"description": "Who speaks.", "enum": list(ROLES)},
                "content": ref("content"),
                "tool_calls": optional(
                    "array",
                    "The tools that this message calls, in order.",
                    minItems=1,
                    items=ref("toolCall"),
                ),
                "name": {"description": "The name of the speaker or of the tool."},
                "tool_call_id": {"description": "The id of the call that this message answers."},
            },
            "anyOf": [{"required": ["content"]}, present("tool_calls")],
            "examples": [{"role": "user", "content": "What is 2 + 2?"}],
        },
        "content": {
            "description": "Text, a list of parts, or any other value.",
            # Always true; the list is there so that editors can complete the parts.
            "anyOf": [{"type": "string"}, {"type": "array", "items": ref("part")}, {}],
            "examples": ["What is 2 + 2?", [{"type": "file", "path": "notes.md"}]],
        },
        "part": {
            "title": "Content part",
            "description": "One piece of a message.",
            "type": "object",
            "required": ["type"],
            "properties": {
                "type": {
                    "description": "What kind of piece it is; any other word is kept as it is.",
                    "type": "string",
                    "examples": ["text", "file", "image"],
                },
                "text": {"description": "The text of a `text` part."},
                "path": {"description": "The file of a `file` part, relative to this file."},
                "value": {"description": "Another name for `text` or `path`."},
            },
        },
        "toolCall": {
            "title": "Tool call",
            "description": "A call as `{tool, input}`, or in the shape of the OpenAI API. It may "
            "have keys of its own.",
            "type": "object",
            "properties": {
                "tool": {"description": "The name of the tool."},
                "input": {"description": "What the tool is given."},
                "output": {"description": "What the tool gives back."},
                "id": {"description": "The id of the call."},
                "function": {"description": "The OpenAI shape: `{name, arguments}`."},
            },
            "if": {"required": ["tool"]},
            "then": {"properties": {"tool": _name()}},
            "else": {
                "required": ["function"],
                "properties": {
                    "function": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": _name()},
                    }
                },
            },
            "examples": [{"tool": "Read", "input": {"file_path": "config.json"}}],
        },
    }


def _name() -> Schema:
    return {"type": "string", "minLength": 1}


def _rubric() -> Schema:
    fields: Schema = {
        "id": optional("string", "A name for this point in reports.", minLength=1),
        "text": optional("string", "What a good answer does.", minLength=1),
        "description": optional("string", "Another name for `text`.", minLength=1),
        "weight": weight(),
        "required": must_pass(),
    }
    return {
        "title": "Rubric",
        "description": "One point that a judge checks.",
        "type": ["string", "object"],
        "minLength": 1,
        "if": {"type": "object"},
        "then": {
            **mapping(fields),
            "anyOf": [present("text"), present("description")],
            "allOf": [not_both("text", "description")],
        },
        "examples": ["Names the capital", {"text": "Cites a source", "weight": 2}],
    }


def _repeat() -> Schema:
    fields: Schema = {
        "times": {"type": "integer", "minimum": 1, "description": "How many trials each case has."},
        "pass_rate": optional(
            "number",
            "The share of trials that must pass; all of them, if it is not said.",
            minimum=0,
            maximum=1,
        ),
    }
    return {
        "description": "How many trials each case has, and what share of them must pass.",
        "type": ["integer", "object", "null"],
        "minimum": 1,
        "if": {"type": "object"},
        "then": {**mapping(fields), "required": ["times"]},
        "examples": [5],
    }
