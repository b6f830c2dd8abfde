from hypothesis import example, given
from hypothesis import strategies as st

from evalcase.runner.grading import decide_verdict
from evalcase.types.answer import Failure
from evalcase.types.grade import Grade, mean_score
from evalcase.types.result import Verdict, decide_case_verdict
from tests.for_each import for_each

PASSED = Grade("a", 1.0, True, "")
FAILED = Grade("b", 0.0, False, "")
BROKEN = Grade("c", None, False, "", failure=Failure("grader", "broke"))
EMPTY = Grade("d", None, False, "nothing to grade")


def scored(score: float, weight: float = 1.0, required: bool = False) -> Grade:
    return Grade("a", score, score == 1.0, "", {}, weight, required)


@for_each(
    ("grades", "verdict"),
    [
        ([PASSED], "passed"),
        ([PASSED, FAILED], "failed"),
        ([PASSED, BROKEN], "errored"),
        ([FAILED, BROKEN], "errored"),
        ([], "ungraded"),
        ([PASSED, EMPTY], "ungraded"),
        ([FAILED, EMPTY], "failed"),
        ([BROKEN, EMPTY], "errored"),
        ([scored(0.0, weight=0.0)], "failed"),
    ],
)
def test_all_passed_any_failed_any_broke_nothing_to_grade(
    grades: list[Grade], verdict: Verdict
) -> None:
    assert decide_verdict(grades) == verdict


@for_each(
    ("grades", "threshold", "verdict"),
    [
        ([PASSED, FAILED], 0.5, "passed"),
        ([scored(1.0, 3), scored(0.0, 1)], 0.75, "passed"),
        ([scored(1.0), scored(1.0), scored(0.4)], 0.8, "passed"),
        ([scored(1.0, 9), scored(0.9, 1, required=True)], 0.5, "failed"),
        ([scored(1.0, 0)], 0.5, "ungraded"),
        ([scored(0.0, 0, required=True)], 0.0, "failed"),
        ([FAILED], 0.0, "passed"),
        ([PASSED, BROKEN], 0.1, "errored"),
        ([PASSED, EMPTY], 0.1, "ungraded"),
        ([], 0.0, "ungraded"),
    ],
)
def test_with_a_threshold_the_weighted_mean_decides_and_required_must_still_pass(
    grades: list[Grade], threshold: float, verdict: Verdict
) -> None:
    assert decide_verdict(grades, threshold) == verdict


shares = st.floats(0, 1)
grades = st.builds(scored, shares, st.floats(0, 1e100), st.booleans())


@given(st.lists(grades, max_size=5))
@example([Grade("a", 0.5, False, "", weight=5e-324)])
def test_a_mean_lies_between_its_scores(some: list[Grade]) -> None:
    mean = mean_score(some)
    weighing = [grade.score for grade in some if grade.score is not None and grade.weight]
    if mean is not None:
        assert min(weighing) - 1e-9 <= mean <= max(weighing) + 1e-9


@given(st.lists(st.sampled_from([PASSED, FAILED, BROKEN, EMPTY])), st.none() | shares)
def test_nothing_broken_or_empty_ever_passes(some: list[Grade], threshold: float | None) -> None:
    verdict = decide_verdict(some, threshold)
    if BROKEN in some:
        assert verdict == "errored"
    elif EMPTY in some or not some:
        assert verdict in ("failed", "ungraded")


@for_each(
    ("verdicts", "pass_rate", "verdict"),
    [
        (["passed"] * 4 + ["failed"], 0.8, "passed"),
        (["passed"] * 4 + ["errored"], 0.8, "passed"),
        (["passed"] * 3 + ["failed"] * 2, 0.8, "failed"),
        (["passed"] * 3 + ["failed", "errored"], 0.8, "errored"),
        (["passed"] * 9 + ["ungraded"], 1.0, "ungraded"),
        (["failed", "ungraded"], 1.0, "failed"),
        (["passed", "failed", "failed"], 1 / 3, "passed"),
        (["failed", "failed"], 0.0, "passed"),
        (["failed", "errored"], 0.0, "errored"),
        (["passed", "errored"], 0.0, "passed"),
        (["failed", "ungraded"], 0.0, "failed"),
        (["skipped"], 1.0, "skipped"),
        ([], 1.0, "ungraded"),
    ],
)
def test_a_case_passes_when_at_least_that_share_of_its_trials_passed(
    verdicts: list[Verdict], pass_rate: float, verdict: Verdict
) -> None:
    assert decide_case_verdict(verdicts, pass_rate) == verdict
