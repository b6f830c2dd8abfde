"""In which order a person is shown answers: as many that the judge passed as failed, mixed so that
nobody can tell which is which, and the same order whenever one goes on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import zip_longest

from evalcase.types.grade import Judged


def draw_answers(answers: Iterable[Judged], criterion: str | None, seed: str) -> list[Judged]:
    """Each answer that has a verdict, once: by twos, one of each kind, while both last."""
    kinds: dict[bool, list[tuple[bytes, Judged]]] = {True: [], False: []}
    for judged in answers:
        verdict = judged.verdict_on(criterion)
        if verdict is not None:
            kinds[verdict].append((_draw_lot(seed, *judged.answer), judged))
    passes, fails = (sorted(kind, key=lambda each: each[0]) for kind in kinds.values())
    return list(_mix_kinds(passes, fails))


def shares_of(drawn: Sequence[Judged], criterion: str | None) -> dict[bool, float]:
    """The share of each kind."""
    passed = round(sum(each.verdict_on(criterion) is True for each in drawn) / len(drawn), 4)
    return {True: passed, False: round(1 - passed, 4)}


def _mix_kinds(
    passes: list[tuple[bytes, Judged]], fails: list[tuple[bytes, Judged]]
) -> Iterator[Judged]:
    for pair in zip_longest(passes, fails):
        # Which of the two comes first is a lot of its own.
        drawn = [each for each in pair if each is not None]
        for _, judged in sorted(drawn, key=lambda each: each[0][::-1]):
            yield judged


def _draw_lot(*names: str) -> bytes:
    # Each with its length, so that no two answers are one.
    told = "".join(f"{len(name)}:{name}" for name in names)
    return sha256(told.encode("utf-8", "surrogatepass")).digest()
