"""The part of the JSON Schema that messages are: `input`, `expected_output` and what they hold."""

from __future__ import annotations

from evalcase.model.message import ROLES
from evalcase.resolve.schema.words import (
    SuiteSchema,
    describe_anything,
    describe_optional,
    match_present,
    refer_to,
)


def message_parts() -> dict[str, SuiteSchema]:
    """What `input` and `expected_output` refer to, by name."""
    return {
        "input": _describe_input(),
        "expectedOutput": _expected_output(),
        "looksLikeMessage": _looks_like_message(),
        "begunMessage": _begun_message(),
        "message": _describe_message(),
        "part": _content_part(),
        "toolCall": _tool_call(),
    }


def _describe_input() -> SuiteSchema:
    messages: SuiteSchema = {
        "type": "array",
        "minItems": 1,
        "items": refer_to("message", title="Message"),
    }
    return {
        "type": ["string", "object", "array", "null"],
        "allOf": [
            {"if": {"type": "array"}, "then": messages},
            {"if": refer_to("looksLikeMessage"), "then": refer_to("message")},
            refer_to("begunMessage"),
        ],
    }


def _expected_output() -> SuiteSchema:
    some: SuiteSchema = {"type": "array", "contains": refer_to("looksLikeMessage")}
    values: SuiteSchema = {"type": "array", "minItems": 1, "items": refer_to("begunMessage")}
    messages: SuiteSchema = {"type": "array", "items": refer_to("message", title="Message")}
    return {
        "allOf": [
            {"if": {"type": "array"}, "then": values},
            {"if": some, "then": messages},
            {"if": refer_to("looksLikeMessage"), "then": refer_to("message")},
            refer_to("begunMessage"),
        ],
    }


def _looks_like_message() -> SuiteSchema:
    return {
        "type": "object",
        "required": ["role"],
        "anyOf": [
            {"required": ["content"]},
            match_present("tool_calls"),
            {"properties": {"role": {"enum": list(ROLES)}}},
        ],
    }


def _begun_message() -> SuiteSchema:
    """Always true: what may become data or a message is offered the role, which decides it."""
    begun: SuiteSchema = {"type": "object", "maxProperties": 1}
    role = describe_anything("Who speaks.", examples=list(ROLES))
    return {
        "if": refer_to("looksLikeMessage"),
        "then": True,
        "else": {"if": begun, "then": {"type": "object", "properties": {"role": role}}},
    }


def _describe_message() -> SuiteSchema:
    """One message. It may have keys of its own."""
    return {
        "type": "object",
        "required": ["role"],
        "properties": {
            "role": {"description": "Who speaks.", "enum": list(ROLES)},
            "content": _describe_content(),
            "tool_calls": describe_optional(
                "array",
                "The tools that this message calls, in order.",
                minItems=1,
                items=refer_to("toolCall", title="Tool call"),
            ),
            "name": describe_anything("The name of the speaker or of the tool."),
            "tool_call_id": describe_anything("The id of the call that this message answers."),
        },
        "anyOf": [{"required": ["content"]}, match_present("tool_calls")],
    }


def _describe_content() -> SuiteSchema:
    """Any value; a list is read as parts, so that editors can complete them."""
    parts: SuiteSchema = {"type": "array", "items": refer_to("part", title="Content part")}
    about = "Text, a list of parts, or any other value."
    return {**describe_anything(about), "if": {"type": "array"}, "then": parts}


def _content_part() -> SuiteSchema:
    fields: SuiteSchema = {
        "type": describe_anything(
            "What kind of piece it is; any other word is kept as it is.",
            examples=["text", "file", "image"],
        ),
        "text": describe_anything("The text of a `text` part."),
        "path": describe_anything("The file of a `file` or `image` part, relative to this file."),
        "value": describe_anything("Another name for `text` or `path`."),
    }
    return {"if": {"type": "object"}, "then": {"type": "object", "properties": fields}}


def _tool_call() -> SuiteSchema:
    """A call as `{tool, input}`, or in the shape of the OpenAI API. It may have keys of its own."""
    name: SuiteSchema = {"type": "string", "minLength": 1}
    function: SuiteSchema = {"type": "object", "required": ["name"], "properties": {"name": name}}
    return {
        "type": "object",
        "properties": {
            "tool": describe_anything("The name of the tool."),
            "input": describe_anything("The input of the tool."),
            "output": describe_anything("The output of the tool."),
            "id": describe_anything("The id of the call."),
            "function": describe_anything("The OpenAI shape: `{name, arguments}`."),
        },
        "if": {"required": ["tool"]},
        "then": {"properties": {"tool": name}},
        "else": {"required": ["function"], "properties": {"function": function}},
    }
