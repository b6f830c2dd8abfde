"""What a comparison is tested by, and whether its gates pass.

Without evidence a gate does not pass: where nothing is compared, something is missing or errored,
or a test could not have shown anything, the gate is not decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from evalcase.errors import ConfigError
from evalcase.report.compare import Comparison, Measured, Track
from evalcase.report.sides import ChangeKind
from evalcase.stats.intervals import ALPHA
from evalcase.stats.paired import adjust_p_values, smallest_p
from evalcase.types.problem import did_you_mean
from evalcase.types.result import first_code
from evalcase.types.value import Value
from evalcase.util.text import write_count

Measure = Literal["passed", "cases", "score"]
"""What passed, by the share of trials of each case where there are several; cases alone; scores."""


class Gated(Value, frozen=True):
    track: Track
    measured: Measured
    grader: str | None
    """None for all graders together."""
    tests: int = 1
    """How many are tested at once."""
    both: bool = False
    """Whether gates also go by cases where trials are tested: no measure was named."""

    @property
    def value(self) -> float:
        measured = self.measured
        if measured.change is not None:
            return measured.change.value
        return (measured.head or 0.0) - (measured.base or 0.0)

    @property
    def is_of_trials(self) -> bool:
        """Whether it is the share of trials that passed, of each case."""
        return self.grader is None and self.measured.name == "trials"

    @property
    def is_distinct(self) -> bool:
        """Whether it can be told from no change."""
        return self.measured.final_p < ALPHA and self.measured.pairs > 0

    @property
    def is_powerless(self) -> bool:
        """Whether no change could be told from none, not even one of all cases."""
        return smallest_p(self.measured.units) * self.tests >= ALPHA


def find_gated(
    comparison: Comparison, measure: Measure | None, graders: Sequence[str]
) -> list[Gated]:
    """All that is tested, with Holm's adjustment: what passed, unless a measure is named. Raise
    ConfigError for an unknown grader."""
    found = [
        (track, measured, grader)
        for track in comparison.tracks
        for grader, measured in _choose_measures(track, measure or "passed", graders)
    ]
    adjusted = adjust_p_values([measured.tested.p for _, measured, _ in found])
    for (_, measured, _), p in zip(found, adjusted, strict=True):
        measured.adjusted = p
    return [Gated(*each, tests=len(found), both=measure is None) for each in found]


def _choose_measures(
    track: Track, measure: Measure, graders: Sequence[str]
) -> Iterator[tuple[str | None, Measured]]:
    if not graders:
        yield None, {
            "passed": track.trials or track.passed, "cases": track.passed, "score": track.score
        }[measure]  # fmt: skip
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


_NAMES = ("broken", "worse", "significantly-worse", "worse-than:", "removed")
GATES = "broken, worse, significantly-worse, worse-than:MARGIN or removed"


class ComparisonGate(NamedTuple):
    name: str
    margin: float = 0.0
    """Of `worse-than:`, a share."""

    def __str__(self) -> str:
        return f"{self.name}{self.margin:g}" if self.name.endswith(":") else self.name


def read_gate(text: str) -> ComparisonGate:
    """Raise ValueError, in words, if there is no such gate."""
    name, colon, margin = text.partition(":")
    if name == "worse-than" and colon:
        try:
            share = float(margin)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            raise ValueError(f"{text} needs a number from 0 to 1, such as worse-than:0.02")
        return ComparisonGate("worse-than:", share)
    if text not in _NAMES:
        hint = did_you_mean(text, _NAMES)
        raise ValueError(f"`{text}` is not a gate: {hint or f'there are {GATES}'}")
    return ComparisonGate(text)


class GateFinding(NamedTuple):
    """What is said of one gate, or of what keeps any from passing, and what it costs."""

    gate: str
    """Empty where it is about all of them."""
    code: int
    """0 if it passed, 1 if it failed; 2 or 3 if that can't be decided."""
    reason: str
    """Why it did not pass; or of how much it did."""

    def __str__(self) -> str:
        word = {0: "passed", 1: "FAILED"}.get(self.code, "not decided")
        if not self.gate:
            return f"{word}: {self.reason}"
        return f"--fail-on {self.gate}: {', '.join(filter(None, (word, self.reason)))}"


def judge_gates(
    comparison: Comparison,
    gated: Sequence[Gated],
    gates: Sequence[ComparisonGate],
    max_errors: int = 0,
) -> list[GateFinding]:
    """What is to be said of each gate; first of what keeps all of them from being met."""
    if not gates:
        return []
    doubts = [GateFinding("", 3, reason) for reason in _find_doubts(comparison, max_errors)]
    if comparison.lost and all(gate.name != "removed" for gate in gates):
        doubts.append(GateFinding("", 3, _say_lost(comparison)))
    if not comparison.pairs:
        return doubts
    judged = [_judge_gate(gate, comparison, gated) for gate in gates]
    nothing = "nothing found against it so far"
    return doubts + [
        each if each.code or not doubts else GateFinding(each.gate, 3, nothing) for each in judged
    ]


def gates_exit_code(judged: Sequence[GateFinding]) -> int:
    return first_code(0, *(each.code for each in judged))


def _find_doubts(comparison: Comparison, max_errors: int) -> Iterator[str]:
    for word, side in (("base", comparison.base), ("head", comparison.head)):
        if side.missing:
            yield f"{word} is not complete: {side.missing}"
    if unfinished := comparison.count("unfinished"):
        yield f"{_count_cases(unfinished)} not finished"
    if not any(track.decided for track in comparison.tracks):
        yield "nothing is compared: no case has a verdict in both"
    for word, errored in (("base", comparison.base_errored), ("head", comparison.head_errored)):
        if errored > max_errors:
            trials = write_count(errored, "trial")
            yield (
                f"{trials} of {word} errored; run it again, or allow that with "
                f"--max-errors {errored}"
            )


def _judge_gate(
    gate: ComparisonGate, comparison: Comparison, gated: Sequence[Gated]
) -> GateFinding:
    name = str(gate)
    if gate.name == "significantly-worse" and all(each.is_powerless for each in gated):
        units = max(each.measured.units for each in gated)
        noun = "cases" if gated[0].measured.clusters is None else "clusters"
        few = f"{units:,} {noun} are too few for any change to be significant"
        return GateFinding(name, 2, few)
    if faults := list(_find_faults(gate, comparison, gated)):
        return GateFinding(name, 1, "; ".join(faults))
    if gate.name == "removed":
        return GateFinding(name, 0, "")
    unsure = []
    for each in gated:
        lost, by = each.measured.lost, _name_measure(each)
        if lost:
            cases = write_count(lost, "case")
            unsure.append(f"{cases} with a score by {by} in base lack one in head")
        elif not each.measured.pairs:
            unsure.append(f"no case has a score by {by} in both")
    if unsure:
        return GateFinding(name, 3, "; ".join(unsure))
    missing, pairs = sum(_count_missing(comparison)), comparison.pairs
    extent = f"in the {pairs:,} of {pairs + missing:,} cases of base that head ran"
    return GateFinding(name, 0, extent if missing else "")


def _find_faults(
    gate: ComparisonGate, comparison: Comparison, gated: Sequence[Gated]
) -> Iterator[str]:
    if gate.name == "removed":
        yield from _say_removed(comparison)
    elif gate.name == "broken":
        # By verdicts, whatever is measured. A case that passes as before is not broken by one more
        # trial that failed.
        if count := sum(track.passed.worse for track in comparison.tracks):
            yield f"{_count_cases(count)} broken"
        for each in gated:
            # What graders say, some cases may not have, and it is not of verdicts.
            is_of_scores = each.grader is not None or each.measured.name == "score"
            if each.measured.worse and is_of_scores:
                yield f"{_count_cases(each.measured.worse)} lower in head by {_name_measure(each)}"
    else:
        for each in gated:
            yield from _find_losses(gate, each)


def _find_losses(gate: ComparisonGate, each: Gated) -> Iterator[str]:
    """By how much head is worse, where that is more than a gate allows."""
    measured, change, passed = each.measured, each.measured.change, each.track.passed
    fails = change is None or change.low < -gate.margin
    if gate.name != "worse-than:":
        fails = each.value < 0 or not measured.pairs
        if gate.name == "significantly-worse":
            fails = each.value < 0 and each.is_distinct
    # Where trials are tested, the pass rate of cases may have fallen too far all the same.
    fell = (passed.base or 0.0) - (passed.head or 0.0) if each.both and each.is_of_trials else 0.0
    at = f" at {each.track.head_target}" if each.tests > 1 else ""
    if fails and change is None:
        yield f"the change{at} can't be estimated"
    elif fails and change is not None and gate.name == "worse-than:":
        yield f"the change{at} may be as bad as {100 * change.low:+.1f} points"
    elif fails:
        is_tested = gate.name == "significantly-worse"
        p = f", p = {write_p(measured.final_p)}" if is_tested else ""
        yield f"{100 * each.value:+.1f} points{at}{p}"
    elif fell > gate.margin and gate.name != "significantly-worse":
        rates = [f"{100 * (rate or 0.0):.1f}%" for rate in (passed.base, passed.head)]
        said = f"the pass rate of cases{at} fell from {' to '.join(rates)}"
        yield f"{said}, though not that of trials: `--measure` sets which one counts"


def _name_measure(each: Gated) -> str:
    return "all graders" if each.grader is None else f"`{each.grader}`"


def _count_missing(comparison: Comparison) -> tuple[int, int]:
    return comparison.count("removed"), sum(track.head_skipped for track in comparison.tracks)


def _say_removed(comparison: Comparison) -> Iterator[str]:
    removed, skipped = _count_missing(comparison)
    if removed:
        part = comparison.head.part
        of = f": head covers only a part, {part}" if part else ""
        yield f"{_count_cases(removed)} only in base{of}"
    if skipped:
        yield f"{_count_cases(skipped)} skipped in head but not in base"
    if comparison.lost:
        yield _say_lost(comparison)


def _say_lost(comparison: Comparison) -> str:
    names = ", ".join(f"`{name}`" for name in comparison.lost)
    return f"head has no results for {names}, base has {sum(comparison.lost.values()):,}"


def _count_cases(count: int) -> str:
    return "1 case is" if count == 1 else f"{count:,} cases are"


def write_p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


EFFECT = 0.05


class Compared(Value, frozen=True):
    """A comparison with what is tested and shown of it."""

    comparison: Comparison
    gated: Sequence[Gated]
    judged: Sequence[GateFinding]
    effect: float = EFFECT
    """The change that matters."""
    shown: tuple[ChangeKind, ...] = ("broken",)
    """The kinds of cases whose answers are shown side by side."""
    limit: int = 5
    """How many of each."""
