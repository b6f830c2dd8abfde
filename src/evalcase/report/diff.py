"""Two versions of a text: lines paired with their differences marked, and unified diffs."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher, diff_bytes
from difflib import unified_diff as diff_lines
from itertools import takewhile, zip_longest
from typing import NamedTuple

from evalcase.types.value import JSON
from evalcase.util.text import name_blank

_CONTEXT = 2
_MOST_LINES, _MOST_TWINS = 2_000, 10_000
"""Lines, and pairs of equal ones, up to which two texts are aligned: more takes too long."""
_BEFORE, _AFTER, _WORTH_CUTTING = 40, 60, 40
"""Equal characters that are shown before and after a difference within a line."""


_WORDS = re.compile(r"[A-Za-z0-9_.\u00aa-\u2e7f-]+|.", re.DOTALL)
"""Words, and single characters of what is written without spaces between words."""


class SideLine(NamedTuple):
    """A line of one side, and which part of it differs from the other side."""

    text: str
    start: int = 0
    end: int = 0
    note: bool = False
    """Whether it is a remark on what was left out."""


LinePair = tuple[SideLine | None, SideLine | None]


def pair_texts(expected: str, got: str, nothing: str = "") -> Iterator[LinePair]:
    """The lines of two texts. `nothing` stands for a `got` without visible text."""
    left, right = expected.split("\n"), got.split("\n")
    blank = name_blank(expected), name_blank(got) and (nothing or name_blank(got))
    if any(blank):
        marked = [
            [SideLine(name, note=True)] if name else list(map(_mark_whole, lines))
            for name, lines in zip(blank, (left, right), strict=True)
        ]
        yield from zip_longest(*marked)
        return
    if len(left) == len(right) == 1:
        yield _mark_differing(left[0], right[0])
        return
    sides = [left, right]
    is_data = expected[0] in "{[" and got[0] in "{["
    if is_data:
        # Of data, a comma at the end of a line says only that another line follows.
        sides = [[line.rstrip(",") for line in side] for side in sides]
    for kind, a, b, c, d in _align_lines(*sides):
        if kind == "equal":
            first, last = a == 0, b == len(left)
            yield from ((line, line) for line in _shorten_equal(left[a:b], first, last))
        else:
            for one, other in zip_longest(left[a:b], right[c:d]):
                if one is not None and other is not None:
                    yield _mark_differing(one, other, "," if is_data else "")
                else:
                    yield _mark_whole(one), _mark_whole(other)


def _align_lines(left: list[str], right: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Which lines of two texts are equal, as `SequenceMatcher` has it. Texts come from anyone:
    where there are too many ways to align them, all between the equal lines at both ends counts as
    different."""
    start = count_equal(left, right)
    end = count_equal(left[start:][::-1], right[start:][::-1])
    a, b = left[start : len(left) - end], right[start : len(right) - end]
    theirs = Counter(b)
    yield "equal", 0, start, 0, start
    if len(a) + len(b) <= _MOST_LINES and sum(theirs[line] for line in a) <= _MOST_TWINS:
        for kind, *ends in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
            yield kind, *(each + start for each in ends)  # type: ignore[misc]
    else:
        yield "replace", start, start + len(a), start, start + len(b)
    yield "equal", start + len(a), len(left), start + len(b), len(right)


def pair_calls(rows: Sequence[Mapping[str, JSON]]) -> Iterator[LinePair]:
    """Tool calls that a grader has put side by side. What it accepts is not marked."""
    for row in rows:
        expected, got = _text_in(row, "expected"), _text_in(row, "got")
        note = SideLine(f"({_text_in(row, 'note') or 'not made'})", note=True)
        if expected is not None and got is not None and row.get("made") is True:
            yield SideLine(expected), SideLine(got)
        elif expected is not None and got is not None:
            start, *ends = _find_span(expected, got)
            name = min(start, expected.find("(") + 1)
            left = _cut_excerpt(expected, start, ends[0], name)
            yield left, _cut_excerpt(got, start, ends[1], name)
        elif expected is not None:
            yield _mark_whole(expected), note
        elif got is None:
            yield None, note
        elif row.get("made") is False:
            yield SideLine("(not expected)", note=True), _mark_whole(got)
        else:
            yield None, SideLine(got)


def pair_fields(rows: Sequence[Mapping[str, JSON]]) -> Iterator[LinePair]:
    for row in rows:
        name = _text_in(row, "field") or ""
        sides = [f"{name}: {_text_in(row, side) or ''}" for side in ("expected", "got")]
        start = 0 if row.get("matches") is True else len(name) + 2
        ends = [len(side) if start else 0 for side in sides]
        yield SideLine(sides[0], start, ends[0]), SideLine(sides[1], start, ends[1])


def _text_in(row: Mapping[str, JSON], name: str) -> str | None:
    value = row.get(name)
    return value if isinstance(value, str) else None


def _mark_whole(text: str | None) -> SideLine | None:
    return None if text is None else SideLine(text, 0, len(text))


def _shorten_equal(lines: list[str], first: bool, last: bool) -> Iterator[SideLine]:
    """Equal lines: those next to a difference, and how many others there are."""
    head = 0 if first else _CONTEXT
    tail = 0 if last else _CONTEXT
    left_out = len(lines) - head - tail
    if left_out <= 1:
        yield from map(SideLine, lines)
        return
    yield from map(SideLine, lines[:head])
    yield SideLine(f"… {left_out:,} equal lines", note=True)
    yield from map(SideLine, lines[len(lines) - tail :])


def _mark_differing(left: str, right: str, end: str = "") -> tuple[SideLine, SideLine]:
    """Two lines with the part that differs, and not too much of what is equal around it. What they
    may end with says nothing."""
    start, left_end, right_end = _find_span(left.removesuffix(end), right.removesuffix(end))
    return _cut_excerpt(left, start, left_end), _cut_excerpt(right, start, right_end)


def _find_span(left: str, right: str) -> tuple[int, int, int]:
    """Where the part that differs begins in both, and where it ends in each. Words and numbers are
    marked whole: `7.00` and `6.40`, not `7.0` and `6.4`."""
    sides = _WORDS.findall(left), _WORDS.findall(right)
    start = count_equal(*sides)
    rest = [side[start:][::-1] for side in sides]
    end = count_equal(*rest)
    at = sum(map(len, sides[0][:start]))
    ends = [
        len(text) - sum(map(len, side[:end]))
        for text, side in zip((left, right), rest, strict=True)
    ]
    return at, ends[0], ends[1]


def count_equal(left: Sequence[str], right: Sequence[str]) -> int:
    """How many items are the same at the beginning of both."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))))


def _cut_excerpt(text: str, start: int, end: int, whole: int = 0) -> SideLine:
    """A line cut to what is around its difference; the first `whole` characters always stay. What
    is left out is longer than what says so."""
    skipped = start - _BEFORE
    if skipped - whole > _WORTH_CUTTING:
        lead = f"{text[:whole]}({skipped - whole:,} characters) …"
        text = lead + text[skipped:]
        start, end = start - skipped + len(lead), end - skipped + len(lead)
    left_out = len(text) - end - _AFTER
    if left_out > _WORTH_CUTTING:
        text = f"{text[: end + _AFTER]}… ({left_out:,} characters)"
    return SideLine(text, start, end)


def unified_diff(before: bytes, after: bytes, path: str) -> Iterator[bytes]:
    """The lines of a diff that `patch` and `git apply` take, byte for byte."""
    name = os.fsencode(os.path.normpath(path)).lstrip(b"/")
    # A tab ends a name that holds a space.
    end = b"\t" if b" " in name else b""
    old, new = _split_lines(before), _split_lines(after)
    for line in diff_bytes(
        diff_lines, old, new, b"a/" + name + end, b"b/" + name + end, lineterm=b"\n"
    ):
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def diff_style(line: str) -> str:
    if line.startswith(("+++", "---")):
        return "place"
    return {"+": "good", "-": "error", "@": "hint"}.get(line[:1], "")


def _split_lines(data: bytes) -> list[bytes]:
    *lines, last = data.split(b"\n")
    return [line + b"\n" for line in lines] + ([last] if last else [])
