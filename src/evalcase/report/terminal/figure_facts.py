"""Figures in; out what a summary says of them, as facts: a label, and the parts of a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evalcase.report.figures import Effort, Figures, Judging, Mean, Repeats, Slice
from evalcase.report.terminal.part_table import interval_of
from evalcase.report.terminal.progress import write_money, write_percent
from evalcase.types.result import VERDICTS, Totals
from evalcase.util.text import write_count

_SLOW_S = 0.1
"""What is quicker is no news."""
_SEVERAL = 5
"""Scores that are worth a picture."""
_BARS = "·▁▂▃▄▅▆▇█"


class Fact(NamedTuple):
    label: str
    parts: list[str]


def rate_said(mean: Mean) -> str:
    """A share with its interval, where it has one."""
    if mean.value is None:
        return "–"
    between = f" ({interval_of(mean)})" if mean.low is not None else ""
    return f"{write_percent(mean.value)}{between}"


def rate_facts(figures: Figures) -> Iterator[Fact]:
    """What the pass rate alone does not say."""
    part = figures.all
    label = "rate"
    for said in _rate_notes(part, figures):
        yield Fact(label, [said])
        label = ""


def _rate_notes(part: Slice, figures: Figures) -> Iterator[str]:
    rate = part.rate
    if part.cases.errored and part.without_errors.n:
        of = write_count(part.without_errors.n, "case")
        yield f"{rate_said(part.without_errors)} of the {of} that did not error"
    if rate.n and rate.low is None and figures.without:
        yield f"no interval: {figures.without}"
    elif figures.interval == "sequence":
        if rate.low is not None:
            yield "the interval is that of the early decision, and covers all cases"
    elif rate.n and rate.low is None:
        one = "1 case is" if rate.clusters is None else "one cluster is"
        yield f"{one} too few for an interval"
    if rate.clusters is not None and figures.interval != "sequence":
        yield from _cluster_notes(figures, rate)


def _cluster_notes(figures: Figures, rate: Mean) -> Iterator[str]:
    clusters = write_count(rate.clusters or 0, "cluster")
    rough = "; with fewer than 10 it is only rough" if rate.is_rough else ""
    yield f"the interval is over {clusters} by {figures.cluster}{rough}"
    if alone := figures.unclustered:
        has = "case has" if alone == 1 else "cases have"
        yield f"{alone:,} {has} no {figures.cluster}: each counts as its own cluster"


def trial_facts(totals: Totals) -> Iterator[Fact]:
    """How the trials came out, where they are not the cases."""
    trials = totals.trials
    if trials.total != totals.cases.total:
        counted = [f"{count:,} {word}" for word in VERDICTS if (count := getattr(trials, word))]
        yield Fact("trials", [f"{trials.total:,} in all", *counted])


def repeat_facts(repeats: Repeats | None) -> Iterator[Fact]:
    """What trials of the same cases tell."""
    if repeats is None:
        return
    trials = f"{repeats.fewest}"
    if repeats.most > repeats.fewest:
        trials += f" to {repeats.most}"
    cases = write_count(repeats.cases, "case")
    passed = [cases, f"{trials} trials each", f"{rate_said(repeats.share)} of them passed"]
    for each in repeats.pass_at:
        passed += [f"pass@{each.k} {rate_said(each.any)}", f"pass^{each.k} {rate_said(each.all)}"]
    yield Fact("repeats", passed)
    spread = repeats.passes
    if spread.same_cases is not None and spread.more_repeats is not None:
        again, others = 100 * spread.same_cases, 100 * spread.more_repeats
        said = f"standard error: {again:.1f} points from repeating these cases, {others:.1f} from"
        yield Fact("", [f"{said} the choice of cases (more repeats won't lower it)"])
    if repeats.flaky:
        flaky = f"{repeats.flaky:,} of {write_count(repeats.cases, 'case')}"
        yield Fact("flaky", [f"{flaky} passed in some trials but not in others"])


def score_facts(part: Slice, effort: Effort) -> Iterator[Fact]:
    """The mean of scores and how they lie, where they are not only 0 and 1."""
    score = part.score
    if score.value is None or not part.partial:
        return
    between = f" ({score.low:.2f}–{score.high:.2f})" if score.low is not None else ""
    said = f"mean {score.value:.2f}{between} of {write_count(score.n, 'case')}"
    drawn = f"  0│{draw_bins(effort.scores)}│1" if score.n >= _SEVERAL else ""
    yield Fact("scores", [said + drawn])


def draw_bins(bins: Sequence[int]) -> str:
    """How many scores are in each part from 0 to 1, as bars in a line: even one of many is seen."""
    most = max(bins, default=0) or 1
    return "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] for count in bins)


def latency_facts(effort: Effort) -> Iterator[Fact]:
    if effort.timed < 2 or effort.p95_s is None or effort.median_s is None:
        return
    if effort.p95_s >= _SLOW_S:
        parts = [f"median {effort.median_s:.2f} s", f"95% within {effort.p95_s:.2f} s"]
        yield Fact("latency", parts)


def token_facts(effort: Effort) -> Iterator[Fact]:
    if effort.input_tokens or effort.output_tokens:
        parts = [f"{effort.input_tokens:,} in", f"{effort.output_tokens:,} out"]
        yield Fact("tokens", parts)


def judging_facts(judging: Judging | None) -> Iterator[Fact]:
    """What graders asked of targets; its cost stands with the other one."""
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
    if totals.grading_usd is not None:
        said.append(f"grading {write_money(totals.grading_usd)}")
    if totals.users_usd is not None:
        said.append(f"simulated users {write_money(totals.users_usd)}")
    if totals.lost_usd is not None:
        said.append(f"discarded answers and gradings {write_money(totals.lost_usd)}")
    if totals.cached:
        said.append(f"{write_count(totals.cached, 'answer')} given earlier")
    if said:
        yield Fact("cost", said)
