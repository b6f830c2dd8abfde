"""Problems in, text for programs out: JSON, and the commands GitHub turns into annotations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from evalcase.types.problem import Problem, Span
from evalcase.util.text import BIDI_MARKS, STEERING, make_visible

_UNSAFE_IN_JSON = re.compile(f"[{STEERING}{BIDI_MARKS}]")
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def format_json(problems: Iterable[Problem]) -> str:
    """A JSON list with one object per problem."""
    return json_text([problem.to_dict() for problem in problems])


def json_text(value: object) -> str:
    """Indented JSON that keeps non-ASCII text, but escapes what a terminal or UTF-8 can't take."""
    import json

    return escape_steering(json.dumps(value, indent=2, ensure_ascii=False))


def escape_steering(json_text: str) -> str:
    """Escape the characters that steer a terminal in a text that is JSON."""
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", json_text)


def as_github(problems: Iterable[Problem]) -> Iterator[str]:
    """One workflow command per problem, each a line."""
    for problem in problems:
        pairs = {
            "file": problem.path,
            **_write_place(problem.span),
            "title": f"evalcase: {problem.code}",
        }
        text = make_visible(problem.message) + (f"\n{problem.hint}" if problem.hint else "")
        yield github_command(_COMMANDS[problem.severity], pairs, text)


def github_command(level: str, properties: Mapping[str, str], text: str) -> str:
    """A workflow command. Whatever the text holds, it is one line, and commands nothing else."""
    said = ",".join(f"{name}={_escape_property(value)}" for name, value in properties.items())
    return f"::{level} {said}::{_escape_data(_by_line(text))}"


def _write_place(span: Span | None) -> dict[str, str]:
    if span is None:
        return {}
    # A span that ends before the first character of a line has nothing of that line.
    spills = span.end_line > span.line and span.end_column == 1
    end_line = span.end_line - 1 if spills else span.end_line
    place = {"line": str(span.line), "endLine": str(end_line)}
    # GitHub drops the columns of a place that goes over several lines, and says so in the log.
    if end_line == span.line:
        place["col"] = str(span.column)
    if span.end_line == span.line:
        place["endColumn"] = str(span.end_column)
    return place


def _by_line(text: str) -> str:
    return "\n".join(map(make_visible, text.split("\n")))


def _escape_data(text: str) -> str:
    # The percent sign goes first, or it would escape the escapes.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(_by_line(text)).replace(":", "%3A").replace(",", "%2C")
