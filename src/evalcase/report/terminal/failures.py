"""A result that did not pass in, lines for people out: one while it runs, all of it at the end."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.result import Result, Verdict
from evalcase.report.terminal.cells import cut, measure, wrap
from evalcase.report.terminal.side_by_side import compare_lines
from evalcase.report.terminal.style import Style, paint
from evalcase.text.visible import visible

INDENT = 2
_LONGEST = 4200
"""Characters of a text that are looked at: no more than what the built-in graders keep."""
_REASON_ROWS = 4
_TAIL = 3
_DIFFERENCE = re.compile(
    r"(?:(line [\d,]+, character [\d,]+): )?expected .*?"
    r"( \((?:only|expected U\+|[\d,]+ parts? without)[^()]*\))?",
    re.DOTALL,
)
_FRAME = re.compile(r'\s*File "(?P<file>.*)", line (?P<line>\d+)(?:, in (?P<name>.*))?')
_FOREIGN = re.compile(r"[/\\](?:site-packages|lib[/\\]python3[^/\\]*|evalcase[/\\]targets)[/\\]|^<")


def colour_of(verdict: Verdict, style: Style) -> str:
    """Green, red and yellow for what a person should see first."""
    colours = {"passed": style.good, "failed": style.error, "skipped": style.gutter}
    return colours.get(verdict, style.warning)


def headline(result: Result, style: Style, width: int, *, name_target: bool = False) -> str:
    """One line: the verdict, the case and the reason, cut to the width."""
    _, case, target, repeat = result.key
    said = [target] if name_target else []
    said += [f"repeat {repeat}"] if repeat > 1 else []
    name = f"{case} ({', '.join(said)})" if said else case
    rest = cut(
        f"{cut(name, max(8, width // 2))}: {reason(result)}", width - len(result.verdict) - 1
    )
    return f"{paint(result.verdict, colour_of(result.verdict, style))} {rest}"


def reason(result: Result) -> str:
    """Why it is not passed; without the name of the grader that needs no name."""
    if result.failure is not None:
        return result.failure.message
    broken = [grade for grade in result.grades if grade.failure is not None]
    unhappy = broken or [grade for grade in result.grades if not grade.passed]
    if not unhappy:
        return "there was nothing to grade by" if result.verdict == "ungraded" else ""
    return "; ".join(map(_reason, unhappy))


def _reason(grade: Grade) -> str:
    return grade.reason if grade.grader == "expected" else f"{grade.grader}: {grade.reason}"


def detail_lines(result: Result, style: Style, width: int) -> Iterator[str]:
    """What a person needs to find the cause: the reason, both sides, and what broke."""
    room = max(20, width - INDENT)
    for line in _details(result, style, room):
        yield (" " * INDENT + line).rstrip()


def _details(result: Result, style: Style, width: int) -> Iterator[str]:
    if result.failure is not None:
        yield from _failure_lines(result.failure, result.attempts, style, width)
        return
    broken = [grade for grade in result.grades if grade.failure is not None]
    for grade in broken:
        if grade.failure is not None:
            yield from _reason_lines(_reason(grade), width)
            yield from _evidence(grade.failure.details, style, width)
    if broken:
        return
    unhappy = [grade for grade in result.grades if not grade.passed]
    if not unhappy:
        yield from _reason_lines(reason(result), width)
    for grade in unhappy:
        yield from _grade_lines(grade, style, width)


def _grade_lines(grade: Grade, style: Style, width: int) -> Iterator[str]:
    expected, got = grade.details.get("expected"), grade.details.get("got")
    if expected is None or got is None:
        yield from _reason_lines(_reason(grade), width)
        return
    yield from _reason_lines(_beside_both_sides(grade), width)
    yield from compare_lines(_text(expected), _text(got), width, style)


def _beside_both_sides(grade: Grade) -> str:
    """The reason without what both sides show themselves: where they differ, and how."""
    found = _DIFFERENCE.fullmatch(grade.reason) if grade.grader == "expected" else None
    if found is None:
        return _reason(grade)
    return " ".join(part.strip() for part in found.groups() if part)


def _text(value: object) -> str:
    if not isinstance(value, str):
        from json import dumps

        value = dumps(value, ensure_ascii=False, indent=2)
    if len(value) <= _LONGEST:
        return value
    return f"{value[:_LONGEST]}… ({len(value) - _LONGEST:,} more characters)"


def _reason_lines(text: str, width: int) -> list[str]:
    if not text:
        return []
    rows = wrap(text[:_LONGEST].strip(), width)
    if len(rows) <= _REASON_ROWS:
        return rows
    return [*rows[: _REASON_ROWS - 1], cut(f"{rows[_REASON_ROWS - 1]} …", width)]


def _failure_lines(failure: Failure, attempts: int, style: Style, width: int) -> Iterator[str]:
    kind = "" if failure.kind == "exception" else f"{failure.kind}: "
    after = f" (after {attempts} attempts)" if attempts > 1 else ""
    yield from _reason_lines(f"{kind}{failure.message}{after}", width)
    yield from _evidence(failure.details, style, width, failure.message)


def _evidence(details: dict[str, Any], style: Style, width: int, said: str = "") -> Iterator[str]:
    """The detail that helps most: where the code broke, what the server or the program said."""
    trace = details.get("traceback")
    if isinstance(trace, list):
        yield from (paint(line, style.gutter) for line in _place(trace, width))
        return
    if "status" in details and str(details["status"]) not in said:
        yield paint(cut(f"status {details['status']}", width), style.gutter)
    for name in ("body", "stderr", "stdout", "output", "value", "message"):
        text = str(details.get(name) or "").strip()
        if text and text not in said:
            yield from _tail(name, text, style, width)
            return


def _tail(name: str, text: str, style: Style, width: int) -> Iterator[str]:
    """The end of what a program wrote, or the beginning of what a server did."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    rest = len(lines) - _TAIL
    if rest > 0 and name in ("stderr", "stdout"):
        lines = [f"… {rest:,} lines before", *lines[-_TAIL:]]
    elif rest > 0:
        lines = [*lines[:_TAIL], f"… {rest:,} more lines"]
    lead = f"{name} │ "
    for line in lines:
        yield paint(lead + cut(line, width - len(lead)), style.gutter)
        lead = f"{'':{len(name)}} │ "


def _place(trace: list[object], width: int) -> Iterator[str]:
    """The last line of the user's own code in a traceback, and what stands there."""
    lines = [str(line) for line in trace]
    frames = [(at, match) for at, line in enumerate(lines) if (match := _FRAME.match(line))]
    if not frames:
        return
    own = [frame for frame in frames if not _FOREIGN.search(frame[1]["file"])]
    at, match = (own or frames)[-1]
    name = f", in {match['name']}" if match["name"] else ""
    yield cut(f"{near(match['file'])}:{match['line']}{name}", width)
    source = lines[at + 1].strip() if at + 1 < len(lines) else ""
    if source and not _FRAME.match(source) and lines[at + 1].startswith(" "):
        yield cut(f"    {source}", width)


def near(path: str) -> str:
    """A path as seen from here, where it is inside; else as it is."""
    if not os.path.isabs(path):
        return path
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def name_lines(result: Result, style: Style, width: int, extras: list[str]) -> Iterator[str]:
    """How a case is named at the end: verdict, file and case, and what else tells it apart."""
    word = paint(result.verdict, colour_of(result.verdict, style))
    room = max(10, width - len(result.verdict) - 1)
    suite, case = visible(result.key.suite), visible(result.key.case)
    rest = f" ({', '.join(map(visible, extras))})" if extras else ""
    if measure(f"{suite}: {case}{rest}") <= room:
        yield f"{word} {paint(f'{suite}: ', style.gutter)}{paint(case, style.place)}{rest}"
        return
    yield f"{word} {paint(cut(case + rest, room), style.place)}"
    yield paint(f"{'':{INDENT}}{cut(suite, width - INDENT)}", style.gutter)
