from __future__ import annotations

import evalcase
from evalcase import explain
from evalcase.types.answer import Failure
from tests.report.terminal.endings import broken, find_case, result, said, sides


def test_a_result_is_explained_as_in_the_summary() -> None:
    failed = result("postage", "failed", sides("That is 7.00 euros.", "That is 6.40 euros."))
    assert explain(failed, find_case("", "postage")).splitlines() == [
        "failed evals/shop.eval.yaml: postage (agent)",
        "  input     How much is it to send a lamp to Lima?",
        "  expected            │ got",
        "  That is 7.00 euros. │ That is 6.40 euros.",
        "          ^^^^        │         ^^^^",
    ]


def test_without_a_case_the_rest_is_said() -> None:
    failed = broken("lamp", "timeout", "no answer within 120 s", {})
    assert explain(failed) == (
        "errored evals/shop.eval.yaml: lamp (agent)\n  no answer within 120 s"
    )


def test_what_passed_or_was_skipped_can_be_looked_at_too() -> None:
    passed = result("own", "passed", answer=said("One sentence.", {"tool": "t"}))
    assert explain(passed, find_case("", "own")).splitlines()[2:] == [
        "  expected  One sentence.", "  answer    One sentence.", "  calls     t()"
    ]  # fmt: skip
    skipped = result("off", "skipped", answer=None, failure=Failure("stopped", "not today"))
    assert explain(skipped).splitlines()[1:] == ["  not today"]


def test_an_expectation_without_a_word_of_the_assistant_is_not_called_empty() -> None:
    expected = [{"role": "user", "content": "A"}]
    case = evalcase.Case(id="a", input="x", expected_output=expected)
    ungraded = result("a", "ungraded", answer=said("x"))
    assert "  expected  (no text, but a user message: A)" in explain(ungraded, case).splitlines()


def test_it_fits_the_width_that_is_asked_for() -> None:
    failed = result("letter", "failed", sides("a " * 300, "b " * 300))
    assert max(map(len, explain(failed, find_case("", "letter"), width=50).splitlines())) <= 50


def test_it_is_public() -> None:
    assert "explain" in evalcase.__all__
    assert evalcase.explain is explain
