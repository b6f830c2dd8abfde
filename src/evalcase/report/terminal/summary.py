"""What came of a run, for people: what went wrong in full, then the verdict, and what to do next.

Everything here is a function of the results, their cases, the width and the style.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from evalcase.report.figures import Figures, Mean
from evalcase.report.terminal.cells import cut_text, measure_text, wrap_text
from evalcase.report.terminal.failures import (
    INDENT,
    UNFINISHED,
    name_lines,
    passed_of,
)
from evalcase.report.terminal.figure_facts import (
    cost_facts,
    judging_facts,
    latency_facts,
    rate_facts,
    rate_said,
    repeat_facts,
    score_facts,
    token_facts,
    trial_facts,
)
from evalcase.report.terminal.part_table import PART_KINDS, PartKind, part_tables
from evalcase.report.terminal.progress import write_money
from evalcase.report.terminal.statistics import TROUBLED, CaseName, Shown, Statistics
from evalcase.report.terminal.style import Style, colour_of, paint_text
from evalcase.report.terminal.trial_details import detail_lines
from evalcase.types.case import Case
from evalcase.types.result import VERDICTS, Counts, Totals
from evalcase.types.value import Value, replace
from evalcase.util.text import list_some, make_visible, write_count

_LABEL = 9
_NARROW = 60
_SLOW_S = 0.1
"""A case that is quicker is no news; nor is the slowest of one."""

FindCase = Callable[[str, str], Case | None]
"""Finds a case by its suite and id."""


class RunEnding(Value, frozen=True):
    """How a run ended, as far as its results don't tell."""

    totals: Totals
    duration_s: float | None
    """None where it is not known."""
    record: str
    """Its folder, as a person here would write it."""
    notice: str = ""
    """Why it is not complete."""
    next: str = ""
    """The one command that is most useful now."""
    report: str = ""
    """The command that shows all of it."""
    grading: str = ""
    """Which of several gradings this is."""
    part: str = ""
    """Which cases these are, where they are not all that the suites have."""
    not_run: int = 0
    """How many cases were not begun."""
    see_suite: Callable[[str], str] = str
    """How a person here writes the path of a suite."""
    mixed: str = ""
    """What is mixed in it, that should not be: versions of a target."""
    saved: str = ""
    """What it has spared to end once it was decided."""
    gate: str = ""
    """What came of the pass rate that was asked for, or that nothing was run."""


def summary_lines(
    statistics: Statistics, figures: Figures, ending: RunEnding, find_case: FindCase, width: int,
    style: Style, by: Collection[PartKind] = PART_KINDS,
) -> Iterator[str]:  # fmt: skip
    """All of it. Parts that are of a kind in `by` are shown where there are several."""
    several = len(figures.by_target) > 1
    statistics.finish()
    for verdict in (*TROUBLED, "passed", "skipped"):
        for shown in statistics.shown(verdict):
            yield from _case_lines(shown, find_case, ending.see_suite, several, width, style)
        if more := statistics.more[verdict]:
            words = f"and {more:,} more {verdict or UNFINISHED}"
            yield f"{paint_text(words, colour_of(verdict, style))}: {make_visible(ending.report)}"
            yield ""
    if several and "target" in by:
        targets = tuple(figures.by_target)
        yield from statistics.grid.lines(targets, width, style, ending.see_suite)
    yield from part_tables(figures, by, width, style, ending.see_suite)
    yield from verdict_lines(ending, figures.all.rate, width, style)
    yield from _write_facts(statistics, figures, ending, width, style)
    yield from ending_lines(ending, width, style)


def _case_lines(
    shown: Shown, find_case: FindCase, see_suite: Callable[[str], str], several: bool, width: int,
    style: Style,
) -> Iterator[str]:  # fmt: skip
    """A case that is shown in full: its name, what was asked, expected and said."""
    result = shown.result
    here = replace(result, key=result.key._replace(suite=see_suite(result.key.suite)))
    yield from name_lines(here, shown.outcome, style, width, name_target=several)
    case = find_case(result.key.suite, result.key.case)
    yield from detail_lines(result, shown.heard, case, style, width)
    if shown.same:
        names = [_name_beside(each, shown, see_suite) for each in shown.named]
        said = f"the same for {list_some(names, shown.same)}"
        yield paint_text(cut_text(f"{'':{INDENT}}{said}", width), style.gutter)
    yield ""


def _name_beside(name: CaseName, shown: Shown, see_suite: Callable[[str], str]) -> str:
    """A case that is named beside one that is shown: by its id, and by what else is another."""
    key = shown.result.key
    suite = f"{see_suite(name.suite)}: " if name.suite != key.suite else ""
    return suite + _name_case(name, several=name.target != key.target)


def verdict_lines(ending: RunEnding, rate: Mean, width: int, style: Style) -> Iterator[str]:
    """How many cases passed and how many did not, the cost and the time."""
    totals = ending.totals
    parts = _count_verdicts(totals.cases, style)
    if totals.unfinished:
        parts.append((f"{totals.unfinished:,} {UNFINISHED}", style.warning))
    if ending.not_run:
        parts.append((f"{ending.not_run:,} not run", style.warning))
    if (errored := totals.trials.errored) > totals.cases.errored:
        # Those of cases that passed all the same are in no other count, and the exit code is 3.
        parts.append((f"{write_count(errored, 'trial')} errored", colour_of("errored", style)))
    parts = parts or [("nothing ran", style.warning)]
    if totals.trials.total and totals.trials.total == totals.trials.skipped:
        parts.append(("nothing was run", style.warning))
    if rate.value is not None:
        parts.append((f"pass rate {rate_said(rate)}", style.place))
    if totals.cost_usd is not None:
        parts.append((write_money(totals.cost_usd), ""))
    if ending.duration_s is not None:
        parts.append((_write_duration(ending.duration_s), ""))
    yield from _flow_parts(parts, width, "")


def _count_verdicts(counts: Counts, style: Style) -> list[tuple[str, str]]:
    """The verdicts that there are, each with its colour."""
    return [
        (f"{number:,} {word}", colour_of(word, style))
        for word in VERDICTS
        if (number := getattr(counts, word))
    ]


def ending_lines(ending: RunEnding, width: int, style: Style) -> Iterator[str]:
    """What it is of, where the record is, whether it is complete, and what to do now."""
    if ending.part:
        yield from _write_fact("part", [make_visible(ending.part)], width, style)
    if ending.mixed:
        yield from _write_fact("mixed", [make_visible(ending.mixed)], width, style)
    yield from _to_copy("record", ending.record, "", width, style)
    if ending.notice:
        # It may have a path in it, too.
        yield from _to_copy("stopped", ending.notice, "", width, style)
    if ending.saved:
        yield from _write_fact("saved", [ending.saved], width, style)
    if ending.gate:
        yield from _write_fact("gate", [ending.gate], width, style)
    if ending.next:
        yield from _to_copy("next", ending.next, style.hint, width, style)


def _to_copy(label: str, text: str, colour: str, width: int, style: Style) -> Iterator[str]:
    """A path or a command: never cut, and on a line of its own if it fits only there."""
    text = make_visible(text)
    lead = _write_label(label, style)
    if measure_text(text) <= width < min(_NARROW, _LABEL + measure_text(text)):
        yield paint_text(label, style.gutter)
        lead = ""
    yield lead + paint_text(text, colour)


def _write_facts(
    statistics: Statistics, figures: Figures, ending: RunEnding, width: int, style: Style
) -> Iterator[str]:
    """What else there is to know, a label and a line for each."""
    totals, effort, several = ending.totals, figures.effort, len(figures.by_target) > 1
    for fact in rate_facts(figures):
        yield from _write_fact(*fact, width, style)
    for fact in (*trial_facts(totals), *repeat_facts(figures.all.repeats)):
        yield from _write_fact(*fact, width, style)
    yield from _write_repeats(statistics, several, width, style)
    for fact in (*score_facts(figures.all, effort), *latency_facts(effort)):
        yield from _write_fact(*fact, width, style)
    slow = [each for each in statistics.slowest if each.duration_s >= _SLOW_S]
    if slow and totals.cases.total > 1:
        said_slow = [f"{_name_case(each.name, several)} {each.duration_s:.2f} s" for each in slow]
        yield from _write_fact("slowest", said_slow, width, style)
    for fact in (*token_facts(effort), *judging_facts(figures.judging), *cost_facts(totals)):
        yield from _write_fact(*fact, width, style)
    yield from _write_votes(statistics, ending, width, style)
    if ending.grading:
        yield from _write_fact("grading", [ending.grading], width, style)


def _write_repeats(
    statistics: Statistics, several: bool, width: int, style: Style
) -> Iterator[str]:
    """The cases that passed although some of their trials did not."""
    for name, outcome in statistics.shaky:
        called = cut_text(_name_case(name, several), width)
        said = f"{called}: {passed_of(outcome)}: {outcome.verdict}"
        yield from _write_fact("", [said], width, style)
    if statistics.more_shaky:
        more = f"{statistics.more_shaky:,} more passed, but not in every trial"
        yield from _write_fact("", [more], width, style)
    if forgiven := statistics.forgiven:
        more = f" and {write_count(forgiven.cases - 1, 'more case')}" if forgiven.cases > 1 else ""
        said = f"trials of {forgiven.first}{more}, passed anyway: {forgiven.reason}"
        yield from _write_fact("errored", [cut_text(said, 2 * width)], width, style)


def _write_votes(
    statistics: Statistics, ending: RunEnding, width: int, style: Style
) -> Iterator[str]:
    """How far the votes of judges agreed, beyond chance: for each suite, as they judge others."""
    label = "votes"
    for suite, votes in statistics.votes.items():
        if not votes.subjects:
            continue
        on = "1 criterion" if votes.subjects == 1 else f"{votes.subjects:,} criteria"
        kappa = "always the same verdict" if votes.kappa is None else f"{votes.kappa:.2f}"
        said = f"Fleiss' kappa on {on}: {kappa}"
        where = f" in {make_visible(ending.see_suite(suite))}" if len(statistics.votes) > 1 else ""
        yield from _write_fact(label, [said + where], width, style)
        label = ""


def _name_case(name: CaseName, several: bool) -> str:
    return f"{name.case} ({name.target})" if several else name.case


def _write_fact(label: str, parts: Sequence[str], width: int, style: Style) -> Iterator[str]:
    room = max(10, width - _LABEL)
    lead = _write_label(label, style)
    flowing = _flow_parts([(cut_text(part, room - 1), "") for part in parts], room, "")
    for line in flowing if len(parts) > 1 else wrap_text(parts[0], room):
        yield lead + line
        lead = " " * _LABEL


def _write_label(label: str, style: Style) -> str:
    return paint_text(f"{label:<{_LABEL}}", style.gutter)


def _flow_parts(parts: Sequence[tuple[str, str]], width: int, line: str) -> Iterator[str]:
    """Parts with commas between them, in as few lines as they fit into; none is broken."""
    room = width
    for number, (text, colour) in enumerate(parts):
        comma = "," if number < len(parts) - 1 else ""
        needed = measure_text(text) + len(comma) + bool(line)
        if line and needed > room:
            yield line
            line, room = "", width
        line += (" " if line else "") + paint_text(text, colour) + comma
        room -= needed
    yield line


def _write_duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours} h {minute:02} min" if hours else f"{minutes} min {second:02} s"
