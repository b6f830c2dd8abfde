"""The parts of the JSON Schema that fields refer to: messages, graders, rubrics and their kin.

Every choice is an `if`/`then` rather than an `anyOf`, because editors then underline the one place
that is wrong instead of listing every shape that would have been right.
"""

from __future__ import annotations

from evalcase.model.message import ROLES
from evalcase.resolve.graders import MAPPING_ARGUMENTS

Schema = dict[str, object]

_MAPPING = "The argument of this grader may be a mapping, so options stand beside `type`."

NOT_NULL: Schema = {"not": {"type": "null"}}


def ref(name: str, **more: object) -> Schema:
    """A reference to a named part; only annotations may stand beside it."""
    return {"$ref": f"#/$defs/{name}", **more}


def present(name: str) -> Schema:
    """Matches a mapping that has the field; null counts as absent."""
    return {"required": [name], "properties": {name: NOT_NULL}}


def absent(name: str) -> Schema:
    return {"not": present(name)}


def not_both(first: str, second: str) -> Schema:
    return {
        "not": {"allOf": [present(first), present(second)]},
        "errorMessage": f"Write `{first}` or `{second}`, not both.",
    }


def optional(kind: str | list[str], description: str, **more: object) -> Schema:
    """A field that may be left out, for which null says the same."""
    kinds = [kind] if isinstance(kind, str) else kind
    return {"type": [*kinds, "null"], "description": description, **more}


def weight() -> Schema:
    return optional("number", "How much this counts in the weighted mean.", minimum=0, default=1)


def must_pass() -> Schema:
    return optional("boolean", "Whether this must pass whatever the weighted mean is.")


def mapping(properties: Schema) -> Schema:
    """A mapping with these fields and no others."""
    return {"type": "object", "properties": properties, "additionalProperties": False}


def parts() -> dict[str, Schema]:
    """Everything that the fields of cases and suites refer to, by name."""
    return {
        **_message_parts(),
        "rubric": _rubric(),
        "graders": {
            "type": ["array", "null"],
            "description": "What decides whether an answer is good.",
            "items": ref("grader"),
        },
        "grader": _grader(),
        "typedGrader": {
            "description": "A grader by its `type`, with its options beside it.",
            "type": "object",
            "required": ["type"],
            "properties": {"weight": weight(), "required": must_pass()},
        },
        "namedGrader": {
            "description": "A grader by its name, with its argument or its options as the value.",
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "propertyNames": {"minLength": 1, "not": {"enum": ["weight", "required"]}},
            "properties": {name: {"description": _MAPPING} for name in sorted(MAPPING_ARGUMENTS)},
            "additionalProperties": {
                # A mapping with `type` is an argument that is itself a grader, not options.
                "if": {"type": "object", "not": {"required": ["type"]}},
                "then": {"properties": {"weight": weight(), "required": must_pass()}},
            },
        },
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
            "description": "A grouping that older files use.",
        },
    }


def execution_rules(target: Schema) -> list[Schema]:
    """What `execution` may hold beside the fields that took its place, which win."""
    targets = [absent("target"), absent("targets")]
    return [
        {"if": {"allOf": targets}, "then": _in_execution({"target": target})},
        {"if": absent("graders"), "then": _in_execution({"evaluators": ref("graders")})},
        {
            "if": {"allOf": [absent("graders"), present("evaluators")]},
            "then": _in_execution({"evaluators": {"type": "null"}}),
        },
    ]


def _in_execution(properties: Schema) -> Schema:
    return {"properties": {"execution": {"properties": properties}}}


def _message_parts() -> dict[str, Schema]:
    return {
        "input": {
            "description": "Text, one message, a list of messages, or a mapping that is the data "
            "of one user message.",
            "type": ["string", "object", "array", "null"],
            "allOf": [
                {"if": {"type": "array"}, "then": {"minItems": 1, "items": ref("message")}},
                {"if": ref("looksLikeMessage"), "then": ref("message")},
            ],
        },
        "expectedOutput": {
            "description": "Text, one message, a list of messages, or any other value, which is "
            "then the content of one assistant message.",
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
            "description": "Tells a message from a mapping that is data.",
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


def _grader() -> Schema:
    return {
        "title": "Grader",
        "description": "A name, `{name: argument}`, `{name: {options}}` or `{type: name, …}`.",
        "type": ["string", "object"],
        "minLength": 1,
        "properties": {"type": {"description": "The name of the grader.", **_name()}},
        "if": {"type": "object", "required": ["type"]},
        "then": ref("typedGrader"),
        "else": {"if": {"type": "object"}, "then": ref("namedGrader")},
        "examples": ["expected", {"contains": "4"}, {"type": "contains", "value": "4"}],
    }


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
            "The share of trials that must pass.",
            minimum=0,
            maximum=1,
            default=1,
        ),
    }
    return {
        "description": "How many trials each case has, and what share of them must pass.",
        "type": ["integer", "object", "null"],
        "minimum": 1,
        "if": {"type": "object"},
        "then": {**mapping(fields), "required": ["times"]},
        "examples": [5, {"times": 5, "pass_rate": 0.8}],
    }
