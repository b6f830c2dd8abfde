"""A journal read once, into little memory: which trials have a result, where its rows are, and what
the results add up to.

The row of a result has an answer and its first grading; a later row may grade the same answer
again. The last answer of a trial counts, and the last grading of that answer.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from io import BufferedReader
from itertools import groupby
from math import fsum
from operator import attrgetter
from typing import NamedTuple

from evalcase.store.reader import (
    HALF_WRITTEN,
    JournalLines,
    changed_error,
    open_journal_file,
    read_row_at,
)
from evalcase.store.rows import Basis, CaseRow, End, GradingRow, LostRow, Row, TargetRow
from evalcase.types.case import Case, canonical_case
from evalcase.types.result import (
    Counts,
    Folding,
    Outcome,
    Regraded,
    Result,
    Totals,
    Verdict,
    outcome_of,
)
from evalcase.types.target import SentBatch, TargetVersion, TrialKey
from evalcase.types.value import replace
from evalcase.util.table import Table

_INCOMPLETE = End("incomplete")
Asked = tuple[str, TargetVersion | None]
"""A target, and the version that it was changed to."""


class FinishedTrial(NamedTuple):
    """A trial that has a result, as a row of a table."""

    mark: int
    question: int
    """The mark of its question hash."""
    grading: int
    """The mark of its grading hash."""
    answer_at: int
    """The byte of the journal at which the row of its answer begins."""
    grading_at: int
    """The same for its grading."""
    case: int
    """The mark of its case at its target."""
    verdict: Verdict
    answers: int
    """0 if it has no answer, 2 if the answer is from the cache or a record, else 1."""
    asked: int
    """The number of the target in its version."""
    number: int
    """The number of the case in the run."""
    repeats: int
    """How many trials its case had when it was last graded."""
    graded_in: int
    """The number of its last grading."""
    pass_rate: float
    answer_usd: float | None
    grading_usd: float | None

    @property
    def answered(self) -> bool:
        return self.answers > 0


_ANSWER_AT, _CASE, _NUMBER, _VERDICT = (
    FinishedTrial._fields.index(name) - 1 for name in ("answer_at", "case", "number", "verdict")
)


class GradedBy(NamedTuple):
    """One of several gradings of the same answers."""

    number: int
    of: int
    """How many there are."""
    graders: tuple[str, ...] = ()
    """Graders that replace those of the cases, as they were typed."""
    recorded: bool = False
    """Whether it used the cases in the record."""
    resumed: bool = False
    complete: bool = True
    graded: int = 0
    """How many answers it has graded. Where it was interrupted, the others have earlier grades."""
    answers: int = 0

    @property
    def is_newest(self) -> bool:
        return self.number == self.of

    @property
    def so_far(self) -> str:
        """The progress of an interrupted grading; empty for a complete one."""
        if self.complete:
            return ""
        got = f"{self.graded:,} of {self.answers:,} answers graded by grading {self.number}"
        return f"{got}, the others as before it"

    def __str__(self) -> str:
        if self.graders:
            origin = "by --grader " + ", ".join(self.graders)
        elif self.number == 1:
            origin = "with the suite files at the start of the run"
        elif self.recorded:
            origin = "by the cases in the record"
        else:
            command = "resume" if self.resumed else "grade"
            origin = f"with the suite files at the time of `{command}`"
        return f"{self.number} of {self.of}, {origin}"


class Index:
    """The trials of a journal. With `upto`, later gradings are left out."""

    def __init__(self, upto: int | None = None) -> None:
        self.path = ""
        self.gradings = 1
        """How many gradings there are."""
        self.grading_rows: dict[int, GradingRow] = {}
        """The rows of later gradings, by number."""
        self.ends: dict[int, End] = {}
        """The last End of each grading."""
        self.end = _INCOMPLETE
        """The End of the run, if it is the last row."""
        self.basis: Basis | None = None
        """What verdicts rest on, where it has changed since the run began."""
        self.batches: dict[str, SentBatch] = {}
        """The batches that were sent, by tag."""
        self.versions: dict[str, TargetVersion] = {}
        """The versions that targets were changed to."""
        self.last_repeat = 1
        """The highest repeat of a trial."""
        self._upto = upto
        self._is_past = False
        """Whether a grading after `upto` has begun."""
        self._complete: set[int] = set()
        """The later gradings that were completed."""
        self._trials = Table(len(FinishedTrial._fields) - 1)
        self._cases = Table(2)
        """The byte at which a case begins, and whether it has tags or variables."""
        self._has_repeats = False
        self._asked: dict[Asked, int] = {}
        """Numbers of targets in their versions."""
        self._users: dict[int, tuple[Asked, float | None]] = {}
        """The simulated users of trials, by mark, with their cost."""
        self._spent = array("d")
        """All costs, also of results that count no more."""
        self._file: BufferedReader | None = None

    def read(self, lines: JournalLines) -> None:
        """Read all lines of a journal. Raise RecordError if it is damaged."""
        self.path = lines.path
        for row in lines.rows():
            self.add(row, lines.start)
        if lines.torn is not None:
            self.end = End("incomplete", HALF_WRITTEN)

    def add(self, row: Row, at: int) -> None:  # noqa: C901 - one branch for each type
        """Take the row that begins at a byte of the journal."""
        self.end = _INCOMPLETE
        if self._is_past and not isinstance(row, GradingRow):
            return
        match row:
            case CaseRow():
                is_tagged = bool(row.data.get("tags") or row.data.get("vars"))
                self._cases.add(hash((row.suite, row.case)), at, is_tagged)
            case Result():
                self._add_result(row, at)
            case Regraded():
                self._add_grading(row, at)
            case GradingRow():
                self.gradings = max(self.gradings, row.number)
                self.grading_rows[row.number] = row
                self._is_past = self._upto is not None and row.number > self._upto
                if not self._is_past:
                    self._complete.discard(row.number)
            case End():
                self.end = self.ends[self.gradings] = row
                if row.graded is not None:
                    self._complete.add(row.graded)
            case TargetRow():
                self.versions[row.target] = row.version
            case LostRow():
                self._spent.append(row.cost_usd)
            case SentBatch():
                self.batches[row.tag] = row
            case Basis():
                self.basis = row

    def _add_result(self, row: Result, at: int) -> None:
        key = row.key
        group = hash(key[:3])
        mark = group if key.repeat == 1 else _mark_trial(key)
        self.gradings = max(self.gradings, row.grading)
        self._has_repeats = self._has_repeats or row.repeats > 1 or not row.pass_rate
        self.last_repeat = max(self.last_repeat, key.repeat)
        answer, grading_usd = row.answer, grading_cost(row)
        cost_usd = None if answer is None else answer.cost_usd
        user_usd = None if row.user is None else row.user.cost_usd
        self._spent.extend([cost for cost in (cost_usd, grading_usd, user_usd) if cost is not None])
        self._trials.add(
            mark, hash(row.question_hash), hash(row.grading_hash), at, at, group,
            row.verdict, 0 if answer is None else 1 + answer.cached,
            self._number_asked(key.target), row.number, row.repeats, 1, row.pass_rate,
            cost_usd, grading_usd,
        )  # fmt: skip
        if row.user is not None:
            target = row.user.target
            self._users[mark] = (target, self.versions.get(target)), user_usd
        elif self._users:
            self._users.pop(mark, None)

    def _add_grading(self, row: Regraded, at: int) -> None:
        self.gradings = max(self.gradings, row.grading)
        mark, grading_usd = _mark_trial(row.key), grading_cost(row)
        if grading_usd is not None:
            self._spent.append(grading_usd)
        found = self._find(mark)
        if found is None:
            return
        self._has_repeats = self._has_repeats or row.repeats > 1 or not row.pass_rate
        self._trials.add(*found._replace(
            grading=hash(row.grading_hash), grading_at=at, repeats=row.repeats,
            verdict=row.verdict, graded_in=row.grading, pass_rate=row.pass_rate,
            grading_usd=grading_usd,
        ))  # fmt: skip

    def _number_asked(self, target: str) -> int:
        asked = target, self.versions.get(target) if self.versions else None
        return self._asked.setdefault(asked, len(self._asked))

    # One trial or case.

    def find(self, key: TrialKey) -> FinishedTrial | None:
        return self._find(_mark_trial(key))

    def _find(self, mark: int) -> FinishedTrial | None:
        found = self._trials.find(mark)
        return None if found is None else FinishedTrial(mark, *found)

    def _all(self) -> Iterator[FinishedTrial]:
        return map(FinishedTrial._make, self._trials)

    def find_result(self, key: TrialKey) -> Result | None:
        found = self.find(key)
        return None if found is None else self.read_result(found)

    def read_result(self, found: FinishedTrial) -> Result:
        with open_journal_file(self.path) as file:
            return self._read_result(found, file)

    def _read_result(self, found: FinishedTrial, file: BufferedReader) -> Result:
        result, again = read_row_at(self.path, file, found.answer_at), None
        if found.grading_at != found.answer_at:
            again = read_row_at(self.path, file, found.grading_at)
        if not isinstance(result, Result) or not isinstance(again, Regraded | None):
            raise changed_error(self.path)
        if again is None:
            return result
        return replace(
            result, verdict=again.verdict, grades=again.grades, grading=again.grading,
            grading_hash=again.grading_hash, pass_rate=again.pass_rate, repeats=again.repeats,
        )  # fmt: skip

    def find_case(self, suite: str, case: str, *, tagged: bool = False) -> Case | None:
        """A case as it was last graded; None if the journal does not have it. With `tagged`, None
        as well for a case without tags and variables."""
        found = self._cases.find(hash((suite, case)))
        if found is None or (tagged and not found[1]):
            return None
        if self._file is None:
            self._file = open_journal_file(self.path)
        row = read_row_at(self.path, self._file, found[0])
        if not isinstance(row, CaseRow):
            raise changed_error(self.path)
        return canonical_case(row.data)

    def close(self) -> None:
        """Close the journal. What was read stays."""
        if self._file is not None:
            self._file.close()
            self._file = None

    # All trials.

    def __len__(self) -> int:
        return len(self._trials)

    def results(self, targets: Sequence[str] = ()) -> Iterator[Result]:
        """Every result, in the order of the cases; of a case in the order of `targets`."""
        if not len(self):
            return
        given = {name: number for number, name in enumerate(targets)}
        ranks = {
            number: (given.get(name, len(given)), name) for (name, _), number in self._asked.items()
        }
        rows = map(FinishedTrial._make, self._trials.in_order_of(_NUMBER, _ANSWER_AT))
        with open_journal_file(self.path) as file:
            for _, group in groupby(rows, attrgetter("number")):
                for row in sorted(group, key=lambda row: ranks[row.asked]):
                    yield self._read_result(row, file)

    def by_case(self) -> Iterator[FinishedTrial]:
        """Each trial once; those of a case together, if any is repeated. All trials of a case have
        the repeats and the pass rate of its last grading."""
        if not self._has_repeats:
            yield from self._all()
            return
        trials = map(FinishedTrial._make, self._trials.in_order_of(_CASE))
        for _, group in groupby(trials, attrgetter("case")):
            several = list(group)
            newest = max(several, key=attrgetter("grading_at"))
            # Trials that are no longer planned count as well.
            repeats = max(newest.repeats, len(several))
            for each in several:
                yield each._replace(repeats=repeats, pass_rate=newest.pass_rate)

    def tally(self) -> Tally:
        tally = Tally(self._spent)
        for each in self.by_case():
            tally.count(each.case, each.verdict, each.repeats, each.pass_rate)
            if each.answered:
                user_usd = self._users[each.mark][1] if each.mark in self._users else None
                costs = each.answer_usd, each.grading_usd, user_usd
                tally.pay(*costs, cached=each.answers > 1, is_new=False)
        return tally

    def outcome(self, result: Result) -> Outcome:
        found = self._repeated.find(hash(result.key[:3]))
        if found is None:
            return outcome_of(Counter([result.verdict]), 1, result.pass_rate)
        return Outcome(*found)

    @cached_property
    def _repeated(self) -> Table:
        """The outcome of each repeated case."""
        repeated, folding = Table(len(Outcome._fields)), Folding[int]()
        for each in self.by_case() if self._has_repeats else ():
            if each.repeats > 1:
                outcome = folding.add(each.case, each.verdict, each.repeats, each.pass_rate)
                repeated.add(each.case, *outcome)  # the last trial decides
        return repeated

    def count_finished(self, again: tuple[Verdict, ...] = ()) -> int:
        """How many trials have a result whose verdict is not in `again`."""
        counts = self._trials.count_by(_VERDICT)
        return sum(count for verdict, count in counts.items() if verdict not in again)

    def count_cases(self) -> int:
        """How many cases have a trial with a result, each once for each of its targets."""
        if not self._has_repeats:
            return len(self)
        return sum(1 for _ in groupby(self.by_case(), attrgetter("case")))

    def mixed(self) -> tuple[str, ...]:
        """The targets with results of more than one version that count."""
        if not self.versions:
            return ()
        asked = {each.asked for each in self._all() if each.verdict != "skipped"}
        found = {each for each, number in self._asked.items() if number in asked}
        found |= {each for each, _ in self._users.values()}
        names = Counter(name for name, _ in found)
        return tuple(sorted(name for name, count in names.items() if count > 1))

    def count_answers(self) -> dict[str, int]:
        """How many answers there are of each target that has results, in order of names."""
        names = {number: name for (name, _), number in self._asked.items()}
        counts: Counter[str] = Counter()
        for each in self._all():
            counts[names[each.asked]] += each.answered
        return dict(sorted(counts.items()))

    # Gradings.

    @property
    def grading(self) -> int:
        """The number of the grading that is read."""
        return self.gradings if self._upto is None else self._upto

    def is_complete(self, number: int) -> bool:
        """Whether a grading was completed. The first is as complete as its run."""
        return number == 1 or number in self._complete

    def find_interrupted(self, number: int) -> GradingRow | None:
        """The row of a grading that was interrupted; None if it was not."""
        if self.is_complete(number):
            return None
        return self.grading_rows.get(number, GradingRow(number))

    def graded_by(self) -> GradedBy:
        number = self.grading
        graded_in = Counter(each.graded_in for each in self._all() if each.answered)
        row = self.grading_rows.get(number, GradingRow(number))
        return GradedBy(
            number, self.gradings, row.graders, row.recorded, row.origin == "resume",
            self.is_complete(number), graded_in[number], graded_in.total(),
        )  # fmt: skip


def read_index(path: str, upto: int | None = None) -> Index:
    """The index of a journal; with `upto`, as it was after that many gradings."""
    index = Index(upto)
    index.read(JournalLines(path))
    return index


def _mark_trial(key: TrialKey) -> int:
    """The first trial of a case has the mark of the case: most cases have no other."""
    return hash(key[:3] if key.repeat == 1 else key)


class Tally:
    """Adds results up. Costs are held one by one for an exact sum: a resumed run adds up to the
    same cent in any order."""

    def __init__(self, spent: array[float] | None = None) -> None:
        """`spent` are costs of earlier results, whether those count or not."""
        self._trials: Counter[Verdict] = Counter()
        self._cases: Counter[Verdict] = Counter()
        self._folding: Folding[Hashable] = Folding()
        self._unpriced = self._cached = 0
        self._costs, self._grading, self._users = array("d"), array("d"), array("d")
        self._spent = array("d", spent or ())

    def add(self, result: Result) -> None:
        name = hash(result.key[:3]) if result.repeats > 1 else None
        self.count(name, result.verdict, result.repeats, result.pass_rate)
        answer, user = result.answer, result.user
        if answer is not None:
            user_usd = None if user is None else user.cost_usd
            self.pay(answer.cost_usd, grading_cost(result), user_usd, cached=answer.cached)

    def count(self, name: Hashable, verdict: Verdict, repeats: int, pass_rate: float) -> None:
        """Count a trial of a case of that name, and the case if it is complete. A case that is not
        repeated needs no name."""
        self._trials[verdict] += 1
        decided: Verdict | None = verdict
        if repeats > 1 or not pass_rate:
            decided = self._folding.add(name, verdict, repeats, pass_rate).verdict
        if decided is not None:
            self._cases[decided] += 1

    def pay(
        self, cost_usd: float | None, grading_usd: float | None, user_usd: float | None = None, *,
        cached: bool, is_new: bool = True,
    ) -> None:  # fmt: skip
        """Count the costs of an answer, its grading and its simulated user."""
        self._cached += cached
        self._unpriced += cost_usd is None
        if cost_usd is grading_usd is user_usd is None:
            return
        costs = (self._costs, cost_usd), (self._grading, grading_usd), (self._users, user_usd)
        for paid, cost in costs:
            if cost is not None:
                paid.append(cost)
                if is_new:
                    self._spent.append(cost)

    def lose(self, spent_usd: float) -> None:
        self._spent.append(spent_usd)

    def totals(self) -> Totals:
        paid = self._costs, self._grading, self._users, self._spent
        cost, grading, users, spent = [fsum(costs) if costs else None for costs in paid]
        return Totals(
            Counts.of(self._cases), Counts.of(self._trials), len(self._folding),
            cost, grading, users, spent, self._unpriced, self._cached,
        )  # fmt: skip


def grading_cost(graded: Result | Regraded) -> float | None:
    """The cost of the questions of graders; None where none has a price."""
    costs = [grade.cost_usd for grade in graded.grades if grade.cost_usd is not None]
    return fsum(costs) if costs else None
