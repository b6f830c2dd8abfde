"""JSON values: read strictly from text, copied from values of user code, walked by paths, and
sealed as lines of a journal.

Duplicate keys, NaN, numbers out of range and deep nesting are errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from json import JSONDecodeError
from math import isfinite
from typing import Any, NamedTuple
from zlib import crc32

from evalcase.types.options import EVERY, is_index, path_steps
from evalcase.types.value import (
    JSON,
    MAX_DEPTH,
    BadJsonError,
    decode_strictly,
    describe_kind,
    measure_depth,
)

__all__ = ["DEEPEST", "DEEPEST_ROW", "BadJsonError", "JsonPath", "parse_json", "parse_object"]

DEEPEST = MAX_DEPTH
DEEPEST_ROW = 200
"""The same for a line that holds a value, in a journal or in a file of answers."""


def parse_json(source: str | bytes, deepest: int = DEEPEST) -> JSON:
    """The one value of a text. Raise BadJsonError if the text is not strict JSON."""
    too_deep = f"it is nested more than {deepest} deep"
    try:
        text = source.decode() if isinstance(source, bytes) else source
        value: JSON = decode_strictly(text)
    except UnicodeDecodeError as error:
        where = f"the byte 0x{error.object[error.start]:02x} at offset {error.start:,}"
        raise BadJsonError(f"it is not UTF-8 ({where})") from None
    except JSONDecodeError as error:
        if error.doc.startswith("\ufeff"):
            raise BadJsonError("it begins with a byte order mark") from None
        what = error.msg.removesuffix(" at")
        raise BadJsonError(f"{what} at line {error.lineno}, column {error.colno}") from None
    except BadJsonError:
        raise
    except RecursionError:
        raise BadJsonError(too_deep) from None
    except ValueError:
        # Python reads no integer of more than 4,300 digits.
        raise BadJsonError("a number in it has too many digits") from None
    brackets = text.count("[") + text.count("{")
    if brackets > deepest and measure_depth(value, deepest) > deepest:
        raise BadJsonError(too_deep)
    return value


def parse_object(source: str | bytes, deepest: int = DEEPEST) -> dict[str, Any]:
    """The same for a text that must be an object."""
    value = parse_json(source, deepest)
    if not isinstance(value, dict):
        raise BadJsonError("it is not an object")
    return value


def compact_encoder(*, sort_keys: bool = False, ascii_only: bool = True) -> Callable[[Any], str]:
    """A function from a JSON value to its text. It raises TypeError, ValueError, RecursionError."""
    return json.JSONEncoder(
        sort_keys=sort_keys, ensure_ascii=ascii_only, separators=(",", ":"),
        check_circular=False, allow_nan=False,
    ).encode  # fmt: skip


def whole_text(text: str) -> str:
    """The same text, with `?` for each lone surrogate."""
    return text.encode("utf-8", "replace").decode()


_MOST_BITS = 14_000
"""Just under 4,300 digits, beyond which Python refuses to write an integer out."""


class NotJsonError(ValueError):
    """A value can't be written as JSON."""


def copy_json(value: object, level: int = 0) -> JSON:
    """A copy of plain dicts and lists that shares nothing with the value. Instances of subclasses
    become plain values."""
    if isinstance(value, str):
        return plain_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        if not isfinite(value):
            raise NotJsonError(f"JSON has no {value}")
        return float.__float__(value)
    if isinstance(value, int):
        if value.bit_length() > _MOST_BITS:
            raise NotJsonError("an integer has more than 4,300 digits")
        return int.__int__(value)
    if level >= DEEPEST:
        raise NotJsonError(f"it is nested more than {DEEPEST} levels deep, or in itself")
    if isinstance(value, dict):
        return {_copy_key(key): copy_json(item, level + 1) for key, item in dict.items(value)}
    if isinstance(value, list | tuple):
        return [copy_json(item, level + 1) for item in value]
    yields = hasattr(value, "__next__") or hasattr(value, "__anext__")
    hint = "; join what it yields and return that" if yields else ""
    raise NotJsonError(f"{type(value).__name__} is not a JSON value{hint}")


def _copy_key(key: object) -> str:
    if not isinstance(key, str):
        raise NotJsonError(f"a key is {key!r}, and keys of JSON are texts")
    return plain_text(key)


def plain_text(value: str) -> str:
    """The text of a str, also of a subclass with another `__str__`, such as an Enum."""
    return str.__str__(value)


class MissingError(LookupError):
    """There is nothing at a path."""

    def __init__(self, message: str, step: str = "", found: JSON = None) -> None:
        super().__init__(message)
        self.step = step
        """The step that leads nowhere."""
        self.found = found
        """The value before that step."""


class Found(NamedTuple):
    """A value, and the path that leads to just this one."""

    path: str
    value: JSON


class JsonPath:
    """A path into a value: `choices.0.message.content`, or `/choices/0/message/content`.

    A number counts items of a list from 0, or from its end: `messages.-1` is the last. `*` is every
    item of a list, or every value of a mapping. A key with a dot in it needs the second form, where
    `~1` is `/` and `~0` is `~`.
    """

    def __init__(self, text: str) -> None:
        """Raise ValueError if the text is no path."""
        self.text = text
        self.steps = path_steps(text)

    def find(self, value: JSON) -> JSON:
        """The value there; `*` is a name. Raise MissingError, which says what there is instead."""
        for number, step in enumerate(self.steps):
            try:
                value = _take_step(value, step)
            except LookupError:
                raise self._missing(self.steps[:number], value) from None
        return value

    def find_all(self, value: JSON, *, is_needed: bool = True) -> list[Found]:
        """Every value that the path leads to. If it `is_needed`, raise MissingError as `find` does,
        also if only one of several items lacks a value."""
        reached: list[tuple[list[str], JSON]] = [([], value)]
        for step in self.steps:
            further: list[tuple[list[str], JSON]] = []
            for way, each in reached:
                try:
                    further += [([*way, key], item) for key, item in _take_steps(each, step)]
                except LookupError:
                    if is_needed:
                        raise self._missing(way, each) from None
            if is_needed and not further:
                raise MissingError(f"there are no items at `{self.text}`")
            reached = further
        is_pointer = self.text.startswith("/")
        return [Found(write_path(way, is_pointer=is_pointer), each) for way, each in reached]

    def _missing(self, way: Sequence[str], value: JSON) -> MissingError:
        what = describe_kind(value)
        if isinstance(value, dict):
            names = ", ".join([f"`{name}`" for name in value][:10] + ["…"] * (len(value) > 10))
            what = f"a mapping with {names}" if value else "an empty mapping"
        elif isinstance(value, list):
            what = f"a list of {len(value)}"
        message = f"there is nothing at `{self.text}`: at {'.'.join(way) or 'the top'} there is"
        return MissingError(f"{message} {what}", self.steps[len(way)], value)


def write_path(steps: Sequence[str], *, is_pointer: bool = False) -> str:
    """The text of a path: a JSON pointer where one is wanted, or a key has a dot in it."""
    if not is_pointer and all(step and "." not in step and "/" not in step for step in steps):
        return ".".join(steps)
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)


def _take_steps(value: JSON, step: str) -> Iterable[tuple[str, JSON]]:
    if step != EVERY:
        return [(step, _take_step(value, step))]
    if isinstance(value, dict):
        return value.items()
    if isinstance(value, list):
        return [(str(number), item) for number, item in enumerate(value)]
    raise LookupError(step)


def _take_step(value: JSON, step: str) -> JSON:
    if isinstance(value, dict):
        return value[step]
    if isinstance(value, list) and step != "-0" and is_index(step.removeprefix("-")):
        return value[int(step)]
    raise LookupError(step)


JOURNAL = "journal.jsonl"
MAX_LINE = 64 * 1024 * 1024
_TAIL = len(b',"sum":"01234567"}\n')
_ESCAPES = re.compile(r"\\(?:u(d[89a-f][0-9a-f]{2})|.)", re.DOTALL)


def seal_line(body: bytes) -> bytes:
    """The line of a JSON object. Raise ValueError if it is too long."""
    start = body[:-1]
    line = start + b',"sum":"%08x"}\n' % crc32(start)
    if len(line) > MAX_LINE:
        raise ValueError(f"a row of {len(line):,} bytes is more than a journal holds")
    return line


def is_whole(line: bytes) -> bool:
    """Whether a line ends in the checksum of what comes before. It tells of a disk that lost
    something, and not of people: anyone can compute it."""
    return line[-_TAIL:] == b',"sum":"%08x"}\n' % crc32(line[:-_TAIL])


def fault_in(line: bytes) -> str | None:
    """What is wrong with a line, in words that follow "this line"; None if it is whole."""
    if is_whole(line):
        return None
    if not line.endswith(b"\n"):
        return "is longer than a journal's may be" if len(line) > MAX_LINE else "is cut short"
    return "does not match its checksum"


def body_of(line: bytes) -> bytes:
    """The JSON object of a whole line, without the checksum."""
    return line[:-_TAIL] + b"}"


def parse_body(body: bytes) -> dict[str, Any]:
    """The JSON object as a dict. Raise ValueError if it is none. Lone surrogates, which are
    written as escapes, stay apart: JSON would join two of them to one character."""
    text = body.decode()
    if "\\ud" in text:
        text = _ESCAPES.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[0], text)
    return parse_object(text, DEEPEST_ROW)
