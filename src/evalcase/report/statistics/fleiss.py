"""Fleiss' kappa (1971): how far the votes of several agree, beyond what chance would do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Fleiss:
    """Adds votes up, subject by subject, and holds none of them."""

    def __init__(self) -> None:
        self.subjects = 0
        """How many had several votes."""
        self._agreed = 0.0
        self._by_verdict: dict[str, int] = {}

    def add(self, subject: Mapping[str, int]) -> None:
        """Take the votes on a subject, counted by verdict. One vote alone says nothing."""
        cast = sum(subject.values())
        if cast < 2:
            return
        self.subjects += 1
        self._agreed += sum(n * (n - 1) for n in subject.values()) / (cast * (cast - 1))
        for verdict, count in subject.items():
            self._by_verdict[verdict] = self._by_verdict.get(verdict, 0) + count

    @property
    def kappa(self) -> float | None:
        """None where there are no votes, or all of them are the same."""
        if not self.subjects:
            return None
        votes = sum(self._by_verdict.values())
        by_chance = sum((count / votes) ** 2 for count in self._by_verdict.values())
        if by_chance >= 1 - 1e-12:
            return None
        return (self._agreed / self.subjects - by_chance) / (1 - by_chance)


def fleiss_kappa(subjects: Iterable[Mapping[str, int]]) -> float | None:
    """Of votes, counted by verdict for each subject. Subjects may have different numbers of votes;
    those with one say nothing. None where there are no others, or all votes are the same."""
    votes = Fleiss()
    for subject in subjects:
        votes.add(subject)
    return votes.kappa
