"""The content of an answer against the expected content: text as text, anything else as JSON."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.graders.compare.excerpt import as_json, cap, count
from evalcase.graders.compare.json_difference import find_differences, list_differences, too_deep
from evalcase.graders.compare.json_text import parse_answer
from evalcase.graders.compare.text_difference import describe_difference, first_difference, plain
from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON, same
from evalcase.model.message import is_part, part_text, text_of
from evalcase.text.strict_json import DEEPEST, BadJsonError

_CUT = "the answer was cut, as it was larger than evalcase keeps, so it can't be compared"
_MEDIA = frozenset({"file", "image"})


class Comparison(NamedTuple):
    equal: bool
    reason: str
    expected: str = ""
    """Both sides for people, cut to a length that can be shown; empty where they are equal."""
    got: str = ""


def is_comparable(content: JSON) -> bool:
    """Whether there is something to hold an answer to. Files and images alone are not: no text."""
    if content is None:
        return False
    parts = _parts(content)
    return not parts or any(part["type"] not in _MEDIA for part in parts)


def compare_content(expected: JSON, answer: Answer) -> Comparison:
    """Compare by the shape of what is expected."""
    got = answer.content
    if answer.truncated:
        return Comparison(False, _CUT, cap(_shown(expected)), cap(_shown(got)))
    text = _text(expected)
    if text is None:
        return _compare_data(expected, got)
    return _compare_texts(plain(text), plain(_shown(got)), _left_out(expected))


def _compare_texts(expected: str, got: str, left_out: str) -> Comparison:
    if expected == got:
        return Comparison(True, "the text is equal" + left_out)
    at = first_difference(expected, got)
    return Comparison(
        False, describe_difference(expected, got) + left_out, cap(expected, at), cap(got, at)
    )


def _compare_data(expected: JSON, got: JSON) -> Comparison:
    text = _text(got)
    if got is None:
        return Comparison(False, "the answer has no content", cap(_shown(expected)))
    if text is not None:
        try:
            got = parse_answer(text)
        except BadJsonError as error:
            reason = f"the answer is not JSON: {error}"
            return Comparison(False, reason, cap(_pretty(expected)), cap(text))
    elif too_deep(got):
        reason = f"the answer is nested more than {DEEPEST} deep, deeper than any case"
        return Comparison(False, reason, cap(_pretty(expected)))
    if same(expected, got):
        return Comparison(True, "the JSON value is equal")
    reason = list_differences(find_differences(expected, got))
    left, right = _pretty(expected), _pretty(got)
    at = first_difference(left, right)
    return Comparison(False, reason, cap(left, at), cap(right, at))


def _parts(content: JSON) -> list[dict[str, JSON]]:
    """The content parts, if it is a list of them."""
    if not isinstance(content, list) or not all(map(is_part, content)):
        return []
    return [part for part in content if isinstance(part, dict)]


def _text(content: JSON) -> str | None:
    """Text as it is, parts as their joined text. Parts without any text are data with a `type`."""
    if isinstance(content, str):
        return content
    if any(part_text(part) is not None for part in _parts(content)):
        return text_of(content)
    return None


def _shown(content: JSON) -> str:
    text = _text(content)
    if text is not None:
        return text
    return "" if content is None else as_json(content)


def _pretty(value: JSON) -> str:
    return as_json(value, indent=2)


def _left_out(expected: JSON) -> str:
    """Parts that are expected and can't be compared are never passed over in silence."""
    others = sum(part_text(part) is None for part in _parts(expected))
    return f" ({count(others, 'part')} without text not compared)" if others else ""
