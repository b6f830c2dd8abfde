"""`@evalcase.cases`: test functions of one's own, once for each case."""

import pytest

from tests.pytest_plugin.project import write

OWN = """
import evalcase

@evalcase.cases("all.eval.yaml"{options})
def test_it(case):
    evalcase.assert_case("4", case)
"""


def own(pytester: pytest.Pytester, options: str = "") -> None:
    write(pytester, "evals/test_it.py", OWN.format(options=options))


def test_a_function_is_run_for_each_case_with_tags_and_skips_as_marks(
    evals: pytest.Pytester,
) -> None:
    own(evals)
    result = evals.runpytest_inprocess("evals", "-v", "-rs", "--strict-markers")
    result.assert_outcomes(passed=2, failed=2, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "evals/test_it.py::test_it?good? PASSED*",
            "evals/test_it.py::test_it?bad? FAILED*",
            "evals/test_it.py::test_it?broken? PASSED*",
            "evals/test_it.py::test_it?later? SKIPPED*",
            "evals/test_it.py::test_it?unjudged? FAILED*",
            "E  *AssertionError: case `bad` failed (evals/all.eval.yaml:8)",
            "E  *input     What is 3+3?",
            "E  *It is * 4",
            "SKIPPED*the model is not there yet",
        ]
    )
    chosen = evals.runpytest_inprocess("evals", "-m", "needs_gpu and evalcase", "--strict-markers")
    chosen.assert_outcomes(passed=1, deselected=4)


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (', tag="smoke"', ["good"]),
        (', id=["b*", "good"]', ["good", "bad", "broken"]),
        (', id="b*", tag=["sums"]', ["bad", "broken"]),
        (', "more.eval.yaml", id="b*"', ["all:bad", "all:broken", "more:b1"]),
    ],
)
def test_cases_are_chosen_by_tag_and_id(
    evals: pytest.Pytester, options: str, ids: list[str]
) -> None:
    write(evals, "evals/more.eval.yaml", "- {id: b1, input: x, expected_output: x, tags: [sums]}\n")
    own(evals, options)
    result = evals.runpytest_inprocess("evals", "--collect-only", "-q")
    names = [line.partition("[")[2].rstrip("]") for line in result.outlines if "::" in line]
    assert names == ids


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (', tag="smokey"', "*ConfigError: no case has the tag `smokey` (the nearest is `smoke`)"),
        (', id="x*"', "*ConfigError: no case has an id like `x?`*"),
        (", tag=[]", "*ConfigError: `tag` is empty, and chooses no case*"),
        (", id=()", "*ConfigError: `id` is empty, and chooses no case*"),
        (', "wrong.eval.yaml"', "*evals/wrong.eval.yaml:1:14: error?unknown-field?*"),
        (', "none.eval.yaml"', "*evals/none.eval.yaml: error?unreadable-file?*"),
    ],
)
def test_what_is_not_there_is_an_error_and_no_test_of_nothing(
    evals: pytest.Pytester, options: str, said: str
) -> None:
    write(evals, "evals/wrong.eval.yaml", "- {input: x, expcted_output: y}\n")
    own(evals, options)
    result = evals.runpytest_inprocess("evals")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([said])
