"""How the votes of judges fell, read from grades. A record may come from anyone, so nothing is
taken for granted of its shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from evalcase.types.grade import Grade


def votes_in(grade: Grade) -> Iterator[Mapping[str, int]]:
    """For each criterion that was voted on, how often each verdict was given; also where the votes
    came to none."""
    details = grade.failure.details if grade.failure is not None else grade.details
    votes = details.get("votes")
    if not isinstance(votes, list) or len(votes) < 2:
        return
    counts: dict[str, Counter[str]] = {}
    for vote in votes:
        for id, verdict in _said_in(vote):
            counts.setdefault(id, Counter())[verdict] += 1
    yield from counts.values()


def _said_in(vote: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - whatever a record holds
    criteria = vote.get("criteria") if isinstance(vote, dict) else None
    for each in criteria if isinstance(criteria, list) else ():
        id, verdict = (each.get("id"), each.get("verdict")) if isinstance(each, dict) else (0, 0)
        if isinstance(id, str) and isinstance(verdict, str):
            yield id, verdict
