"""The content of an answer against the expected content: text as text, anything else as JSON."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.graders.compare.excerpt import excerpt_text, quote_value
from evalcase.graders.compare.text_difference import (
    find_text_difference,
    first_difference,
    trim_text,
)
from evalcase.types.answer import Answer
from evalcase.types.message import said_text
from evalcase.types.value import JSON, are_same
from evalcase.util.answers import has_text, parse_answer, text_of_content, text_parts, too_deep
from evalcase.util.json import DEEPEST, BadJsonError
from evalcase.util.text import as_json, content_text, write_count


class ContentMatch(NamedTuple):
    equal: bool
    reason: str
    details: dict[str, str]
    """Where it is not equal: `expected` and `got` for people, cut to a length that can be shown;
    `where` they differ and a `note` on what they don't show, where there is one."""
    is_unseen: bool = False
    """Whether there was nothing to compare with what is expected: `not` turns nothing round."""


def compare_content(expected: JSON, answer: Answer) -> ContentMatch:
    """Compare by the shape of what is expected."""
    got = answer.content
    text = text_of_content(expected)
    if got is None and text is None:
        from evalcase.util.answers import but_instead

        reason = f"the answer has no content{but_instead(answer.last)}"
        return _leave_unseen(tell_difference(reason, lay_out(expected), ""))
    if text is None:
        return _compare_data(expected, got)
    compared = _compare_as_text(text, got, answer, _left_out(expected))
    return compared if compared.equal or has_text(answer) else _leave_unseen(compared)


def _leave_unseen(compared: ContentMatch) -> ContentMatch:
    return compared._replace(is_unseen=True)


def _compare_as_text(text: str, got: JSON, answer: Answer, left_out: str) -> ContentMatch:
    said = _show_content(got)
    parts = text_parts(got)
    is_text = not parts or text_of_content(got) is not None
    if trim_text(said) and (is_text or trim_text(text) == trim_text(said)):
        compared = compare_texts(trim_text(text), trim_text(said), left_out, (text, said))
    else:
        from evalcase.util.answers import say_silence

        said = said if is_text else ""
        silence = say_silence(answer.last, said)
        compared = compare_texts(trim_text(text), "", left_out, (text, said), silence)
    if not parts or compared.equal:
        return compared
    # What was compared is text, and people see what stands beside it.
    return compared._replace(details={**compared.details, "got": excerpt_text(content_text(got))})


def compare_texts(
    expected: str, got: str, left_out: str = "", written: tuple[str, str] = ("", ""),
    silence: str = "",
) -> ContentMatch:  # fmt: skip
    """Two texts that are to be the same; `left_out` says what was not compared. Of what was
    `written`, white space is told where there was nothing else; `silence` says what there is in
    place of a text that `got` doesn't have."""
    if expected == got:
        return ContentMatch(True, "the text is equal" + (f" ({left_out})" if left_out else ""), {})
    if silence or (written[0] and not expected):
        left, right = expected or written[0], got or written[1]
        reason = f"expected {_quote_any(left)}, got {silence or quote_value(right)}"
        reason += f" ({left_out})" if left_out else ""
        return tell_difference(reason, left, right, note=left_out)
    differs = find_text_difference(expected, got)
    note = "; ".join(part for part in (differs.note, left_out) if part)
    at = first_difference(expected, got)
    # Beside both sides it goes without saying that they differ from the first character on.
    where = differs.where if at else ""
    return tell_difference(str(differs._replace(note=note)), expected, got, at, where, note)


def _quote_any(text: str) -> str:
    if text.strip():
        return quote_value(text)
    from evalcase.util.answers import say_silence

    return say_silence((), text)


def _compare_data(expected: JSON, got: JSON) -> ContentMatch:
    text = text_of_content(got)
    if text is not None:
        try:
            got = parse_answer(text)
        except BadJsonError as error:
            reason = f"the answer is not JSON: {error}"
            return _leave_unseen(tell_difference(reason, lay_out(expected), text, note=reason))
    elif too_deep(got):
        reason = f"the answer is nested more than {DEEPEST} deep, deeper than any case"
        return _leave_unseen(tell_difference(reason, lay_out(expected), as_json(got), note=reason))
    return compare_values(expected, got)


def compare_values(expected: JSON, got: JSON) -> ContentMatch:
    """Two values that are to be the same as JSON."""
    if are_same(expected, got):
        return ContentMatch(True, "the JSON value is equal", {})
    from evalcase.graders.compare.json_difference import find_differences, list_differences

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


def _show_content(content: JSON) -> str:
    text = text_of_content(content)
    if text is not None:
        return text
    return "" if content is None else as_json(content)


def lay_out(value: JSON) -> str:
    """A value as text with a line for each part, to be read side by side with another."""
    return as_json(value, indent=2)


def _left_out(expected: JSON) -> str:
    """Parts that are expected and can't be compared are never passed over in silence."""
    others = sum(said_text(part) is None for part in text_parts(expected))
    return f"{write_count(others, 'part')} without text not compared" if others else ""
