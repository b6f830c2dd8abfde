"""What may end a run early: `--fail-fast`, and `--stop`, once its gate is decided. After each trial
both say why no more trials need be started, or None."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from math import ceil
from operator import attrgetter

from evalcase.config.options import number_of
from evalcase.errors import ConfigError
from evalcase.report.evaluated import pair_targets
from evalcase.runner.plan import Plan, trials_of
from evalcase.stats.intervals import ALPHA, PassSequence
from evalcase.stats.paired import weigh_change
from evalcase.store.folder import folder_of_run
from evalcase.store.index import Index
from evalcase.store.runs import find_run
from evalcase.store.stored import StoredRun
from evalcase.types.grade import reaches
from evalcase.types.result import (
    Decision,
    DecisionOutcome,
    Folding,
    Result,
    StopRule,
    Trial,
    Verdict,
)
from evalcase.types.value import Value, replace
from evalcase.util.project import paths_from
from evalcase.util.table import Table


class FailFast:
    """`--fail-fast`: ends a run once a case can't pass any more, or with too many errored trials.
    Cases that failed before a run was resumed don't end it."""

    def __init__(self, index: Index, max_errors: int, again: tuple[Verdict, ...]) -> None:
        self.has_failed = False
        self._errors_left = max_errors
        self._folding: Folding[int] = Folding()
        for each in index.by_case():
            if each.verdict not in again:
                self._folding.add(each.case, each.verdict, each.repeats, each.pass_rate)

    def after(self, result: Result) -> str | None:
        if result.verdict == "skipped":
            return None
        self._errors_left -= result.verdict == "errored"
        case, repeats, rate = hash(result.key[:3]), result.repeats, result.pass_rate
        outcome = self._folding.add(case, result.verdict, repeats, rate)
        if outcome.verdict is not None:
            has_failed = outcome.verdict in ("failed", "ungraded")
        else:
            most = outcome.passed + repeats - outcome.trials
            has_failed = result.verdict != "errored" and not reaches(most, rate * repeats)
        if not has_failed and self._errors_left >= 0:
            return None
        self.has_failed = True
        return f"--fail-fast: {result.key.case} did not pass"


class Base(Value, frozen=True):
    """An earlier run, by what can be compared with it."""

    run: str
    targets: dict[str, str]
    """The target of the earlier run for each target of this run."""
    verdicts: Table
    """Whether each case passed."""

    def find(self, target: str, place: str, case: str) -> bool | None:
        """Whether a case passed there; None where it has no verdict on its answer."""
        found = self.verdicts.find(hash((self.targets.get(target), place, case)))
        return None if found is None else bool(found[0])


def find_base(name: str, runs_dir: str, root: str, targets: Sequence[str]) -> Base:
    """The run of a name. What errored there, or was skipped, is no verdict on an answer.

    Raise ConfigError if there is no such run, or if it has none of the targets.
    """
    with StoredRun(*find_run(name, runs_dir)) as stored:
        stored.refuse_interrupted()
        paired = pair_targets(stored.targets, targets)
        id = os.path.basename(os.path.realpath(stored.run.path))
        missing = [f"`{name}`" for name in targets if name not in paired]
        if missing:
            # To be better, all that is run has to be compared.
            raise ConfigError(f"run {id} has no results of {', '.join(missing)} to compare with")
        place_of = paths_from(root, os.path.join(root, folder_of_run(stored.run)))
        verdicts = Table(1)
        for each in stored.cases():
            if each.verdict in ("passed", "failed", "ungraded"):
                mark = hash((each.target, place_of(each.suite), each.case))
                verdicts.add(mark, each.verdict == "passed")
    return Base(id, paired, verdicts)


def make_stopping(plan: Plan, runs_dir: str) -> Stopping:
    """What decides when a run may end early, as its options ask for. Raise ConfigError if there is
    nothing to decide by."""
    options, base = plan.options, None
    assert options.stop is not None
    if options.against is not None:
        base = find_base(options.against, runs_dir, plan.config.root, tuple(plan.trials))
    stopping = Stopping(options.stop, options.selection.seed, options.fail_under, base)
    for name in plan.trials:
        stopping.arrange(name, trials_of(plan, name), plan.selector.place_of)
    stopping.begin()
    return stopping


class _Lane:
    """The cases of one target, in their order."""

    def __init__(self, ranks: dict[int, int], names: list[tuple[str, str]]) -> None:
        """`ranks` are those of cases in the order, by their numbers."""
        self.ranks = ranks
        self.names = names
        self.waiting: dict[int, Verdict] = {}
        """What is done, but not in turn."""
        self.sequence = PassSequence(len(ranks))
        self.fixed = 0
        self.broken = 0
        self.passed = 0
        """Of all whole cases, in turn or not."""
        self.failed = 0

    @property
    def seen(self) -> int:
        return self.sequence.seen


class Stopping:
    """Looks at results, and says when it is decided. All cases are held: their order is by
    chance, and no file can be read in it."""

    def __init__(
        self, rule: StopRule, seed: int, fail_under: float | None, base: Base | None = None
    ) -> None:
        self.decision: Decision | None = None
        self.ordered: dict[str, list[Trial]] = {}
        """The trials of each target."""
        self._rule = rule
        self._seed = seed
        self._fail_under = fail_under
        self._base = base
        self._lanes: dict[str, _Lane] = {}
        self._folding: Folding[tuple[str, int]] = Folding()
        self._need = 0
        """How many cases must pass."""

    def arrange(
        self, target: str, trials: Iterable[Trial], place_of: Callable[[str], str] = str
    ) -> None:
        """Put the trials of a target in their order, those of a case together."""
        cases = [list(group) for _, group in groupby(trials, attrgetter("number"))]
        seed = f"stop {self._seed}"
        cases.sort(key=lambda case: number_of(seed, place_of(case[0].suite), case[0].case.id))
        tried = [case[0] for case in cases if not case[0].case.skip]
        ranks = {trial.number: rank for rank, trial in enumerate(tried)}
        names = [(place_of(trial.suite), trial.case.id) for trial in tried]
        self._lanes[target] = _Lane(ranks, names)
        self.ordered[target] = [trial for case in cases for trial in case]

    def begin(self) -> None:
        """All targets are there. Raise ConfigError if nothing could ever be decided."""
        for lane in self._lanes.values():
            # Several targets are bounded each by itself: all of that together holds.
            lane.sequence = PassSequence(len(lane.ranks), ALPHA / len(self._lanes))
        if self._fail_under is not None:
            self._need = _cases_needed(self._fail_under, self._total)
        base = self._base
        if base is not None and not any(
            base.find(target, *name) is not None
            for target, lane in self._lanes.items()
            for name in lane.names
        ):
            raise ConfigError(f"run {base.run} has no verdict on any of these cases")

    def after(self, result: Result) -> str | None:
        lane = self._lanes.get(result.key.target)
        place = lane.ranks.get(result.number) if lane is not None else None
        if lane is None or place is None:
            return None
        name = result.key.target, result.number
        outcome = self._folding.add(name, result.verdict, result.repeats, result.pass_rate)
        if outcome.verdict is None:
            return None
        lane.passed += outcome.verdict == "passed"
        lane.failed += outcome.verdict != "passed"
        if self.decision is not None:
            return None  # it was under way by then
        lane.waiting[place] = outcome.verdict
        while self.decision is None and lane.seen in lane.waiting:
            passed = lane.waiting.pop(lane.seen) == "passed"
            if self._base is not None:
                before = self._base.find(result.key.target, *lane.names[lane.seen])
                lane.fixed += passed and before is False
                lane.broken += not passed and before is True
            lane.sequence.add(passed)
            self.decision = self._decide()
        return str(self.decision) if self.decision is not None else None

    def conclude(self) -> str:
        """All that was under way is done: what is certain by now takes the place of what was
        decided. Why the run has ended, in words; without a decision where the bounds that it
        rests on are disproved."""
        decision = self.decision
        assert decision is not None
        least = sum(lane.passed for lane in self._lanes.values())
        most = self._total - sum(lane.failed for lane in self._lanes.values())
        low = max(decision.low, least / self._total)
        high = min(decision.high, most / self._total)
        if low > high:  # in at most 5 % of all runs
            low, high = least / self._total, most / self._total
            if self._base is None:
                self.decision = None
        outcome = self._tell(least, most) if self._base is None else None
        if outcome is not None:
            seen = least + self._total - most
            decision = replace(decision, rule="certain", outcome=outcome, seen=seen)
        if outcome is not None or self.decision is not None:
            self.decision = replace(decision, low=low, high=high)
            return str(self.decision)
        return f"{decision}; but cases that were under way contradict it"

    def _tell(self, low: int, high: int) -> DecisionOutcome | None:
        """What it comes to if so many cases pass in all, at least and at most."""
        if low >= self._need:
            return "met"
        return "missed" if high < self._need else None

    def _decide(self) -> Decision | None:
        base = self._base
        if base is None:
            outcome = self._tell(*self._bounds())
            return None if outcome is None else self._make(outcome)
        # One target that is worse is enough; better have all of them to be.
        enough = len(self._lanes) / ALPHA
        lanes = [lane for name, lane in self._lanes.items() if name in base.targets]
        plain = [lane for lane in lanes if weigh_change(lane.fixed, lane.broken) >= enough]
        if any(lane.broken > lane.fixed for lane in plain):
            return self._make("worse")
        return self._make("better") if len(plain) == len(lanes) else None

    def _bounds(self) -> tuple[int, int]:
        """How many cases may pass in all, at least and at most."""
        sequences = [lane.sequence for lane in self._lanes.values()]
        if self._rule == "likely":
            return sum(each.low for each in sequences), sum(each.high for each in sequences)
        passed = sum(each.passed for each in sequences)
        failed = sum(each.seen - each.passed for each in sequences)
        return passed, self._total - failed

    def _make(self, outcome: DecisionOutcome) -> Decision:
        lanes, (low, high) = self._lanes.values(), self._bounds()
        return Decision(
            self._rule, outcome, self._seed, sum(lane.seen for lane in lanes), self._total,
            low / self._total, high / self._total, self._fail_under,
            self._base.run if self._base is not None else None,
            sum(lane.fixed for lane in lanes), sum(lane.broken for lane in lanes),
        )  # fmt: skip

    @property
    def _total(self) -> int:
        return sum(len(lane.ranks) for lane in self._lanes.values())


def _cases_needed(rate: float, total: int) -> int:
    """How many must pass: the same as when the rate of all of them is held to it."""
    need = max(0, ceil(rate * total) - 1)
    while need < total and need / total < rate:
        need += 1
    return need if need / max(1, total) >= rate else total + 1
