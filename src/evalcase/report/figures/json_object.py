"""Figures as programs read them: plain JSON, with null for what can't be estimated."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from evalcase.report.figures.estimates import rate_totals
from evalcase.report.figures.figures import Effort, Figures, Judging, Mean, Repeats, Slice
from evalcase.stats.intervals import LEVEL
from evalcase.types.result import Decision, Totals


def figures_object(figures: Figures) -> dict[str, Any]:
    """All of them."""
    return {
        "level": LEVEL,
        "interval": figures.interval,
        "cluster": figures.cluster,
        "unclustered": figures.unclustered,
        "without_interval": figures.without or None,
        "judging": _object_of_judging(figures.judging),
        "all": {
            **part_object(figures.all),
            "not_run": figures.not_run,
            **effort_object(figures.effort),
        },
        "by_target": {
            name: {**part_object(part), **effort_object(figures.efforts[name])}
            for name, part in figures.by_target.items()
        },
        "by_suite": _object_of_parts(figures.by_suite),
        "by_tag": _object_of_parts(figures.by_tag),
        "by_grader": _object_of_parts(figures.by_grader),
        "by_vars": {name: _object_of_parts(parts) for name, parts in figures.by_vars.items()},
    }


def _object_of_judging(judging: Judging | None) -> dict[str, Any] | None:
    """What graders asked of targets, apart from what the answers took."""
    return None if judging is None else {
        "asked": judging.asked, "cached": judging.cached,
        "tokens": {"input": judging.input_tokens, "output": judging.output_tokens},
        "seconds": judging.seconds, "usd": judging.cost_usd,
    }  # fmt: skip


def _object_of_parts(parts: dict[str, Slice]) -> dict[str, Any]:
    return {name: part_object(part) for name, part in parts.items()}


def totals_object(
    totals: Totals, not_run: int, decision: Decision | None = None, *, is_biased: bool = False,
    is_shared: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The figures that follow from the totals alone, where `figures_object` has them, too."""
    part, interval = rate_totals(totals), "wilson"
    if decision is not None or is_biased or is_shared:
        from evalcase.report.figures.decided import settle_part

        part = settle_part(part, decision)
        interval = "sequence" if decision is not None or is_biased else interval
    whole = {**rate_object(part), "not_run": not_run}
    return {"level": LEVEL, "interval": interval, "cluster": None, "all": whole}


def rate_object(part: Slice) -> dict[str, Any]:
    """A rate with what it is of and what is beside it."""
    return {
        **mean_object(part.rate, "rate"),
        **asdict(part.cases),
        "unfinished": part.unfinished,
        "failures_up_to": part.failures_up_to,
        "without_errors": mean_object(part.without_errors, "rate"),
    }


def part_object(part: Slice) -> dict[str, Any]:
    """A rate, and what else there is to know."""
    return {
        **rate_object(part),
        "score": mean_object(part.score),
        "repeats": _object_of_repeats(part.repeats),
    }


def mean_object(mean: Mean, name: str = "mean") -> dict[str, Any]:
    """A mean under its own name, with its bounds."""
    found = {name: mean.value, "low": mean.low, "high": mean.high, "n": mean.n}
    return found if mean.clusters is None else {
        **found, "clusters": mean.clusters, "rough": mean.is_rough
    }  # fmt: skip


def _object_of_repeats(repeats: Repeats | None) -> dict[str, Any] | None:
    if repeats is None:
        return None
    return {
        "cases": repeats.cases,
        "fewest": repeats.fewest,
        "most": repeats.most,
        "flaky": repeats.flaky,
        "trials_passed": mean_object(repeats.share),
        "pass_at": [
            {"k": each.k, "any": mean_object(each.any), "all": mean_object(each.all)}
            for each in repeats.pass_at
        ],
        "standard_errors": {"passes": asdict(repeats.passes), "scores": asdict(repeats.scores)},
    }


def effort_object(effort: Effort) -> dict[str, Any]:
    return {
        "answers": effort.answers,
        "latency": {
            "n": effort.timed, "median_s": effort.median_s, "p95_s": effort.p95_s,
            "total_s": effort.total_s,
        },
        "tokens": {
            "n": effort.reported, "input": effort.input_tokens, "output": effort.output_tokens
        },
        "cost": {
            "usd": effort.cost_usd, "unpriced": effort.unpriced, "cached": effort.cached
        },
        "scores": list(effort.scores),
    }  # fmt: skip
