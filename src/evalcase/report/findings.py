"""What a comparison means: in plain sentences, and as JSON for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from typing import Any, NamedTuple

from msgspec.structs import asdict

from evalcase.report.compare import ChangedPair, Comparison, TrackFigures
from evalcase.report.differences import Measured
from evalcase.report.gates import Compared, Gated, gates_exit_code
from evalcase.report.sides import Side
from evalcase.stats.paired import (
    cases_for_scores,
    cases_for_verdicts,
    fewest_alike,
    visible_in_scores,
    visible_in_verdicts,
)
from evalcase.stats.sequential import ALPHA
from evalcase.util.text import write_count

FEWEST = 5
"""Cases below which an interval is as wide as all there is."""
NO_CHANGE = "no significant difference"


class Power(NamedTuple):
    """What one of several tests could detect."""

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
    """None where nothing can be estimated."""
    change, alpha = measured.change, ALPHA / tests
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
    units, fewest = measured.units, fewest_alike(alpha)
    if (visible is not None and visible > 1) or units < fewest:
        visible = None
    noun = "case" if measured.clusters is None else "cluster"
    return Power(visible, effect, needed, units, noun, fewest)


def list_parts(track: TrackFigures) -> tuple[tuple[str, Sequence[Measured]], ...]:
    """What a target can be looked at by, each with its noun: only where there are several."""
    kinds = ("grader", track.graders), ("tag", track.tags)
    return tuple((noun, parts) for noun, parts in kinds if len(parts) > 1)


def choose_parts(parts: Sequence[Measured]) -> list[Measured]:
    """Those in which something changed, and that have cases enough."""
    return [part for part in parts if part.pairs >= FEWEST and (part.better or part.worse)]


def say_result(
    comparison: Comparison, gated: Sequence[Gated], quote: Callable[[str], str] = "`{}`".format
) -> Iterator[str]:
    """A sentence for each target, or grader, that is compared. `quote` writes their names."""
    if not comparison.pairs:
        yield "Nothing is compared: no case has a verdict in both."
    elif len(gated) == 1:
        yield _say_alone(gated[0], comparison, quote)
    else:
        for each in gated:
            yield f"{_name_subject(each, quote)}: {_say_change(each)}."


def _say_alone(each: Gated, comparison: Comparison, quote: Callable[[str], str]) -> str:
    change, base, head = _say_change(each), "base", "Head"
    if comparison.is_within:
        base, head = quote(each.track.base_target), quote(each.track.head_target)
    if each.is_distinct:
        return f"{head} is {change} than {base}."
    if change == NO_CHANGE:
        head = head if comparison.is_within else "head"
        return f"No significant difference between {base} and {head}."
    return f"{change.capitalize()}."


def _say_change(each: Gated) -> str:
    if not each.measured.pairs:
        return "nothing to compare"
    if each.is_distinct:
        return "better" if each.value > 0 else "worse"
    if each.track.is_same:
        return "no case changed"
    nouns = "cases" if each.measured.clusters is None else "clusters"
    return f"too few {nouns} to tell" if each.is_powerless else NO_CHANGE


def _name_subject(each: Gated, quote: Callable[[str], str]) -> str:
    track = each.track
    name = quote(track.head_target)
    if track.base_target != track.head_target:
        name = f"{name} against {quote(track.base_target)}"
    return f"{name}, by {quote(each.grader)}" if each.grader is not None else name


def say_counts(track: TrackFigures, comparison: Comparison) -> str:
    """How many cases there are of each kind; those that one side did not select by that name."""
    counts, unselected = track.counts, comparison.unselected
    said = [f"{counts['fixed']:,} fixed", f"{counts['broken']:,} broken"]
    said += [f"{counts['changed']:,} changed", f"{counts['same']:,} the same"]
    more = [
        f"{counts[kind]:,} {unselected.get(kind, kind)}"
        for kind in ("added", "removed", "skipped", "unfinished")
        if counts[kind]
    ]
    beside = f"; not compared: {', '.join(more)}" if more else ""
    return f"{write_count(track.pairs, 'case')} compared: {', '.join(said)}{beside}"


def closing_words(track: TrackFigures, compared: Compared) -> Iterator[str]:
    """Which test p is of, what the cases could detect, and which parts are not shown."""
    if not track.pairs or track.is_same:
        return
    gated = compared.gated
    yield say_test(gated)
    tested = next(each for each in gated if each.track.head_target == track.head_target)
    power = find_power(tested.measured, compared.effect, len(gated))
    yield "The change can't be estimated." if power is None else say_power(power)
    counts = {noun: len(parts) - len(choose_parts(parts)) for noun, parts in list_parts(track)}
    if folded := [write_count(count, noun) for noun, count in counts.items() if count]:
        few = f"that did not change or have fewer than {FEWEST} cases"
        yield f"`--json` also shows {' and '.join(folded)} {few}."


def say_test(gated: Sequence[Gated]) -> str:
    tests = " and ".join(sorted({each.measured.test for each in gated}))
    of_trials = any(each.is_of_trials and each.measured.test != "exact McNemar" for each in gated)
    of = " on the share of its trials that each case passed" if of_trials else ""
    several = f", Holm-adjusted for {len(gated)} tests" if len(gated) > 1 else ""
    return f"p is from the {tests} test{of}{several}."


def say_power(power: Power) -> str:
    """What a comparison could have seen."""
    if power.units < power.fewest:
        could = (
            f"With {write_count(power.units, power.noun)} no change can be significant: at least "
            f"{power.fewest:,} have to change the same way"
        )
    elif power.visible is None:
        could = "These cases detect no change 4 times out of 5"
    else:
        points = f"{100 * power.visible:.1f} points"
        could = f"These cases detect a change of {points} or more 4 times out of 5"
    points = f"{100 * power.effect:.3g} points"
    return f"{could}; to detect a change of {points} you would need about {power.needed:,} cases."


def comparison_object(compared: Compared) -> dict[str, Any]:
    """JSON for programs. Shares are from 0 to 1, and so are changes of them."""
    comparison = compared.comparison
    return {
        "result": list(say_result(comparison, compared.gated)),
        "base": _object_of_side(comparison.base),
        "head": _object_of_side(comparison.head),
        "differs": list(comparison.remarks),
        "targets_not_compared": list(comparison.alone),
        "targets_removed": dict(comparison.lost),
        "errored": {"base": comparison.base_errored, "head": comparison.head_errored},
        "tested": [_object_of_gated(each, compared.effect) for each in compared.gated],
        "targets": [_object_of_track(track) for track in comparison.tracks],
        "gates": [each._asdict() for each in compared.judged],
        "exit_code": gates_exit_code(compared.judged),
    }


def _object_of_side(side: Side) -> dict[str, Any]:
    run = None if side.run is None else side.run.about
    return {
        "name": side.label,
        "run_name": run and run.name, "note": run and run.note, "commit": run and run.commit,
        "branch": run and run.branch, "dirty": run and run.dirty,
        "complete": not side.missing, "missing": side.missing or None,
        "mixed": list(side.mixed), "failed_of": side.origin or None, "part": side.part or None,
    }  # fmt: skip


def _object_of_gated(each: Gated, effect: float) -> dict[str, Any]:
    measured, power = each.measured, find_power(each.measured, effect, each.tests)
    return {
        "base_target": each.track.base_target, "head_target": each.track.head_target,
        "grader": each.grader, "distinguishable": each.is_distinct,
        **_object_of_measured(measured),
        "measure": measured.name, "p": measured.p, "p_adjusted": measured.adjusted,
        "test": measured.test, "smallest_visible": power.visible if power else None,
        "effect": effect, "cases_needed": power.needed if power else None,
    }  # fmt: skip


def _object_of_measured(measured: Measured) -> dict[str, Any]:
    """Without p, which would not hold for what is not tested."""
    change = measured.change
    return {
        "pairs": measured.pairs, "clusters": measured.clusters,
        "base": measured.base, "head": measured.head,
        "better": measured.better, "worse": measured.worse,
        "change": change.value if change else None,
        "low": change.low if change else None, "high": change.high if change else None,
    }  # fmt: skip


def _object_of_track(track: TrackFigures) -> dict[str, Any]:
    def by_name(several: Sequence[Measured]) -> dict[str, Any]:
        return {each.name: _object_of_measured(each) for each in several}

    return {
        "base_target": track.base_target, "head_target": track.head_target,
        "pairs": track.pairs, **{str(kind): count for kind, count in track.counts.items()},
        "base_errored": track.base_errored, "head_errored": track.head_errored,
        "pass_rate": _object_of_measured(track.passed),
        "without_errors": _object_of_measured(track.without_errors),
        "trials": _object_of_measured(track.trials) if track.trials is not None else None,
        "score": _object_of_measured(track.score),
        "graders": by_name(track.graders),
        "grader_scores": by_name(track.grader_scores),
        "tags": by_name(track.tags),
        "amounts": {
            each.name: {
                "pairs": each.pairs, "base": each.base and asdict(each.base),
                "head": each.head and asdict(each.head),
                "ratio": each.ratio and each.ratio._asdict(),
                "zeros": each.zeros, "unknown": each.unknown,
            }
            for each in track.amounts
        },
        "cases": {
            kind: {
                "named": [_object_of_pair(pair) for pair in pairs],
                "more": track.counts[kind] - len(pairs),
            }
            for kind, pairs in track.listed.items()
        },
    }  # fmt: skip


def _object_of_pair(pair: ChangedPair) -> dict[str, Any]:
    verdicts = {"base_verdict": pair.base_verdict, "head_verdict": pair.head_verdict}
    return {**pair.name._asdict(), **verdicts}
