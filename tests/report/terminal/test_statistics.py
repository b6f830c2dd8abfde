from __future__ import annotations

import tracemalloc
from typing import Any

from evalcase.report.aggregate import sum_up
from evalcase.report.terminal.statistics import MOST_IN_FULL, Statistics
from evalcase.types.answer import Answer, Failure
from evalcase.types.result import Outcome, Result, Verdict
from tests.for_each import for_each
from tests.report.terminal.endings import result, said


def trials(case: str, *verdicts: Verdict, repeats: int = 0, **changes: Any) -> list[Result]:
    """Trials of a case, in order; without `repeats` all that there are."""
    made = []
    for repeat, verdict in enumerate(verdicts, 1):
        failure = Failure("exception", "gone") if verdict == "errored" else None
        one = result(case, verdict, failure=failure, repeats=repeats or len(verdicts), **changes)
        key = one.key._replace(repeat=repeat)
        made.append(result(case, verdict, failure=failure, key=key, repeats=one.repeats, **changes))
    return made


def test_a_case_is_decided_by_its_last_trial() -> None:
    statistics = Statistics()
    first, second, third = trials("a", "passed", "failed", "passed", pass_rate=0.6)
    assert statistics.add(first) is None
    assert statistics.add(second) is None
    decided = statistics.add(third)
    assert decided is not None
    assert decided.outcome == Outcome("passed", 2, 3, 3, 0.6)
    assert sum_up(statistics.ledger).by_target["agent"].cases.passed == 1
    assert [name.case for name, _ in statistics.shaky] == ["a"]
    assert statistics.shown("failed") == []


def test_a_case_that_is_tried_once_is_decided_at_once() -> None:
    decided = Statistics().add(result("a", "failed"))
    assert decided is not None
    assert decided.outcome == Outcome("failed", 0, 1)


@for_each(
    ("verdicts", "shown"),
    [
        (("passed", "failed", "failed"), ("failed", 2)),
        (("failed", "errored", "failed"), ("errored", 2)),
        (("ungraded", "passed"), ("ungraded", 1)),
    ],
)
def test_a_case_is_shown_by_its_first_trial_of_that_verdict(
    verdicts: tuple[Verdict, ...], shown: tuple[Verdict, int]
) -> None:
    statistics = Statistics()
    for each in trials("a", *verdicts):
        statistics.add(each)
    (only,) = statistics.shown(shown[0])
    assert (only.result.verdict, only.result.key.repeat) == shown


def test_an_undecided_case_is_shown_if_a_trial_of_it_did_not_pass() -> None:
    statistics = Statistics()
    for each in (*trials("a", "passed", "failed", repeats=3), *trials("b", "passed", repeats=2)):
        statistics.add(each)
    statistics.finish()
    (only,) = statistics.shown(None)
    assert (only.result.key.case, only.outcome.trials) == ("a", 2)
    assert sum_up(statistics.ledger).by_target["agent"].cases.total == 0


def test_what_is_shown_can_be_chosen() -> None:
    statistics = Statistics(("passed", "skipped"))
    for verdict in ("passed", "failed", "skipped"):
        statistics.add(result(verdict, verdict))
    assert [len(statistics.shown(v)) for v in ("passed", "failed", "skipped")] == [1, 0, 1]


def test_no_more_is_shown_than_a_person_reads() -> None:
    statistics = Statistics()
    for number in range(MOST_IN_FULL + 5):
        statistics.add(result(f"c{number}", "failed"))
    assert len(statistics.shown("failed")) == MOST_IN_FULL
    assert statistics.more["failed"] == 5


def test_the_slowest_are_named_once_each() -> None:
    statistics = Statistics()
    for number, seconds in enumerate([1.0, 5.0, 2.0, 4.0, 3.0]):
        for repeat in (1, 2):
            key = result(f"c{number}", "passed").key._replace(repeat=repeat)
            statistics.add(result("", "passed", key=key, duration_s=seconds / repeat))
    assert [(each.name.case, each.duration_s) for each in statistics.slowest] == [
        ("c1", 5.0), ("c3", 4.0), ("c4", 3.0)
    ]  # fmt: skip


def test_large_answers_are_not_held() -> None:
    """Nor are the trials of very many cases of which each lacks one, as a stranger's may."""

    def peak(count: int, size: int) -> int:
        tracemalloc.start()
        statistics = Statistics()
        for number in range(count):
            answer: Answer = said(f"{number}" * size)
            for each in trials(f"c{number}", "failed", repeats=2, answer=answer):
                statistics.add(each)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1, 1)
    assert peak(50, 100_000) < 5_000_000
