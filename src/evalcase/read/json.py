"""JSON text to values: the standard decoder, with everything refused that it lets pass."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from json import JSONDecodeError, JSONDecoder
from math import inf
from typing import Any

from evalcase.model.finding import NO_DOUBTS, Doubts
from evalcase.model.json_value import JSON, MAX_DEPTH, measure_depth
from evalcase.model.problem import Span
from evalcase.read.fault import MIND_DEPTH, FatalFaultError, Fault
from evalcase.read.lines import Lines
from evalcase.read.scalars import MAX_DIGITS, NotJsonScalarError, read_decimal

_SPACE = " \t\n\r"
_INFINITE = (inf, -inf)
_FEW_DIGITS = 16
"""With the point. So many are kept by every number."""
_SHORT = 2 * MIND_DEPTH
"""A text of so many characters has no room for more brackets."""


class JsonReader:
    """Reads texts one after the other. One decoder serves all lines of a JSONL file."""

    def __init__(self, one_line: bool = False) -> None:
        self._one_line = one_line
        suspicious: list[str] = []
        self._suspicious = suspicious
        """What the hooks saw in the text being read; the second reading finds the places."""
        self.is_respelt = False
        objects = self._objects = [0]
        """How many objects were seen in it. They are counted where there is a call for each of them
        anyway: to count their brackets goes through the whole text."""

        def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            objects[0] += 1
            result = dict(pairs)
            if len(result) != len(pairs):
                suspicious.append("duplicate key")
                result = dict(reversed(pairs))
            return result

        def floating(text: str) -> float:
            number = float(text)
            if number in _INFINITE:
                suspicious.append(text)
            elif (text[-1] == "0" or len(text) > _FEW_DIGITS) and repr(number) != text:
                self.is_respelt = True
            return number

        def constant(text: str) -> float:
            suspicious.append(text)
            return 0.0

        def integer(text: str) -> int:
            try:
                return read_decimal(text)
            except NotJsonScalarError:
                suspicious.append(text)
                return 0

        hooks: dict[str, Any] = {
            "object_pairs_hook": mapping, "parse_float": floating, "parse_constant": constant
        }  # fmt: skip
        self._careful_scan = _make_scanner(hooks | {"parse_int": integer})
        # `int` itself refuses 4,301 digits, unless the process was told otherwise.
        usual_limit = sys.get_int_max_str_digits() == MAX_DIGITS
        self._scan = _make_scanner(hooks) if usual_limit else self._careful_scan

    def read(self, text: str) -> tuple[JSON, Sequence[Fault], Doubts]:
        """Read one value. Faults that leave the rest readable are returned, others raised."""
        self._suspicious.clear()
        self.is_respelt = False
        try:
            value, end = self._scan(text, 0)
        except (StopIteration, ValueError, RecursionError):
            value, end = self._scan_again(text)
        if end < len(text) and text[end:].strip(_SPACE):
            rest = end + len(text[end:]) - len(text[end:].lstrip(_SPACE))
            raise self._syntax(text, rest, "there is more after the end of the value")
        reached = measure_depth(value, MAX_DEPTH)
        if reached > MAX_DEPTH:
            raise self._nested_too_deep(text)
        doubts = NO_DOUBTS
        texts = _doubts_texts(text)
        if reached > MIND_DEPTH or self.is_respelt or texts:
            doubts = Doubts(reached > MIND_DEPTH, self.is_respelt, texts)
            self.is_respelt = False
        if self._suspicious or _has_surrogates(text):
            from evalcase.read.json_places import json_faults

            self._suspicious.clear()
            return value, json_faults(text, self._one_line), doubts
        return value, (), doubts

    def read_line(self, line: str) -> tuple[JSON, Sequence[Fault], Doubts]:
        """Read the value of a line with its line feed, as `read` does without it: most have nothing
        that would take a closer look."""
        self._objects[0] = 0
        try:
            value, end = self._scan(line, 0)
        except (StopIteration, ValueError, RecursionError):
            return self.read(line[:-1])
        # With few brackets it is not deep, and half of a surrogate pair is written with an escape.
        length = len(line)
        if (
            (end + 1 == length or not line[end:].strip(_SPACE))
            and not self._suspicious
            and (length <= _SHORT or self._objects[0] + line.count("[") <= MIND_DEPTH)
            and ("\\" not in line or not _has_surrogates(line))
        ):  # fmt: skip
            if not (self.is_respelt or "{{" in line or ("/" in line and "file:" in line)):
                return value, (), NO_DOUBTS
            doubts = Doubts(respelt=self.is_respelt, texts=_doubts_texts(line))
            self.is_respelt = False
            return value, (), doubts
        return self.read(line[:-1])

    def _scan_again(self, text: str) -> tuple[Any, int]:
        """Read a text that is not as simple as most: with space before it, or a fault in it."""
        self._suspicious.clear()
        try:
            return self._careful_scan(text, len(text) - len(text.lstrip(_SPACE)))
        except StopIteration as stop:
            raise self._syntax(text, stop.value, "a value is missing here") from None
        except JSONDecodeError as error:
            raise self._syntax(text, error.pos, error.msg) from None
        except RecursionError:
            raise self._nested_too_deep(text) from None

    def _nested_too_deep(self, text: str) -> FatalFaultError:
        from evalcase.read.json_places import nesting_fault

        return FatalFaultError(nesting_fault(text, MAX_DEPTH, self._one_line))

    def _syntax(self, text: str, position: int, complaint: str) -> FatalFaultError:
        if "trailing comma" in complaint:
            # Newer Pythons point at the comma, and older ones at what comes after it.
            position += 1 + len(text[position + 1 :]) - len(text[position + 1 :].lstrip(_SPACE))
        position = min(position, len(text))
        before = text[:position].rstrip(_SPACE)
        if text[position : position + 1] in ("]", "}") and before.endswith(","):
            position, complaint = len(before) - 1, "comma too many"
        end = position + (text[position : position + 1] not in ("", "\n", "\r"))
        span = Lines(text, self._one_line).span(position, end)
        return FatalFaultError(_syntax_fault(text, position, complaint, span))


def read_plain_case(line: str) -> dict[str, JSON] | None:
    """The object in a line with its line feed, if it is plainly an id and two texts; None where
    `JsonReader` has to look at it.

    Without an escape, each character of a text stands for itself: a line that is hardly longer than
    the three has no room for a key that is there twice, which takes seven characters at least.
    """
    if "\\" in line or "{" in line[1:] or ("/" in line and "file:" in line):
        return None
    try:
        value, end = _scan_simply(line, 0)
    except (StopIteration, ValueError):
        return None
    if type(value) is not dict or len(value) != 3:
        return None
    id, asked, expected = value.get("id"), value.get("input"), value.get("expected_output")
    if type(id) is not str or type(asked) is not str or type(expected) is not str:
        return None
    if len(line) - len(id) - len(asked) - len(expected) > _AROUND_PLAIN + 6:
        return None
    return value if end + 1 == len(line) or not line[end:].strip(_SPACE) else None


_AROUND_PLAIN = len('{"id":"","input":"","expected_output":""}\n')


def _make_scanner(hooks: dict[str, Any]) -> Callable[[str, int], tuple[Any, int]]:
    """The decoder's own entry, which reads a value at a position and says where it ends."""
    scan: Callable[[str, int], tuple[Any, int]] = JSONDecoder(**hooks).scan_once  # type: ignore[attr-defined]
    return scan


_scan_simply = _make_scanner({})


def _doubts_texts(text: str) -> bool:
    """Whether a text may look like more than text. One character is found ten times as fast as two,
    and most have none of it; a slash may be escaped."""
    return ("{" in text and "{{" in text) or ("/" in text and "file:" in text)


def _has_surrogates(text: str) -> bool:
    return "\\" in text and "\\u" in text and ("\\ud" in text or "\\uD" in text)


def _syntax_fault(text: str, position: int, complaint: str, span: Span) -> Fault:
    here = text[position : position + 1]
    if "control character" in complaint:
        return Fault(
            "control-character",
            f"the character U+{ord(here):04X} must be escaped in a JSON string",
            span,
            f"write it as \\u{ord(here):04x}",
        )
    message = next((ours for theirs, ours in _IN_PLAIN_WORDS if theirs in complaint), complaint)
    fix = "" if "comma too many" in complaint else None
    hint = _hint_at_fault(text, position, here)
    return Fault("syntax", f"this isn't valid JSON: {message}", span, hint, fix)


_IN_PLAIN_WORDS = (
    ("comma too many", "this comma has nothing after it"),
    ("property name", "a key is missing here"),
    ("trailing comma", "a key is missing here"),
    ("':' delimiter", "a `:` is missing here"),
    ("',' delimiter", "a comma or the end is missing here"),
    ("Expecting value", "a value is missing here"),
    ("Unterminated string", "this string is never closed"),
    ("escape", "there is no such escape in a string"),
)
"""The decoder's complaints, which differ from one Python to the next."""


def _hint_at_fault(text: str, position: int, here: str) -> str | None:
    before = text[:position].rstrip(_SPACE)[-1:]
    if here == "," and text[position + 1 :].lstrip(_SPACE)[:1] in ("]", "}"):
        return "remove it"
    if here == "'":
        return 'strings are written in double quotes: "…"'
    if text.startswith(("//", "/*", "#"), position):
        return "JSON has no comments; a .yaml file may have them"
    if (here and here in "]}") or before == ",":
        return "there is no comma after the last item"
    if before == "{" and (here.isalpha() or here == "_"):
        return 'keys are written in double quotes: "…"'
    return None
