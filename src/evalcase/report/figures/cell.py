"""What is added up while results come: by sums and counts, so that it does not grow with them."""

from __future__ import annotations

from array import array
from collections.abc import Mapping

from evalcase.types.grade import Grade
from evalcase.types.result import Result, Verdict

BINS = 10
"""How many equal parts scores are sorted into; the last has 1 in it."""

TrialCounts = tuple[int, int, int]
"""Of a case, or of a grader in a case: how often tried, passed, errored."""


ClusterName = str | None
"""Which cases tend to come out alike; None where nobody said."""


class FigureCell:
    """Cases at a target that have something in common; or what one grader said of them."""

    __slots__ = (
        "cluster", "once", "partial", "repeated", "scored", "scores", "spread", "squares", "trials",
        "verdicts", "within",
    )  # fmt: skip

    def __init__(self, cluster: ClusterName = None) -> None:
        self.cluster = cluster
        self.once: dict[Verdict, int] = {}
        """How many cases there are of each verdict that were tried once."""
        self.verdicts: dict[Verdict, int] = {}
        """The same of others; of a grader, how many grades."""
        self.trials: dict[TrialCounts, int] = {}
        """How many of those others have such trials. What was skipped is not among them."""
        self.scored = 0
        self.scores = 0.0
        """The sum of their scores, each the mean of its trials; and of the squares of those."""
        self.squares = 0.0
        self.partial = False
        """Whether some trial has a score that is neither 0 nor 1."""
        self.repeated = 0
        """How many cases have the scores of several trials, and what follows of those."""
        self.within = 0.0
        """The sum of what each score varies by itself, as the mean of its trials."""
        self.spread = (0.0, 0.0)
        """The sum of their scores, and of the squares of those."""

    def add_once(self, verdict: Verdict, score: float | None) -> None:
        """Take a case that was tried once."""
        once = self.once
        once[verdict] = once.get(verdict, 0) + 1
        if score is not None:
            self.scored += 1
            self.scores += score
            self.squares += score * score
            if 0 < score < 1:
                self.partial = True

    def add_case(
        self, verdicts: Mapping[Verdict, int], trials: TrialCounts, scores: list[float]
    ) -> None:
        """Take a case that was tried several times."""
        for verdict, times in verdicts.items():
            self.verdicts[verdict] = self.verdicts.get(verdict, 0) + times
        if "skipped" not in verdicts:
            self.trials[trials] = self.trials.get(trials, 0) + 1
        if scores:
            self._score(scores)

    def _score(self, scores: list[float]) -> None:
        count = len(scores)
        mean = sum(scores) / count
        self.scored += 1
        self.scores += mean
        self.squares += mean * mean
        self.partial = self.partial or any(0 < score < 1 for score in scores)
        if count > 1:
            apart = sum((score - mean) ** 2 for score in scores)
            self.repeated += 1
            self.within += apart / (count - 1) / count
            self.spread = (self.spread[0] + mean, self.spread[1] + mean * mean)


def measure_answer(result: Result) -> float | None:
    """How many seconds an answer took, when it was first given; None if there is none, or if nobody
    knows. All that reports say of latency is of these numbers."""
    answer = result.answer
    if answer is None:
        return None
    return result.duration_s if answer.earlier is None else answer.earlier.duration_s


class Spent:
    """What the answers of a target took, trial by trial: eight bytes for each."""

    __slots__ = (
        "answers", "bins", "busy_s", "cached", "cost_usd", "durations", "input_tokens",
        "output_tokens", "priced", "reported", "rounded", "trials", "unpriced",
    )  # fmt: skip

    def __init__(self) -> None:
        self.trials = 0
        self.answers = 0
        self.busy_s = 0.0
        self.durations = array("d")
        """Seconds of those answers of which it is known how long they took."""
        self.cost_usd = 0.0
        self.rounded = 0.0
        """What was lost of the cost when it was added up."""
        self.priced = 0
        self.unpriced = 0
        self.cached = 0
        self.reported = 0
        """How many answers came with their tokens."""
        self.input_tokens = 0
        self.output_tokens = 0
        self.bins = [0] * BINS
        """How many cases have a score in each part from 0 to 1."""

    def add(self, result: Result) -> None:
        self.trials += 1
        self.busy_s += result.duration_s
        answer = result.answer
        if answer is None:
            return
        self.answers += 1
        self.cached += answer.cached
        took_s = measure_answer(result)
        if took_s is not None:
            self.durations.append(took_s)
        if answer.cost_usd is None:
            self.unpriced += 1
        else:
            self._pay(answer.cost_usd)
        if answer.usage is not None:
            self.reported += 1
            self.input_tokens += answer.usage.input_tokens or 0
            self.output_tokens += answer.usage.output_tokens or 0

    def _pay(self, usd: float) -> None:
        """Add up as Neumaier does: a million small amounts are as exact as one."""
        self.priced += 1
        before = self.cost_usd
        self.cost_usd = after = before + usd
        larger, smaller = (before, usd) if abs(before) >= abs(usd) else (usd, before)
        self.rounded += (larger - after) + smaller

    def sort(self, score: float) -> None:
        """Take the score of a case."""
        self.bins[int(score * BINS) if score < 1 else BINS - 1] += 1


class JudgingSums:
    """What graders asked of targets, as judges do, and what that took."""

    __slots__ = ("asked", "cached", "cost_usd", "input_tokens", "output_tokens", "seconds")

    def __init__(self) -> None:
        self.asked = 0
        self.cached = 0
        self.seconds = 0.0
        self.cost_usd: float | None = None
        """None where no grade came with its cost."""
        self.input_tokens = 0
        self.output_tokens = 0

    def add(self, grade: Grade) -> None:
        self.asked += grade.asked
        self.cached += grade.cached
        self.seconds += grade.asking_s or 0.0
        if grade.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + grade.cost_usd
        if grade.usage is not None:
            self.input_tokens += grade.usage.input_tokens or 0
            self.output_tokens += grade.usage.output_tokens or 0


def bound_score(score: float) -> float:
    """The nearest that a score can be: that of a stranger's record may be any number."""
    return 0.0 if score < 0.0 else min(score, 1.0)
