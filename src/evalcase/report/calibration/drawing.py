"""Labelled answers in, kinds of them with their shares out: as they were drawn for labelling."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalcase.report.calibration.match import JudgedPair
from evalcase.stats.agreement import Stratum, count_pairs


def part_by_drawing(pairs: Sequence[JudgedPair]) -> list[Stratum]:
    """Those that were drawn at one time are of two kinds, whose shares make up the whole. Several
    drawings each tell of the whole, and count by how many answers they have."""
    drawings: dict[float | None, dict[float, list[JudgedPair]]] = {}
    for pair in pairs:
        share = pair.drawn_from
        # Both kinds of a drawing are known by the smaller share.
        drawing = None if share is None else min(share, round(1 - share, 4))
        kinds = drawings.setdefault(drawing, {})
        kinds.setdefault(1.0 if share is None else share, []).append(pair)
    return [
        Stratum(size * share / sum(kinds), count_pairs((each.judge, each.people) for each in kind))
        for kinds in drawings.values()
        for size in [_count_pairs(kinds.values()) / len(pairs)]
        for share, kind in kinds.items()
    ]


def _count_pairs(kinds: Iterable[Sequence[JudgedPair]]) -> int:
    return sum(map(len, kinds))
