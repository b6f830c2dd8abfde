"""The cases of the base, held in arrays until those of the head come by: a million take little."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from math import nan
from typing import NamedTuple

from evalcase.report.compare.side import PlacedName
from evalcase.report.compare.unit import AMOUNTS, CaseStanding, Unit
from evalcase.types.question import TrialKey
from evalcase.types.result import VERDICTS, Verdict
from evalcase.util.table import Table, mark_of

_NUMBERS: dict[Verdict | None, int] = {
    None: -1, **{verdict: number for number, verdict in enumerate(VERDICTS)}
}  # fmt: skip
_COLUMNS = "bIIIIIddddddQQQQ"
_MET = len(_COLUMNS) - 1
"""The column that says which comparisons have found a case in head, a bit for each."""
MOST_TRACKS = 64
MOST_PARTS = 1_000
"""Tags, or graders, that are told apart."""


class Held(NamedTuple):
    """What is known of a case of the base."""

    verdict: Verdict | None
    trials: int
    passed: int
    errored: int
    repeats: int
    shown: int
    """The repeat that shows why its verdict is what it is."""
    share: float
    score: float
    """Not a number where there is none."""
    amounts: tuple[float, ...]
    answers: int
    question: int
    grading: int

    def standing(self) -> CaseStanding:
        return CaseStanding(self.verdict, self.answers, self.passed, self.trials, str(self.score))


class BaseUnits:
    """Finds cases by where their suite lies, their id and their target."""

    def __init__(self) -> None:
        self._units = Table(_COLUMNS)
        self._graders = Table("dd")
        self.counts: Counter[str] = Counter()
        """Of each target, how many cases there are."""
        self.graders: dict[str, None] = {}
        """The names of all graders, as far as they are told apart."""
        self._suites: dict[str, str] = {}
        """How each suite was named, by where it lies."""

    def add(self, unit: Unit) -> None:
        name, mark = unit.name, mark_of(unit.name)
        self.counts[name.target] += 1
        self._suites.setdefault(name.suite, unit.shown.key.suite)
        self._units.add(
            mark, _NUMBERS[unit.verdict], unit.trials, unit.passed, unit.errored, unit.repeats,
            unit.shown.key.repeat, unit.share, unit.score.value,
            *(mean.value for mean in unit.amounts), unit.answers, unit.question, unit.grading,
            0,
        )  # fmt: skip
        for grader, (passed, score) in unit.graders.items():
            if len(self.graders) < MOST_PARTS:
                self.graders[grader] = None
            self._graders.add(mark_of((mark, grader)), passed.value, score.value)

    @property
    def suites(self) -> Collection[str]:
        """Where each suite lies."""
        return self._suites.keys()

    def find(self, name: PlacedName) -> Held | None:
        found = self._units.find(mark_of(name))
        if found is None:
            return None
        last = 8 + len(AMOUNTS)
        verdict = None if found[0] < 0 else VERDICTS[found[0]]
        first, rest = found[1:8], found[last:_MET]
        return Held._make((verdict, *first, found[8:last], *rest))

    def meet(self, name: PlacedName, track: int) -> None:
        """Note that a case was found in head, in one of the comparisons."""
        mark = mark_of(name)
        found = self._units.find(mark)
        assert found is not None
        self._units.put(mark, _MET, found[_MET] | 1 << track)

    def is_met(self, name: PlacedName, track: int) -> bool:
        found = self._units.find(mark_of(name))
        return found is not None and bool(found[_MET] >> track & 1)

    def key_of(self, name: PlacedName, repeat: int) -> TrialKey:
        """What a trial of the base is called there."""
        return TrialKey(self._suites[name.suite], name.case, name.target, repeat)

    def find_grader(self, name: PlacedName, grader: str) -> tuple[float, float]:
        """How often a grader passed a case, and its score; not numbers where it wasn't asked."""
        return self._graders.find(mark_of((mark_of(name), grader))) or (nan, nan)
