from __future__ import annotations

import tracemalloc
from typing import Any

from evalcase.report.aggregate import sum_up
from evalcase.report.highlights import MOST_IN_FULL, Highlights
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
    highlights = Highlights()
    first, second, third = trials("a", "passed", "failed", "passed", pass_rate=0.6)
    assert highlights.add(first) is None
    assert highlights.add(second) is None
    decided = highlights.add(third)
    assert decided is not None
    assert decided.outcome == Outcome("passed", 2, 3, 3, 0.6)
    assert sum_up(highlights.ledger).by_target["agent"].cases.passed == 1
    assert [name.case for name, _ in highlights.shaky] == ["a"]
    assert highlights.shown("failed") == []


def test_a_case_that_is_tried_once_is_decided_at_once() -> None:
    decided = Highlights().add(result("a", "failed"))
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
    highlights = Highlights()
    for each in trials("a", *verdicts):
        highlights.add(each)
    (only,) = highlights.shown(shown[0])
    assert (only.result.verdict, only.result.key.repeat) == shown


def test_an_undecided_case_is_shown_if_a_trial_of_it_did_not_pass() -> None:
    highlights = Highlights()
    for each in (*trials("a", "passed", "failed", repeats=3), *trials("b", "passed", repeats=2)):
        highlights.add(each)
    highlights.finish()
    (only,) = highlights.shown(None)
    assert (only.result.key.case, only.outcome.trials) == ("a", 2)
    assert sum_up(highlights.ledger).by_target["agent"].cases.total == 0


def test_what_is_shown_can_be_chosen() -> None:
    highlights = Highlights(("passed", "skipped"))
    for verdict in ("passed", "failed", "skipped"):
        highlights.add(result(verdict, verdict))
    assert [len(highlights.shown(v)) for v in ("passed", "failed", "skipped")] == [1, 0, 1]


def test_no_more_is_shown_than_a_person_reads() -> None:
    highlights = Highlights()
    for number in range(MOST_IN_FULL + 5):
        highlights.add(result(f"c{number}", "failed"))
    assert len(highlights.shown("failed")) == MOST_IN_FULL
    assert highlights.more["failed"] == 5


def test_the_slowest_are_named_once_each() -> None:
    highlights = Highlights()
    for number, seconds in enumerate([1.0, 5.0, 2.0, 4.0, 3.0]):
        for repeat in (1, 2):
            key = result(f"c{number}", "passed").key._replace(repeat=repeat)
            highlights.add(result("", "passed", key=key, duration_s=seconds / repeat))
    assert [(name.case, took_s) for took_s, name in highlights.slowest] == [
        ("c1", 5.0), ("c3", 4.0), ("c4", 3.0)
    ]  # fmt: skip


def test_large_answers_are_not_held() -> None:
    """Nor are the trials of very many cases of which each lacks one, as a stranger's may."""

    def peak(count: int, size: int) -> int:
        tracemalloc.start()
        highlights = Highlights()
        for number in range(count):
            answer: Answer = said(f"{number}" * size)
            for each in trials(f"c{number}", "failed", repeats=2, answer=answer):
                highlights.add(each)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1, 1)
    assert peak(50, 100_000) < 5_000_000


def test_cases_that_targets_differ_on_stand_in_the_order_of_the_suite() -> None:
    rows: dict[str, tuple[Verdict, Verdict]] = {
        "sunday": ("passed", "failed"), "sum": ("passed", "passed"),
        "order-of-a-kettle": ("failed", "errored"), "no-one": ("failed", "failed"),
    }  # fmt: skip
    highlights = Highlights()
    for number, (name, verdicts) in reversed(list(enumerate(rows.items()))):
        for target, verdict in zip(("big", "small"), verdicts, strict=True):
            key = result(name, verdict).key._replace(target=target)
            highlights.add(result(name, verdict, key=key, number=number))
    assert [row.name for row in highlights.differing()] == ["sunday", "order-of-a-kettle"]
    assert highlights.differing()[1].verdicts == {"big": "failed", "small": "errored"}
    for number in range(1001):
        highlights.add(result(f"c{number}", "passed"))
    assert highlights.differing() == [], "too many cases to hold"
