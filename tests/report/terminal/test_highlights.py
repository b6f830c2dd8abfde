from typing import Any

from evalcase.report.aggregate import Highlights
from evalcase.types.answer import Failure
from evalcase.types.result import Outcome, Result, Verdict
from tests.for_each import for_each
from tests.report.terminal.endings import result


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
    assert highlights.add(first).outcome.verdict is None
    assert highlights.add(second).outcome.verdict is None
    assert highlights.add(third).outcome == Outcome("passed", 2, 3, 3, 0.6)
    assert highlights.ledger.sum_up().by_target["agent"].cases.passed == 1
    assert [told.key.case for told in highlights.shaky] == ["a"]
    assert highlights.shown("failed") == []


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
    assert (only.outcome.verdict, only.key.repeat) == shown
