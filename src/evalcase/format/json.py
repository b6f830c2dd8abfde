"""JSON to values and positions, and the plain scalars that YAML shares with it.

The standard decoder reads the values. Its hooks notice what it would let pass, and a second reading
then finds every such fault and its position.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from json import JSONDecodeError, JSONDecoder, loads
from math import isinf
from typing import Any, TypeAlias

from evalcase.format.positions import NO_CHILDREN, FatalFaultError, Fault, Node
from evalcase.types.value import JSON, MAX_DEPTH, measure_depth

MAX_DIGITS = 4300

Reading: TypeAlias = tuple[JSON, Sequence[Fault], bool]
"""The value of a text that could be read to its end, the faults of the text, and whether the value
may have variables, or numbers that are written in another way than ours (`3.10`). Only then its
cases are searched for them."""


# Scalars

WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_NUMBER = re.compile(
    r"(?P<integer>[-+]?[0-9]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
    r"|0o(?P<octal>[0-7]+)|0x(?P<hexadecimal>[0-9a-fA-F]+)"
    r"|(?P<not_finite>[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
)


class NotJsonScalarError(ValueError):
    """A scalar is a number in YAML that JSON can't hold."""


def read_plain(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar by the YAML 1.2 core schema."""
    if text in WORDS:
        return WORDS[text]
    found = _NUMBER.fullmatch(text)
    match found and found.lastgroup:
        case None:
            return text
        case "integer":
            return _read_integer(text, 10)
        case "float":
            return _read_float(text)
        case "octal":
            return _read_integer(text[2:], 8)
        case "hexadecimal":
            return _read_integer(text[2:], 16)
    raise NotJsonScalarError(f"`{text}` can't be written as JSON")


def _read_integer(digits: str, base: int) -> int:
    try:
        if base == 10 and len(digits.lstrip("+-")) > MAX_DIGITS:
            raise ValueError
        number = int(digits, base)
        if base != 10:
            str(number)  # JSON has it in decimal digits, whose number Python limits
    except ValueError:
        message = f"an integer may have at most {MAX_DIGITS:,} digits"
        raise NotJsonScalarError(message) from None
    return number


def _read_float(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise NotJsonScalarError(f"`{text}` is too large for a number")
    return number


def read_tagged(text: str, tag: str) -> str | int | float | bool | None:
    """The value of a scalar with a core tag. Raise ValueError where the two don't fit."""
    if tag == "str":
        return text
    value = read_plain(text)
    if tag == "float" and type(value) is int:
        return _read_float(text if text[:2] not in ("0o", "0x") else str(value))
    kinds: dict[str, type] = {"null": type(None), "bool": bool, "int": int, "float": float}
    if type(value) is kinds[tag]:
        return value
    raise ValueError(f"`{text}` is not a `!!{tag}`")


def keeps_spelling(text: str, as_json: bool = False) -> bool:
    """Whether a plain scalar is no number, or one that Python writes in the same way.

    JSON comes from programs, which have their own ways with exponents: there it is enough that no
    digit is lost.
    """
    try:
        value = read_plain(text)
    except NotJsonScalarError:
        return True
    if type(value) not in (int, float) or repr(value) == text:
        return True
    has_zeros = "." in text and text.endswith("0") and not text.endswith(".0")
    return as_json and not has_zeros and Decimal(text) == Decimal(repr(value))


# Values

_SPACE = " \t\n\r"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class JsonReader:
    """Reads texts one after the other. One decoder serves all lines of a JSONL file."""

    def __init__(self) -> None:
        self._is_faulty = self._is_unusual = False
        self._mappings = 0
        self._decode = JSONDecoder(
            object_pairs_hook=self._make_mapping,
            parse_float=self._read_float,
            parse_constant=self._refuse_constant,
        ).raw_decode

    def read(self, text: str) -> Reading:
        """Read one value. Faults that leave the rest readable are returned, others raised."""
        self._is_faulty = self._is_unusual = False
        self._mappings = 0
        try:
            value, end = self._decode(text, len(text) - len(text.lstrip(_SPACE)))
        except JSONDecodeError as error:
            raise FatalFaultError(_explain_error(text, error.pos, error.msg)) from None
        except RecursionError:
            raise _too_deep(text) from None
        except ValueError:  # an integer has more digits than Python reads
            raise FatalFaultError(_compose(text)[1][0]) from None
        if end < len(text) and (rest := text[end:].lstrip(_SPACE)):
            raise FatalFaultError(_explain_error(text, len(text) - len(rest), "Extra data"))
        braces = text.count("{")
        may_be_deep = text.count("[") + braces > MAX_DEPTH
        if may_be_deep and measure_depth(value, MAX_DEPTH) > MAX_DEPTH:
            raise _too_deep(text)
        # A single character is found much faster than two.
        is_faulty = self._is_faulty or ("\\" in text and _SURROGATE.search(text))
        is_unusual = self._is_unusual or (braces > self._mappings and "{{" in text)
        return value, _compose(text)[1] if is_faulty else (), is_unusual

    def _make_mapping(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        self._mappings += 1
        result = dict(pairs)
        if len(result) != len(pairs):
            self._is_faulty = True
            result = dict(reversed(pairs))
        return result

    def _read_float(self, text: str) -> float:
        number = float(text)
        if repr(number) != text:
            self._is_unusual = True
            self._is_faulty = self._is_faulty or isinf(number)
        return number

    def _refuse_constant(self, _: str) -> float:
        self._is_faulty = True
        return 0.0


def _too_deep(text: str) -> FatalFaultError:
    """The place where a text becomes too deep, found without recursion."""
    level = 0
    for token in _TOKEN.finditer(text):
        level += (token[0] in "[{") - (token[0] in "]}")
        if level > MAX_DEPTH:
            break
    message = f"values are nested more than {MAX_DEPTH} deep here"
    return FatalFaultError(Fault("too-deep", message, *token.span()))


def _explain_error(text: str, at: int, complaint: str) -> Fault:
    if "trailing comma" in complaint:
        # Newer Pythons point at the comma, and older ones at the token after it.
        at = len(text) - len(text[at + 1 :].lstrip(_SPACE))
    here, before = text[at : at + 1], text[:at].rstrip(_SPACE)
    if "control character" in complaint:
        message = f"the character U+{ord(here):04X} must be escaped in a JSON string"
        return Fault("control-character", message, at, at + 1, f"write it as \\u{ord(here):04x}")
    said = complaint[:1].lower() + complaint[1:].removesuffix(" starting at").removesuffix(" at")
    hint = fix = None
    if here in ("]", "}") and before.endswith(","):
        at, here, said = len(before) - 1, ",", "this comma has nothing after it"
        hint, fix = "remove it", ""
    elif here == "'" or (before.endswith("{") and here.isalpha()):
        hint = 'keys and strings are written in double quotes: "…"'
    elif text.startswith(("//", "/*", "#"), at):
        hint = "JSON has no comments; a .yaml file may have them"
    end = at + (here not in ("", *"\n\r"))
    return Fault("syntax", f"this isn't valid JSON: {said}", at, end, hint, fix)


# Positions

_TOKEN = re.compile(r'[\[\]{},:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s\[\]{},:"]+', re.DOTALL)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def compose_json(text: str) -> Node:
    """The positions in a text that JsonReader has read."""
    return _compose(text)[0]


def _compose(text: str) -> tuple[Node, list[Fault]]:
    """The tree of positions, and every fault that leaves the rest readable."""
    tokens, faults = _TOKEN.finditer(text), list[Fault]()

    def read(token: re.Match[str]) -> Node:
        """The node that starts with a token. Recursion is safe: JsonReader bounds the depth."""
        if token[0] not in "{[":
            faults.extend(_check_scalar(token))
            return Node(*token.span(), NO_CHILDREN)
        children: dict[str | int, Node] = {}
        closing = "}" if token[0] == "{" else "]"
        start, token = token.start(), next(tokens)
        while token[0] != closing:
            if closing == "]":
                children[len(children)] = read(token)
            else:
                faults.extend(_check_scalar(token))
                name, key = token, loads(token[0], strict=False)
                next(tokens)
                value = read(next(tokens))
                value.key_start, value.key_end = name.span()
                if children.setdefault(key, value) is not value:
                    message = f"the key `{key}` appears twice"
                    fault = Fault("duplicate-key", message, *name.span(), "keep one of the two")
                    faults.append(fault)
            token = next(tokens)
            if token[0] == ",":
                token = next(tokens)
        return Node(start, token.end(), children)

    return read(next(tokens)), faults


def _check_scalar(token: re.Match[str]) -> Iterator[Fault]:
    text, message = token[0], ""
    hint: str | None = "write it in quotes to keep it as text"
    if text[0] == '"':
        if "\\u" in text and _LONE_SURROGATE.search(loads(text, strict=False)):
            message, hint = "this text has half of a surrogate pair, which is not a character", None
    elif text.lstrip("-") in ("NaN", "Infinity"):
        message = f"`{text}` can't be written as JSON"
    else:
        try:
            read_plain(text)
        except NotJsonScalarError as error:
            message = str(error)
    if message:
        yield Fault("not-json-value", message, *token.span(), hint)
