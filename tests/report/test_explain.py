from evalcase import explain
from tests.report.terminal.endings import find_case, result, sides


def test_a_result_is_explained_as_in_the_summary() -> None:
    failed = result("postage", "failed", sides("That is 7.00 euros.", "That is 6.40 euros."))
    assert explain(failed, find_case("", "postage")).splitlines() == [
        "failed evals/shop.eval.yaml: postage (agent)",
        "  input     How much is it to send a lamp to Lima?",
        "  expected            │ got",
        "  That is 7.00 euros. │ That is 6.40 euros.",
        "          ^^^^        │         ^^^^",
    ]
