"""A journal taken in, row by row: tables of its trials, in little memory.

Answers and gradings are apart: the row of a result has both, and a later row may grade the same
answer again. What counts is the last answer of a trial, and the last grading of that answer.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from math import nan
from typing import Any

from evalcase.model.batching import SentBatch
from evalcase.model.result import VERDICTS
from evalcase.model.target import TargetVersion
from evalcase.model.trial_key import TrialKey
from evalcase.record.askers import Askers
from evalcase.record.basis import Basis
from evalcase.record.ending import End
from evalcase.record.glance import Glance, glance_at
from evalcase.record.gradings import GradingBegun
from evalcase.record.lines import JournalLines
from evalcase.record.outline import (
    REGRADED,
    SKIPPED,
    Begun,
    Changed,
    Counting,
    Ended,
    Lost,
    Outline,
    Talking,
    read_counting,
)
from evalcase.record.played import Played, PlayedUsers
from evalcase.system.table import MARK_BITS, Table, mark_of

NUMBERS = {verdict: number for number, verdict in enumerate(VERDICTS)}

_ENDED = b'{"type":"end",'


class Intake:
    """The rows of a journal, by trial."""

    def __init__(self, upto: int | None = None, *, in_order: bool = False) -> None:
        """With `upto`, later gradings are left out; `in_order`, the order of cases is known."""
        self.gradings = 1
        """How many gradings there are."""
        self.begun: dict[int, GradingBegun] = {}
        """What later gradings were begun by, by their numbers."""
        self.ends: dict[int, End] = {}
        """How the last part of the run that stood at a grading ended."""
        self.end: End | None = None
        """How the run ended, if nothing came after that."""
        self._whole: set[int] = set()
        """The later gradings that were brought to their end."""
        self.basis: Basis | None = None
        """What verdicts rest on, where it is something else than at the beginning of the run."""
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
        self._pack = self._results.pack
        self._in_order = in_order
        # grading, place, verdict, pass rate, cost of grading, repeats, which grading it is
        self._regraded = Table("QQBddII")
        self._spent = array("d")
        self._lost = array("d")
        """What was spent on trials, and bought no answer that counts."""
        self._talking: set[int] = set()
        """The marks of conversations that were begun, and have no result after that."""
        self._users = PlayedUsers()
        self._repeats = self._is_regraded = False
        self.last_repeat = 1
        """The highest number that a trial has among those of its case."""
        self._rows = 0
        self._rested = array("Q")
        """Of each trial, a mark of all that its usual result rests on; 0 where that is more."""

    def add(self, outline: Outline, at: int) -> None:
        """Take in a row that begins at a place in the journal."""
        self._rows += 1
        self.gradings = max(self.gradings, outline.grading)
        for cost_usd in (outline.cost_usd, outline.grading_usd, outline.user_usd):
            if cost_usd is not None:
                self._spent.append(cost_usd)
        mark, verdict = mark_trial(outline.key), NUMBERS[outline.verdict]
        grading, rate = mark_of(outline.grading_hash), outline.pass_rate
        paid = nan if outline.grading_usd is None else outline.grading_usd
        if outline.type == REGRADED:
            if self._upto is None or outline.grading <= self._upto:
                self._is_regraded = True
                self._regraded.add(
                    mark, grading, at, verdict, rate, paid, outline.repeats, outline.grading
                )
            return
        if self._talking:
            self._talking.discard(mark)
        self._repeats = self._repeats or outline.repeats > 1 or not outline.pass_rate
        self.last_repeat = max(self.last_repeat, outline.key.repeat)
        cost = nan if outline.cost_usd is None else outline.cost_usd
        if self._upto is not None and (before := self._results.find(mark)) is not None:
            self._replaced.append((mark, before, self._users.find(mark)))
        user = outline.user
        by = None if user is None else Played((user, self.versions.get(user)), outline.user_usd)
        self._users.put(mark, by)
        packed = self._pack(
            mark_of(outline.question_hash), grading, at, verdict, mark_of(outline.key[:3]),
            outline.repeats, rate, cost, paid, self.askers.number_of(outline.key.target),
            outline.answered + outline.cached, *[outline.number] * self._in_order,
        )  # fmt: skip
        self._rest_on(self._results.add_packed(mark, packed), _mark_basis(outline))

    def _add_usual(self, seen: Glance, at: int) -> None:
        """The same for a row that was told at a glance, as most are: nothing in it has a price."""
        self._rows += 1
        suite, case, target, question, verdict, grading, number = seen
        mark = hash((suite, case, target)) & MARK_BITS  # as `mark_trial` has it
        if self._talking:
            self._talking.discard(mark)
        if self._upto is not None and (before := self._results.find(mark)) is not None:
            self._replaced.append((mark, before, self._users.find(mark)))
        if self._users.by_mark:
            self._users.put(mark, None)
        asker = self.askers.now.get(target)
        if asker is None:
            asker = self.askers.number_of(target)
        asked_by, graded_by = hash(question) & MARK_BITS, hash(grading) & MARK_BITS
        said = NUMBERS[verdict]
        if self._in_order:
            order = int(number) if number else 0
            self._results.add_packed(mark, self._pack(
                asked_by, graded_by, at, said, mark, 1, 1.0, nan, nan, asker, True, order
            ))  # fmt: skip
            return
        row = self._results.add_packed(mark, self._pack(
            asked_by, graded_by, at, said, mark, 1, 1.0, nan, nan, asker, True
        ))  # fmt: skip
        rests_on = 0 if verdict == "skipped" else hash((question, grading)) & MARK_BITS
        if row == len(self._rested):
            self._rested.append(rests_on)
        else:
            self._rested[row] = rests_on

    def _rest_on(self, row: int, mark: int) -> None:
        """Take in what the result of a row rests on."""
        if row < len(self._rested):
            self._rested[row] = mark
        elif not self._in_order:
            self._rested.append(mark)

    @property
    def versions(self) -> Mapping[str, TargetVersion]:
        """What targets were changed to, where they were: the last of it."""
        return self.askers.versions

    def read(self, lines: JournalLines) -> None:
        """Take in all lines of a journal. Cases, the most of it, are not even looked at, and of
        most results no more than their names and hashes."""
        for rows in lines.rows(SKIPPED):
            glances = glance_at([body for body, _, _ in rows])
            for (body, begins, number), seen in zip(rows, glances, strict=True):
                if seen is None:
                    self._take_in(read_counting(body, lines.path, number), begins)
                elif not self._is_past:
                    self._add_usual(seen, begins)
        if lines.last.startswith(_ENDED):
            self.end = self.ends.get(self.gradings)

    def _take_in(self, counting: Counting | None, at: int) -> None:
        if isinstance(counting, Begun):
            self._begin(counting.grading)
        elif counting is None or self._is_past:
            return  # what was answered or graded later is not what was there then
        elif isinstance(counting, Outline):
            self.add(counting, at)
        else:
            self._note(counting)

    def _begin(self, begun: GradingBegun) -> None:
        self.gradings = max(self.gradings, begun.number)
        self.begun[begun.number] = begun
        if self._upto is not None and begun.number > self._upto and not self._is_past:
            self._is_past = True
            self._take_back()
        if not self._is_past:
            self._whole.discard(begun.number)

    def _note(self, outline: Changed | Ended | Lost | Talking | SentBatch | Basis) -> None:
        if isinstance(outline, Lost):
            self._lost.append(outline.cost_usd)
        elif isinstance(outline, Talking):
            self._talking.add(mark_trial(outline.key))
        elif isinstance(outline, SentBatch):
            self.batches[outline.tag] = outline
        elif isinstance(outline, Basis):
            self.basis = outline
        elif isinstance(outline, Ended):
            self._replaced.clear()
            self.ends[self.gradings] = outline.end
            if outline.end.graded is not None:
                self._whole.add(outline.end.graded)
        else:
            self.askers.change(outline.target, outline.version)

    def _take_back(self) -> None:
        """A later grading begins: what its part of the run asked again before is later, too."""
        for mark, before, user in reversed(self._replaced):
            self._rest_on(self._results.add_packed(mark, self._pack(*before)), 0)
            self._users.put(mark, user)


def mark_trial(key: TrialKey) -> int:
    """A first trial, as most are the only one of their case, has the mark of that."""
    return mark_of(key[:3] if key.repeat == 1 else key)


def _mark_basis(outline: Outline) -> int:
    """A mark of the hashes that a result rests on; 0 where it rests on more than those."""
    is_usual = (
        outline.answered and outline.verdict != "skipped" and outline.user is None
        and outline.key.repeat == outline.repeats == 1 and outline.pass_rate == 1.0
    )  # fmt: skip
    return hash((outline.question_hash, outline.grading_hash)) & MARK_BITS if is_usual else 0
