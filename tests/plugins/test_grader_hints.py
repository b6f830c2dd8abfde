from __future__ import annotations

import evalcase
from tests.for_each import for_each


@for_each(
    ("grader", "hint"),
    [
        ("exact_match: hi", "write {equals: …}, or `expected`, which compares with"),
        ("exact: hi", "write {equals: …}, or `expected`, which compares with"),
        ("expected: hi", "to compare with a text given here, write {equals: …}"),
    ],
)
def test_a_hint_leads_to_what_works(grader: str, hint: str) -> None:
    text = f"cases: [{{input: a, expected_output: b, graders: [{{{grader}}}]}}]"
    (problem,) = evalcase.check_text(text, "a.eval.yaml")
    assert hint in (problem.hint or "")
