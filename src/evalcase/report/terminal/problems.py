"""Problems in, lines for people out, one problem at a time so that long checks show progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from evalcase.model.codes import Severity
from evalcase.model.problem import Problem
from evalcase.model.quick_dataclass import dataclass
from evalcase.report.terminal.frame import draw_frame, margin
from evalcase.report.terminal.style import PLAIN, Style, paint
from evalcase.text.visible import visible


@dataclass(slots=True)
class Checked:
    """What was looked at. A report reads it at its end, so it may grow while problems stream."""

    files: int = 0
    cases: int = 0


def as_text(
    problems: Iterable[Problem], checked: Checked, *, style: Style = PLAIN
) -> Iterator[str]:
    """Each problem with its source line and hint, a blank line after each, then the summary."""
    counts: Counter[Severity] = Counter()
    for problem in problems:
        counts[problem.severity] += 1
        yield from problem_lines(problem, style=style)
        yield ""
    yield summary_line(counts, checked, style=style)


def problem_lines(problem: Problem, *, style: Style = PLAIN) -> Iterator[str]:
    """The headline of a problem, its code frame and its hint."""
    colour = _colour(problem.severity, style)
    place = paint(f"{visible(problem.place)}:", style.place)
    label = paint(f"{problem.severity}[{problem.code}]", colour)
    yield f"{place} {label}: {visible(problem.message)}"
    if problem.span and problem.excerpt:
        yield from draw_frame(problem.span, problem.excerpt, gutter=style.gutter, mark=colour)
    if problem.hint:
        yield from _hint_lines(problem.hint, margin(problem.span), style)


def summary_line(counts: Mapping[Severity, int], checked: Checked, *, style: Style = PLAIN) -> str:
    """The last line: how many problems there are, and what was looked at."""
    found = [
        paint(_count(counts[severity], severity), _colour(severity, style))
        for severity in _SEVERITIES
        if counts.get(severity)
    ]
    scope = f"{_count(checked.cases, 'case')} in {_count(checked.files, 'file')}"
    if not found:
        return f"{paint('all well', style.good)}: {scope}"
    if not counts.get("error"):
        return f"no errors, {', '.join(found)}: {scope}"
    # Cases that can't be read can't be counted, so only the files are told.
    return ", ".join(found) + (f" in {_count(checked.files, 'file')}" if checked.files else "")


_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


def _colour(severity: Severity, style: Style) -> str:
    return {"error": style.error, "warning": style.warning, "note": style.note}[severity]


def _hint_lines(hint: str, indent: int, style: Style) -> Iterator[str]:
    lead = f"{' ' * indent}{paint('=', style.gutter)} "
    for line in hint.split("\n"):
        yield (lead + paint(visible(line), style.hint)).rstrip()
        lead = " " * (indent + 2)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
