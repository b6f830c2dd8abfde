"""What a comparison means, in plain sentences: the result, what changed, what it could detect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from evalcase.report.compare import Comparison, TrackFigures
from evalcase.report.differences import Measured
from evalcase.report.gates import Gated
from evalcase.report.paired_cases import ChangeKind
from evalcase.stats.paired import (
    cases_for_scores,
    cases_for_verdicts,
    fewest_alike,
    visible_in_scores,
    visible_in_verdicts,
)
from evalcase.stats.sequential import ALPHA
from evalcase.util.text import write_count


class Power(NamedTuple):
    visible: float | None
    """The smallest change that is found four times out of five; None where none is."""
    effect: float
    """The change that matters."""
    needed: int
    """How many cases show that one, four times out of five."""
    units: int
    """Cases, or clusters, that there are."""
    noun: str
    fewest: int
    """How many of them have to change the same way before that is significant."""


def find_power(measured: Measured, effect: float, tests: int = 1) -> Power | None:
    """Of one of so many tests. None where nothing can be estimated."""
    change, alpha = measured.change, ALPHA / tests
    units, noun = measured.pairs, "case" if measured.pairs == 1 else "cases"
    if measured.clusters is not None:
        units, noun = measured.clusters, "clusters"
    if change is None:
        return None
    if measured.test == "exact McNemar":
        # As for the interval, one more that got better and one that got worse.
        changing = (measured.better + measured.worse + 2) / (measured.pairs + 2)
        needed = cases_for_verdicts(changing, effect, alpha)
        visible = visible_in_verdicts(measured.pairs, changing, alpha)
    else:
        # Cases that change together are worth fewer: what the error says is for each of them.
        needed = cases_for_scores(change.error * sqrt(measured.pairs + 2), effect, alpha)
        visible = visible_in_scores(change.error, alpha)
    if (visible is not None and visible > 1) or units < fewest_alike(alpha):
        visible = None
    return Power(visible, effect, needed, units, noun, fewest_alike(alpha))


_FEWEST = 5
"""Cases below which an interval is as wide as all there is."""


def list_parts(track: TrackFigures) -> tuple[tuple[str, Sequence[Measured]], ...]:
    """What a target can be looked at by, each with its noun: only where there are several."""
    kinds = ("grader", track.graders), ("tag", track.tags)
    return tuple((noun, parts) for noun, parts in kinds if len(parts) > 1)


def choose_parts(parts: Sequence[Measured]) -> list[Measured]:
    """Those in which something changed, and that have cases enough."""
    return [part for part in parts if part.pairs >= _FEWEST and (part.better or part.worse)]


def say_folded(track: TrackFigures) -> str:
    """What is said in place of the others; empty where there are none."""
    counts = {noun: len(parts) - len(choose_parts(parts)) for noun, parts in list_parts(track)}
    said = [write_count(count, noun) for noun, count in counts.items() if count]
    few = f"without a change, or with fewer than {_FEWEST} cases: `--json` has all"
    return f"Not shown: {' and '.join(said)} {few}." if said else ""


NO_CHANGE = "no significant difference"


def quote_name(name: str) -> str:
    return f"`{name}`"


def say_result(
    comparison: Comparison, gated: Sequence[Gated], quote: Callable[[str], str] = quote_name
) -> Iterator[str]:
    """A sentence for each target, or grader, that is compared."""
    if not comparison.pairs:
        yield "Nothing is compared: no case has a verdict in both."
        return
    for each in gated:
        yield (
            f"{_name_subject(each, quote)}: {_say_change(each)}."
            if len(gated) > 1
            else _say_alone(each, *_name_sides(comparison, each, quote))
        )


def _name_sides(
    comparison: Comparison, each: Gated, quote: Callable[[str], str]
) -> tuple[str, str]:
    """What base and head are called: targets of one run by their own names."""
    if not comparison.is_within:
        return "base", "head"
    return quote(each.track.base_target), quote(each.track.head_target)


def _say_alone(each: Gated, base: str, head: str) -> str:
    if not each.measured.pairs:
        return f"{_begin(head)} can't be compared."
    if each.is_distinct:
        return f"{_begin(head)} is {_say_change(each)} than {base}."
    if each.track.is_same:
        return f"{_say_change(each).capitalize()}."
    if each.is_powerless:
        return f"{_too_few(each).capitalize()}."
    return f"No significant difference between {base} and {head}."


def _begin(name: str) -> str:
    """A word of ours at the beginning of a sentence; the name of a target stays as it is."""
    return "Head" if name == "head" else name


def _too_few(each: Gated) -> str:
    return f"too few {'cases' if each.measured.clusters is None else 'clusters'} to tell"


def _say_change(each: Gated) -> str:
    if not each.measured.pairs:
        return "nothing to compare"
    if each.is_distinct:
        return "better" if each.value > 0 else "worse"
    if each.track.is_same:
        of = " that is in both" if each.track.is_partial else ""
        return f"no case{of} changed{f', and {_too_few(each)} more' if each.is_powerless else ''}"
    return _too_few(each) if each.is_powerless else NO_CHANGE


def _name_subject(each: Gated, quote: Callable[[str], str]) -> str:
    track = each.track
    name = quote(track.head_target)
    if track.base_target != track.head_target:
        name = f"{name} against {quote(track.base_target)}"
    return f"{name}, by {quote(each.grader)}" if each.grader is not None else name


def say_counts(track: TrackFigures, unselected: Mapping[ChangeKind, str]) -> str:
    """How many cases there are of each kind, those that were left out by their own name."""
    counts = track.counts
    said = [f"{counts['fixed']:,} fixed", f"{counts['broken']:,} broken"]
    said += [f"{counts['changed']:,} changed", f"{counts['same']:,} the same"]
    left_out: tuple[ChangeKind, ...] = ("added", "removed", "skipped", "unfinished")
    more = [f"{counts[kind]:,} {unselected.get(kind, kind)}" for kind in left_out if counts[kind]]
    beside = f"; not compared: {', '.join(more)}" if more else ""
    return f"{write_count(track.pairs, 'case')} compared: {', '.join(said)}{beside}"


def say_test(gated: Sequence[Gated]) -> str:
    """Which test p is of."""
    tests = " and ".join(sorted({each.measured.test for each in gated}))
    of = " on the share of its trials that each case passed" if _of_trials(gated) else ""
    several = f", Holm-adjusted for {len(gated)} tests" if len(gated) > 1 else ""
    return f"p is from the {tests} test{of}{several}."


def _of_trials(gated: Sequence[Gated]) -> bool:
    """Whether more is tested than which cases pass."""
    return any(each.is_of_trials and each.measured.test != "exact McNemar" for each in gated)


def say_power(power: Power) -> str:
    """What a comparison could have seen."""
    if power.units < power.fewest:
        could = (
            f"With {power.units:,} {power.noun} no change can be significant: at least "
            f"{power.fewest:,} have to change the same way"
        )
    elif power.visible is None:
        could = "These cases detect no change 4 times out of 5"
    else:
        points = f"{100 * power.visible:.1f} points"
        could = f"These cases detect a change of {points} or more 4 times out of 5"
    points = f"{100 * power.effect:.3g} points"
    need = f"you would need about {power.needed:,} cases"
    return f"{could}; to detect a change of {points} {need}."
