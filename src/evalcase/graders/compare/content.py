"""The content of an answer against the expected content: text as text, anything else as JSON."""

from __future__ import annotations

from evalcase.graders.compare.excerpt import excerpt_text, quote_blank, quote_value, write_count
from evalcase.graders.compare.json_difference import find_differences, list_differences
from evalcase.graders.compare.text_difference import (
    find_text_difference,
    first_difference,
    trim_text,
)
from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON, are_same
from evalcase.model.message import part_text
from evalcase.model.quick_tuple import NamedTuple
from evalcase.text.answer_value import (
    but_calls,
    parse_answer,
    text_of_content,
    text_parts,
    too_deep,
)
from evalcase.text.readable import as_json
from evalcase.text.strict_json import DEEPEST, BadJsonError

_CUT = "the answer was cut, as it was larger than evalcase keeps, so it can't be compared"


class ContentMatch(NamedTuple):
    equal: bool
    reason: str
    details: dict[str, str]
    """Where it is not equal: `expected` and `got` for people, cut to a length that can be shown;
    `where` they differ and a `note` on what they don't show, where there is one."""


def compare_content(expected: JSON, answer: Answer) -> ContentMatch:
    """Compare by the shape of what is expected."""
    got = answer.content
    text = text_of_content(expected)
    if answer.truncated:
        return tell_difference(_CUT, _shown(expected), _shown(got), note=_CUT)
    if got is None and text is None:
        return tell_difference(
            f"the answer has no content{but_calls(answer)}", lay_out(expected), ""
        )
    if got is None and text is not None and trim_text(text):
        reason = f"expected {quote_value(trim_text(text))}, got no text{but_calls(answer)}"
        return tell_difference(reason, trim_text(text), "")
    if text is None:
        return _compare_data(expected, got)
    said = _shown(got)
    return compare_texts(trim_text(text), trim_text(said), _left_out(expected), (text, said))


def compare_texts(
    expected: str, got: str, left_out: str = "", written: tuple[str, str] = ("", "")
) -> ContentMatch:
    """Two texts that are to be the same; `left_out` says what was not compared. Of what was
    `written`, white space is told where there was nothing else."""
    if expected == got:
        return ContentMatch(True, "the text is equal" + (f" ({left_out})" if left_out else ""), {})
    if (written[0] and not expected) or (written[1] and not got):
        left, right = expected or written[0], got or written[1]
        reason = f"expected {_quote_any(left)}, got {_quote_any(right)}"
        reason += f" ({left_out})" if left_out else ""
        return tell_difference(reason, left, right, note=left_out)
    differs = find_text_difference(expected, got)
    note = "; ".join(part for part in (differs.note, left_out) if part)
    at = first_difference(expected, got)
    return tell_difference(str(differs._replace(note=note)), expected, got, at, differs.where, note)


def _quote_any(text: str) -> str:
    return quote_value(text) if text.strip() else quote_blank(text)


def _compare_data(expected: JSON, got: JSON) -> ContentMatch:
    text = text_of_content(got)
    if text is not None:
        try:
            got = parse_answer(text)
        except BadJsonError as error:
            reason = f"the answer is not JSON: {error}"
            return tell_difference(reason, lay_out(expected), text, note=reason)
    elif too_deep(got):
        reason = f"the answer is nested more than {DEEPEST} deep, deeper than any case"
        return tell_difference(reason, lay_out(expected), as_json(got), note=reason)
    return compare_values(expected, got)


def compare_values(expected: JSON, got: JSON) -> ContentMatch:
    """Two values that are to be the same as JSON."""
    if are_same(expected, got):
        return ContentMatch(True, "the JSON value is equal", {})
    listed = list_differences(find_differences(expected, got))
    left, right = lay_out(expected), lay_out(got)
    return tell_difference(listed.text, left, right, first_difference(left, right), listed.paths)


def tell_difference(
    reason: str, expected: str, got: str, at: int = 0, where: str = "", note: str = ""
) -> ContentMatch:
    """What differs, in words, and both sides for people; `at` is where they begin to differ."""
    details = {"expected": excerpt_text(expected, at), "got": excerpt_text(got, at)}
    if where:
        details["where"] = where
    if note:
        details["note"] = note
    return ContentMatch(False, reason, details)


def _shown(content: JSON) -> str:
    text = text_of_content(content)
    if text is not None:
        return text
    return "" if content is None else as_json(content)


def lay_out(value: JSON) -> str:
    """A value as text with a line for each part, to be read side by side with another."""
    return as_json(value, indent=2)


def _left_out(expected: JSON) -> str:
    """Parts that are expected and can't be compared are never passed over in silence."""
    others = sum(part_text(part) is None for part in text_parts(expected))
    return f"{write_count(others, 'part')} without text not compared" if others else ""
