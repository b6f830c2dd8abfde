"""A comparison in, what the page says of it out: a sentence first, what else differs, and figures
in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evalcase.report.compare.amount_words import say_ratio, say_seconds
from evalcase.report.compare.amounts import Amount
from evalcase.report.compare.compared import Compared
from evalcase.report.compare.differences import Measured
from evalcase.report.compare.parts import choose_parts, say_folded
from evalcase.report.compare.power import Power, find_power
from evalcase.report.compare.sentence import say_counts, say_power, say_result, say_test
from evalcase.report.compare.track import TrackFigures
from evalcase.report.page.messages import Told
from evalcase.types.value import replace

_TELLERS: dict[str, Callable[[float], str]] = {"latency": say_seconds, "cost": "${:.2g}".format}
"""How amounts are written that are no plain counts."""


def tell_comparison(compared: Compared) -> Told:
    comparison = compared.comparison
    warnings = list(comparison.remarks)
    if comparison.alone:
        names = ", ".join(f"`{name}`" for name in comparison.alone)
        warnings.append(f"only one of the two has {names}")
    return {
        "sentences": list(say_result(comparison, compared.gated, str)),
        "warnings": warnings,
        "tracks": [_tell_track(track, compared) for track in comparison.tracks],
    }


def _tell_track(track: TrackFigures, compared: Compared) -> Told:
    several = len(compared.comparison.tracks) > 1 or track.base_target != track.head_target
    tested = [each for each in compared.gated if each.track is track]
    notes = [say_test(compared.gated)] if tested and track.pairs and not track.is_same else []
    power = find_power(tested[0].measured, compared.effect, len(compared.gated)) if notes else None
    return {
        "title": f"{track.base_target} → {track.head_target}" if several else "",
        "counts": say_counts(track, compared.comparison.unselected),
        "rows": list(_make_rows(track, {each.grader: each.measured for each in tested})),
        "notes": [*notes, *_more_notes(track, power)] if notes else [],
    }


def _more_notes(track: TrackFigures, power: Power | None) -> Iterator[str]:
    if power is not None:
        yield say_power(power)
    # Tags are in the charts.
    if folded := say_folded(replace(track, tags=())):
        yield folded


def _make_rows(track: TrackFigures, tested: dict[str | None, Measured]) -> Iterator[list[str]]:
    """Name, base, head, change and p of each measure."""
    if not track.pairs:
        return
    yield _measure_row("pass rate", tested.get(None, track.passed))
    if track.score.pairs:
        # Where only one of the two has a score there is no pair.
        of = "" if track.score.pairs == track.pairs else f", of {track.score.pairs:,} pairs"
        yield _measure_row(f"score{of}", track.score, is_share=False)
    chosen = choose_parts(track.graders) if len(track.graders) > 1 else []
    for each in track.graders:
        if each in chosen or each.name in tested:
            yield _measure_row(f"by {each.name}", tested.get(each.name, each))
    for amount in track.amounts:
        if amount.base is not None and amount.head is not None:
            yield _amount_row(amount)


def _measure_row(name: str, measured: Measured, *, is_share: bool = True) -> list[str]:
    scale, unit = (100, "%") if is_share else (1, "")
    digits = 1 if is_share else 3
    sides = [
        "–" if side is None else f"{scale * side:.{digits}f}{unit}"
        for side in (measured.base, measured.head)
    ]
    change = measured.change
    told = "–"
    if change is not None:
        value, low, high = (
            f"{scale * each:+.{digits}f}".replace("-", "\N{MINUS SIGN}")
            for each in (change.value, change.low, change.high)
        )
        told = f"{value}{' points' if is_share else ''} ({low} to {high})"
    p = measured.adjusted
    return [name, *sides, told, "" if p is None else f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"]


def _amount_row(amount: Amount) -> list[str]:
    assert amount.base is not None
    assert amount.head is not None
    if amount.is_short:
        return [f"{amount.name}, median", "<1 ms", "<1 ms", "", ""]
    told = "" if amount.ratio is None else say_ratio(amount)
    say = _TELLERS.get(amount.name, "{:,.0f}".format)
    sides = (say(side.median) for side in (amount.base, amount.head))
    return [f"{amount.name}, median", *sides, told, ""]
