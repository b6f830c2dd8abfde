"""How far a judge agrees with itself: where the same answer was judged again, and among votes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evalcase.stats.agreement import fleiss_kappa
from evalcase.types.grade import AnswerName, Judged
from evalcase.types.value import Value


class Itself(Value, frozen=True):
    answers: int
    """How many answers were judged more than once."""
    agreement: float | None
    """Of all pairs of verdicts on the same answer, the share that agree."""
    voted: int
    """How many criteria were voted on."""
    votes_kappa: float | None
    """Fleiss' kappa of those votes."""


def compare_with_itself(said: Iterable[Judged], criterion: str | None = None) -> Itself:
    verdicts: dict[AnswerName, list[int]] = {}
    votes: list[Mapping[str, int]] = []
    for judged in said:
        votes += [each for id, each in judged.votes.items() if criterion in (None, id)]
        if (passed := judged.verdict_on(criterion)) is not None:
            verdicts.setdefault(judged.answer, [0, 0])[passed] += 1
    again = [counts for counts in verdicts.values() if sum(counts) > 1]
    pairs = sum(_count_pairs(sum(counts)) for counts in again)
    agreed = sum(_count_pairs(failed) + _count_pairs(passed) for failed, passed in again)
    voted = [each for each in votes if sum(each.values()) > 1]
    share = agreed / pairs if pairs else None
    return Itself(len(again), share, len(voted), fleiss_kappa(voted))


def _count_pairs(count: int) -> int:
    return count * (count - 1) // 2
