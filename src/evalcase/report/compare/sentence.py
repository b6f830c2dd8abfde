"""What a comparison comes to, in plain sentences: first one without a number, for whoever reads
only that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from evalcase.report.compare.comparison import Comparison
from evalcase.report.compare.gated import Gated
from evalcase.report.compare.power import Power
from evalcase.report.compare.track import ChangeKind, TrackFigures
from evalcase.util.text import write_count

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
