"""libyaml's complaints in words that help."""

from __future__ import annotations

import re
from typing import Any

from yaml.error import MarkedYAMLError

from evalcase.model.problem import Span
from evalcase.read.fault import Fault
from evalcase.read.lines import span_at
from evalcase.read.yaml_neighbours import explain_neighbours

_NOT_ALLOWED = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")

_SHOWS_LATER = (
    "unexpected end of stream",
    "unexpected document indicator",
    "did not find expected ','",
    "while scanning a simple key",
)
"""Complaints about something that started earlier, which is the place of more help."""

_IN_PLAIN_WORDS: tuple[tuple[str, str, str | None], ...] = (
    (
        "mapping values are not allowed",
        "a `: ` is not expected here",
        "text that holds `: ` must be in quotes; or the line above is indented differently",
    ),
    (
        "that cannot start any token",
        "this character can't start a value",
        "text that starts with it must be in quotes",
    ),
    (
        "could not find expected ':'",
        "a key needs a `:` after it",
        "a line of text inside a mapping must be indented under its key, or be in quotes",
    ),
    ("unexpected document indicator", "this quote is never closed", None),
    ("unexpected end of stream", "this quote is never closed", None),
    ("hexdecimal number", "the hexadecimal digits of this escape are missing",
     "write a backslash as `\\\\`, or use single quotes"),
    ("did not find expected key", "this doesn't fit the mapping it is in",
     "is the indentation the same as that of the key above, and every quote closed?"),
    ("did not find expected '-' indicator", "this doesn't fit the list it is in",
     "each item starts with `- `, all at the same indentation"),
    ("did not find expected ',' or ']'", "this list is never closed, or lacks a comma", None),
    ("did not find expected ',' or '}'", "this mapping is never closed, or lacks a comma", None),
    ("unknown escape character", "this escape doesn't exist in a double-quoted string",
     "write a backslash as `\\\\`, or use single quotes"),
    ("mapping keys are not allowed", "a `? ` is not expected here",
     "text that starts with `? ` must be in quotes"),
    ("block sequence entries are not allowed", "a list can't start here",
     "it starts on a line of its own; text that starts with `- ` must be in quotes"),
    ("expected <document start>", "there is more after the end of the value",
     "is the indentation that of the first line, and every quote closed?"),
    ("expected node content", "a value is missing here",
     "text that starts with a bracket, a brace or a comma must be in quotes"),
    ("indentation indicator equal to 0", "the indentation of a text is 1 to 9 spaces", None),
    ("did not find expected comment or line break",
     "only a comment may follow on this line", None),
    ("undefined tag handle", "this tag has a prefix that nothing defines",
     "text that starts with `!` must be in quotes"),
    ("while scanning a tag", "a `!` starts a tag, and this is not one",
     "text that starts with `!` must be in quotes"),
    ("while parsing a tag", "a `!` starts a tag, and this is not one",
     "text that starts with `!` must be in quotes"),
    ("directive", "a `%` at the start of a line starts a directive, and this one is unknown",
     "leave it out; text that starts with `%` must be in quotes"),
    ("incompatible YAML document", "this says that it is YAML of a version that isn't known",
     "leave the directive out"),
    ("while scanning an alias", "a `*` starts an alias, which needs a name",
     "text that starts with `*` must be in quotes"),
    ("while scanning an anchor", "a `&` starts an anchor, which needs a name",
     "text that starts with `&` must be in quotes"),
)  # fmt: skip


def span_of(event: Any) -> Span:
    start, end = event.start_mark, event.end_mark
    return Span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def explain_error(error: Exception, text: str) -> Fault:
    """The fault behind an error that libyaml raised while reading `text`."""
    if not isinstance(error, MarkedYAMLError):
        return _bad_character(text)
    mark: Any = error.problem_mark or error.context_mark
    complaint = f"{error.context or ''} {error.problem or ''}"
    if error.context_mark and any(needle in complaint for needle in _SHOWS_LATER):
        mark = error.context_mark
    span = Span(mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 2)
    if "Unicode character escape" in complaint:
        return _bad_escape(text, text.rfind("\\", 0, mark.index + 1))
    if text[mark.index : mark.index + 1] == "\t":
        return Fault("syntax", "a tab is not allowed here", span, _hint_for_tab(error, text, mark))
    fault = explain_neighbours(complaint, text, mark)
    if fault is not None:
        return fault
    for needle, message, hint in _IN_PLAIN_WORDS:
        if needle in complaint:
            return Fault("syntax", message, span, hint)
    return Fault(
        "syntax", f"this isn't valid YAML: {(error.problem or 'unreadable').strip()}", span
    )


def _hint_for_tab(error: MarkedYAMLError, text: str, mark: Any) -> str:
    """Where the first character of a block of text is a tab, its indentation must be said."""
    if "block scalar" not in (error.context or "") or not mark.column or not error.context_mark:
        return "indent with spaces"
    start: Any = error.context_mark
    header = text[start.index - start.column : start.index]
    deep = mark.column - _find_indentation(header)
    sign = text[start.index]
    if not 0 < deep < 10:
        return "indent with spaces"
    return f"if the text itself starts with the tab, say how far it is indented: `{sign}{deep}`"


def _find_indentation(header: str) -> int:
    """The column of the key, or of the dash, that a block of text stands under."""
    dashes = re.match(r"[ ]*(?:- +)*", header)
    column = dashes.end() if dashes else 0
    return column if header[column:].strip() else max(header.rstrip().rfind("-"), 0)


def _bad_escape(text: str, index: int) -> Fault:
    span = span_at(text, index, 6)
    if _SURROGATE_PAIR.match(text, index):
        hint = "write the character itself, or \\U and its 8 digits; a .json file may keep the pair"
        return Fault("syntax", "YAML has no surrogate pairs", span, hint)
    return Fault("not-json-value", "this escape is half of a surrogate pair, not a character", span)


def _bad_character(text: str) -> Fault:
    found = _NOT_ALLOWED.search(text)
    if found is None:  # pragma: no cover - libyaml and this pattern agree on what is allowed
        return Fault("syntax", "the text can't be read", Span(1, 1, 1, 1))
    span, code = span_at(text, found.start()), ord(found.group())
    if 0xD800 <= code <= 0xDFFF:
        return Fault("bad-encoding", f"U+{code:04X} is half of a surrogate pair", span)
    hint = f'in a double-quoted string it can be written "\\x{code:02x}"' if code < 0x100 else None
    return Fault("control-character", f"the character U+{code:04X} is not allowed here", span, hint)
