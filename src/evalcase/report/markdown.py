"""A run as Markdown for a pull request or the summary of a workflow.

Whatever a model or a suite says is text in it: it makes no table, no link, no mention of people,
and ends no block. All of it fits into a comment: of the rest there is a count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from evalcase.report.cases import CaseTrials, fold_trials
from evalcase.report.conclusion import say_grading, say_missing, say_mixed, say_settled
from evalcase.report.details import (
    UNFINISHED,
    detail_lines,
    passed_of,
    reason_of,
    result_heard,
)
from evalcase.report.figures import Figures, Mean, Slice, write_money, write_percent
from evalcase.report.highlights import GridRow
from evalcase.report.source import Reported
from evalcase.report.summary import (
    cost_facts,
    count_units,
    head_of_parts,
    judging_facts,
    rate_facts,
    repeat_facts,
    trial_facts,
)
from evalcase.report.terminal import Screen
from evalcase.store.folder import describe_name, describe_part
from evalcase.types.case import Case
from evalcase.types.result import VERDICTS, Totals
from evalcase.types.value import replace
from evalcase.util.text import (
    code_block,
    code_span,
    make_visible,
    shorten_text,
    write_count,
)

MARKER = "<!-- evalcase -->"
"""The first line, by which a comment is found again, to be written anew."""
BUDGET = 60_000
"""Characters; GitHub takes 65,536 in a comment."""
_RESERVE = 600
_MOST_PARTS = 25
_MOST_TARGETS = 8
"""Columns that a table of targets has room for."""
_FEW = 20
"""So many values a variable may have that cases are grouped by unasked."""
_VARS = "vars."
_LONGEST = 160
_TROUBLE = ("errored", "failed", "ungraded", "unfinished")
_SCREEN = Screen(100)
_SIGNS = {"passed": "✅", "failed": "❌", "errored": "💥", "ungraded": "⚠️", UNFINISHED: "⚠️",
          "skipped": "⏭️"}  # fmt: skip
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:@&=])")


class _Head(NamedTuple):
    """What is said of the whole run."""

    run: str
    duration_s: float | None
    incomplete: str
    notes: tuple[str, ...]
    totals: Totals
    part: str
    """Which cases these are, if they are not all; then no word on the run follows of them."""
    shown: str
    """Which verdicts are shown, if some were asked for."""
    differing: tuple[GridRow, ...]


def write_markdown(reported: Reported) -> Iterator[str]:
    stored, evaluated = reported.stored, reported.evaluated()
    notes = [
        describe_name(stored.run),
        describe_part(stored.run),
        f"grading {say_grading(evaluated)}" if evaluated.graded_by is not None else "",
        say_mixed(stored.mixed), say_settled(evaluated),
    ]  # fmt: skip
    highlights = reported.open_highlights()
    figures = reported.figures(highlights)
    about = _Head(
        stored.run.id, evaluated.duration_s, say_missing(evaluated),
        tuple(note for note in notes if note), evaluated.totals,
        reported.wanted.describe(), " or ".join(reported.wanted.verdicts),
        tuple(highlights.differing()),
    )  # fmt: skip
    used = 0
    for piece in _write_head(figures, about):
        used += len(piece)
        yield piece
    left: dict[str, int] = {}
    for each in _find_troubled(reported):
        piece = _write_case(each, stored.find_case(each.suite, each.case))
        if left or used + len(piece) > BUDGET - _RESERVE:
            left[each.verdict] = left.get(each.verdict, 0) + 1
        else:
            used += len(piece)
            yield piece
    if left:
        said = ", ".join(f"{count:,} {verdict}" for verdict, count in left.items())
        more = _write_code(f"evalcase report {about.run}")
        yield f"\n… and {said} more, which don't fit: {more}\n"
    yield f"\n<sub>run {_write_code(about.run)}</sub>\n"


def _write_head(figures: Figures, about: _Head) -> Iterator[str]:
    yield f"{MARKER}\n### {_write_headline(figures, about)}\n\n"
    for note in about.notes:
        yield f"> {_escape_inline(note)}\n\n"
    if about.incomplete:
        yield f"> ⚠️ **not complete**: {_escape_inline(about.incomplete)}\n\n"
    if len(figures.by_target) > 1:
        yield from _write_parts("target", {**figures.by_target, "all": figures.all})
        yield from _write_grid(about.differing, list(figures.by_target)[:_MOST_TARGETS])
    else:
        yield from _write_parts("", {"": figures.all})
    variables = [
        (f"{_VARS}{name}", parts)
        for name, parts in figures.by_vars.items()
        if len(parts) <= _FEW and name in figures.grouping
    ]
    for title, parts in (("suite", figures.by_suite), ("tag", figures.by_tag),
                         ("grader", figures.by_grader), *variables):  # fmt: skip
        if len(parts) > 1:
            is_variable = title.startswith(_VARS)
            by = _write_html(title) if is_variable else head_of_parts(title, figures)
            yield f"<details><summary>by {by}</summary>\n\n"
            yield from _write_parts(_write_code(title) if is_variable else title, parts)
            yield "</details>\n\n"
    facts = [text for text in _list_facts(figures, about) if text]
    if facts:
        yield " · ".join(facts) + "\n\n"
    yield from _write_beside(figures, about.totals)


def _write_beside(figures: Figures, totals: Totals) -> Iterator[str]:
    """What a rate alone does not say, in the words of the summary of a run: a line for each."""
    if figures.cluster is not None:
        figures = replace(figures, cluster=_escape_inline(figures.cluster))
    facts = [*rate_facts(figures), *trial_facts(totals), *repeat_facts(figures),
             *judging_facts(figures.judging), *cost_facts(totals)]  # fmt: skip
    label = ""
    for fact in facts:
        label = fact.label or label
        yield f"- {label}: {', '.join(fact.parts)}\n"
    if facts:
        yield "\n"


def _write_headline(figures: Figures, about: _Head) -> str:
    part = figures.all
    counts = part.cases
    good = not (counts.failed + counts.errored + counts.ungraded + part.unfinished)
    sign = "✅" if good and not about.incomplete else "❌"
    errored = about.totals.trials.errored  # also those of cases that passed all the same
    if sign == "✅" and (not counts.passed or errored):
        sign = "⚠️"  # nothing was tried; or cases passed although some of their trials errored
    rate = "" if part.rate.value is None else f" ({write_percent(part.rate.value)})"
    tried = counts.total - counts.skipped
    several = len(figures.by_target) > 1
    said = f"{counts.passed:,} of {tried:,}{'' if several else ' cases'} passed{rate}"
    if several:
        said += f" in {count_units(counts.total + part.unfinished, figures)}"
    if errored > counts.errored:
        said += f", {write_count(errored, 'trial')} errored"
    if about.shown:
        said += f"; shown: {_escape_inline(about.shown)}"
    return (
        f"a part of the run, {_escape_inline(about.part)}: {said}"
        if about.part
        else f"{sign} {said}"
    )


def _write_parts(title: str, parts: Mapping[str, Slice]) -> Iterator[str]:
    """A row for each part, with a column for every verdict that there is."""
    shown = dict(list(parts.items())[:_MOST_PARTS])
    verdicts = [v for v in VERDICTS if any(getattr(part.cases, v) for part in shown.values())]
    unfinished = any(part.unfinished for part in shown.values())
    names = [*([title] if title else []), *verdicts, *([UNFINISHED] if unfinished else []),
             "pass rate", "95 % interval"]  # fmt: skip
    yield f"| {' | '.join(names)} |\n|{'|'.join('---' if n == title else '--:' for n in names)}|\n"
    for name, part in shown.items():
        cells = [*([_write_code(name)] if title else [])]
        cells += [f"{getattr(part.cases, verdict):,}" for verdict in verdicts]
        cells += [f"{part.unfinished:,}"] if unfinished else []
        yield f"| {' | '.join([*cells, *_write_rate(part.rate)])} |\n"
    if len(parts) > len(shown):
        yield f"\n… and {len(parts) - len(shown):,} more\n"
    yield "\n"


def _write_grid(rows: Sequence[GridRow], targets: Sequence[str]) -> Iterator[str]:
    """The cases that targets differ on, a column for each target."""
    if not rows:
        return
    count = "1 case" if len(rows) == 1 else f"{len(rows):,} cases"
    yield f"<details><summary>{count} that targets differ on</summary>\n\n"
    yield f"| case | {' | '.join(map(_write_code, targets))} |\n|---|{'---|' * len(targets)}\n"
    for name, verdicts in rows[:_MOST_PARTS]:
        said = ((verdicts[each] or UNFINISHED) if each in verdicts else "" for each in targets)
        cells = [f"{_SIGNS[word]} {word}" if word else "–" for word in said]
        yield f"| {' | '.join([_write_code(name), *cells])} |\n"
    if len(rows) > _MOST_PARTS:
        yield f"\n… and {len(rows) - _MOST_PARTS:,} more\n"
    yield "\n</details>\n\n"


def _write_rate(mean: Mean) -> tuple[str, str]:
    value = "–" if mean.value is None else write_percent(mean.value)
    if mean.low is None or mean.high is None:
        return value, "–"
    return value, f"{write_percent(mean.low)} to {write_percent(mean.high)}"


def _list_facts(figures: Figures, about: _Head) -> Iterator[str]:
    effort = figures.effort
    if about.duration_s is not None:
        yield f"{about.duration_s:.1f} s in all"
    if effort.median_s is not None and effort.p95_s is not None:
        yield f"an answer took {effort.median_s:.2f} s (median), {effort.p95_s:.2f} s (95 %)"
    if effort.cost_usd is not None:
        yield write_money(effort.cost_usd)


def _write_case(each: CaseTrials, case: Case | None) -> str:
    """A case that can be opened, with all that a summary shows of it."""
    trial = each.telling
    told = [passed_of(each.outcome)] if each.outcome.repeats > 1 else []
    why = "; ".join([*told, *([reason_of(trial)] if reason_of(trial) else [])]) or each.verdict
    name = f"{each.suite}: {each.case} ({each.target})"
    lines = detail_lines(trial, result_heard(trial), case, _SCREEN)
    block = "\n".join(code_block(lines))
    return (
        f"<details><summary>{_SIGNS[each.verdict]} {each.verdict} {_write_html(name)}<br>"
        f"{_write_html(shorten_text(why, _LONGEST))}</summary>\n\n{block}\n\n</details>\n\n"
    )


def _escape_inline(text: str) -> str:
    """Text between other text. Marks are escaped; it mentions no person, and links nothing."""
    return _unlink_names(_SPECIAL.sub(r"\\\1", _flatten_text(text)))


def _write_html(text: str) -> str:
    """Text in a <summary>, where Markdown is not read."""
    escaped = _flatten_text(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<code>{escaped}</code>"


def _write_code(text: str) -> str:
    """A name, in a table or elsewhere. A bar would end the cell of a table, also within code."""
    return code_span(shorten_text(" ".join(text.split()), _LONGEST)).replace("|", "\\|")


def _unlink_names(text: str) -> str:
    return re.sub(r"(?<=[@#])(?=\w)", "\u200b", text)


def _flatten_text(text: str) -> str:
    return make_visible(" ".join(text.split()))


def _find_troubled(reported: Reported) -> Iterator[CaseTrials]:
    """The cases to be shown, the worst kind first; each kind is looked for by itself, so that no
    more than one is held."""
    for verdict in reported.wanted.verdicts or _TROUBLE:
        only = replace(reported, wanted=replace(reported.wanted, verdicts=(verdict,)))
        yield from fold_trials(only.results(), only.stored.outcome)
