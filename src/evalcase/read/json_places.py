"""The second reading of a JSON text, made only when something must be pointed at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from json import JSONDecoder, loads

from evalcase.model.problem import Span
from evalcase.read.fault import Fault
from evalcase.read.lines import Lines
from evalcase.read.places import Branch, Leaf, Node, WantedPaths
from evalcase.read.scalars import NotJsonScalarError, read_decimal, read_float

_TOKEN = re.compile(r'[\[\]{},:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s\[\]{},:"]+', re.DOTALL)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def json_places(text: str, wanted: WantedPaths | None, one_line: bool = False) -> Node:
    """The places of the wanted paths of a text that JsonReader has read; None wants all."""
    if wanted is None:
        return _JsonPlaceReader(text, one_line).read_value()
    seeker = _Seeker(text, one_line)
    return seeker.read(seeker.past_space(0), wanted)[0]


def json_faults(text: str, one_line: bool) -> list[Fault]:
    """Every duplicate key and every value that is no JSON, in a text that can be read."""
    reader = _JsonPlaceReader(text, one_line)
    reader.read_value()
    return reader.faults


def nesting_fault(text: str, limit: int, one_line: bool) -> Fault:
    """The place where a text becomes too deep, found without recursion."""
    level = 0
    for token in _TOKEN.finditer(text):
        if token.group() in "[{":
            level += 1
            if level > limit:
                span = Lines(text, one_line).span(token.start(), token.end())
                return Fault("too-deep", f"values are nested more than {limit} deep here", span)
        elif token.group() in "]}":
            level -= 1
    raise AssertionError("nesting_fault needs a text that is nested too deep")


_SPACE = re.compile(r"[ \t\n\r]*")


@cache
def _make_scanner() -> Callable[[str, int], tuple[object, int]]:
    """The decoder's own entry, which goes past a value without a look at it."""
    lax = JSONDecoder(parse_int=len, parse_float=len, parse_constant=len, strict=False)
    scan: Callable[[str, int], tuple[object, int]] = lax.scan_once  # type: ignore[attr-defined]
    return scan


class _Seeker:
    """Finds some values: what lies between them is left to the decoder, which is in C."""

    def __init__(self, text: str, one_line: bool) -> None:
        self.text = text
        self.lines = Lines(text, one_line)
        self.scan = _make_scanner()

    def past_space(self, at: int) -> int:
        return _SPACE.match(self.text, at).end()  # type: ignore[union-attr]

    def read(self, at: int, wanted: WantedPaths) -> tuple[Node, int]:
        """The node that starts there, and where it ends."""
        if wanted and self.text[at] == "{":
            return self.read_mapping(at, wanted)
        if wanted and self.text[at] == "[":
            return self.read_list(at, wanted)
        end = self.scan(self.text, at)[1]
        return Leaf(self.lines.span(at, end)), end

    def read_mapping(self, start: int, wanted: WantedPaths) -> tuple[Node, int]:
        text, scan, past_space = self.text, self.scan, self.past_space
        children: dict[str | int, tuple[Span, Node]] = {}
        at = past_space(start + 1)
        while text[at] != "}":
            key, key_end = scan(text, at)
            value_at = past_space(past_space(key_end) + 1)
            if key in wanted and key not in children:
                node, end = self.read(value_at, wanted[key])
                children[key] = self.lines.span(at, key_end), node
            else:
                end = scan(text, value_at)[1]
            at = self._next(end)
        return Branch(self.lines.span(start, at + 1), children), at + 1

    def read_list(self, start: int, wanted: WantedPaths) -> tuple[Node, int]:
        children: dict[str | int, tuple[Span, Node]] = {}
        index, at = 0, self.past_space(start + 1)
        while self.text[at] != "]":
            if index in wanted:
                node, end = self.read(at, wanted[index])
                children[index] = node.span, node
            else:
                end = self.scan(self.text, at)[1]
            index, at = index + 1, self._next(end)
        return Branch(self.lines.span(start, at + 1), children), at + 1

    def _next(self, end: int) -> int:
        """Where the next key or item starts, or the bracket that closes."""
        at = self.past_space(end)
        return self.past_space(at + 1) if self.text[at] == "," else at


class _JsonPlaceReader:
    def __init__(self, text: str, one_line: bool) -> None:
        self.lines = Lines(text, one_line)
        self.tokens: Iterator[re.Match[str]] = _TOKEN.finditer(text)
        self.faults: list[Fault] = []

    def read_value(self) -> Node:
        return self.read(next(self.tokens))

    def read(self, token: re.Match[str]) -> Node:
        """The node that starts with `token`. Recursion is safe: JsonReader bounds the depth."""
        if token.group() == "{":
            return self.read_mapping(token)
        if token.group() == "[":
            return self.read_list(token)
        self.check_scalar(token)
        return Leaf(self.span(token, token))

    def read_mapping(self, start: re.Match[str]) -> Branch:
        children: dict[str | int, tuple[Span, Node]] = {}
        token = next(self.tokens)
        while token.group() != "}":
            self.check_scalar(token)
            key, key_span = loads(token.group(), strict=False), self.span(token, token)
            next(self.tokens)
            node = self.read_value()
            if key in children:
                message = f"the key `{key}` appears twice"
                self.faults.append(Fault("duplicate-key", message, key_span, "keep one of the two"))
            else:
                children[key] = (key_span, node)
            token = next(self.tokens)
            if token.group() == ",":
                token = next(self.tokens)
        return Branch(self.span(start, token), children)

    def read_list(self, start: re.Match[str]) -> Branch:
        children: dict[str | int, tuple[Span, Node]] = {}
        token = next(self.tokens)
        while token.group() != "]":
            node = self.read(token)
            children[len(children)] = (node.span, node)
            token = next(self.tokens)
            if token.group() == ",":
                token = next(self.tokens)
        return Branch(self.span(start, token), children)

    def check_scalar(self, token: re.Match[str]) -> None:
        fault = _value_fault(token.group())
        if fault is not None:
            hint = "write it in quotes to keep it as text" if token.group()[0] != '"' else None
            self.faults.append(Fault("not-json-value", fault, self.span(token, token), hint))

    def span(self, start: re.Match[str], end: re.Match[str]) -> Span:
        return self.lines.span(start.start(), end.end())


def _value_fault(text: str) -> str | None:
    if text[0] == '"':
        if "\\u" in text and _LONE_SURROGATE.search(loads(text, strict=False)):
            return "this text has half of a surrogate pair, which is not a character"
        return None
    if text in ("true", "false", "null"):
        return None
    if text.lstrip("-") in ("NaN", "Infinity"):
        return f"`{text}` can't be written as JSON"
    try:
        read_decimal(text) if text.lstrip("-").isdigit() else read_float(text)
    except NotJsonScalarError as error:
        return str(error)
    return None
