"""A journal read once, into little memory: which trials have a result, and what each rests on.

Answers and gradings are apart: the row of a result has both, and a later row may grade the same
answer again. What counts is the last answer of a trial, and the last grading of that answer.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from math import nan
from operator import attrgetter
from typing import Any

from evalcase.model.batching import SentBatch
from evalcase.model.result import Verdict
from evalcase.model.table import MARK_BITS, Table, mark_of
from evalcase.model.target import TargetVersion
from evalcase.model.totals import Totals
from evalcase.model.trial import TrialKey
from evalcase.record.askers import Askers
from evalcase.record.finished import FinishedTrial
from evalcase.record.glance import Glance
from evalcase.record.lines import JournalLines
from evalcase.record.outline import (
    REGRADED,
    VERDICTS,
    Begun,
    Changed,
    Ended,
    Lost,
    Outline,
    Talking,
    read_outlines,
)
from evalcase.record.played import Played, PlayedUsers
from evalcase.record.tally import Counted, Tally

_NUMBERS = {verdict: number for number, verdict in enumerate(VERDICTS)}
_PLACE, _GROUP, _ANSWERED, _NUMBER = 2, 4, 10, 11
"""The columns of a result that say where its row begins, which case at which target it is a trial
of, whether it has an answer, and the place of the case among all."""
_VERDICT, _ASKER = 4, 10
"""The numbers of a row, its mark first, that say what came of it and who was asked."""


_Regrading = tuple[int, int, int, float, float, int]


class Index:
    """The trials of a journal, each by its last answer and the last grading of that."""

    def __init__(self, upto: int | None = None, *, in_order: bool = False) -> None:
        """With `upto`, later gradings are left out; `in_order`, the order of cases is known."""
        self.gradings = 1
        """How many gradings there are."""
        self.ended: int | None = None
        """How many trials had a result when the run was last completed, if the journal says so."""
        self._upto = upto
        self._is_past = False
        self._replaced: list[tuple[int, tuple[Any, ...], Played | None]] = []
        """What took the place of earlier results in the same part of the run, and those."""
        self.batches: dict[str, SentBatch] = {}
        """The batches that were sent, by their tags."""
        self.askers = Askers()
        # question, grading, place, verdict, group, repeats, pass rate, cost, of grading, asker,
        # cached, number
        self._results = Table("QQQBQIdddHb" + "I" * in_order)
        self._in_order = in_order
        # grading, place, verdict, pass rate, cost of grading, repeats
        self._regraded = Table("QQBddI")
        self._spent = array("d")
        self._lost = array("d")
        """What was spent on trials, and bought no answer that counts."""
        self._talking: set[int] = set()
        """The marks of conversations that were begun, and have no result after that."""
        self._users = PlayedUsers()
        self._repeats = self._is_regraded = False
        self._rows = 0

    def add(self, outline: Outline, at: int) -> None:
        """Take in a row that begins at a place in the journal."""
        self._rows += 1
        self.gradings = max(self.gradings, outline.grading)
        for cost_usd in (outline.cost_usd, outline.grading_usd, outline.user_usd):
            if cost_usd is not None:
                self._spent.append(cost_usd)
        mark, verdict = mark_of(outline.key), _NUMBERS[outline.verdict]
        grading, rate = mark_of(outline.grading_hash), outline.pass_rate
        paid = nan if outline.grading_usd is None else outline.grading_usd
        if outline.type == REGRADED:
            if self._upto is None or outline.grading <= self._upto:
                self._is_regraded = True
                self._regraded.add(mark, grading, at, verdict, rate, paid, outline.repeats)
            return
        if self._talking:
            self._talking.discard(mark)
        self._repeats = self._repeats or outline.repeats > 1
        cost = nan if outline.cost_usd is None else outline.cost_usd
        if self._upto is not None and (before := self._results.find(mark)) is not None:
            self._replaced.append((mark, before, self._users.find(mark)))
        user = outline.user
        by = None if user is None else Played((user, self.versions.get(user)), outline.user_usd)
        self._users.put(mark, by)
        self._results.add(
            mark, mark_of(outline.question_hash), grading, at, verdict, mark_of(outline.key[:3]),
            outline.repeats, rate, cost, paid, self.askers.number_of(outline.key.target),
            outline.answered + outline.cached, *[outline.number] * self._in_order,
        )  # fmt: skip

    def _add_usual(self, seen: Glance, at: int) -> None:
        """The same for a row that was told at a glance, as most are: nothing in it has a price."""
        self._rows += 1
        suite, case, target, repeat, question, verdict, answered, grading, number = seen
        mark = hash((suite, case, target, repeat)) & MARK_BITS  # as `mark_of` has it
        if self._talking:
            self._talking.discard(mark)
        if self._upto is not None and (before := self._results.find(mark)) is not None:
            self._replaced.append((mark, before, self._users.find(mark)))
        self._users.put(mark, None)
        row = (
            mark, hash(question) & MARK_BITS, hash(grading) & MARK_BITS, at, _NUMBERS[verdict],
            hash((suite, case, target)) & MARK_BITS, 1, 1.0, nan, nan,
            self.askers.number_of(target), answered,
        )  # fmt: skip
        self._results.add(*row, number) if self._in_order else self._results.add(*row)

    @property
    def versions(self) -> Mapping[str, TargetVersion]:
        """What targets were changed to, where they were: the last of it."""
        return self.askers.versions

    def read(self, lines: JournalLines) -> None:
        """Take in all lines of a journal."""
        for at, seen, outline in read_outlines(lines):
            if seen is not None:
                if not self._is_past:
                    self._add_usual(seen, at)
            elif isinstance(outline, Outline):
                # What was answered or graded later is not what was there then.
                if not self._is_past:
                    self.add(outline, at)
            elif isinstance(outline, Begun):
                self.gradings = max(self.gradings, outline.grading)
                if self._upto is not None and outline.grading > self._upto and not self._is_past:
                    self._is_past = True
                    self._take_back()
            elif outline is not None and not self._is_past:
                self._note(outline)

    def _note(self, outline: Changed | Ended | Lost | Talking | SentBatch) -> None:
        if isinstance(outline, Lost):
            self._lost.append(outline.cost_usd)
        elif isinstance(outline, Talking):
            self._talking.add(mark_of(outline.key))
        elif isinstance(outline, SentBatch):
            self.batches[outline.tag] = outline
        elif isinstance(outline, Ended):
            self._replaced.clear()
            self.ended = outline.trials
        else:
            self.askers.change(outline.target, outline.version)

    def _take_back(self) -> None:
        """A later grading begins: what its part of the run asked again before is later, too."""
        for mark, before, user in reversed(self._replaced):
            self._results.add(mark, *before)
            self._users.put(mark, user)

    def find(self, key: TrialKey) -> FinishedTrial | None:
        """What is known of a trial; None if it has no result."""
        mark = mark_of(key)
        found = self._results.find(mark)
        if found is None:
            return None
        question, grading, at, verdict, _, repeats, rate = found[:7]
        said_at = at
        if self._is_regraded and (again := self._last_grading(mark, at)) is not None:
            grading, said_at, verdict, rate, _, repeats = again
        answered = found[_ANSWERED] > 0
        return FinishedTrial(
            VERDICTS[verdict], question, grading, at, said_at, answered, repeats, rate
        )

    def is_broken_off(self, key: TrialKey) -> bool:
        """Whether the conversation of a trial was begun, and ended before it had a result."""
        return bool(self._talking) and mark_of(key) in self._talking

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
        skipped = _NUMBERS["skipped"]
        asked = {row[_ASKER] for row in self._results if row[_VERDICT] != skipped}
        return self._users.find_mixed(self.askers.find(asked))

    def targets(self) -> tuple[str, ...]:
        """The targets of which there are results, in their order."""
        asked = {row[_ASKER] for row in self._results}
        return tuple(sorted({name for name, _ in self.askers.find(asked)}))

    def count_answers(self) -> dict[str, int]:
        """How many answers there are of each target that was asked."""
        names = self.askers.names()
        counts = dict.fromkeys(self.targets(), 0)
        for row in self._results:
            counts[names[row[_ASKER]]] += row[1 + _ANSWERED] > 0  # its mark comes first
        return counts

    def __len__(self) -> int:
        return len(self._results)

    def places(self) -> Iterator[tuple[int, int]]:
        """Where the answer and the grading of every trial are: in the order of the cases, and of a
        case in that of the answers."""
        columns = (_NUMBER, _PLACE) if self._in_order else (_PLACE,)
        for mark, _, _, at, *_ in self._results.in_order_of(*columns):
            again = self._last_grading(mark, at)
            yield at, at if again is None else again[1]

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
            alike = Counter((row[_VERDICT], row[1 + _ANSWERED]) for row in self._results)
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
        own = (0, at, verdict, rate, paid, repeats)
        _, said_at, verdict, rate, paid, repeats = self._last_grading(mark, at) or own
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
