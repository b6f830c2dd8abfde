"""The summary of a run: what did not pass and why, rates by suite and target, the record, and the
next command. `verbose` adds latency, tokens, judging and the like."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from evalcase.report.aggregate import TROUBLED, GridRow, Highlights, rate_of
from evalcase.report.case_text import case_lines, trial_lines
from evalcase.report.details import UNFINISHED, Telling, detail_lines, name_lines, passed_of
from evalcase.report.evaluated import (
    Evaluated,
    name_grading,
    name_run,
    note_run,
    read_evaluated,
    say_gate,
    suggest_next,
)
from evalcase.report.figures import (
    PART_KINDS,
    Effort,
    Figures,
    Judging,
    Mean,
    PartKind,
    Repeats,
    Slice,
    write_clock,
    write_interval,
    write_money,
    write_percent,
    write_rate,
    write_seconds,
)
from evalcase.report.formats import Reported, see_suites
from evalcase.report.terminal import (
    LABEL,
    Reader,
    Screen,
    SeeSuite,
    cut,
    cut_middle,
    defuse_lines,
    seen_from,
)
from evalcase.store.stored import StoredRun
from evalcase.types.result import VERDICTS, Totals
from evalcase.util.text import make_visible, write_count

_COLUMN = LABEL - 1
_FACT_ROWS = 4
_MOST_PARTS = 10
"""Parts that a table shows; of more, those with the lowest rates."""
_MOST_DIFFERING = 20
_SEVERAL_SCORES = 5
_BARS = "·▁▂▃▄▅▆▇█"
Fact = tuple[str, str]
"""A label and a text."""


def write_text(reported: Reported) -> Iterator[str]:
    """The report for people: the summary of a run, or some of its cases in full."""
    if reported.wanted.case is not None:
        lines = _write_cases(reported)
    else:
        verdicts = [None if each == UNFINISHED else each for each in reported.wanted.verdicts]
        evaluated, highlights, figures = reported.read(verdicts or TROUBLED)  # type: ignore[arg-type]
        stored, reader = reported.stored, reported.reader
        lines = summary_lines(evaluated, highlights, stored, reader, figures, reported.by)
    return (line + "\n" for line in defuse_lines(lines))


def _write_cases(reported: Reported) -> Iterator[str]:
    """One case in full; or several, where suites have the same id."""
    stored, reader, wanted = reported.stored, reported.reader, reported.wanted
    screen = reader.screen
    see_suite = see_suites(stored.run, reader.config.root, reader.cwd)
    before, known = None, None
    for result in sorted(reported.results(), key=lambda result: result.key):
        suite, case = result.key[:2]
        if before is None or before[:2] != (suite, case):
            if before is not None:
                yield ""
            known = stored.find_case(suite, case)
            yield from case_lines(see_suite(suite), case, known, screen)
        is_first = before is None or before[:3] != result.key[:3]
        yield from trial_lines(result, known, stored.outcome(result), screen, is_first=is_first)
        before = result.key
    if before is None:
        yield f"case {make_visible(wanted.case or '')} is not {' or '.join(wanted.verdicts)}"
    elif graded := read_evaluated(stored).graded_so_far:
        yield from ("", f"not complete: {graded}")


def summary_lines(
    evaluated: Evaluated, highlights: Highlights, stored: StoredRun, reader: Reader,
    figures: Figures | None = None, by: Collection[PartKind] = PART_KINDS,
) -> Iterator[str]:  # fmt: skip
    """All of it. Parts of the kinds in `by` are shown if there are several."""
    figures = figures or highlights.ledger.sum_up(evaluated)
    highlights.finish()
    screen, several = reader.screen, len(figures.by_target) > 1
    is_oracle = bool(evaluated.run.about.options.get("oracle"))
    see_suite = see_suites(evaluated.run, reader.config.root, reader.cwd)
    name = name_run(evaluated.run, reader)
    for verdict in (*TROUBLED, "passed", "skipped"):
        for shown in highlights.shown(verdict):
            yield from _case_lines(shown, stored, see_suite, screen, several=several)
        if more := highlights.more[verdict]:
            words = screen.paint(f"and {more:,} more {verdict or UNFINISHED}", str(verdict))
            command = f"evalcase report {name_grading(evaluated, name)} -o report.html"
            yield f"{words}: {make_visible(command)}"
            yield ""
    if is_oracle:
        by = ()
        if (sound := highlights.count_sound()) is not None:
            are = "is" if sound[1] == 1 else "are"
            count = f"{sound[0]:,} of {write_count(sound[1], 'case')} {are} sound"
            yield from screen.wrap(f"{count} (pass with the solution, fail without it)")
    if several and "target" in by:
        rows = highlights.differing(see_suite)
        yield from _grid_lines(rows, tuple(figures.by_target), screen)
    yield from part_tables(figures, by, screen, see_suite)
    if scope := count_scope(figures, evaluated.totals):
        yield from screen.wrap(scope)
    yield from _verdict_lines(evaluated, figures.all.rate, screen)
    if not is_oracle:
        shaky, totals = _list_shaky(highlights, several=several), evaluated.totals
        facts = figure_facts(figures, totals, shaky, verbose=reader.verbose)
        graded = note_run(evaluated)["grading"]
        yield from _fact_lines([*facts, *([("grading", graded)] if graded else [])], screen)
    if kept := highlights.kept:
        folder = kept[0] if len(kept) == 1 else os.path.commonpath(kept)
        yield from _to_copy("kept", f"{write_count(len(kept), 'workspace')}: {folder}", "", screen)
    bad = [*highlights.shown("failed"), *highlights.shown("errored")]
    first = bad[0].key if bad else None
    next_one = suggest_next(evaluated, name, first, is_own=reader.is_own)
    yield from _ending_lines(evaluated, reader, next_one)


def last_lines(evaluated: Evaluated, reader: Reader) -> Iterator[str]:
    """Only the verdict, where the record is, and how to go on with what is not complete."""
    next_one = ""
    if not evaluated.complete:
        name = name_run(evaluated.run, reader)
        next_one = suggest_next(evaluated, name, is_own=reader.is_own)
    verdict = _verdict_lines(evaluated, rate_of(evaluated).rate, reader.screen)
    return chain(verdict, _ending_lines(evaluated, reader, next_one))


def _case_lines(
    shown: Telling, stored: StoredRun, see_suite: SeeSuite, screen: Screen, *, several: bool
) -> Iterator[str]:
    key = shown.key
    yield from name_lines(shown, see_suite(key.suite), screen, name_target=several)
    if (result := stored.find_result(key)) is not None:
        yield from detail_lines(result, stored.find_case(key.suite, key.case), screen)
    if shown.same:
        said = f"the same for {shown.same:,} more"
        yield screen.inset().line(said, "dim")
    yield ""


def _grid_lines(rows: Sequence[GridRow], targets: Sequence[str], screen: Screen) -> Iterator[str]:
    if not rows:
        return
    room = max(len("ungraded"), screen.width * 3 // 5 // len(targets) - 2)
    head = ["case", *(cut_middle(name, room) for name in targets)]
    cells = [
        [name, *((said[each] or UNFINISHED) if each in said else "–" for each in targets)]
        for name, said in rows[:_MOST_DIFFERING]
    ]
    yield from screen.table([head, *cells], {word: word for word in VERDICTS})
    if (more := len(rows) - _MOST_DIFFERING) > 0:
        yield screen.paint(f"and {more:,} more that targets differ on", "dim")
    yield ""


def part_tables(
    figures: Figures, by: Collection[PartKind], screen: Screen, see_suite: SeeSuite = str
) -> Iterator[str]:
    """A table for each kind with several parts, or that was asked for, and an empty line below."""
    kinds: dict[PartKind, Mapping[str, Slice]] = {
        "target": figures.by_target,
        "suite": {see_suite(path): part for path, part in figures.by_suite.items()},
        "tag": figures.by_tag, "grader": figures.by_grader,
        **{f"vars.{name}": parts for name, parts in figures.by_vars.items()},
    }  # fmt: skip
    fewest = 2 if by is PART_KINDS else 1
    for kind, parts in kinds.items():
        if kind in by and len(parts) >= fewest:
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
    """`20 cases × 2 targets × 3 repeats = 120 trials`; empty if cases are all there is to count.
    Skipped cases are not tried."""
    trials = totals.trials.total - totals.trials.skipped
    units = totals.cases.total + totals.unfinished - totals.cases.skipped
    said = count_units(units, figures)
    if trials == units and said == write_count(units, "case"):
        return ""
    repeats = figures.all.repeats
    if repeats is not None and repeats.fewest == repeats.most and units * repeats.most == trials:
        return f"{said} × {repeats.most} repeats = {trials:,} trials"
    return f"{said} = {trials:,} trials" if trials == units else f"{said}, {trials:,} trials"


def count_units(units: int, figures: Figures) -> str:
    """So many cases, each at one target: `20 cases`, or `20 cases × 2 targets`; where that can't
    be said of them, `31 pairs of case and target`."""
    targets, distinct = len(figures.by_target), figures.distinct
    if targets < 2 or figures.all.cases.total + figures.all.unfinished == distinct:
        return write_count(units, "case")
    if units == distinct * targets:
        return f"{write_count(distinct, 'case')} × {targets} targets"
    return f"{write_count(units, 'pair')} of case and target"


def _verdict_lines(evaluated: Evaluated, rate: Mean, screen: Screen) -> Iterator[str]:
    totals = evaluated.totals
    parts: list[tuple[str, str]] = []
    for word in VERDICTS:
        if number := getattr(totals.cases, word):
            parts.append((f"{number:,} {word}", word))
    if totals.unfinished:
        parts.append((f"{totals.unfinished:,} {UNFINISHED}", "warning"))
    if evaluated.not_run:
        parts.append((f"{evaluated.not_run:,} not run", "warning"))
    if (errored := totals.trials.errored) > totals.cases.errored:
        # Those of cases that passed anyway are in no other count, and the exit code is 3.
        parts.append((f"{write_count(errored, 'trial')} errored", "errored"))
    if not parts or 0 < totals.trials.total == totals.trials.skipped:
        parts.append(("nothing was run", "warning"))
    if rate.value is not None:
        parts.append((f"pass rate {write_rate(rate)}", "place"))
    if totals.cost_usd is not None:
        parts.append((write_money(totals.cost_usd), ""))
    if (took_s := evaluated.duration_s) is not None:
        parts.append((f"{took_s:.1f} s" if took_s < 100 else write_clock(took_s), ""))
    yield from screen.flow(parts)


def _ending_lines(evaluated: Evaluated, reader: Reader, next_one: str) -> Iterator[str]:
    screen, notes = reader.screen, note_run(evaluated)
    told = {
        "run": notes["run"], "part": notes["part"], "mixed": notes["mixed"],
        "record": seen_from(reader.cwd, evaluated.run.path),
        "stopped": notes["stopped"],
        "saved": notes["saved"],
        "gate": say_gate(evaluated),
        "next": next_one,
    }  # fmt: skip
    for label, text in told.items():
        if text and label in ("record", "stopped", "next"):  # each may hold a path
            yield from _to_copy(label, text, "hint" if label == "next" else "", screen)
        elif text:
            yield from _fact_lines([(label, text)], screen)


def _to_copy(label: str, text: str, style: str, screen: Screen) -> Iterator[str]:
    """A path or a command, which is never cut."""
    lead = screen.paint(f"{label:<{_COLUMN}}", "dim")
    yield lead + screen.paint(make_visible(text), style)


def figure_facts(
    figures: Figures, totals: Totals, shaky: Iterable[str] = (), *, verbose: bool = True
) -> Iterator[Fact]:
    """What a rate alone does not say. `shaky` is said of cases that passed in some trials only."""
    yield from rate_facts(figures)
    tried, cases = totals.trials.total - totals.trials.skipped, totals.cases
    if tried != cases.total - cases.skipped:
        words = [word for word in VERDICTS if word != "skipped"]
        counted = [f"{n:,} {word}" for word in words if (n := getattr(totals.trials, word))]
        yield "trials", ", ".join([f"{tried:,} in all", *counted])
    if figures.all.repeats is not None:
        yield from repeat_facts(figures.all.repeats, figures, verbose=verbose)
    yield from (("flaky", said) for said in shaky)
    if figures.all.partial:
        yield "scores", _write_scores(figures)
    effort = figures.effort
    if verbose and effort.median_s is not None and effort.p95_s is not None:
        median, most = write_seconds(effort.median_s), write_seconds(effort.p95_s)
        yield "latency", f"median {median}, 95% within {most}"
    if verbose and (effort.input_tokens or effort.output_tokens):
        yield "tokens", f"{effort.input_tokens:,} in, {effort.output_tokens:,} out"
    if verbose and figures.judging is not None:
        yield "judging", _write_judging(figures.judging)
    costs = {
        "grading": totals.grading_usd, "simulated users": totals.users_usd,
        "discarded answers and gradings": totals.lost_usd,
    }  # fmt: skip
    said = [f"{what} {write_money(usd)}" for what, usd in costs.items() if usd is not None]
    if totals.cost_usd is not None and totals.unpriced:
        said.insert(0, f"{write_count(totals.unpriced, 'answer')} without a cost")
    if totals.cached:
        said.append(f"{write_count(totals.cached, 'answer')} given earlier")
    if said:
        yield "cost", ", ".join(said)


def rate_facts(figures: Figures) -> Iterator[Fact]:
    rate, sure = figures.all.rate, figures.all.without_errors
    if figures.all.cases.errored and sure.n:
        of = count_units(sure.n, figures)
        yield "rate", f"{write_rate(sure)} of the {of} that did not error"
    if rate.n and rate.low is None and figures.without:
        yield "rate", figures.without
    elif figures.interval == "sequence":
        if rate.low is not None:
            yield "rate", "the interval is that of the early decision, and covers all cases"
    elif rate.n and rate.low is None:
        one = "1 case is" if rate.clusters is None else "one cluster is"
        yield "rate", f"no interval: {one} too few"
    if rate.clusters is not None and figures.interval != "sequence":
        clusters = write_count(rate.clusters, "cluster")
        rough = "; with fewer than 10 it is only rough" if rate.is_rough else ""
        yield "rate", f"the interval is over {clusters} by {figures.cluster}{rough}"
        if alone := figures.unclustered:
            has = "case has" if alone == 1 else "cases have"
            yield "rate", f"{alone:,} {has} no {figures.cluster}: each counts as its own cluster"


def repeat_facts(repeats: Repeats, figures: Figures, *, verbose: bool = True) -> Iterator[Fact]:
    more = f" to {repeats.most}" if repeats.most > repeats.fewest else ""
    cases = count_units(repeats.cases, figures)
    passed = f"{repeats.fewest}{more} trials each, {write_rate(repeats.share)} of them passed"
    for each in repeats.pass_at:
        passed += f", pass@{each.k} {write_rate(each.any)}, pass^{each.k} {write_rate(each.all)}"
    yield "repeats", f"{cases}, {passed}"
    if verbose and (spread := repeats.passes) is not None:
        again, others = 100 * spread.same_cases, 100 * spread.more_repeats
        said = f"standard error: {again:.1f} points from repeating these cases, {others:.1f} from"
        yield "repeats", f"{said} the choice of cases (more repeats won't lower it)"
    if repeats.flaky:
        yield "flaky", f"{repeats.flaky:,} of {cases} passed in some trials but not in others"


def _write_scores(figures: Figures) -> str:
    """The mean, and the distribution as bars in a line: even one of many is seen."""
    score, counts = figures.all.score, figures.effort.scores
    between = f" ({score.low:.2f}–{score.high:.2f})" if score.low is not None else ""
    bars = "".join(_BARS[-(-count * (len(_BARS) - 1) // (max(counts) or 1))] for count in counts)
    drawn = f"  0│{bars}│1" if score.n >= _SEVERAL_SCORES else ""
    return f"mean {score.value or 0:.2f}{between} of {count_units(score.n, figures)}{drawn}"


def _write_judging(judging: Judging) -> str:
    """Calls of targets by graders; their cost is beside the others."""
    said = [write_count(judging.asked, "call")]
    if judging.cached:
        said.append(f"{write_count(judging.cached, 'answer')} from the cache")
    if judging.input_tokens or judging.output_tokens:
        said += [f"{judging.input_tokens:,} tokens in", f"{judging.output_tokens:,} out"]
    if judging.seconds:
        said.append(f"{write_seconds(judging.seconds)} in total")
    return ", ".join(said)


def _fact_lines(facts: Iterable[Fact], screen: Screen) -> Iterator[str]:
    """Each fact beside its label, which is not said twice."""
    before = ""
    for label, text in facts:
        shown = "" if label == before else label
        yield from screen.label(shown, make_visible(text), _FACT_ROWS, _COLUMN)
        before = label


def _list_shaky(highlights: Highlights, *, several: bool) -> Iterator[str]:
    for told in highlights.shaky:
        at = f" ({told.key.target})" if several else ""
        said = f"{told.key.case}{at}: {passed_of(told.outcome)}: passed"
        yield f"{said}, though a trial errored: {told.why}" if told.why else said
