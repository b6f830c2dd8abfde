"""What an answer says, as text or as the JSON value that it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON, measure_depth
from evalcase.model.message import is_known_part, is_part, said_text, text_of
from evalcase.text.silence import but_instead
from evalcase.text.strict_json import DEEPEST, BadJsonError, parse_json

if TYPE_CHECKING:
    from evalcase.model.grader import Half

_MEDIA = frozenset({"file", "image"})
_INVISIBLE = " \t\r\n\u200b\u200c\u200d\u2060\ufeff"
_LANGUAGE = re.compile(r"[\w.+#-]*")


def value_of_answer(answer: Answer) -> JSON:
    """The JSON value. Raise BadJsonError where there is none; it says what there is."""
    content = answer.content
    text = text_of_content(content)
    # Mappings with a type of their own may be data, as a list of `{type: Person}` is.
    is_media = text is None and any(map(is_known_part, text_parts(content)))
    if content is None or is_media:
        raise BadJsonError(f"it has no text{but_instead(answer.last)}")
    if text is not None:
        return parse_answer(text)
    if too_deep(content):
        raise BadJsonError(f"it is nested more than {DEEPEST} deep")
    return content


def too_deep(value: JSON) -> bool:
    """Whether a value is nested deeper than those of a suite may be, and so equals none of them."""
    return measure_depth(value, DEEPEST) > DEEPEST


def text_of_content(content: JSON) -> str | None:
    """Text as it is, parts as their joined text. Parts without any text are data with a `type`."""
    if isinstance(content, str):
        return content
    if any(said_text(part) is not None for part in text_parts(content)):
        return text_of(content)
    return None


def has_text(answer: Answer) -> bool:
    """Whether there is a text to look at, or data that is one as JSON. Blank text, an empty list,
    calls alone and parts without any text are none."""
    content = answer.content
    if content in (None, [], {}):
        return False
    text = text_of_content(content)
    return not text_parts(content) if text is None else not shows_nothing(text)


def shows_nothing(text: str) -> bool:
    """Whether there is nothing in a text that can be seen."""
    return not text.strip() or not text.strip(_INVISIBLE)


def text_parts(content: JSON) -> list[dict[str, JSON]]:
    """The content parts, if it is a list of them."""
    if not isinstance(content, list) or not all(map(is_part, content)):
        return []
    return [part for part in content if isinstance(part, dict)]


def is_comparable(content: JSON) -> bool:
    """Whether there is something to hold an answer to. Files and images alone are not: no text."""
    if content is None:
        return False
    parts = text_parts(content)
    return not parts or any(part["type"] not in _MEDIA for part in parts)


def expected_halves(messages: Iterable[Mapping[str, JSON]]) -> frozenset[Half]:
    """What there is to compare in an expected output: calls, and content that says something. An
    empty text beside calls says nothing."""
    said = [message for message in messages if message["role"] == "assistant"]
    contents = [each["content"] for each in said if each.get("content") is not None]
    last = contents[-1] if contents else None
    text = text_of_content(last)
    halves: list[Half] = ["calls"] if any(each.get("tool_calls") for each in said) else []
    if is_comparable(last) and (text is None or text.strip()):
        halves.append("content")
    return frozenset(halves)


def parse_answer(text: str) -> JSON:
    """The value of a text that is JSON, or one fenced block with JSON in it."""
    return parse_json(unfence_text(text))


def unfence_text(text: str) -> str:
    """The inside of a text that is one fenced block (``` or ~~~) as a whole; else the text. Beside
    the fence there may be the name of a language: where there is more, nothing of it is dropped."""
    text = text.strip()
    mark = text[:3]
    if mark not in ("```", "~~~"):
        return text
    fence = mark[0] * (len(text) - len(text.lstrip(mark[0])))
    first, line_end, inside = text.partition("\n")
    if line_end and inside.endswith(fence) and _LANGUAGE.fullmatch(first[len(fence) :].strip()):
        return inside[: -len(fence)]
    return text
