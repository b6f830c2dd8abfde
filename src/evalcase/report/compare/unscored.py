"""What is to be said of cases that a gate goes by scores of, and that have none."""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.report.compare.gated import Gated


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
