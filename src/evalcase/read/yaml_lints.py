"""Text that YAML reads as it should, and that was probably meant otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from evalcase.read import scalars
from evalcase.read.fault import Fault
from evalcase.read.lines import Lines, split_lines
from evalcase.read.yaml_faults import span_of
from evalcase.read.yaml_source import prepare_source

_COMMENT = re.compile(r"#(?<=[^\s,:\[{\"'\]}] #)[^\s#]")
_OPENING, _CLOSING, _QUOTES = "\u201c\u201d\u201e\u2018", "\u201c\u201d\u2019", "\u201c\u201d\u201e"


def find_lints(source: bytes) -> Iterator[Fault]:
    """What is worth a look in a text that may mislead, and that libyaml can read."""
    text = prepare_source(source).data.decode()
    lines = Lines(text)
    comments = {found.start() for found in _COMMENT.finditer(text)}
    events: Iterator[Any] = yaml.parse(text, Loader=yaml.CSafeLoader)
    for event in events:
        if _is_plain_text(event):
            after: int = event.end_mark.index + 1
            if after in comments:
                yield _cut_text(text, after, lines)
            if _is_in_smart_quotes(event.value):
                yield Fault("smart-quotes", _SMART, span_of(event), _STRAIGHT)


_SMART = "these quotes are a part of the text"
_STRAIGHT = "quotes that only mark where a text begins and ends are straight: \" or '"


def _is_plain_text(event: Any) -> bool:
    if type(event) is not yaml.ScalarEvent or not event.implicit[0]:
        return False
    try:
        return isinstance(scalars.read_plain(event.value), str)
    except scalars.NotJsonScalarError:
        return False


def _cut_text(text: str, at: int, lines: Lines) -> Fault:
    end = at + len(split_lines(text[at : at + 1000])[0].rstrip())
    message = "this is a comment, so the text before it ends there"
    hint = "put the text in quotes; a comment is easier to tell with a space after its `#`"
    return Fault("cut-text", message, lines.span(at, end), hint)


def _is_in_smart_quotes(value: str) -> bool:
    """Whether a text begins and ends with them, and has no others in between."""
    if len(value) < 2 or value[0] not in _OPENING or value[-1] not in _CLOSING:
        return False
    return not any(quote in value[1:-1] for quote in _QUOTES)
