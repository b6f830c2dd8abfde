from __future__ import annotations

import re

import pytest

import evalcase
from evalcase.config.catalogue import INSTEAD
from evalcase.graders.rubrics import RUBRIC_NAMES
from tests.for_each import for_each


@for_each(
    ("grader", "hint"),
    [
        ("ROUGE-L: hi", "write {python: MODULE:FUNCTION}"),
        ("Answer Relevancy: hi", "write {judge: {rubric: relevant}}"),
        ("hallucination_metric: hi", "write {judge: {rubric: faithful}}"),
        ("not-toxicity: hi", "write {judge: {rubric: harmless}}"),
        ("includes: hi", "write {contains: …}"),
        ("similar: hi", "write {similarity: {value: …, embedding: TARGET}}"),
        ("rouge-n: hi", "write {python: MODULE:FUNCTION}"),
        ("model_graded_qa: hi", "write {judge: {rubric: correct}}"),
        ("MaxDuration: 2", "write {latency: …}"),
        ("not: {contains: hi}", "write {type: contains, value: …, not: true}"),
        ("contians: hi", "did you mean `contains`?"),
        ("zzz: hi", "there are expected, equals, contains"),
        ("judge: {rubric: faithfull}", "did you mean `faithful`?"),
    ],
)
def test_a_hint_leads_to_what_works(grader: str, hint: str) -> None:
    text = f"cases: [{{input: a, expected_output: b, graders: [{{{grader}}}]}}]"
    problems = evalcase.check_text(text, "a.eval.yaml")
    (problem,) = [each for each in problems if each.severity == "error"]
    assert hint in (problem.hint or "")


@pytest.mark.parametrize(
    ("graders", "hint"),
    [
        ("contains 30 days", "write [contains 30 days]"),
        ("expected", "write [expected]"),
    ],
)
def test_a_hint_for_one_grader_in_place_of_a_list_works(graders: str, hint: str) -> None:
    text = f"input: a\nexpected_output: b\ngraders: {graders}\n"
    problems = evalcase.check_text(text, "a.eval.yaml")
    (problem,) = [each for each in problems if each.severity == "error"]
    assert (problem.hint or "").startswith(hint)


def test_a_rubric_that_a_hint_names_is_there() -> None:
    named = {name for hint in INSTEAD.values() for name in re.findall(r"rubric: (\w+)", hint)}
    assert named
    assert named <= set(RUBRIC_NAMES)
