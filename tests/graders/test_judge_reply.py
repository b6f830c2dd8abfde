"""Replies of judges: read to the letter, or not at all."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.graders.judge_reply import BadJudgeReplyError, ClaimsForm, CriteriaForm
from evalcase.graders.rubrics import number_criteria
from tests.for_each import for_each

FORM = CriteriaForm(number_criteria([{"text": "a"}, {"text": "b", "levels": {"0": "x", "1": "y"}}]))
CLAIMS = ClaimsForm({})
GOOD = {"c1": {"reason": "r", "verdict": "met"}, "c2": {"reason": "s", "verdict": "1"}}
TEXT = json.dumps(GOOD)


@for_each(
    "text",
    [
        TEXT,
        f"\n {TEXT}\n",
        f"```json\n{TEXT}\n```",
        f"<think>is it {{met}}?</think>\n{TEXT}",
        f"<think>\n</think>```json\n{TEXT}\n```",
    ],
)
def test_an_object_alone_in_a_fence_or_after_thinking(text: str) -> None:
    assert FORM.read(text) == GOOD


@for_each(
    ("text", "said"),
    [
        ("", "one JSON object"),
        (TEXT[:-1], "one JSON object"),
        (f"Sure! {TEXT}", "one JSON object"),
        (f"{TEXT} Hope that helps.", "one JSON object"),
        (f"<think>{TEXT}</think>", "one JSON object"),
        (f"```json\n{TEXT}\n```\n```json\n{TEXT}\n```", "one JSON object"),
        (f"```json {TEXT.replace('met', 'not_met')}\n{TEXT}\n```", "one JSON object"),
        ("[]", "not an object"),
        (json.dumps({"c1": GOOD["c1"]}), "the object has no `c2`"),
        (json.dumps({**GOOD, "c3": GOOD["c1"]}), "keys that were not asked for"),
        (json.dumps({**GOOD, "c1": {"verdict": "met"}}), "`c1` is not an object of the texts"),
        (json.dumps({**GOOD, "c1": {"reason": "r"}}), "`c1` is not an object of the texts"),
        (
            json.dumps({**GOOD, "c1": {"reason": 1, "verdict": "met"}}),
            "`c1` is not an object of the texts",
        ),
        (json.dumps({**GOOD, "c1": {"reason": "r", "verdict": "pass"}}), "none of met, not_met"),
        (
            json.dumps({**GOOD, "c1": {"reason": "r", "verdict": True}}),
            "not an object of the texts",
        ),
        (json.dumps({**GOOD, "c2": {"reason": "r", "verdict": "met"}}), "none of 0, 1, cannot"),
        ('{"c1": {"reason": "a", "verdict": "not_met"}, ' + TEXT[1:], "one JSON object"),
    ],
)
def test_anything_else_is_refused_without_a_word_of_it(text: str, said: str) -> None:
    with pytest.raises(BadJudgeReplyError, match=said) as caught:
        FORM.read(text)
    assert "pass" not in str(caught.value)


@given(st.text())
def test_no_text_is_a_verdict_by_chance(text: str) -> None:
    with pytest.raises(BadJudgeReplyError):
        FORM.read(text)


def test_the_schema_has_every_key_once_and_nothing_else() -> None:
    schema: Any = FORM.schema()
    assert schema["required"] == ["c1", "c2"]
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]["c1"]["properties"]) == ["reason", "verdict"]
    claims: Any = CLAIMS.schema()
    assert claims["required"] == ["claims"]


def test_claims_are_read_as_strictly() -> None:
    good = {"claim": "It opens at 9", "reason": "line 1", "verdict": "supported"}
    (claim,) = CLAIMS.read(json.dumps({"claims": [good]}))
    assert claim["verdict"] == "supported"
    assert CLAIMS.read('{"claims": []}') == []
    for bad in ({**good, "verdict": "met"}, {**good, "more": 1}, {"claim": "x"}, "x"):
        with pytest.raises(BadJudgeReplyError):
            CLAIMS.read(json.dumps({"claims": [bad]}))
