"""The summary of a run: what did not pass and why, rates by suite and target, the record, and the
next command. `verbose` adds latency, tokens, judging and the like."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from evalcase.report.details import UNFINISHED, FindCase, detail_lines, name_lines, passed_of
from evalcase.report.figures import (
    Effort,
    Figures,
    Judging,
    Mean,
    Repeats,
    Slice,
    write_interval,
    write_money,
    write_percent,
    write_rate,
)
from evalcase.report.highlights import TROUBLED, CaseName, GridRow, Highlights, Shown
from evalcase.report.terminal import INDENT, LABEL, Screen, SeeSuite, cut
from evalcase.types.result import VERDICTS, Totals
from evalcase.types.value import Value, replace
from evalcase.util.text import list_some, make_visible, write_count

PartKind = str
"""`target`, `suite`, `tag`, `grader` or, for a variable, `vars.NAME`."""
PART_KINDS: tuple[PartKind, ...] = ("target", "suite", "tag")
"""The tables that are shown unless others are asked for."""
_COLUMN = LABEL - 1
_NARROW = 60
_SLOW_S = 0.1
"""What is quicker is no news."""
_MOST_PARTS = 10
"""Parts that a table shows; of more, those with the lowest rates."""
_MOST_DIFFERING = 20
_SEVERAL_SCORES = 5
_BARS = "·▁▂▃▄▅▆▇█"


class RunEnding(Value, frozen=True):
    """How a run ended, as far as its results don't tell."""

    totals: Totals
    duration_s: float | None
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
    """Which cases these are, if they are not all of the suites."""
    not_run: int = 0
    see_suite: SeeSuite = str
    mixed: str = ""
    """Which targets changed while it ran."""
    saved: str = ""
    """What an early decision saved."""
    gate: str = ""
    """Whether the pass rate that was asked for is reached, or that nothing was run."""
    name: str = ""
    """Its name and note, and the commit that it was made of."""


class Fact(NamedTuple):
    label: str
    parts: list[str]


def summary_lines(
    highlights: Highlights, figures: Figures, ending: RunEnding, find_case: FindCase,
    screen: Screen, by: Collection[PartKind] = PART_KINDS, *, verbose: bool = False,
) -> Iterator[str]:  # fmt: skip
    """All of it. Parts of the kinds in `by` are shown if there are several."""
    several = len(figures.by_target) > 1
    highlights.finish()
    for verdict in (*TROUBLED, "passed", "skipped"):
        for shown in highlights.shown(verdict):
            yield from _case_lines(shown, find_case, ending.see_suite, screen, several=several)
        if more := highlights.more[verdict]:
            words = screen.paint(f"and {more:,} more {verdict or UNFINISHED}", str(verdict))
            yield f"{words}: {make_visible(ending.report)}"
            yield ""
    if several and "target" in by:
        rows = highlights.differing(ending.see_suite)
        yield from _grid_lines(rows, tuple(figures.by_target), screen)
    yield from part_tables(figures, by, screen, ending.see_suite)
    if scope := count_scope(figures, ending.totals):
        yield from screen.wrap(scope)
    yield from verdict_lines(ending, figures.all.rate, screen)
    for fact in _facts(highlights, figures, ending, verbose=verbose):
        yield from _fact_lines(fact, screen)
    yield from ending_lines(ending, screen)


def _case_lines(
    shown: Shown, find_case: FindCase, see_suite: SeeSuite, screen: Screen, *, several: bool
) -> Iterator[str]:
    result = shown.result
    here = replace(result, key=result.key._replace(suite=see_suite(result.key.suite)))
    yield from name_lines(here, shown.outcome, screen, name_target=several)
    case = find_case(result.key.suite, result.key.case)
    yield from detail_lines(result, shown.heard, case, screen)
    if shown.same:
        names = [
            (f"{see_suite(each.suite)}: " if each.suite != result.key.suite else "")
            + _name_case(each, several=each.target != result.key.target)
            for each in shown.named
        ]
        said = cut(f"the same for {list_some(names, shown.same)}", screen.width - INDENT)
        yield screen.paint(f"{'':{INDENT}}{said}", "dim")
    yield ""


def _name_case(name: CaseName, *, several: bool) -> str:
    return f"{name.case} ({name.target})" if several else name.case


def _grid_lines(rows: Sequence[GridRow], targets: Sequence[str], screen: Screen) -> Iterator[str]:
    """The cases that targets differ on, a column for each target."""
    if not rows:
        return
    cells = grid_rows(rows[:_MOST_DIFFERING], targets)
    yield from screen.table(cells, {word: word for word in VERDICTS})
    if (more := len(rows) - _MOST_DIFFERING) > 0:
        yield screen.paint(f"and {more:,} more that targets differ on", "dim")
    yield ""


def grid_rows(rows: Sequence[GridRow], targets: Sequence[str]) -> list[list[str]]:
    """A head, and the verdicts of each case."""
    cells = [
        [name, *((said[each] or UNFINISHED) if each in said else "–" for each in targets)]
        for name, said in rows
    ]
    return [["case", *targets], *cells]


def part_tables(
    figures: Figures, by: Collection[PartKind], screen: Screen, see_suite: SeeSuite = str
) -> Iterator[str]:
    """A table for each kind with several parts, and an empty line below each."""
    kinds: dict[PartKind, Mapping[str, Slice]] = {
        "target": figures.by_target,
        "suite": {see_suite(path): part for path, part in figures.by_suite.items()},
        "tag": figures.by_tag, "grader": figures.by_grader,
        **{f"vars.{name}": parts for name, parts in figures.by_vars.items()},
    }  # fmt: skip
    for kind, parts in kinds.items():
        if kind in by and (len(parts) > 1 or kind.startswith("vars.")):
            efforts = figures.efforts if kind == "target" else None
            yield from part_table(head_of_parts(kind, figures), parts, screen, efforts)
            yield ""


def head_of_parts(kind: PartKind, figures: Figures) -> str:
    """Graders judge trials, not cases."""
    return f"{kind} (trials)" if kind == "grader" and figures.all.repeats is not None else kind


def part_table(
    noun: str, parts: Mapping[str, Slice], screen: Screen, efforts: Mapping[str, Effort] | None
) -> Iterator[str]:
    worst = sorted(parts, key=lambda name: 2.0 if (rate := parts[name].rate.value) is None
                   else rate)[:_MOST_PARTS]  # fmt: skip
    shown = {name: part for name, part in parts.items() if name in worst}
    yield from screen.table(part_rows(noun, shown, efforts))
    if more := len(parts) - len(shown):
        what = "value" if noun.startswith("vars.") else noun
        rest = f"and {write_count(more, f'more {what}')}, with higher pass rates"
        yield screen.paint(cut(rest, screen.width), "dim")


def part_rows(
    noun: str, parts: Mapping[str, Slice], efforts: Mapping[str, Effort] | None = None
) -> list[Sequence[str]]:
    """A head, and a row for each part, with a column for whatever some part has."""
    shown = list(parts.values())
    columns = [[noun, *parts]]
    for word in VERDICTS:
        counts: list[int] = [getattr(part.cases, word) for part in shown]
        if any(counts):
            columns.append([word, *(f"{count:,}" for count in counts)])
    if any(part.unfinished for part in shown):
        columns.append([UNFINISHED, *(f"{part.unfinished:,}" for part in shown)])
    columns.append(["pass rate", *(write_percent(part.rate.value) for part in shown)])
    columns.append(["interval", *(write_interval(part.rate) for part in shown)])
    if any(part.partial for part in shown):
        means = [part.score.value for part in shown]
        columns.append(["score", *("–" if mean is None else f"{mean:.2f}" for mean in means)])
    if efforts is not None:
        spent = [efforts[name] for name in parts]
        if any(effort.cost_usd is not None for effort in spent):
            columns.append(["cost", *(write_money(effort.cost_usd) for effort in spent)])
        medians = [effort.median_s for effort in spent]
        columns.append(["median", *("–" if each is None else f"{each:.2f} s" for each in medians)])
    return list(zip(*columns, strict=True))


def count_scope(figures: Figures, totals: Totals) -> str:
    """`20 cases × 2 targets × 3 repeats = 120 trials`; empty if cases are all there is to count."""
    trials, units = totals.trials.total, totals.cases.total + totals.unfinished
    if trials == figures.distinct:
        return ""
    said = count_units(units, figures)
    repeats = figures.all.repeats
    if repeats is not None and repeats.fewest == repeats.most and units * repeats.most == trials:
        return f"{said} × {repeats.most} repeats = {trials:,} trials"
    return f"{said} = {trials:,} trials" if trials == units else f"{said}, {trials:,} trials"


def count_units(units: int, figures: Figures) -> str:
    """So many cases, each at one target: `20 cases`, or `20 cases × 2 targets`."""
    targets, distinct = len(figures.by_target), figures.distinct
    if units == distinct or targets < 2:
        return write_count(units, "case")
    if units == distinct * targets:
        return f"{write_count(distinct, 'case')} × {targets} targets"
    return f"{write_count(distinct, 'case')} at up to {targets} targets"


def verdict_lines(ending: RunEnding, rate: Mean, screen: Screen) -> Iterator[str]:
    """How many cases passed and how many did not, the cost and the time."""
    totals = ending.totals
    counts = [(word, getattr(totals.cases, word)) for word in VERDICTS]
    parts = [(f"{number:,} {word}", str(word)) for word, number in counts if number]
    if totals.unfinished:
        parts.append((f"{totals.unfinished:,} {UNFINISHED}", "warning"))
    if ending.not_run:
        parts.append((f"{ending.not_run:,} not run", "warning"))
    if (errored := totals.trials.errored) > totals.cases.errored:
        # Those of cases that passed anyway are in no other count, and the exit code is 3.
        parts.append((f"{write_count(errored, 'trial')} errored", "errored"))
    parts = parts or [("nothing ran", "warning")]
    if totals.trials.total and totals.trials.total == totals.trials.skipped:
        parts.append(("nothing was run", "warning"))
    if rate.value is not None:
        parts.append((f"pass rate {write_rate(rate)}", "place"))
    if totals.cost_usd is not None:
        parts.append((write_money(totals.cost_usd), ""))
    if ending.duration_s is not None:
        parts.append((_write_duration(ending.duration_s), ""))
    yield from _flow_parts(parts, screen.width, screen)


def ending_lines(ending: RunEnding, screen: Screen) -> Iterator[str]:
    """Which part it is, the record, whether it is complete, and what to do now."""
    for label, text in (("run", ending.name), ("part", ending.part), ("mixed", ending.mixed)):
        if text:
            yield from _fact_lines(Fact(label, [make_visible(text)]), screen)
    yield from _to_copy("record", ending.record, "", screen)
    if ending.notice:
        yield from _to_copy("stopped", ending.notice, "", screen)  # it may hold a path, too
    for label, text in (("saved", ending.saved), ("gate", ending.gate)):
        if text:
            yield from _fact_lines(Fact(label, [text]), screen)
    if ending.next:
        yield from _to_copy("next", ending.next, "hint", screen)


def _to_copy(label: str, text: str, style: str, screen: Screen) -> Iterator[str]:
    """A path or a command: never cut, and on a line of its own if it fits only there."""
    text = make_visible(text)
    lead = screen.paint(f"{label:<{_COLUMN}}", "dim")
    if cell_len(text) <= screen.width < min(_NARROW, _COLUMN + cell_len(text)):
        yield screen.paint(label, "dim")
        lead = ""
    yield lead + screen.paint(text, style)


def _facts(
    highlights: Highlights, figures: Figures, ending: RunEnding, *, verbose: bool
) -> Iterator[Fact]:
    totals, effort, several = ending.totals, figures.effort, len(figures.by_target) > 1
    yield from rate_facts(figures)
    yield from trial_facts(totals)
    yield from repeat_facts(figures, verbose=verbose)
    for name, outcome in highlights.shaky:
        yield Fact("", [f"{_name_case(name, several=several)}: {passed_of(outcome)}: passed"])
    if highlights.more_shaky:
        yield Fact("", [f"{highlights.more_shaky:,} more passed, but not in every trial"])
    if forgiven := highlights.forgiven:
        more = f" and {write_count(forgiven.cases - 1, 'more case')}" if forgiven.cases > 1 else ""
        yield Fact(
            "errored", [f"trials of {forgiven.first}{more}, passed anyway: {forgiven.reason}"]
        )
    yield from score_facts(figures.all, effort)
    if verbose:
        yield from latency_facts(effort)
        slow = [(took_s, name) for took_s, name in highlights.slowest if took_s >= _SLOW_S]
        if slow and totals.cases.total > 1:
            said = [f"{_name_case(name, several=several)} {took_s:.2f} s" for took_s, name in slow]
            yield Fact("slowest", said)
        yield from token_facts(effort)
        yield from judging_facts(figures.judging)
    yield from cost_facts(totals)
    if verbose:
        yield from _vote_facts(highlights, ending)
    if ending.grading:
        yield Fact("grading", [ending.grading])


def rate_facts(figures: Figures) -> Iterator[Fact]:
    """What the pass rate alone does not say."""
    label = "rate"
    for said in _rate_notes(figures.all, figures):
        yield Fact(label, [said])
        label = ""


def _rate_notes(part: Slice, figures: Figures) -> Iterator[str]:
    rate = part.rate
    if part.cases.errored and part.without_errors.n:
        of = count_units(part.without_errors.n, figures)
        yield f"{write_rate(part.without_errors)} of the {of} that did not error"
    if rate.n and rate.low is None and figures.without:
        yield figures.without
    elif figures.interval == "sequence":
        if rate.low is not None:
            yield "the interval is that of the early decision, and covers all cases"
    elif rate.n and rate.low is None:
        one = "1 case is" if rate.clusters is None else "one cluster is"
        yield f"no interval: {one} too few"
    if rate.clusters is not None and figures.interval != "sequence":
        clusters = write_count(rate.clusters, "cluster")
        rough = "; with fewer than 10 it is only rough" if rate.is_rough else ""
        yield f"the interval is over {clusters} by {figures.cluster}{rough}"
        if alone := figures.unclustered:
            has = "case has" if alone == 1 else "cases have"
            yield f"{alone:,} {has} no {figures.cluster}: each counts as its own cluster"


def trial_facts(totals: Totals) -> Iterator[Fact]:
    """Trials by verdict, if they are not the cases."""
    trials = totals.trials
    if trials.total != totals.cases.total:
        counted = [f"{count:,} {word}" for word in VERDICTS if (count := getattr(trials, word))]
        yield Fact("trials", [f"{trials.total:,} in all", *counted])


def repeat_facts(figures: Figures, *, verbose: bool = True) -> Iterator[Fact]:
    repeats: Repeats | None = figures.all.repeats
    if repeats is None:
        return
    trials = f"{repeats.fewest}"
    if repeats.most > repeats.fewest:
        trials += f" to {repeats.most}"
    cases = count_units(repeats.cases, figures)
    passed = [cases, f"{trials} trials each", f"{write_rate(repeats.share)} of them passed"]
    for each in repeats.pass_at:
        passed += [f"pass@{each.k} {write_rate(each.any)}", f"pass^{each.k} {write_rate(each.all)}"]
    yield Fact("repeats", passed)
    spread = repeats.passes
    if verbose and spread.same_cases is not None and spread.more_repeats is not None:
        again, others = 100 * spread.same_cases, 100 * spread.more_repeats
        said = f"standard error: {again:.1f} points from repeating these cases, {others:.1f} from"
        yield Fact("", [f"{said} the choice of cases (more repeats won't lower it)"])
    if repeats.flaky:
        said = f"{repeats.flaky:,} of {cases} passed in some trials but not in others"
        yield Fact("flaky", [said])


def score_facts(part: Slice, effort: Effort) -> Iterator[Fact]:
    """The mean of scores and their distribution, if they are not only 0 and 1."""
    score = part.score
    if score.value is None or not part.partial:
        return
    between = f" ({score.low:.2f}–{score.high:.2f})" if score.low is not None else ""
    drawn = f"  0│{draw_bins(effort.scores)}│1" if score.n >= _SEVERAL_SCORES else ""
    of = write_count(score.n, "case")
    yield Fact("scores", [f"mean {score.value:.2f}{between} of {of}{drawn}"])


def draw_bins(bins: Sequence[int]) -> str:
    """Counts as bars in a line: even one of many is seen."""
    most = max(bins, default=0) or 1
    return "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] for count in bins)


def latency_facts(effort: Effort) -> Iterator[Fact]:
    if effort.timed < 2 or effort.p95_s is None or effort.median_s is None:
        return
    if effort.p95_s >= _SLOW_S:
        yield Fact(
            "latency", [f"median {effort.median_s:.2f} s", f"95% within {effort.p95_s:.2f} s"]
        )


def token_facts(effort: Effort) -> Iterator[Fact]:
    if effort.input_tokens or effort.output_tokens:
        yield Fact("tokens", [f"{effort.input_tokens:,} in", f"{effort.output_tokens:,} out"])


def judging_facts(judging: Judging | None) -> Iterator[Fact]:
    """Calls of targets by graders; their cost is beside the others."""
    if judging is None:
        return
    said = [write_count(judging.asked, "call")]
    if judging.cached:
        said.append(f"{write_count(judging.cached, 'answer')} from the cache")
    if judging.input_tokens or judging.output_tokens:
        said += [f"{judging.input_tokens:,} tokens in", f"{judging.output_tokens:,} out"]
    if judging.seconds >= _SLOW_S:
        said.append(f"{judging.seconds:.1f} s in total")
    yield Fact("judging", said)


def cost_facts(totals: Totals) -> Iterator[Fact]:
    """What the sum of costs does not say."""
    said = []
    if totals.cost_usd is not None and totals.unpriced:
        said.append(f"{write_count(totals.unpriced, 'answer')} without a cost")
    for usd, what in (
        (totals.grading_usd, "grading"), (totals.users_usd, "simulated users"),
        (totals.lost_usd, "discarded answers and gradings"),
    ):  # fmt: skip
        if usd is not None:
            said.append(f"{what} {write_money(usd)}")
    if totals.cached:
        said.append(f"{write_count(totals.cached, 'answer')} given earlier")
    if said:
        yield Fact("cost", said)


def _vote_facts(highlights: Highlights, ending: RunEnding) -> Iterator[Fact]:
    """How far the votes of judges agreed beyond chance, by suite."""
    label = "votes"
    for suite, votes in highlights.votes.items():
        if not votes.subjects:
            continue
        on = "1 criterion" if votes.subjects == 1 else f"{votes.subjects:,} criteria"
        kappa = "always the same verdict" if votes.kappa is None else f"{votes.kappa:.2f}"
        where = f" in {make_visible(ending.see_suite(suite))}" if len(highlights.votes) > 1 else ""
        yield Fact(label, [f"Fleiss' kappa on {on}: {kappa}{where}"])
        label = ""


def _fact_lines(fact: Fact, screen: Screen) -> Iterator[str]:
    room = max(10, screen.width - _COLUMN)
    lead = screen.paint(f"{fact.label:<{_COLUMN}}", "dim")
    parts = [(cut(part, room - 1), "") for part in fact.parts]
    flowing = _flow_parts(parts, room, screen)
    for line in flowing if len(parts) > 1 else screen.wrap(fact.parts[0], room):
        yield lead + line
        lead = " " * _COLUMN


def _flow_parts(
    parts: Sequence[tuple[str, str]], width: int, screen: Screen
) -> Iterator[str]:  # fmt: skip
    """Parts with commas between them, in as few lines as they fit into; none is broken."""
    line, room = "", width
    for number, (text, style) in enumerate(parts):
        comma = "," if number < len(parts) - 1 else ""
        needed = cell_len(text) + len(comma) + bool(line)
        if line and needed > room:
            yield line
            line, room = "", width
        line += (" " if line else "") + screen.paint(text, style) + comma
        room -= needed
    yield line


def _write_duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours} h {minute:02} min" if hours else f"{minutes} min {second:02} s"
