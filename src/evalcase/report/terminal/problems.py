"""Problems in, lines for people out, one file at a time so that long checks show progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from evalcase.report.terminal.cells import measure_text
from evalcase.report.terminal.frame import WIDTH, draw_frame, find_margin
from evalcase.report.terminal.hanging import hang_text
from evalcase.report.terminal.style import PLAIN, Style, paint_text
from evalcase.types.problem import Problem, Severity
from evalcase.util.text import make_visible, write_count


class Checked(Struct):
    """What was looked at. A report reads it at its end, so it may grow while problems stream."""

    files: int = 0
    cases: int = 0


def as_text(
    files: Iterable[Sequence[Problem]], checked: Checked, *, style: Style = PLAIN,
    width: int | None = None,
) -> Iterator[str]:  # fmt: skip
    """Each problem with its source line and hint, a blank line after each, then the summary.

    What is wrong with a file is shown before the next is read. Prose is broken at `width`, or not
    at all: programs read a line of it as one problem.
    """
    counts: Counter[Severity] = Counter()
    at_fault: set[str] = set()
    for found in files:
        at_fault.update(problem.path for problem in found if problem.span is not None)
        counts.update(problem.severity for problem in found)
        for lines in fold_problems(found, style=style, width=width):
            yield from lines
            yield ""
    yield summary_line(counts, checked, len(at_fault), style=style)


SHOWN = 3
"""How many problems of a kind are shown for each file; programs are given all of them."""


def fold_problems(
    problems: Iterable[Problem], *, style: Style = PLAIN, width: int | None = None
) -> Iterator[list[str]]:
    """The lines of each problem. Of those of a file that say the same only the first are shown, the
    last of them with how many more there are."""
    problems = list(problems)
    of_kind = Counter(map(_kind_of_problem, problems))
    last = {_kind_of_problem(problem): problem for problem in problems}
    shown: Counter[tuple[str, str, str]] = Counter()
    for problem in problems:
        kind = _kind_of_problem(problem)
        shown[kind] += 1
        if shown[kind] <= SHOWN:
            more = of_kind[kind] - SHOWN if shown[kind] == SHOWN else 0
            lines = list(problem_lines(problem, style=style, width=width))
            yield [*lines, _more_line(more, last[kind], problem, style)] if more > 0 else lines


def _kind_of_problem(problem: Problem) -> tuple[str, str, str]:
    return problem.path, problem.code, problem.message


def _more_line(count: int, last: Problem, shown: Problem, style: Style) -> str:
    until = f", the last on line {last.line}" if last.line is not None else ""
    lead = f"{' ' * find_margin(shown.span)}{paint_text('=', style.gutter)} "
    return lead + paint_text(f"and {count:,} more like this{until}", style.hint)


def problem_lines(
    problem: Problem, *, style: Style = PLAIN, width: int | None = None
) -> Iterator[str]:
    """The headline of a problem, its code frame and its hint."""
    yield from _write_headline(problem, style, width)
    below = find_margin(problem.span)
    if problem.span and problem.excerpt:
        # Beside the source there are its number, a space, and an ellipsis at each end.
        room = WIDTH if width is None else min(WIDTH, max(20, width - below - 4))
        yield from draw_frame(
            problem.span, problem.excerpt, width=room, gutter=style.gutter,
            mark=_choose_colour(problem.severity, style),
        )  # fmt: skip
    if problem.hint:
        yield from _hint_lines(problem.hint, below, style, width)


def _write_headline(problem: Problem, style: Style, width: int | None) -> Iterator[str]:
    place, label = f"{make_visible(problem.place)}:", f"{problem.severity}[{problem.code}]"
    taken = measure_text(f"{place} {label}: ")
    first, *more = hang_text(make_visible(problem.message), width, indent=_INDENT, taken=taken)
    colour = _choose_colour(problem.severity, style)
    painted = f"{paint_text(place, style.place)} {paint_text(label, colour)}"
    yield f"{painted}: {first}".rstrip()
    yield from more


def summary_line(
    counts: Mapping[Severity, int], checked: Checked, at_fault: int, *, style: Style = PLAIN
) -> str:
    """The last line: how many problems there are, in how many files; or what was looked at."""
    found = [
        paint_text(write_count(counts[severity], severity), _choose_colour(severity, style))
        for severity in _SEVERITIES
        if counts.get(severity)
    ]
    scope = f"{write_count(checked.cases, 'case')} in {write_count(checked.files, 'file')}"
    if not found:
        return f"{paint_text('no problems found', style.good)}: {scope}"
    if not counts.get("error"):
        return f"no errors, {', '.join(found)}: {scope}"
    # Cases that can't be read can't be counted, so only the files with problems are told.
    return ", ".join(found) + (f" in {write_count(at_fault, 'file')}" if at_fault else "")


_INDENT = 4
"""Of the rows below the first of a headline."""
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


def _choose_colour(severity: Severity, style: Style) -> str:
    return {"error": style.error, "warning": style.warning, "note": style.note}[severity]


def _hint_lines(hint: str, indent: int, style: Style, width: int | None) -> Iterator[str]:
    lead, inner = f"{' ' * indent}{paint_text('=', style.gutter)} ", indent + 2
    for line in hint.split("\n"):
        for row in hang_text(make_visible(line), width, indent=inner, taken=inner):
            yield (lead + paint_text(row.removeprefix(" " * inner), style.hint)).rstrip()
            lead = " " * inner
