"""What helps to find why something broke: the place in the code, what a server or program said."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from evalcase.report.terminal.cells import cut_text
from evalcase.report.terminal.style import Style, paint_text
from evalcase.util.errors import excerpt_complaint
from evalcase.util.text import is_foreign_file, make_visible, write_count

_MOST = 4
_FRAME = re.compile(r'\s*File "(?P<file>.*)", line (?P<line>\d+)(?:, in (?P<name>.*))?')
_OURS = re.compile(r"[/\\]src[/\\]evalcase[/\\]")
"""Where our own sources lie in a clone; else they are installed like those of any package."""


def evidence_lines(
    details: dict[str, Any], style: Style, width: int, said: str = ""
) -> Iterator[str]:
    """The detail that helps most, unless the message has said it."""
    trace = details.get("traceback")
    if isinstance(trace, list):
        yield from (paint_text(line, style.gutter) for line in _find_place(trace, width))
        return
    if "status" in details and str(details["status"]) not in said:
        yield paint_text(cut_text(f"status {details['status']}", width), style.gutter)
    if isinstance(request := details.get("request_id"), str):
        yield paint_text(cut_text(f"request {request}", width), style.gutter)
    if "output" in details:
        # It could not be read: what it was matters as much as what was written beside it.
        yield from _first_quoted(details, ("output",), style, width, said)
    yield from _first_quoted(
        details, ("body", "stderr", "stdout", "value", "message"), style, width, said
    )


def _first_quoted(
    details: dict[str, Any], names: Sequence[str], style: Style, width: int, said: str
) -> Iterator[str]:
    for name in names:
        text = str(details.get(name) or "").strip()
        if text and text not in said:
            yield from _quote_output(name, text, style, width)
            return


def _quote_output(name: str, text: str, style: Style, width: int) -> Iterator[str]:
    """The lines of a program that say why, or the beginning of what a server wrote."""
    if name == "stderr":
        before, lines, after = excerpt_complaint(text, _MOST)
    else:
        all_lines = [line.rstrip("\r") for line in text.split("\n")]
        before, lines, after = 0, all_lines[:_MOST], max(0, len(all_lines) - _MOST)
    if before:
        lines = [f"… {write_count(before, 'line')} before", *lines]
    if after:
        lines = [*lines, f"… {write_count(after, 'line')} more"]
    lead = f"{name} │ "
    for line in lines:
        yield paint_text(lead + cut_text(line, width - len(lead)), style.gutter)
        lead = f"{'':{len(name)}} │ "


def _find_place(trace: list[object], width: int) -> Iterator[str]:
    """The last line of the user's own code in a traceback, and what stands there."""
    lines = [str(line) for line in trace]
    frames = [(at, match) for at, line in enumerate(lines) if (match := _FRAME.match(line))]
    if not frames:
        return
    own = [frame for frame in frames if not _is_foreign(frame[1]["file"])]
    at, match = (own or frames)[-1]
    name = f", in {match['name']}" if match["name"] else ""
    yield make_visible(f"{see_path(match['file'])}:{match['line']}{name}")  # whole, to be copied
    source = lines[at + 1].strip() if at + 1 < len(lines) else ""
    if source and not _FRAME.match(source) and lines[at + 1].startswith(" "):
        yield cut_text(f"    {source}", width)


def _is_foreign(path: str) -> bool:
    return is_foreign_file(path) or _OURS.search(path) is not None


def see_path(path: str) -> str:
    """A path as seen from here, where it is inside; else as it is."""
    if not os.path.isabs(path):
        return path
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative
