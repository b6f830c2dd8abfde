"""Graders and tags in, those of which a comparison can say something out; others are counted."""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.report.compare.differences import Measured
from evalcase.report.compare.track import TrackFigures
from evalcase.util.text import write_count

_FEWEST = 5
"""Cases below which an interval is as wide as all there is."""


def list_parts(track: TrackFigures) -> tuple[tuple[str, Sequence[Measured]], ...]:
    """What a target can be looked at by, each with its noun: only where there are several."""
    kinds = ("grader", track.graders), ("tag", track.tags)
    return tuple((noun, parts) for noun, parts in kinds if len(parts) > 1)


def choose_parts(parts: Sequence[Measured]) -> list[Measured]:
    """Those in which something changed, and that have cases enough."""
    return [part for part in parts if part.pairs >= _FEWEST and (part.better or part.worse)]


def say_folded(track: TrackFigures) -> str:
    """What is said in place of the others; empty where there are none."""
    counts = {noun: len(parts) - len(choose_parts(parts)) for noun, parts in list_parts(track)}
    said = [write_count(count, noun) for noun, count in counts.items() if count]
    few = f"without a change, or with fewer than {_FEWEST} cases: `--json` has all"
    return f"Not shown: {' and '.join(said)} {few}." if said else ""
