"""Text that libyaml drops without a word, though YAML 1.2 has it as text, or as an error.

Each search begins with one character that is rare where nothing is lost, so that a good file costs
a look for two bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from evalcase.read.fault import Fault
from evalcase.read.lines import Lines, split_lines
from evalcase.read.yaml_faults import span_of

_QUESTION_MARK = re.compile(r"\?(?<=[\s,\[{]\?)[^\s,\[\]{}]")
_QUESTION_MARK_BYTES = re.compile(rb"\?(?<=[\s,\[{]\?)[^\s,\[\]{}]")
_HASH = re.compile(r"#(?:(?<=[\"'\]}\[{,:|>]#)|(?<=[|>][0-9+-]#)|(?<=[|>][0-9+-]{2}#))")
_HASH_BYTES = re.compile(rb"#(?:(?<=[\"'\]}\[{,:|>]#)|(?<=[|>][0-9+-]#)|(?<=[|>][0-9+-]{2}#))")


def find_lost_text(data: bytes) -> list[Fault]:
    """What would be lost of a text that libyaml has read."""
    has_marks, has_hashes = _QUESTION_MARK_BYTES.search(data), _HASH_BYTES.search(data)
    if not has_marks and not has_hashes:
        return []
    text = data.decode()
    events = list(yaml.parse(text, Loader=yaml.CSafeLoader))
    return [*_question_marks(text, events), *_find_comments(text, events)]


def _question_marks(text: str, events: list[Any]) -> Iterator[Fault]:
    """Keys in flow mappings whose leading `?` is taken for syntax, as in `{?key: 1}`."""
    suspects = {found.start() + 1 for found in _QUESTION_MARK.finditer(text)}
    for event in events:
        if event.start_mark.index in suspects and isinstance(event, yaml.NodeEvent):
            hint = 'write such a key in quotes: "?…"'
            yield Fault("syntax", "a `?` before a key would be lost here", span_of(event), hint)


def _find_comments(text: str, events: list[Any]) -> Iterator[Fault]:
    """Comments without a space before them: `"Which tag?"#urgent`, `[a,#b`."""
    scalars = (_text_of(event, text) for event in events if _is_scalar(event))
    before = start = end = 0
    lines = Lines(text)
    for suspect in (found.start() for found in _HASH.finditer(text)):
        while end <= suspect:
            before = end
            start, end = next(scalars, (len(text) + 1, len(text) + 1))
        if start < suspect or _is_in_comment(text, before, suspect):
            continue
        rest = len(split_lines(text[suspect : suspect + 1000])[0].rstrip())
        message = "this would be read as a comment, and be lost"
        hint = "a comment has a space before its `#`; text with a `#` must be in quotes"
        yield Fault("syntax", message, lines.span(suspect, suspect + rest), hint)


def _is_scalar(event: Any) -> bool:
    start, end = event.start_mark, event.end_mark
    return type(event) is yaml.ScalarEvent and end.index > start.index


def _text_of(event: Any, text: str) -> tuple[int, int]:
    """Where the text of a scalar stands: a comment may follow the header of a block."""
    start, end = event.start_mark.index, event.end_mark.index
    if event.style in ("|", ">"):
        start += len(split_lines(text[start:end])[0])
    return start, end


def _is_in_comment(text: str, after: int, suspect: int) -> bool:
    """Whether a comment has begun before, on the same line and `after` the last scalar."""
    line = max(text.rfind("\n", 0, suspect), text.rfind("\r", 0, suspect)) + 1
    return "#" in text[max(line, after) : suspect]
