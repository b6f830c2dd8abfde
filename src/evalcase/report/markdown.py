"""A run as Markdown for a pull request or the summary of a workflow.

Whatever a model or a suite says is text in it: it makes no table, no link, no mention of people,
and ends no block. All of it fits into a comment: of the rest there is a count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice

from evalcase.report.details import (
    UNFINISHED,
    describe_changes,
    detail_lines,
)
from evalcase.report.evaluated import CaseTrials, Evaluated, fold_trials, note_run
from evalcase.report.figures import Effort, Figures, Slice, write_money, write_percent
from evalcase.report.formats import Reported, Wanted
from evalcase.report.summary import (
    count_units,
    figure_facts,
    head_of_parts,
    part_rows,
)
from evalcase.report.terminal import Screen
from evalcase.types.case import Case
from evalcase.types.value import replace
from evalcase.util.text import (
    code_block,
    code_span,
    flatten_text,
    make_visible,
    shorten_text,
    write_count,
    write_table,
)

MARKER = "<!-- evalcase -->"
"""The first line, by which a comment is found again, to be written anew."""
BUDGET = 60_000
"""Characters; GitHub takes 65,536 in a comment."""
_RESERVE = 600
_MOST_PARTS = 25
_MOST_TARGETS = 8
"""Columns that a table of targets has room for."""
_LONGEST = 160
_DIFF_LINES = 60
_TROUBLE = ("errored", "failed", "ungraded", "unfinished")
_SCREEN = Screen(100)
_SIGNS = {"passed": "✅", "failed": "❌", "errored": "💥", "ungraded": "⚠️", UNFINISHED: "⚠️",
          "skipped": "⏭️"}  # fmt: skip
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:@&=])")


def write_markdown(reported: Reported) -> Iterator[str]:
    stored = reported.stored
    evaluated, _, figures = reported.read()
    targets = list(figures.by_target)[:_MOST_TARGETS]
    lines = [MARKER, f"### {_write_headline(figures, evaluated, reported.wanted)}", ""]
    for topic, note in note_run(evaluated).items():
        if note and topic not in ("stopped", "saved"):
            said = _escape_inline(f"grading {note}" if topic == "grading" else note)
            lines += [f"> ⚠️ **not complete**: {said}" if topic == "missing" else f"> {said}", ""]
    if len(targets) > 1:
        efforts = {**figures.efforts, "all": figures.effort}
        lines += _part_lines("target", {**figures.by_target, "all": figures.all}, efforts)
    else:
        lines += _part_lines("", {"all": figures.all})
    lines += [*_group_lines(figures), *_fact_lines(figures, evaluated)]
    head = "\n".join(lines) + "\n"
    yield head
    used, left = len(head), Counter[str]()
    # The worst kind first; each kind is looked for by itself, so that no more than one is held.
    for verdict in reported.wanted.verdicts or _TROUBLE:
        only = replace(reported, wanted=replace(reported.wanted, verdicts=(verdict,)))
        for each in fold_trials(only.results(), stored):
            piece = _write_case(each, stored.find_case(each.suite, each.case))
            if left or used + len(piece) > BUDGET - _RESERVE:
                left[each.verdict] += 1
            else:
                used += len(piece)
                yield piece
    run = stored.run.id
    if left:
        said = ", ".join(f"{count:,} {verdict}" for verdict, count in left.items())
        more = code_span(f"evalcase report {run}")
        yield f"\n… and {said} more, which don't fit: {more}\n"
    yield f"\n<sub>run {code_span(run)}</sub>\n"


def _write_headline(figures: Figures, evaluated: Evaluated, wanted: Wanted) -> str:
    part, counts = figures.all, figures.all.cases
    errored = evaluated.totals.trials.errored  # also those of cases that passed all the same
    rate = "" if part.rate.value is None else f" ({write_percent(part.rate.value)})"
    several = len(figures.by_target) > 1
    tried = f"{counts.total - counts.skipped:,}{'' if several else ' cases'}"
    said = f"{counts.passed:,} of {tried} passed{rate}"
    if several:
        said += f" in {count_units(counts.total - counts.skipped + part.unfinished, figures)}"
    if errored > counts.errored:
        said += f", {write_count(errored, 'trial')} errored"
    if wanted.verdicts:
        said += f"; shown: {_escape_inline(' or '.join(wanted.verdicts))}"
    if not wanted.is_all:  # no word on the run follows of a part
        return f"a part of the run, {_escape_inline(wanted.describe())}: {said}"
    if counts.not_passed or part.unfinished or note_run(evaluated)["missing"]:
        return f"❌ {said}"
    # Nothing was tried; or cases passed although some of their trials errored.
    return f"⚠️ {said}" if not counts.passed or errored else f"✅ {said}"


def _group_lines(figures: Figures) -> Iterator[str]:
    groups = {
        "suite": figures.by_suite, "tag": figures.by_tag,
        head_of_parts("grader", figures): figures.by_grader,
    }  # fmt: skip
    for name, parts in figures.by_vars.items():
        if len(parts) <= _MOST_PARTS and len(parts) < figures.distinct:
            groups[_write_html(f"vars.{name}")] = parts
    for title, parts in groups.items():
        if len(parts) > 1:
            yield f"<details><summary>by {title}</summary>"
            yield ""
            yield from _part_lines("", parts)
            yield "</details>"
            yield ""


def _part_lines(
    title: str, parts: Mapping[str, Slice], efforts: Mapping[str, Effort] | None = None
) -> Iterator[str]:
    head, *rows = part_rows(title, dict(islice(parts.items(), _MOST_PARTS)), efforts)
    head = [name.replace("interval", "95% interval") for name in head]
    names = (flatten_text(row[0], _LONGEST) for row in rows)
    cells = ([code_span(name), *row[1:]] for name, row in zip(names, rows, strict=True))
    yield from write_table([head, *cells])
    if len(parts) > len(rows):
        yield ""
        yield f"… and {len(parts) - len(rows):,} more"
    yield ""


def _fact_lines(figures: Figures, evaluated: Evaluated) -> Iterator[str]:
    """What it took; and what a rate alone does not say, in the words of the summary of a run."""
    took_s, cost_usd = evaluated.duration_s, figures.effort.cost_usd
    told = [f"{took_s:.1f} s in all"] if took_s is not None else []
    told += [write_money(cost_usd)] if cost_usd is not None else []
    if told:
        yield " · ".join(told)
        yield ""
    if figures.cluster is not None:
        figures = replace(figures, cluster=_escape_inline(figures.cluster))
    if facts := [f"- {label}: {text}" for label, text in figure_facts(figures, evaluated.totals)]:
        yield from (*facts, "")


def _write_case(each: CaseTrials, case: Case | None) -> str:
    """A case that can be opened, with all that a summary shows of it."""
    trial = each.telling
    name = f"{each.suite}: {each.case} ({each.target})"
    changes = trial.workspace if trial.answer is not None else None
    diff = [] if changes is None else describe_changes(changes).split("\n")[1:]
    # The diff is a block of its own, which has colours.
    lines = [*code_block(detail_lines(trial, case, _SCREEN, has_diff=False))]
    if diff:
        shown = [shorten_text(line, _LONGEST) for line in diff[:_DIFF_LINES]]
        more = [f"… {len(diff) - len(shown):,} more lines"] if len(diff) > len(shown) else []
        lines += ["", *code_block([*shown, *more], "diff")]
    why, block = shorten_text(each.why or each.verdict, _LONGEST), "\n".join(lines)
    return (
        f"<details><summary>{_SIGNS[each.verdict]} {each.verdict} {_write_html(name)}<br>"
        f"{_write_html(why)}</summary>\n\n{block}\n\n</details>\n\n"
    )


def _escape_inline(text: str) -> str:
    """Text between other text. Marks are escaped; it mentions no person, and links nothing."""
    escaped = _SPECIAL.sub(r"\\\1", _flatten_text(text))
    return re.sub(r"(?<=[@#])(?=\w)", "\u200b", escaped)


def _write_html(text: str) -> str:
    """Text in a <summary>, where Markdown is not read."""
    escaped = _flatten_text(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<code>{escaped}</code>"


def _flatten_text(text: str) -> str:
    return make_visible(" ".join(text.split()))
