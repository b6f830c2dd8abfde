"""A journal read once, into little memory: which trials have a result, and what each rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from evalcase.model.result import VERDICTS, Verdict
from evalcase.model.totals import Totals
from evalcase.model.trial_key import TrialKey
from evalcase.record.finished import FinishedTrial
from evalcase.record.gradings import GradedBy, GradingBegun
from evalcase.record.intake import NUMBERS, Intake, mark_trial
from evalcase.record.lines import JournalLines
from evalcase.record.tally import Counted, Tally
from evalcase.system.table import MARK_BITS

_PLACE, _VERDICT, _GROUP, _ASKER, _ANSWERED, _NUMBER = 2, 3, 4, 9, 10, 11
"""The columns of a result that say where its row begins, what came of it, which case at which
target it is a trial of, who was asked, whether it has an answer, and the place of the case among
all. In a row of the table, its mark comes first."""


_Regrading = tuple[int, int, int, float, float, int, int]


class Index(Intake):
    """The trials of a journal, each by its last answer and the last grading of that."""

    def stands(self, name: tuple[str, str, str], hashes: tuple[str, str]) -> bool:
        """Whether the one trial of a case at a target was answered, and rests on these hashes, of
        its question and its grading. If this doesn't know, `find` does."""
        if self._is_regraded or self._in_order or self._repeats:
            return False
        row = self._results.row_of(hash(name) & MARK_BITS)
        return row >= 0 and self._rested[row] == hash(hashes) & MARK_BITS

    def find_basis(self) -> str | None:
        """What all trials rested on when the run was completed, if it said so, and each of them has
        one result still: rows may have been lost, and so may one that took the place of another."""
        if self.end is None or not self.end.trials == len(self) == self._rows:
            return None
        return self.end.rests_on

    def find(self, key: TrialKey) -> FinishedTrial | None:
        """What is known of a trial; None if it has no result."""
        mark = mark_trial(key)
        found = self._results.find(mark)
        if found is None:
            return None
        question, grading, at, verdict, _, repeats, rate = found[:7]
        said_at, graded_in = at, 1
        if self._is_regraded and (again := self._last_grading(mark, at)) is not None:
            grading, said_at, verdict, rate, _, repeats, graded_in = again
        answered = found[_ANSWERED] > 0
        return FinishedTrial(
            VERDICTS[verdict], question, grading, at, said_at, answered, repeats, rate, graded_in
        )

    def is_broken_off(self, key: TrialKey) -> bool:
        """Whether the conversation of a trial was begun, and ended before it had a result."""
        return bool(self._talking) and mark_trial(key) in self._talking

    def count_finished(self, again: tuple[Verdict, ...] = ()) -> int:
        """How many trials have a result, those whose verdict is in `again` left out."""
        if not again:
            return len(self)
        return sum(self._counted(row).verdict not in again for row in self._results)

    def count_cases(self) -> int:
        """How many cases have a trial with a result, each once for each of its targets."""
        if not self._repeats:
            return len(self)
        return sum(1 for _ in groupby(row[1 + _GROUP] for row in self._results.in_order_of(_GROUP)))

    def mixed(self) -> tuple[str, ...]:
        """The targets of which results count that more than one version of them gave."""
        if not self.versions:
            return ()
        skipped = NUMBERS["skipped"]
        asked = {row[1 + _ASKER] for row in self._results if row[1 + _VERDICT] != skipped}
        return self._users.find_mixed(self.askers.find(asked))

    def targets(self) -> tuple[str, ...]:
        """The targets of which there are results, in their order."""
        asked = {row[1 + _ASKER] for row in self._results}
        return tuple(sorted({name for name, _ in self.askers.find(asked)}))

    def count_answers(self) -> dict[str, int]:
        """How many answers there are of each target that was asked."""
        names = self.askers.names()
        counts = dict.fromkeys(self.targets(), 0)
        for row in self._results:
            counts[names[row[1 + _ASKER]]] += row[1 + _ANSWERED] > 0
        return counts

    def __len__(self) -> int:
        return len(self._results)

    @property
    def grading(self) -> int:
        """Which grading is looked at."""
        return self.gradings if self._upto is None else self._upto

    def is_whole(self, number: int) -> bool:
        """Whether a grading was brought to its end. The first is as complete as its run."""
        return number == 1 or number in self._whole

    def find_broken(self, number: int) -> GradingBegun | None:
        """A grading, if it was broken off."""
        return None if self.is_whole(number) else self.begun.get(number, GradingBegun(number))

    def graded_by(self) -> GradedBy:
        """Where the grading comes from that is looked at, and how far it got."""
        number, answers, graded = self.grading, 0, 0
        for mark, _, _, at, *rest in self._results:
            if rest[_ANSWERED - _VERDICT]:
                answers += 1
                again = self._last_grading(mark, at)
                graded += number == (1 if again is None else again[-1])
        begun = self.begun.get(number, GradingBegun(number))
        return GradedBy(
            number, self.gradings, begun.graders, begun.recorded, begun.origin == "resume",
            self.is_whole(number), graded, answers,
        )  # fmt: skip

    def places(self, targets: Sequence[str] = ()) -> Iterator[tuple[int, int]]:
        """Where the answer and the grading of every trial are: in the order of the cases, of a case
        in that of its targets, as they are given, and of these in that of the answers."""
        for mark, _, _, at, *_ in self._rows_in_order(targets):
            again = self._last_grading(mark, at)
            yield at, at if again is None else again[1]

    def _rows_in_order(self, targets: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        names = self.askers.names()
        if not self._in_order:
            yield from self._results.in_order_of(_PLACE)
        elif len(names) < 2:
            yield from self._results.in_order_of(_NUMBER, _PLACE)
        else:  # which of them came first is by chance
            rows = self._results.in_order_of(_NUMBER, _PLACE)
            given = {name: number for number, name in enumerate(targets)}
            ranks = {each: (given.get(name, len(given)), name) for each, name in names.items()}
            for _, group in groupby(rows, itemgetter(1 + _NUMBER)):
                yield from sorted(group, key=lambda row: ranks[row[1 + _ASKER]])

    def counted(self) -> Iterator[Counted]:
        """Each trial once, those of a case together, if any is repeated. How often a case is
        repeated may have been changed in between: what was said last holds for all."""
        trials = map(self._counted, self._results)
        if not self._repeats:
            yield from trials
            return
        trials = map(self._counted, self._results.in_order_of(_GROUP))
        for _, group in groupby(trials, attrgetter("group")):
            several = list(group)
            newest = max(several, key=attrgetter("said_at"))
            # Trials that are planned no more still count.
            repeats, pass_rate = max(newest.repeats, len(several)), newest.pass_rate
            for each in several:
                yield each._replace(repeats=repeats, pass_rate=pass_rate)

    def tally(self) -> Tally:
        """Each trial counted once."""
        tally = Tally()
        tally.lose(self._lost)
        if not (self._repeats or self._spent or self._is_regraded):
            alike = self._results.count_pairs(_VERDICT, _ANSWERED)
            for (verdict, answered), trials in alike.items():
                tally.count_alike(
                    VERDICTS[verdict], trials, answered=answered > 0, cached=answered > 1
                )
            return tally
        # Most journals have no row that took the place of another.
        spent = Counter(self._spent if self._rows > len(self._results) else ())
        for each in self.counted():
            tally.count(each.group, each.verdict, each.repeats, each.pass_rate)
            if each.answered:
                tally.pay(*each.paid_for, cached=each.answered > 1)
                if spent:
                    spent.subtract(cost for cost in each.paid_for if cost is not None)
        tally.lose(spent.elements())
        return tally

    def _counted(self, row: tuple[Any, ...]) -> Counted:
        mark, _, _, at, verdict, group, repeats, rate, cost, paid, _, answered = row[:12]
        own = (0, at, verdict, rate, paid, repeats, 1)
        _, said_at, verdict, rate, paid, repeats, _ = self._last_grading(mark, at) or own
        return Counted(
            group, VERDICTS[verdict], repeats, rate, cost, paid, answered, said_at,
            self._users.cost_of(mark),
        )  # fmt: skip

    def _last_grading(self, mark: int, answer_at: int) -> _Regrading | None:
        """The row that graded an answer again, unless the target was asked again after that."""
        if not self._is_regraded:
            return None
        found = self._regraded.find(mark)
        return found if found is not None and found[1] > answer_at else None


def read_index(path: str, upto: int | None = None) -> Index:
    """The index of a journal; with `upto`, as it was after that many gradings."""
    index = Index(upto, in_order=True)
    index.read(JournalLines(path))
    return index


def read_totals(path: str, upto: int | None = None) -> Totals:
    """What the results of a journal come to."""
    return read_index(path, upto).tally().totals()
