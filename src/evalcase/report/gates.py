"""What a comparison is tested by, and whether its gates pass.

Without evidence a gate does not pass: where nothing is compared, something is missing or errored,
or a test could not have shown anything, the gate is not decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Literal, NamedTuple

from evalcase.errors import ConfigError
from evalcase.report.compare import Comparison
from evalcase.report.differences import Measured
from evalcase.report.paired_cases import ChangeKind, TrackFigures
from evalcase.stats.paired import adjust_p_values
from evalcase.stats.sequential import ALPHA
from evalcase.types.problem import did_you_mean
from evalcase.types.result import first_code
from evalcase.types.value import Value, replace
from evalcase.util.text import write_count

Measure = Literal["passed", "cases", "score"]
"""What passed, by the share of trials of each case where there are several; cases alone; scores."""


class Gated(Value, frozen=True):
    """A measure at a target that is tested."""

    track: TrackFigures
    measured: Measured
    """With its p adjusted to how many are tested."""
    grader: str | None
    """None for all graders together."""
    tests: int = 1
    """How many are tested at once."""
    both: bool = False
    """Whether gates also go by cases where trials are tested: no measure was named."""

    @property
    def value(self) -> float:
        change = self.measured.change
        base, head = self.measured.base, self.measured.head
        if change is not None:
            return change.value
        return (head or 0.0) - (base or 0.0)

    @property
    def is_of_trials(self) -> bool:
        """Whether it is the share of trials that passed, of each case."""
        return self.grader is None and self.measured.name == "trials"

    @property
    def is_of_scores(self) -> bool:
        """Whether it is of what graders say, which some cases may not have, and not of verdicts."""
        return self.grader is not None or self.measured.name == "score"

    @property
    def lost_cases(self) -> float:
        """By how much the pass rate of cases fell, where that of trials is tested; 0 else."""
        passed = self.track.passed
        if not self.is_of_trials or passed.base is None or passed.head is None:
            return 0.0
        return max(0.0, passed.base - passed.head)

    @property
    def is_distinct(self) -> bool:
        """Whether it can be told from no change."""
        p = self.measured.p if self.measured.adjusted is None else self.measured.adjusted
        return p < ALPHA and self.measured.pairs > 0

    @property
    def is_powerless(self) -> bool:
        """Whether no change could be told from none, not even one of all cases."""
        return self.measured.least_p * self.tests >= ALPHA


def find_gated(
    comparison: Comparison, measure: Measure | None, graders: Sequence[str]
) -> list[Gated]:
    """All that is tested, with Holm's adjustment: what passed, unless a measure is named. Raise
    ConfigError for an unknown grader."""
    found = [
        Gated(track, measured, grader, both=measure is None)
        for track in comparison.tracks
        for grader, measured in _choose_measures(track, measure or "passed", graders)
    ]
    adjusted = adjust_p_values([each.measured.p for each in found])
    return [
        replace(each, measured=replace(each.measured, adjusted=p), tests=len(found))
        for each, p in zip(found, adjusted, strict=True)
    ]


def _choose_measures(
    track: TrackFigures, measure: Measure, graders: Sequence[str]
) -> Iterator[tuple[str | None, Measured]]:
    if not graders:
        passed = track.trials or track.passed if measure == "passed" else track.passed
        yield None, track.score if measure == "score" else passed
        return
    several = track.grader_scores if measure == "score" else track.graders
    known = {measured.name: measured for measured in several}
    for name in graders:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ConfigError(
                f"no case that is compared was graded by `{name}` in both"
                f"{f'; {hint}' if hint else ''}"
            )
        yield name, known[name]


def count_at_worst(each: Gated) -> int:
    """How many cases may be lower in head, of those that have no score there and of all others."""
    worst = each.measured.at_worst
    return worst.worse if worst is not None else 0


def say_unscored(each: Gated) -> str:
    """What keeps a gate from being decided."""
    lost, by = each.measured.lost, name_measure(each)
    if not lost:
        return f"no case has a score by {by} in both"
    cases = "1 case has" if lost == 1 else f"{lost:,} cases have"
    return f"{cases} a score by {by} in base and not in all trials of head"


def say_scored(gated: Sequence[Gated]) -> str:
    """Of how many cases a gate is met, where others have no score."""
    parts = [
        f"in the {each.measured.pairs:,} of {each.track.pairs:,} cases that have a score by "
        f"{name_measure(each)} in both"
        for each in gated
        if each.is_of_scores and each.measured.pairs < each.track.pairs
    ]
    return " and ".join(parts)


def name_measure(each: Gated) -> str:
    return "all graders" if each.grader is None else f"`{each.grader}`"


_WORDS = ("broken", "worse", "significantly-worse", "worse-than:", "removed")
GATES = "broken, worse, significantly-worse, worse-than:MARGIN or removed"


_PASSED = {"broken": "no case is broken", "removed": "no case is missing in head"}


class ComparisonGate(NamedTuple):
    """What a comparison must not be."""

    name: str
    margin: float = 0.0
    """Of `worse-than`, a share."""

    def __str__(self) -> str:
        return f"{self.name}{self.margin:g}" if self.name.endswith(":") else self.name


class GateFinding(NamedTuple):
    """What is said of one gate, or of what keeps any from passing, and what it costs."""

    gate: str
    """Empty where it is about all of them."""
    code: int
    """0 if it passed, 1 if it failed; 2 or 3 if that can't be decided."""
    reason: str
    """Why it did not pass; or of how much it did."""
    partial: bool = False
    """Whether it passed without cases of base that head lacks, and no gate asks for those."""

    def say(self, *, doubted: bool) -> str:
        """It in words; `doubted` where something keeps all gates from passing."""
        if not self.gate:
            return f"not decided: {self.reason}"
        if self.code:
            said = f"{'FAILED' if self.code == 1 else 'not decided'}, {self.reason}"
        elif doubted:
            said = "not decided; nothing found against it so far"
        else:
            why = " ".join(filter(None, (_PASSED.get(self.gate), self.reason)))
            said = f"passed{f', {why}' if why else ''}"
        return f"--fail-on {self.gate}: {said}"


def read_gate(text: str) -> ComparisonGate:
    """Raise ValueError, in words, if there is no such gate."""
    name, colon, margin = text.partition(":")
    if colon and name == "worse-than":
        return ComparisonGate("worse-than:", _read_margin(margin))
    if colon or text not in _WORDS:
        hint = did_you_mean(text, _WORDS)
        raise ValueError(f"`{text}` is not a gate: {hint or f'there are {GATES}'}")
    return ComparisonGate(text)


def _read_margin(text: str) -> float:
    try:
        margin = float(text)
    except ValueError:
        margin = -1.0
    if not isfinite(margin) or not 0 <= margin <= 1:
        raise ValueError(f"worse-than:{text} needs a number from 0 to 1, such as worse-than:0.02")
    return margin


def judge_gates(
    comparison: Comparison,
    gated: Sequence[Gated],
    gates: Sequence[ComparisonGate],
    max_errors: int = 0,
) -> list[GateFinding]:
    """What is to be said of each gate; first of what keeps all of them from being met."""
    if not gates:
        return []
    doubts = list(_find_doubts(comparison, max_errors))
    if comparison.lost and all(gate.name != "removed" for gate in gates):
        doubts.append(GateFinding("", 3, _say_lost(comparison)))
    if not comparison.pairs:
        return doubts
    judged = [_judge_gate(gate, comparison, gated) for gate in gates]
    of = _say_compared(comparison)
    if of and all(gate.name != "removed" for gate in gates):
        of += f"; {_say_missing(comparison)}, which --fail-on removed refuses"
        judged = [each._replace(partial=not each.code) for each in judged]
    met = ((each, "; ".join(filter(None, (of, each.reason)))) for each in judged)
    return [*doubts, *(each if each.code else each._replace(reason=text) for each, text in met)]


def gates_exit_code(judged: Sequence[GateFinding]) -> int:
    return first_code(0, *(each.code for each in judged))


def _find_doubts(comparison: Comparison, max_errors: int) -> Iterator[GateFinding]:
    base, head = comparison.base, comparison.head
    for word, side in (("base", base), ("head", head)):
        if side.missing:
            yield GateFinding("", 3, f"{word} is not complete: {side.missing}")
    unfinished = sum(track.counts["unfinished"] for track in comparison.tracks)
    if unfinished:
        yield GateFinding("", 3, f"{_count_cases(unfinished)} not finished")
    if not any(track.decided for track in comparison.tracks):
        yield GateFinding("", 3, "nothing is compared: no case has a verdict in both")
    for word, errored in (("base", comparison.base_errored), ("head", comparison.head_errored)):
        if errored > max_errors:
            trials = write_count(errored, "trial")
            allowed = f", more than the {max_errors:,} allowed" if max_errors else ""
            way_out = f"run it again, or allow that with --max-errors {errored}"
            yield GateFinding("", 3, f"{trials} of {word} errored{allowed}; {way_out}")


def _judge_gate(
    gate: ComparisonGate, comparison: Comparison, gated: Sequence[Gated]
) -> GateFinding:
    if gate.name == "removed":
        return _make_finding(gate, "; ".join(_say_removed(comparison)))
    if gate.name == "broken":
        return _judge_broken(gate, comparison, gated)
    powerless = [each for each in gated if each.is_powerless]
    if gate.name == "significantly-worse" and len(powerless) == len(gated):
        pairs = max(each.measured.clusters or each.measured.pairs for each in gated)
        noun = "clusters" if gated[0].measured.clusters is not None else "cases"
        return GateFinding(
            str(gate), 2, f"{pairs:,} {noun} are too few for any change to be significant"
        )
    bad = [each for each in gated if _is_failed(gate, each)]
    several = len(gated) > 1
    if bad:
        return _make_finding(
            gate, "; ".join(_say_fault(gate, each, several=several) for each in bad)
        )
    unsure = [each for each in gated if _may_fail(gate, each)]
    if unsure:
        return _leave_open(gate, unsure)
    lost = [_say_lost_cases(each, several=several) for each in gated if each.lost_cases]
    reason = f"by trials; {'; '.join(lost)}: `--measure cases` counts those" if lost else ""
    return GateFinding(str(gate), 0, reason or say_scored(gated))


def _judge_broken(
    gate: ComparisonGate, comparison: Comparison, gated: Sequence[Gated]
) -> GateFinding:
    faults = list(_say_broken(comparison, gated))
    unsure = [each for each in gated if not each.measured.pairs or count_at_worst(each)]
    if unsure and not faults:
        return _leave_open(gate, unsure)
    return GateFinding(str(gate), int(bool(faults)), "; ".join(faults) or say_scored(gated))


def _say_broken(comparison: Comparison, gated: Sequence[Gated]) -> Iterator[str]:
    """How many cases passed in base and not in head, whatever is measured; and how many are lower
    by that. A case that passes as before is not broken by one more trial that failed."""
    count = sum(track.passed.worse for track in comparison.tracks)
    if count:
        yield f"{_count_cases(count)} broken"
    for each in gated:
        if each.measured.worse and each.is_of_scores:
            yield f"{_count_cases(each.measured.worse)} lower in head by {name_measure(each)}"


def _may_fail(gate: ComparisonGate, each: Gated) -> bool:
    """Whether it would fail if all that has no score in head had the lowest."""
    worst = each.measured.at_worst
    return worst is not None and _is_failed(gate, replace(each, measured=worst))


def _leave_open(gate: ComparisonGate, unsure: Sequence[Gated]) -> GateFinding:
    return GateFinding(str(gate), 3, "; ".join(map(say_unscored, unsure)))


def _is_failed(gate: ComparisonGate, each: Gated) -> bool:
    return _fails_by_measure(gate, each) or _fails_by_cases(gate, each)


def _fails_by_cases(gate: ComparisonGate, each: Gated) -> bool:
    """Whether the share of trials holds, but cases were lost, and no measure was named."""
    lost = each.lost_cases if each.both else 0.0
    return gate.name != "significantly-worse" and lost > gate.margin


def _fails_by_measure(gate: ComparisonGate, each: Gated) -> bool:
    change = each.measured.change
    if gate.name == "worse":
        return each.value < 0 or not each.measured.pairs
    if gate.name == "significantly-worse":
        return each.value < 0 and each.is_distinct
    return change is None or change.low < -gate.margin


def _say_fault(gate: ComparisonGate, each: Gated, *, several: bool) -> str:
    at = f" at {each.track.head_target}" if several else ""
    change = each.measured.change
    if not _fails_by_measure(gate, each):
        said = _say_lost_cases(each, several=several)
        return f"{said}, though not that of trials: `--measure` sets which one counts"
    if change is None:
        return f"the change{at} can't be estimated"
    if gate.name == "worse-than:":
        return f"the change{at} may be as bad as {100 * change.low:+.1f} points"
    p = ""
    if gate.name == "significantly-worse":
        adjusted = each.measured.adjusted or 0.0
        p = f", p = {adjusted:.3f}" if adjusted >= 0.001 else ", p < 0.001"
    return f"{100 * each.value:+.1f} points{at}{p}"


def _say_lost_cases(each: Gated, *, several: bool) -> str:
    """That less cases passed, where trials are what is tested."""
    at = f" at {each.track.head_target}" if several else ""
    base, head = (100 * (rate or 0.0) for rate in (each.track.passed.base, each.track.passed.head))
    return f"the pass rate of cases{at} fell from {base:.1f}% to {head:.1f}%"


def _say_compared(comparison: Comparison) -> str:
    """Of how much of base the gates are met, where head has only a part of it."""
    removed, skipped = _count_missing(comparison)
    if not removed and not skipped:
        return ""
    total = comparison.pairs + removed + skipped
    did = " and did not skip" if skipped else ""
    return f"in the {comparison.pairs:,} of {total:,} cases that head has{did}"


def _say_missing(comparison: Comparison) -> str:
    """How many cases of base have no counterpart."""
    removed, skipped = _count_missing(comparison)
    parts = [f"{removed:,} missing" if removed else "", f"{skipped:,} skipped" if skipped else ""]
    return f"{' and '.join(filter(None, parts))} in head"


def _count_missing(comparison: Comparison) -> tuple[int, int]:
    """How many cases of base head hasn't got, and how many it has skipped."""
    removed = sum(track.counts["removed"] for track in comparison.tracks)
    return removed, sum(track.head_skipped for track in comparison.tracks)


def _say_removed(comparison: Comparison) -> Iterator[str]:
    count, skipped = _count_missing(comparison)
    if count:
        part = comparison.head.part
        of = f": head covers only a part, {part}" if part else ""
        yield f"{_count_cases(count)} only in base{of}"
    if skipped:
        yield f"{_count_cases(skipped)} skipped in head but not in base"
    if comparison.lost:
        yield _say_lost(comparison)


def _say_lost(comparison: Comparison) -> str:
    names = ", ".join(f"`{name}`" for name in comparison.lost)
    count = sum(comparison.lost.values())
    return f"head has no results for {names}, base has {count:,}"


def _make_finding(gate: ComparisonGate, fault: str) -> GateFinding:
    return GateFinding(str(gate), 1 if fault else 0, fault)


def _count_cases(count: int) -> str:
    return "1 case is" if count == 1 else f"{count:,} cases are"


EFFECT = 0.05


class Compared(Value, frozen=True):
    comparison: Comparison
    gated: Sequence[Gated]
    judged: Sequence[GateFinding]
    effect: float = EFFECT
    """The change that matters."""
    shown: tuple[ChangeKind, ...] = ("broken",)
    """The kinds of cases whose answers are shown side by side."""
    limit: int = 5
    """How many of each."""
