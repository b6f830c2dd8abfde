from __future__ import annotations

import re

import pytest

import evalcase
from evalcase.graders.judging.ready import RUBRIC_NAMES
from evalcase.plugins.grader_hints import INSTEAD
from tests.for_each import for_each


@for_each(
    ("grader", "hint"),
    [
        ("exact_match: hi", "write {equals: …}, or `expected`, which compares with"),
        ("exact: hi", "write {equals: …}, or `expected`, which compares with"),
        ("expected: hi", "to compare with a text given here, write {equals: …}"),
        ("semantic_similarity: hi", "write {judge: …} for what is meant"),
        ("cosine_similarity: hi", "write {judge: …} for what is meant"),
        ("levenshtein: hi", "write `similarity`"),
        ("rouge: hi", "write `python`, by a function of yours"),
        ("ROUGE-L: hi", "write `python`, by a function of yours"),
        ("bleu: hi", "write `python`, by a function of yours"),
        ("meteor: hi", "write `python`, by a function of yours"),
        ("bertscore: hi", "write `python`, by a function of yours"),
        ("faithfulness: hi", "write {judge: {rubric: faithful}}"),
        ("answer_relevancy: hi", "write {judge: {rubric: relevant}}"),
        ("hallucination_metric: hi", "write {judge: {rubric: faithful}}"),
        ("g_eval: hi", "write `judge`, with its steps as `rubrics`"),
        ("toxicity: hi", "write {judge: {rubric: harmless}}"),
        ("bias: hi", "write {judge: {rubric: harmless}}"),
        ("contains_any: [hi]", "write {contains: {any: […]}}"),
        ("contains_all: [hi]", "write {contains: […]}"),
        ("not_contains: hi", "write {type: contains, value: …, not: true}"),
        ("type: tool_called, name: search", "write {tool_calls: {needed: {NAME: 1}}}"),
        ("judge: {rubric: polite}", "a criterion in your own words is the argument: {judge: …}"),
        ("judge: {rubric: faithfull}", "did you mean `faithful`?"),
        ("contains 30 days: null", "write {contains: 30 days}, or {judge: …}"),
        ("is kind to all: null", "write {judge: …} to have a model say whether it is so"),
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
        ("contains 30 days", "in a list, write {contains: 30 days}, or {judge: …}"),
        ("'contains: 30 days'", "in a list, write {contains: 30 days}, or {judge: …}"),
        ("rouge", "in a list, write `python`"),
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
