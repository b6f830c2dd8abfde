"""What a trace tells in, the draft of a case out, with what a person should look at said above it.

Everything in it is what `check` allows: roles, texts and data. What a suite can't hold of a message
(pictures, files) is named in its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from evalcase.tracing.dialects import MessageDict
from evalcase.tracing.trace import Transcript
from evalcase.types.value import JSON
from evalcase.util.text import as_json, call_lines

_SLUG = re.compile(r"[^a-z0-9]+")
_LONGEST_ID = 40
_UNANSWERED = "nothing was answered when it was traced: say what is expected, and take this out"
_DRAFT = "draft: what was answered when it was traced; make it what should be"
_DESCRIBE = "draft: describe what a good answer says, in place of this one"


class DraftedCase(NamedTuple):
    """A case in the making."""

    fields: dict[str, Any]
    notes: dict[tuple[str, ...], str]
    """Comments by the field that they stand above; those of no field are of the whole case."""


class HowDrafted(NamedTuple):
    """What was asked for."""

    criteria: bool = False
    keep_system: bool = False


def question_text(told: Transcript) -> str:
    """What was asked, as one text; what an agent is told of itself is no part of it."""
    asked = [each for each in told.asked if each["role"] not in ("system", "developer")]
    return "\n".join(_text_of_content(each.get("content")) for each in asked)


def draft_case(told: Transcript, trace: str, id: str | None, how: HowDrafted) -> DraftedCase:
    """The draft. An id that no trace names is made once nothing is left in it that has to go."""
    asked = [
        _strip_message(each) for each in told.asked
        if how.keep_system or each["role"] not in ("system", "developer")
    ]  # fmt: skip
    fields: dict[str, Any] = {"id": id or "", "input": _shorten_messages(asked)}
    notes: dict[tuple[str, ...], str] = {}
    said = _find_answered(told)
    if not said:
        fields["skip"] = _UNANSWERED
        notes[()] = told.error or "it has no answer"
    elif how.criteria:
        fields["criteria"] = _describe_said(said)
        notes["criteria",] = _DESCRIBE
    else:
        fields["expected_output"] = _shorten_messages(said)
        notes["expected_output",] = _DRAFT
    if told.error and said:
        notes[()] = told.error
    fields["metadata"] = {"trace": trace}
    return DraftedCase(fields, notes)


def _find_answered(told: Transcript) -> list[dict[str, Any]]:
    """What was called and said since the last question; of all that was said, the last."""
    known = {call.get("id") for each in told.asked for call in each.get("tool_calls", ())} - {None}
    found: list[dict[str, Any]] = []
    for message in told.messages:
        calls = [
            _shorten_call(each)
            for each in message.get("tool_calls", ())
            if each.get("id") not in known
        ]
        if calls:
            found.append({"role": "assistant", "tool_calls": calls})
    texts = [each for each in told.messages if each.get("content") not in (None, "")]
    if texts and texts[-1] is told.messages[-1]:
        found.append(_strip_message({"role": "assistant", "content": texts[-1]["content"]}))
    return found


def _describe_said(said: Sequence[dict[str, Any]]) -> str:
    """What was called and said, as the beginning of criteria."""
    called = [line for message in said for line in call_lines(message)]
    text = _text_of_content(said[-1].get("content"))
    told = [f"Calls {', then '.join(called)}."] if called else []
    return " ".join([*told, f"Says what this answer says: {text}"] if text else told)


def _shorten_call(call: dict[str, Any]) -> dict[str, Any]:
    return {key: call[key] for key in ("tool", "input") if key in call}


def _strip_message(message: MessageDict) -> dict[str, Any]:
    """A message with nothing in it but what a suite has."""
    kept: dict[str, Any] = {"role": message["role"]}
    content = message.get("content")
    if content is not None or not message.get("tool_calls"):
        kept["content"] = _plain_content(content)
    if message.get("tool_calls"):
        kept["tool_calls"] = [_shorten_call(each) for each in message["tool_calls"]]
    return kept


def _plain_content(content: JSON) -> JSON:
    if content is None:
        return ""
    if isinstance(content, list) and any(_type_of_part(each) for each in content):
        return _text_of_content(content)
    return content


def _type_of_part(part: JSON) -> str | None:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else None


def _text_of_content(content: JSON) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else as_json(content)
    texts = [
        str(each["text"]) if isinstance(each, dict) and "text" in each
        else f"[{_type_of_part(each) or 'data'}]"
        for each in content
    ]  # fmt: skip
    return "".join(texts)


def _shorten_messages(messages: Sequence[dict[str, Any]]) -> JSON:
    """One text of the usual role is written as text."""
    if len(messages) == 1 and messages[0].keys() == {"role", "content"}:
        (only,) = messages
        if only["role"] in ("user", "assistant") and isinstance(only["content"], str):
            return only["content"]
    return list(messages)


def name_case(input: JSON) -> str:
    """An id of the first words that the last message of an input has."""
    last = input[-1].get("content") if isinstance(input, list) and input else input  # type: ignore[union-attr]
    text = _text_of_content(last)
    slug = _SLUG.sub("-", text[:400].casefold()).strip("-")
    if len(slug) > _LONGEST_ID:
        slug = slug[:_LONGEST_ID].rpartition("-")[0] or slug[:_LONGEST_ID]
    return slug or "case"
