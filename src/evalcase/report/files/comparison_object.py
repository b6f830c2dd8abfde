"""A comparison in, one JSON object out: every figure, and the names of what changed."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from evalcase.report.compare.compared import Compared
from evalcase.report.compare.differences import Measured
from evalcase.report.compare.gates import gates_exit_code
from evalcase.report.compare.power import find_power
from evalcase.report.compare.sentence import say_result
from evalcase.report.compare.side import Side
from evalcase.report.compare.track import ChangedPair, ChangeKind, TrackFigures


def comparison_object(compared: Compared) -> dict[str, Any]:
    """The object. Shares are from 0 to 1, and so are changes of them."""
    comparison = compared.comparison
    return {
        "result": list(say_result(comparison, compared.gated)),
        "base": _object_of_side(comparison.base),
        "head": _object_of_side(comparison.head),
        "differs": list(comparison.remarks),
        "targets_not_compared": list(comparison.alone),
        "targets_removed": dict(comparison.lost),
        "errored": {"base": comparison.base_errored, "head": comparison.head_errored},
        "tested": [
            {
                "base_target": each.track.base_target, "head_target": each.track.head_target,
                "grader": each.grader, "distinguishable": each.is_distinct,
                **_object_of_measured(each.measured, compared.effect, each.tests),
            }
            for each in compared.gated
        ],
        "targets": [_object_of_track(track) for track in comparison.tracks],
        "gates": [each._asdict() for each in compared.judged],
        "exit_code": gates_exit_code(compared.judged),
    }  # fmt: skip


def _object_of_side(side: Side) -> dict[str, Any]:
    return {
        "name": side.label, "complete": not side.missing, "missing": side.missing or None,
        "mixed": list(side.mixed), "failed_of": side.origin or None, "part": side.part or None,
    }  # fmt: skip


def _object_of_track(track: TrackFigures) -> dict[str, Any]:
    return {
        "base_target": track.base_target, "head_target": track.head_target,
        "pairs": track.pairs, **{str(kind): count for kind, count in track.counts.items()},
        "base_errored": track.base_errored, "head_errored": track.head_errored,
        "pass_rate": _object_of_measured(track.passed),
        "without_errors": _object_of_measured(track.without_errors),
        "trials": _object_of_measured(track.trials) if track.trials is not None else None,
        "score": _object_of_measured(track.score),
        "graders": {each.name: _object_of_measured(each) for each in track.graders},
        "grader_scores": {each.name: _object_of_measured(each) for each in track.grader_scores},
        "tags": {each.name: _object_of_measured(each) for each in track.tags},
        "amounts": {
            each.name: {
                "pairs": each.pairs, "base": each.base and asdict(each.base),
                "head": each.head and asdict(each.head),
                "ratio": each.ratio and each.ratio._asdict(),
                "zeros": each.zeros, "unknown": each.unknown,
            }
            for each in track.amounts
        },
        "cases": {kind: _object_of_listed(track, kind) for kind in track.listed},
    }  # fmt: skip


def _object_of_listed(track: TrackFigures, kind: ChangeKind) -> dict[str, Any]:
    """The first of a kind by name, and how many there are beside those that are named."""
    named = [_object_of_pair(pair) for pair in track.listed[kind]]
    return {"named": named, "more": track.counts[kind] - len(named)}


def _object_of_pair(pair: ChangedPair) -> dict[str, Any]:
    return {
        **pair.name._asdict(), "base_verdict": pair.base_verdict,
        "head_verdict": pair.head_verdict,
    }  # fmt: skip


def _object_of_measured(
    measured: Measured, effect: float | None = None, tests: int = 1
) -> dict[str, Any]:
    """Without p where it is no part of what is tested: it would not hold among so many."""
    change = measured.change
    found: dict[str, Any] = {
        "pairs": measured.pairs, "clusters": measured.clusters,
        "base": measured.base, "head": measured.head,
        "better": measured.better, "worse": measured.worse,
        "change": change.value if change else None,
        "low": change.low if change else None, "high": change.high if change else None,
    }  # fmt: skip
    if effect is not None:
        power = find_power(measured, effect, tests)
        found |= {
            "measure": measured.name, "p": measured.p, "p_adjusted": measured.adjusted,
            "test": measured.test,
            "smallest_visible": power.visible if power else None,
            "effect": effect, "cases_needed": power.needed if power else None,
        }  # fmt: skip
    return found
