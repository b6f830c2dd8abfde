"""Figures of a run that ended once it was decided: how many cases there are in them was not left to
chance, so the only interval that holds is that of the decision."""

from __future__ import annotations

from evalcase.report.figures.figures import Figures, Mean, PassAt, Repeats, Slice
from evalcase.types.result import Decision
from evalcase.types.value import replace


def settle_figures(
    figures: Figures, decision: Decision | None, *, whole: bool = True, is_biased: bool = False
) -> Figures:
    """All of a run with the interval of its decision, if there is one, and no other. Where they
    are not of the `whole` run, or it ended by what was seen without a decision that holds, there is
    none."""
    if decision is None and not is_biased:
        return figures
    return replace(
        figures,
        all=settle_part(figures.all, decision if whole else None),
        by_target=_settle_parts(figures.by_target), by_suite=_settle_parts(figures.by_suite),
        by_tag=_settle_parts(figures.by_tag), by_grader=_settle_parts(figures.by_grader),
        by_vars={name: _settle_parts(parts) for name, parts in figures.by_vars.items()},
        interval="sequence", without="the run was ended by what it saw" if decision is None else "",
    )  # fmt: skip


def settle_part(part: Slice, decision: Decision | None = None) -> Slice:
    """The same for a part of it."""
    rate = _drop_interval(part.rate)
    if decision is not None:
        rate = replace(rate, low=decision.low, high=decision.high)
    return replace(
        part, rate=rate, without_errors=_drop_interval(part.without_errors),
        score=_drop_interval(part.score),
        repeats=_bare_repeats(part.repeats) if part.repeats is not None else None,
        failures_up_to=None,
    )  # fmt: skip


def _settle_parts(parts: dict[str, Slice]) -> dict[str, Slice]:
    return {name: settle_part(part) for name, part in parts.items()}


def _drop_interval(mean: Mean) -> Mean:
    return replace(mean, low=None, high=None)


def _bare_repeats(repeats: Repeats) -> Repeats:
    bare = tuple(
        PassAt(each.k, _drop_interval(each.any), _drop_interval(each.all))
        for each in repeats.pass_at
    )
    return replace(repeats, share=_drop_interval(repeats.share), pass_at=bare)
