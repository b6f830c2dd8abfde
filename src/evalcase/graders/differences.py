"""An answer's content against the expected content: text as text, anything else as JSON. Both
sides are cut to a length that people read, around the place where they begin to differ."""

from __future__ import annotations

from collections.abc import Callable

from evalcase.errors import EvalcaseError
from evalcase.graders.json_differences import find_differences, list_differences, quote_value
from evalcase.types.answer import Answer
from evalcase.types.case import Case
from evalcase.types.grade import Score
from evalcase.types.message import said_text
from evalcase.types.value import JSON, are_same, describe_kind, replace
from evalcase.util.answers import (
    describe_instead,
    describe_missing_text,
    has_text,
    parse_answer,
    text_of_content,
    text_parts,
    too_deep,
)
from evalcase.util.json import DEEPEST, BadJsonError
from evalcase.util.text import as_json, content_text, write_count

_SHORT, _BEFORE, _AFTER = 60, 20, 40
_SIDE_BY_SIDE = 4000
_LONGEST_LOOKED_AT_TWICE = 100_000


# What a case expects

NOTHING = Score(
    None, "there is nothing to compare: `expected_output` has nothing of the kind that is compared"
)


def expected_content(case: Case) -> JSON:
    """The last expected content of the assistant; None if there is none."""
    for message in reversed(case._data.get("expected_output", ())):
        content: JSON = message.get("content")
        if message["role"] == "assistant" and content is not None:
            return content
    return None


def expected_value(case: Case) -> JSON:
    """The same as JSON. Raise EvalcaseError where it is text that is no JSON."""
    content = expected_content(case)
    text = text_of_content(content)
    if text is None:
        return content
    try:
        return parse_answer(text)
    except BadJsonError as error:
        raise EvalcaseError(f"`expected_output` is not JSON: {error}") from None


def expected_text(case: Case) -> str | None:
    """The same as text; None if nothing is expected. Raise EvalcaseError where it is no text."""
    content = expected_content(case)
    text = text_of_content(content)
    if text is None and content is not None:
        raise EvalcaseError(f"`expected_output` is {describe_kind(content)}, not text")
    return text


# Texts


def trim_text(text: str) -> str:
    """A text without outer white space, and with one sort of line ends."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.strip()


def excerpt_text(text: str, around: int = 0) -> str:
    """At most 4,000 characters of a text around a place, and how much was cut."""
    if len(text) <= _SIDE_BY_SIDE:
        return text
    start = max(0, min(around - _SIDE_BY_SIDE // 2, len(text) - _SIDE_BY_SIDE))
    end = start + _SIDE_BY_SIDE
    before = f"({start:,} characters before) …" if start else ""
    after = f"… ({len(text) - end:,} more characters)" if end < len(text) else ""
    return before + text[start:end] + after


def first_difference(left: str, right: str) -> int:
    """How many characters at the start are the same, by halving: linear, and at memory speed."""
    same, end = 0, min(len(left), len(right))
    if left[:end] == right[:end]:
        return end
    while end - same > 1:
        middle = (same + end) // 2
        if left[same:middle] == right[same:middle]:
            same = middle
        else:
            end = middle
    return same


def compare_texts(
    wanted: str,
    said: str,
    even: Callable[[str], str] = str,
    *,
    silence: str = "",
    left_out: str = "",
) -> Score:
    """Whether two texts are equal, once they are trimmed and evened. `left_out` says what was not
    compared, `silence` what the answer has instead of text."""
    expected, got = even(trim_text(wanted)), even(trim_text(said))
    beside = f" ({left_out})" if left_out else ""
    if expected == got:
        return Score(1.0, f"the text is equal{beside}")
    if silence or (wanted and not expected):
        left, right = expected or wanted, got or said
        shown = quote_value(left) if left.strip() else describe_missing_text((), left)
        reason = f"expected {shown}, got {silence or quote_value(right)}{beside}"
        return tell_difference(reason, left, right, note=left_out)
    at = first_difference(expected, got)
    note = "; ".join(filter(None, (_describe_nature(expected, got, at), left_out)))
    reason = f"expected {_cut_around(expected, at)}, got {_cut_around(got, at)}"
    reason += f" ({note})" if note else ""
    if _is_short(expected) and _is_short(got):
        return tell_difference(reason, expected, got, at, note=note)
    line, character = expected.count("\n", 0, at) + 1, at - expected.rfind("\n", 0, at)
    where = f"line {line:,}, character {character:,}"
    # Beside both sides it is clear that they differ from the first character on.
    return tell_difference(f"{where}: {reason}", expected, got, at, where if at else "", note)


def _is_short(text: str) -> bool:
    return len(text) <= _SHORT and "\n" not in text


def _cut_around(text: str, at: int) -> str:
    """A short text whole; else the part of the line that has the difference in it."""
    if _is_short(text):
        return as_json(text)
    start = max(text.rfind("\n", 0, at) + 1, at - _BEFORE)
    if at == len(text):
        return f"the end after …{as_json(text[start:])}"
    # A difference at the end of a line shows that end, and not an empty excerpt.
    line_end = text.find("\n", at + 1)
    end = min(line_end if line_end >= 0 else len(text), at + _AFTER)
    before, after = "…" if start else "", "…" if end < len(text) else ""
    return before + as_json(text[start:end]) + after


def _describe_nature(expected: str, got: str, at: int) -> str:
    if len(expected) + len(got) <= _LONGEST_LOOKED_AT_TWICE:
        if expected.casefold() == got.casefold():
            return "only upper and lower case differ"
        if expected.split() == got.split():
            return "only white space differs"
    differing = expected[at : at + 1], got[at : at + 1]
    if all(differing) and differing[0].isascii() != differing[1].isascii():
        # One may look like the other, or not be seen at all.
        return "expected U+{:04X}, got U+{:04X}".format(*map(ord, differing))
    return ""


# JSON, and whichever is expected


def unseen(score: Score) -> Score:
    """The same where the answer has nothing to compare: `not` makes no pass of it."""
    return replace(score, passed=False, stands=True)


def compare_content(expected: JSON, answer: Answer) -> Score:
    """Compare by the shape of what is expected."""
    text = text_of_content(expected)
    if text is None:
        return _compare_data(expected, answer)
    left_out = ""
    if not isinstance(expected, str):
        # Parts that are expected and can't be compared are named.
        others = sum(said_text(part) is None for part in text_parts(expected))
        left_out = f"{write_count(others, 'part')} without text not compared" if others else ""
    compared = _compare_as_text(text, answer, left_out)
    return compared if compared.value or has_text(answer) else unseen(compared)


def _compare_as_text(text: str, answer: Answer, left_out: str) -> Score:
    got = answer.content
    said = text_of_content(got)
    if said is None:
        said = "" if got is None else as_json(got)
        if text_parts(got) and trim_text(text) != trim_text(said):
            said = ""
    silence = "" if said.strip() else describe_missing_text(answer.last, said)
    compared = compare_texts(text, said, silence=silence, left_out=left_out)
    if not compared.value and text_parts(got):
        # What was compared is text, and people see what stands beside it.
        compared.details["got"] = excerpt_text(content_text(got))
    return compared


def _compare_data(expected: JSON, answer: Answer) -> Score:
    got = answer.content
    text = text_of_content(got)
    if got is None:
        reason = f"the answer has no content{describe_instead(answer.last)}"
        return _tell_no_data(expected, "", reason, note="")
    if text is None and too_deep(got):
        reason = f"the answer is nested more than {DEEPEST} deep, deeper than any case"
        return _tell_no_data(expected, as_json(got), reason, note=reason)
    try:
        return compare_values(expected, got if text is None else parse_answer(text))
    except BadJsonError as error:
        reason = f"the answer is not JSON: {error}"
        return _tell_no_data(expected, text or "", reason, note=reason)


def _tell_no_data(expected: JSON, shown: str, reason: str, note: str) -> Score:
    return unseen(tell_difference(reason, as_json(expected, indent=2), shown, note=note))


def compare_values(expected: JSON, got: JSON) -> Score:
    """Whether two values are the same as JSON."""
    if are_same(expected, got):
        return Score(1.0, "the JSON value is equal")
    listed = list_differences(find_differences(expected, got))
    return tell_values(listed.text, expected, got, listed.paths)


def tell_values(reason: str, expected: JSON, got: JSON, where: str) -> Score:
    """What differs between values, and both sides with a line for each part."""
    left, right = as_json(expected, indent=2), as_json(got, indent=2)
    return tell_difference(reason, left, right, first_difference(left, right), where)


def tell_difference(
    reason: str, expected: str, got: str, at: int = 0, where: str = "", note: str = ""
) -> Score:
    """What differs, in words, and both sides; `at` is where they begin to differ."""
    sides = {"expected": excerpt_text(expected, at), "got": excerpt_text(got, at)}
    beside = {"where": where, "note": note}
    details = sides | {name: text for name, text in beside.items() if text}
    return Score(0.0, reason, details)
