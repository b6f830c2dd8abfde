"""What differs between an answer and what is expected: values as JSON, each difference with its
path, but for what a grader is told to ignore; texts as text. Both sides are cut to a length that
people read, around the place where they begin to differ."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from math import ulp
from typing import NamedTuple

from evalcase.errors import EvalcaseError
from evalcase.types.answer import Answer
from evalcase.types.case import Case
from evalcase.types.grade import Score
from evalcase.types.message import said_text
from evalcase.types.options import EVERY
from evalcase.types.value import JSON, Value, are_same, canonical_text, describe_kind, replace
from evalcase.util.answers import (
    describe_missing_text,
    has_text,
    parse_answer,
    text_of_content,
    text_parts,
    value_of_answer,
)
from evalcase.util.json import BadJsonError
from evalcase.util.text import as_json, content_text, write_count

_SHOWN = 5
_IN_A_LINE = 80
_FEW_PAIRS = 10_000
"""How many pairs there may be to find the best pairing."""
_SHORT, _BEFORE, _AFTER = 60, 20, 40
_SIDE_BY_SIDE = 4000
_LONGEST_LOOKED_AT_TWICE = 100_000

Way = tuple[str | int, ...]
"""Keys and indexes, from the top."""
Alike = Callable[[int, int], bool]


def quote_value(value: JSON) -> str:
    """A value as JSON in one line, so that text stands in quotes and line ends can be seen."""
    if isinstance(value, str):
        return as_json(value[:_IN_A_LINE]) + ("…" if len(value) > _IN_A_LINE else "")
    text = as_json(value)
    return text if len(text) <= _IN_A_LINE else f"{text[:_IN_A_LINE]}…"


def write_way(way: Way) -> str:
    """A path as messages write it: `$.items[0].name`."""
    return "$" + "".join(
        f".{key}" if isinstance(key, str) and key.isidentifier() and len(key) <= 60
        else f"[{quote_value(key)}]"
        for key in way
    )  # fmt: skip


class Difference(NamedTuple):
    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


class Listed(NamedTuple):
    text: str
    """Empty if there is no difference."""
    paths: str
    """Where they are, for a reader who sees both values; empty where those differ as a whole."""


def list_differences(differences: Iterable[Difference]) -> Listed:
    """The first few, and how many more there are."""
    remaining = iter(differences)
    shown = list(islice(remaining, _SHOWN))
    left = sum(1 for _ in remaining)
    more = [f"and {left:,} more"] if left else []
    paths = ", ".join(each.path for each in shown if each.path != "$")
    return Listed("; ".join([*map(str, shown), *more]), " ".join(filter(None, [paths, *more])))


# What counts as a difference


class Lenience(Value, frozen=True):
    """What doesn't count as a difference."""

    ignored: tuple[Way, ...] = ()
    """Where nothing is compared."""
    unordered: bool | tuple[Way, ...] = False
    """Whether, or which, lists are the same in any order."""
    extra: bool = False
    """Whether mappings may hold more than is expected."""
    extra_in_lists: bool = True
    """Whether that also holds for mappings inside of lists."""
    within: float = 0.0
    """How far numbers may be apart."""
    is_given_up: Callable[[], bool] = lambda: False
    """Whether the comparison took too long, and its result is not needed any more."""

    def is_ignored(self, way: Way) -> bool:
        return bool(self.ignored) and _is_among(way, self.ignored)

    def is_unordered(self, way: Way) -> bool:
        loose = self.unordered
        return loose if isinstance(loose, bool) else _is_among(way, loose)

    def allows_extra(self, way: Way) -> bool:
        in_list = not self.extra_in_lists and any(isinstance(step, int) for step in way)
        return self.extra and not in_list


EXACT = Lenience()
SUBSET = Lenience(extra=True, extra_in_lists=False)
"""Mappings may hold more than is expected; lists are equal."""


def _is_among(way: Way, paths: Sequence[Way]) -> bool:
    return any(
        len(path) == len(way)
        and all(step in (EVERY, str(key)) for step, key in zip(path, way, strict=True))
        for path in paths
    )


def is_number(value: JSON) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_within(left: JSON, right: JSON, margin: float) -> bool:
    """Whether two numbers are no further apart. Whole ones are compared exactly; of others, what
    is lost by writing them in binary is forgiven: 1.1 is within 0.1 of 1."""
    left, right = _make_whole(left), _make_whole(right)
    are_whole = isinstance(left, int) and isinstance(right, int)
    try:
        noise = ulp(margin) if are_whole else ulp(max(abs(left), abs(right), margin))
        return abs(left - right) <= margin + 2 * noise
    except OverflowError:  # an integer that no float can hold
        return False


def _make_whole(number: JSON) -> int | float:
    assert isinstance(number, int | float)
    return int(number) if isinstance(number, float) and number.is_integer() else number


# Every difference


def find_differences(
    expected: JSON, got: JSON, lenience: Lenience = EXACT, way: Way = ()
) -> Iterator[Difference]:
    """Every difference that counts, in the order of the expected value. Raise
    InterruptedError once the comparison is given up."""
    if lenience.is_ignored(way):
        return
    if isinstance(expected, dict) and isinstance(got, dict):
        for key, value in expected.items():
            if key in got:
                yield from find_differences(value, got[key], lenience, (*way, key))
            elif not lenience.is_ignored((*way, key)):
                yield Difference(write_way((*way, key)), f"missing, expected {quote_value(value)}")
        for key, value in () if lenience.allows_extra(way) else got.items():
            if key not in expected and not lenience.is_ignored((*way, key)):
                yield not_expected((*way, key), value)
    elif isinstance(expected, list) and isinstance(got, list):
        differ = _differ_in_any_order if lenience.is_unordered(way) else _differ_in_order
        yield from differ(expected, got, lenience, way)
    elif not (
        are_same(expected, got)
        or (lenience.within and is_number(expected) and is_number(got)
            and are_within(expected, got, lenience.within))
    ):  # fmt: skip
        margin = f" ± {lenience.within:g}" if lenience.within and is_number(expected) else ""
        what = f"expected {quote_value(expected)}{margin}, got {quote_value(got)}"
        yield Difference(write_way(way), what)


def _differ_in_order(
    expected: list[JSON], got: list[JSON], lenience: Lenience, way: Way
) -> Iterator[Difference]:
    for index, (left, right) in enumerate(zip(expected, got, strict=False)):
        yield from find_differences(left, right, lenience, (*way, index))
    shorter = min(len(expected), len(got))
    for index, value in enumerate(expected[shorter:], shorter):
        yield Difference(write_way((*way, index)), f"missing, expected {quote_value(value)}")
    for index, value in enumerate(got[shorter:], shorter):
        yield not_expected((*way, index), value)


def _differ_in_any_order(
    expected: list[JSON], got: list[JSON], lenience: Lenience, way: Way
) -> Iterator[Difference]:
    """Items that are the same but for order and ignored places find each other by their texts. With
    margins or extra keys, each of the others may have to be compared with each."""
    every = (*way, EVERY)  # an item may stand anywhere, so its place names all of them
    lefts, rights = ([_text_of(each, lenience, every) for each in side] for side in (expected, got))
    partners = pair_same(lefts, rights)
    if lenience.extra or lenience.within:

        @lru_cache(_FEW_PAIRS)
        def are_alike(left: int, right: int) -> bool:
            if lenience.is_given_up():
                raise InterruptedError
            found = find_differences(expected[left], got[right], lenience, every)
            return lefts[left] == rights[right] or next(found, None) is None

        partners = pair_up(len(expected), len(got), are_alike, partners)
    for index, partner in enumerate(partners):
        if partner is None:
            what = f"expected {quote_value(expected[index])} somewhere, and not found"
            yield Difference(write_way((*way, index)), what)
    taken = set(partners)
    for index, value in enumerate(got):
        if index not in taken:
            what = f"not expected, got {quote_value(value)} (item {index})"
            yield Difference(write_way(way), what)


def _text_of(value: JSON, lenience: Lenience, way: Way) -> str:
    """The same text for values that don't differ, but for margins and extra keys."""

    def sort(value: JSON, way: Way) -> JSON:
        if lenience.is_ignored(way):
            return None
        if isinstance(value, dict):
            return {key: sort(each, (*way, key)) for key, each in value.items()
                    if not lenience.is_ignored((*way, key))}  # fmt: skip
        if not isinstance(value, list):
            return value
        if lenience.is_unordered(way):
            return sorted((sort(each, (*way, EVERY)) for each in value), key=canonical_text)
        return [sort(each, (*way, number)) for number, each in enumerate(value)]

    return canonical_text(sort(value, way))


def not_expected(way: Way, value: JSON) -> Difference:
    return Difference(write_way(way), f"not expected, got {quote_value(value)}")


def pair_same(lefts: Sequence[Hashable], rights: Sequence[Hashable]) -> list[int | None]:
    """The partner of each on the left that is the same, in one pass over each side."""
    places: dict[Hashable, list[int]] = {}
    for right in reversed(range(len(rights))):
        places.setdefault(rights[right], []).append(right)
    found = [places.get(left) for left in lefts]
    return [waiting.pop() if waiting else None for waiting in found]


def pair_up(
    lefts: int, rights: int, are_alike: Alike, begun: Sequence[int | None] = ()
) -> list[int | None]:
    """The partner of each on the left, or None. Each on the right is the partner of one at most.

    Among few, as many as possible are paired; of many, each takes the first that will do. `begun`
    are partners that are known before.
    """
    found = list(begun) or [None] * lefts
    taken = {right: left for left, right in enumerate(found) if right is not None}
    alone = [left for left, right in enumerate(found) if right is None]
    may_change = lefts * rights <= _FEW_PAIRS

    def find_partner(left: int, tried: set[int]) -> bool:
        """Take a free one, or one whose partner finds another (an augmenting path)."""
        for right in range(rights):
            if right in tried or (right in taken and not may_change):
                continue
            if not are_alike(left, right):
                continue
            tried.add(right)
            if right not in taken or find_partner(taken[right], tried):
                taken[right], found[left] = left, right
                return True
        return False

    for left in alone:
        find_partner(left, set())
    return found


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
    same, end = 0, min(len(left), len(right)) + 1
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
    reason = f"expected {cut_around(expected, at)}, got {cut_around(got, at)}"
    reason += f" ({note})" if note else ""
    where = ""
    if not _is_short(expected, got):
        line, character = expected.count("\n", 0, at) + 1, at - expected.rfind("\n", 0, at)
        where = f"line {line:,}, character {character:,}"
        reason = f"{where}: {reason}"
    # Beside both sides it is clear that they differ from the first character on.
    return tell_difference(reason, expected, got, at, where if at else "", note)


def _is_short(*texts: str) -> bool:
    return all(len(text) <= _SHORT and "\n" not in text[:-1] for text in texts)


def cut_around(text: str, at: int) -> str:
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
    text, left_out = expected, ""
    if not isinstance(text, str):
        text = text_of_content(expected)
        if text is None:
            return _compare_data(expected, answer)
        # Parts that are expected and can't be compared are named.
        others = sum(said_text(part) is None for part in text_parts(expected))
        left_out = f"{write_count(others, 'part')} without text not compared" if others else ""
    got = answer.content
    said = got if isinstance(got, str) else text_of_content(got)
    if said is None:
        said = "" if got is None else as_json(got)
        if text_parts(got) and trim_text(text) != trim_text(said):
            said = ""
    silence = "" if said.strip() else describe_missing_text(answer.last, said)
    compared = compare_texts(text, said, silence=silence, left_out=left_out)
    if not compared.value and text_parts(got):
        # What was compared is text, and people see what stands beside it.
        compared.details["got"] = excerpt_text(content_text(got))
    return compared if compared.value or has_text(answer) else unseen(compared)


def _compare_data(expected: JSON, answer: Answer) -> Score:
    got = answer.content
    text = text_of_content(got)
    try:
        is_data = got is not None and text is None
        return compare_values(expected, got if is_data else value_of_answer(answer))
    except BadJsonError as error:
        reason = f"the answer is not JSON: {error}"
        note = reason if text else ""
        return unseen(tell_difference(reason, as_json(expected, indent=2), text or "", note=note))


def compare_values(expected: JSON, got: JSON, lenience: Lenience = EXACT) -> Score:
    """What differs between values, and both sides with a line for each part."""
    is_same = lenience is EXACT and are_same(expected, got)
    listed = list_differences(() if is_same else find_differences(expected, got, lenience))
    if not listed.text:
        return Score(1.0, "the JSON value is equal")
    left, right = as_json(_write_alike(expected, got), indent=2), as_json(got, indent=2)
    return tell_difference(listed.text, left, right, first_difference(left, right), listed.paths)


def _write_alike(expected: JSON, got: JSON) -> JSON:
    """What is expected, with the order of keys and the spelling of equal numbers as in the answer,
    so that only what differs stands out."""
    if isinstance(expected, dict) and isinstance(got, dict):
        keys = [
            *[key for key in got if key in expected],
            *[key for key in expected if key not in got],
        ]
        return {
            key: _write_alike(expected[key], got[key]) if key in got else expected[key]
            for key in keys
        }
    if isinstance(expected, list) and isinstance(got, list):
        return [*map(_write_alike, expected, got), *expected[len(got) :]]
    return got if are_same(expected, got) else expected


def tell_difference(
    reason: str, expected: str, got: str, at: int = 0, where: str = "", note: str = ""
) -> Score:
    """What differs, in words, and both sides; `at` is where they begin to differ."""
    sides = {"expected": excerpt_text(expected, at), "got": excerpt_text(got, at)}
    beside = {"where": where, "note": note}
    details = sides | {name: text for name, text in beside.items() if text}
    return Score(0.0, reason, details)
