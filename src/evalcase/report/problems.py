"""Problems of files as text: place, message, the source line with the span marked, and a hint; as
JSON and as SARIF. Pages of the documentation explain their codes."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from urllib.parse import quote

from msgspec import Struct
from rich.cells import cell_len, set_cell_size

from evalcase.report.json import json_text
from evalcase.report.terminal import Screen, hang_text, spell
from evalcase.types.problem import CODES, Excerpt, Problem, Severity, Span
from evalcase.util.environment import PACKAGE
from evalcase.util.text import make_visible, write_count

SHOWN = 3
"""Problems of a kind that are shown for each file; programs get all of them."""
_FRAME_WIDTH = 100
_INDENT = 4
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
_PLAIN = Screen(sys.maxsize)


class Checked(Struct):
    """What was checked. A report reads it at its end, so it may grow while problems stream."""

    files: int = 0
    cases: int = 0


def as_text(
    files: Iterable[Sequence[Problem]], checked: Checked, screen: Screen = _PLAIN
) -> Iterator[str]:
    """Each problem with its source line and hint, a blank line after each, then the summary. The
    problems of a file are shown before the next is read."""
    counts: Counter[Severity] = Counter()
    at_fault: set[str] = set()
    for found in files:
        at_fault.update(problem.path for problem in found if problem.span is not None)
        counts.update(problem.severity for problem in found)
        for lines in fold_problems(found, screen):
            yield from lines
            yield ""
    yield summary_line(counts, checked, len(at_fault), screen)


def fold_problems(problems: Iterable[Problem], screen: Screen = _PLAIN) -> Iterator[list[str]]:
    """The lines of each problem. Of several that say the same of a file only the first are shown,
    the last of them with how many more there are."""
    problems = list(problems)
    of_kind = Counter(map(_kind_of_problem, problems))
    shown: Counter[tuple[str, str, str]] = Counter()
    for problem in problems:
        kind = _kind_of_problem(problem)
        shown[kind] += 1
        if shown[kind] > SHOWN:
            continue
        lines = list(problem_lines(problem, screen))
        more = of_kind[kind] - SHOWN if shown[kind] == SHOWN else 0
        if more > 0:
            lead = f"{' ' * _margin(problem.span)}{screen.paint('=', 'dim')} "
            lines.append(lead + screen.paint(f"and {more:,} more like this", "hint"))
        yield lines


def _kind_of_problem(problem: Problem) -> tuple[str, str, str]:
    return problem.path, problem.code, problem.message


def problem_lines(problem: Problem, screen: Screen = _PLAIN) -> Iterator[str]:
    width, below = screen.width, _margin(problem.span)
    place, label = f"{make_visible(problem.place)}:", f"{problem.severity}[{problem.code}]"
    taken = cell_len(f"{place} {label}: ")
    first, *more = hang_text(make_visible(problem.message), width, indent=_INDENT, taken=taken)
    named = f"{screen.paint(place, 'place')} {screen.paint(label, problem.severity)}"
    yield f"{named}: {first}".rstrip()
    yield from more
    if problem.span and problem.excerpt:
        # Beside the source there are its number, a space, and an ellipsis at each end.
        room = min(_FRAME_WIDTH, max(20, width - below - 4))
        source, carets = underline_span(problem.span, problem.excerpt, room)
        yield f"{screen.paint(f'  {problem.span.line} |', 'dim')} {source}".rstrip()
        marks = screen.paint(carets.lstrip(), problem.severity)
        bar = screen.paint(f"{' ' * below}|", "dim")
        yield f"{bar} {' ' * (len(carets) - len(carets.lstrip()))}{marks}"
    lead, inner = f"{' ' * below}{screen.paint('=', 'dim')} ", below + 2
    for line in problem.hint.split("\n") if problem.hint else ():
        for row in hang_text(make_visible(line), width, indent=inner, taken=inner):
            yield (lead + screen.paint(row.removeprefix(" " * inner), "hint")).rstrip()
            lead = " " * inner


def summary_line(
    counts: Mapping[Severity, int], checked: Checked, at_fault: int, screen: Screen = _PLAIN
) -> str:
    found = [
        screen.paint(write_count(counts[severity], severity), severity)
        for severity in _SEVERITIES
        if counts.get(severity)
    ]
    scope = f"{write_count(checked.cases, 'case')} in {write_count(checked.files, 'file')}"
    if not found:
        return f"{screen.paint('no problems found', 'good')}: {scope}"
    if not counts.get("error"):
        return f"no errors, {', '.join(found)}: {scope}"
    # Cases that can't be read can't be counted, so only the files with problems are.
    return ", ".join(found) + (f" in {write_count(at_fault, 'file')}" if at_fault else "")


def _margin(span: Span | None) -> int:
    """The column under which the bars of a frame stand."""
    return 3 + len(str(span.line if span else 0))


def underline_span(span: Span, excerpt: Excerpt, width: int = _FRAME_WIDTH) -> tuple[str, str]:
    """The source line, cut to a window around the span, and the carets below it."""
    text = excerpt.text.rstrip("\r\n")
    start = min(max(span.column - excerpt.column, 0), len(text))
    if span.end_line > span.line:
        end = max(start, len(text.rstrip()))
    else:
        end = min(max(span.end_column - excerpt.column, start), len(text))
    # A code point is seldom less than a cell, so this keeps the cost of huge lines small.
    first, last = max(0, start - 2 * width), min(len(text), start + 2 * width)
    # Tabs are expanded over the whole, so that columns stay where they are.
    before = spell(text[first:start])
    inside = spell(text[first : min(end, last)])[len(before) :]
    after = spell(text[first:last])[len(before) + len(inside) :]
    # Even a span that fills the window keeps a little of the text before it.
    shown = _first_cells(inside, width - min(cell_len(before), width // 4))
    room = width - cell_len(shown)
    left = _first_cells(before[::-1], room - min(cell_len(after), room // 3))[::-1]
    right = _first_cells(after, room - cell_len(left)) if shown == inside else ""
    head = "…" if first > 0 or excerpt.column > 1 or left != before else ""
    tail = "…" if last < len(text) or shown + right != inside + after else ""
    carets = " " * (len(head) + cell_len(left)) + "^" * max(1, cell_len(shown))
    return head + left + shown + right + tail, carets


def _first_cells(text: str, room: int) -> str:
    return text if cell_len(text) <= room else set_cell_size(text, max(0, room)).rstrip(" ")


def format_json(problems: Iterable[Problem]) -> str:
    return json_text([problem.to_dict() for problem in problems])


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"
"""The name that code hosts give to the folder that relative paths start from."""


def as_sarif(problems: Iterable[Problem], *, version: str) -> str:
    """A SARIF 2.1.0 log, which code hosts and editors read: one run of evalcase in that version,
    the rules it used, one result per problem."""
    rules: dict[str, int] = {}
    results = [
        _make_result(problem, rules.setdefault(problem.code, len(rules))) for problem in problems
    ]
    described = [
        {
            "id": code, "shortDescription": _make_message(CODES[code].title),
            "defaultConfiguration": {"level": CODES[code].severity},
        }
        for code in rules
    ]  # fmt: skip
    run = {
        "tool": {"driver": {"name": "evalcase", "version": version, "rules": described}},
        # Without it a reader would take columns for UTF-16 units.
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": _make_message("The folder of the check.")}},
        "results": results,
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _make_result(problem: Problem, rule_index: int) -> dict[str, object]:
    lines = [problem.message, *(problem.hint.split("\n") if problem.hint else ())]
    pure = PurePath(problem.path)
    # Quoting the colon too keeps `a:b.yaml` from being read as a scheme.
    artifact = {"uri": quote(os.fsencode(pure.as_posix())), "uriBaseId": ROOT}
    place: dict[str, object] = {
        "artifactLocation": {"uri": pure.as_uri()} if pure.is_absolute() else artifact
    }
    if span := problem.span:
        place["region"] = {
            "startLine": span.line, "startColumn": span.column,
            "endLine": span.end_line, "endColumn": span.end_column,
        }  # fmt: skip
    return {
        "ruleId": problem.code,
        "ruleIndex": rule_index,
        "level": problem.severity,
        "message": _make_message("\n".join(make_visible(line) for line in lines)),
        "locations": [{"physicalLocation": place}],
    }


def _make_message(text: str) -> dict[str, str]:
    # Single braces are placeholders in a SARIF message.
    return {"text": text.replace("{", "{{").replace("}", "}}")}


def page_path(code: str) -> str | None:
    """The file of the page about a code; None if it is not installed. A wheel has the pages inside
    the package, a clone in its docs."""
    for folder in ("diagnostics", os.path.join("..", "..", "docs", "diagnostics")):
        path = os.path.join(PACKAGE, folder, f"{code}.md")
        if os.path.isfile(path):
            return path
    return None
