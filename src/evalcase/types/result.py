"""The result of a trial, and what the results of a run add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from math import fsum
from typing import Annotated, Generic, Literal, NamedTuple, TypeVar, get_args

from msgspec import Meta

from evalcase.types.answer import (
    Answer,
    Count,
    Exchange,
    Failure,
    Seconds,
    Simulated,
    TalkEnd,
    Turn,
    split_turns,
)
from evalcase.types.case import Case
from evalcase.types.grade import Grade, mean_score, reaches
from evalcase.types.options import Share
from evalcase.types.target import TrialKey
from evalcase.types.value import Value
from evalcase.types.workspace import Changes

Verdict = Literal["passed", "failed", "errored", "ungraded", "skipped"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Ordinal = Annotated[int, Meta(ge=1, lt=1 << 31)]


class Result(Value, frozen=True, tag="result"):
    key: TrialKey
    question_hash: str
    """The target must be asked again when it changes."""
    verdict: Verdict
    answer: Answer | None = None
    grades: tuple[Grade, ...] = ()
    failure: Failure | None = None
    """Why the target gave no answer; or why the case was skipped."""
    attempts: Count = 1
    started_at: str = ""
    duration_s: Seconds = 0.0
    """The time of the attempt that counts."""
    retried: tuple[Failure, ...] = ()
    grading_hash: str = ""
    """The answer must be graded again when it changes."""
    grading: Ordinal = 1
    """The number of the grading in its run, from 1."""
    repeats: Ordinal = 1
    """How many trials there are of the case at this target."""
    pass_rate: Share = 1.0
    number: Annotated[int, Meta(ge=0, lt=1 << 31)] = 0
    """The number of the case in the run, from 0."""
    turns: tuple[Turn, ...] = ()
    ending: TalkEnd | None = None
    user: Simulated | None = None
    workspace: Changes | None = None

    @property
    def score(self) -> float | None:
        """The mean of its grades by weight; None where something broke, or nothing was graded."""
        return None if self.verdict in ("errored", "skipped") else mean_score(self.grades)

    @property
    def kept(self) -> str | None:
        """Where the workspace is, if it was left behind. Where nothing is known of what was changed
        in it, the failure says so."""
        if self.workspace is not None:
            return self.workspace.kept
        return self.failure.details.get("kept_workspace") if self.failure is not None else None

    @property
    def exchanges(self) -> list[Exchange]:
        """The turns of a conversation with their messages; empty where there are none."""
        if self.answer is None or not self.turns:
            return []
        return split_turns(self.answer, self.turns)

    @property
    def unhappy_grades(self) -> list[Grade]:
        """The grades that explain the verdict: of graders that broke, or else that did not pass."""
        counted = [grade for grade in self.grades if not grade.indicator]
        broken = [grade for grade in counted if grade.failure is not None]
        return broken or [grade for grade in counted if not grade.passed]

    @property
    def reason(self) -> str:
        """One line for people: why it is not passed; empty if it is."""
        if self.failure is not None:
            return self.failure.message
        grades = [(each.grader, each.reason) for each in self.unhappy_grades]
        told = (why if why.startswith(f"{name} ") else f"{name}: {why}" for name, why in grades)
        return "; ".join(told)


class Regraded(Value, frozen=True, tag="regraded"):
    """A later grading of an answer, which replaces the one before."""

    key: TrialKey
    verdict: Verdict
    grading_hash: str
    grading: Ordinal
    grades: tuple[Grade, ...] = ()
    pass_rate: Share = 1.0
    repeats: Ordinal = 1


class Counts(Value, frozen=True):
    """Things by their verdict, each counted once."""

    total: int = 0
    passed: int = 0
    failed: int = 0
    errored: int = 0
    ungraded: int = 0
    skipped: int = 0

    @classmethod
    def of(cls, verdicts: Mapping[Verdict, int]) -> Counts:
        return cls(sum(verdicts.values()), **dict(verdicts))

    @property
    def not_passed(self) -> int:
        return self.total - self.skipped - self.passed

    @property
    def pass_rate(self) -> float | None:
        """The share of passed among all but skipped ones; None if there are none."""
        tried = self.total - self.skipped
        return self.passed / tried if tried else None


class Totals(Value, frozen=True):
    """A case, at a target, is what passes or fails; trials are what that rests on."""

    cases: Counts = Counts()
    """Cases with all of their trials, each once for each of its targets."""
    trials: Counts = Counts()
    unfinished: int = 0
    """Cases that lack some of their trials: `cases` leaves them out."""
    cost_usd: float | None = None
    """The cost of the answers that count; None where no answer has a cost."""
    grading_usd: float | None = None
    """The cost of the questions of graders; None where they have no price."""
    users_usd: float | None = None
    """The cost of simulated users; None where they have no price."""
    spent_usd: float | None = None
    """The cost of every recorded call, also of those whose result was replaced later."""
    unpriced: int = 0
    """How many answers that count have no cost."""
    cached: int = 0
    """How many answers that count come from the cache or a record."""

    @property
    def pass_rate(self) -> float | None:
        return self.cases.pass_rate

    def describe(self) -> str:
        """How many cases there are of each verdict, the pass rate and the cost, in words."""
        cases = [(name, getattr(self.cases, name)) for name in VERDICTS]
        counts = [*cases, ("unfinished", self.unfinished)]
        said = [f"{count:,} {name}" for name, count in counts if count]
        rate = "" if self.pass_rate is None else f"; pass rate {100 * self.pass_rate:.1f}%"
        cost = "" if self.cost_usd is None else f"; ${self.cost_usd:.4f}"
        return f"{', '.join(said) or 'nothing was run'}{rate}{cost}"

    @property
    def lost_usd(self) -> float | None:
        """The cost of calls that count nowhere, such as those of a conversation that broke off;
        None if there is none."""
        counted = fsum((self.cost_usd or 0.0, self.grading_usd or 0.0, self.users_usd or 0.0))
        lost = round((self.spent_usd or 0.0) - counted, 9)
        return lost if lost > 0 else None


def decide_case_verdict(verdicts: Sequence[Verdict], pass_rate: float = 1.0) -> Verdict:
    """The verdict of a case by its trials: passed if at least that share of them passed.

    Where too few passed, errored beats failed and failed beats ungraded, as within a trial. With a
    rate of 0 trials need not pass, but they must be graded.
    """
    if set(verdicts) == {"skipped"}:
        return "skipped"
    passed = verdicts.count("passed")
    if reaches(passed, pass_rate * len(verdicts)) and (passed or set(verdicts) == {"failed"}):
        return "passed"
    if "errored" in verdicts:
        return "errored"
    return "failed" if "failed" in verdicts else "ungraded"


class Outcome(NamedTuple):
    """The trials of a case together, as far as they have results."""

    verdict: Verdict | None
    passed: int
    trials: int
    repeats: int = 1
    pass_rate: float = 1.0


def outcome_of(counts: Counter[Verdict], repeats: int = 1, pass_rate: float = 1.0) -> Outcome:
    """The outcome of a case by the verdicts of its trials so far."""
    trials, verdict = counts.total(), None
    if trials >= repeats:
        verdict = decide_case_verdict(list(counts.elements()), pass_rate)
    return Outcome(verdict, counts["passed"], trials, repeats, pass_rate)


Key = TypeVar("Key", bound=Hashable)


class Folding(Generic[Key]):
    """Folds trials into cases as they come. It holds the cases that lack some of their trials."""

    def __init__(self) -> None:
        self._open: dict[Key, tuple[Counter[Verdict], int, float]] = {}

    def add(self, name: Key, verdict: Verdict, repeats: int, pass_rate: float) -> Outcome:
        """Add a trial of a case. The outcome has a verdict once the case has all trials."""
        counts, *_ = self._open.setdefault(name, (Counter(), repeats, pass_rate))
        counts[verdict] += 1
        outcome = outcome_of(counts, repeats, pass_rate)
        if outcome.verdict is not None:
            del self._open[name]
        return outcome

    def __len__(self) -> int:
        """How many cases lack some of their trials."""
        return len(self._open)

    def left(self) -> Iterator[tuple[Key, Outcome]]:
        return ((name, outcome_of(*known)) for name, known in self._open.items())


class CaseVerdict(Value, frozen=True):
    """A case at a target, all of its trials together."""

    suite: str
    """The path of the suite file, as the user named it."""
    case: str
    target: str
    verdict: Verdict | None
    """None where some of its trials have no result."""
    passed: int
    trials: int
    repeats: int
    pass_rate_needed: float
    score: float | None
    """The mean of those trials that have a score; None where none has."""


class Trial(NamedTuple):
    suite: str
    case: Case
    target: str
    repeat: int = 1
    repeats: int = 1
    """How many trials there are of the case at this target."""
    number: int = 0
    """The number of the case in the run, from 0."""

    @property
    def key(self) -> TrialKey:
        return TrialKey(self.suite, self.case._data["id"], self.target, self.repeat)


StopRule = Literal["certain", "likely"]
DecisionOutcome = Literal["met", "missed", "better", "worse"]


class Decision(Value, frozen=True):
    rule: StopRule
    """`certain`: other cases can't change it. `likely`: it is wrong in at most 5 % of all runs."""
    outcome: DecisionOutcome
    seed: int
    seen: int
    """How many whole cases it rests on."""
    cases: int
    low: float
    """The pass rate of all cases lies between `low` and `high`: surely, or with 95 %."""
    high: float
    fail_under: float | None = None
    against: str | None = None
    fixed: int = 0
    broken: int = 0

    @property
    def is_good(self) -> bool:
        return self.outcome in ("met", "better")

    def __str__(self) -> str:
        if self.against is not None:
            changes = f"{self.fixed:,} fixed, {self.broken:,} broken"
            said = f"{self.outcome} than {self.against} ({changes})"
        elif self.rule == "certain":
            sure = "can't be below" if self.is_good else "can't reach"
            said = f"the pass rate {sure} {self.fail_under:g} any more"
        else:
            below = "not below" if self.is_good else "below"
            said = f"the pass rate is {below} {self.fail_under:g}"
        return f"decided after {self.seen:,} of {self.cases:,} cases: {said}"


def first_code(*codes: int) -> int:
    """The exit code that counts where several apply."""
    return min(codes, key=(130, 2, 3, 1, 0).index)


MOST_REPEATS = 1_000_000
GRADER_TIMEOUT_S = 120.0
