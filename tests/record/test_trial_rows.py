"""What is written of plain trials at once is what is written of all others."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields, force_setattr, replace

from evalcase.model.answer import Answer, Usage
from evalcase.model.case import Case, canonical_case
from evalcase.model.codec import encode_after
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.message import Message, take_message
from evalcase.model.result import Regraded, Result
from evalcase.model.trial_key import TrialKey
from evalcase.record import trial_rows
from evalcase.record.cases import case_row
from evalcase.record.trial_rows import check_for_more, write_case, write_outcome
from evalcase.text.journal_row import encode_row
from evalcase.text.secrets import Scrubber
from tests.for_each import for_each

NOTHING = Scrubber({}).look()
TEXTS = st.text(st.characters(exclude_categories=())) | st.sampled_from(["", "\ud800", 'a\0"b\\\n'])
FLOATS = st.floats(0, 1e300) | st.sampled_from([0.0, 1.0, 0.004845, 1e-7, 1e22])
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["assistant", "user"]) | TEXTS, "content": TEXTS},
    optional={"name": TEXTS},
)


def plain_result(**changes: Any) -> Result:
    values: dict[str, Any] = {
        "key": TrialKey("math.eval.yaml", "case-1", "python:agent:answer", 1),
        "question_hash": "749e556ae041dee7",
        "verdict": "passed",
        "answer": Answer((Message({"role": "assistant", "content": "3"}),)),
        "grades": (Grade("expected", 1.0, True, "the text is equal"),),
        "started_at": "2026-11-17T03:39:05.337+00:00",
        "duration_s": 0.004845,
        "grading_hash": "00282a60f965eaf7",
        "number": 70,
    }
    return Result(**values | changes)


def plain_case(**changes: Any) -> Case:
    asked, expected = {"role": "user", "content": "1+2?"}, {"role": "assistant", "content": "3"}
    return canonical_case({"id": "sum", "input": [asked], "expected_output": [expected], **changes})


def assert_as_all_others(result: Result) -> None:
    assert write_outcome(result, NOTHING).line == encode_row(
        encode_after({"type": "result"}, result)
    )


GRADES = st.builds(Grade, TEXTS, st.floats(0, 1), st.booleans(), TEXTS)
KEYS = st.builds(TrialKey, TEXTS, TEXTS, TEXTS, st.integers(1, 3))


@given(KEYS, MESSAGES, GRADES, FLOATS, st.integers(14, 18))
def test_a_plain_result_is_written_as_all_others(
    key: TrialKey, message: Any, grade: Grade, took_s: float, number: int
) -> None:
    answer = Answer((take_message(message),))
    assert_as_all_others(
        plain_result(key=key, answer=answer, grades=(grade,), duration_s=took_s, number=number)
    )


def test_numbers_that_json_does_not_have_are_refused() -> None:
    infinite = plain_result(duration_s=float("inf"))
    with pytest.raises(ValueError, match="duration_s"):
        write_outcome(infinite, NOTHING)


@given(TEXTS, TEXTS, MESSAGES, MESSAGES)
def test_a_plain_case_is_written_as_all_others(
    suite: str, id: str, asked: Any, expected: Any
) -> None:
    case = canonical_case({"id": id, "input": [asked], "expected_output": [expected]})
    assert write_case(suite, case, NOTHING) == encode_row(case_row(suite, case))


OTHERS: dict[str, Any] = {
    "attempts": 2, "retried": (Failure("timeout", "late"),), "grading": 2, "repeats": 3,
    "pass_rate": 0.5, "failure": Failure("exit", "no"), "ending": "target", "answer": None,
    "grades": (), "verdict": "failed", "number": 0, "duration_s": 0.0, "started_at": "",
    "grading_hash": "", "question_hash": "x",
}  # fmt: skip


@for_each("name", OTHERS)
def test_every_other_field_is_written_too(name: str) -> None:
    assert_as_all_others(plain_result(**{name: OTHERS[name]}))


class Made(NamedTuple):
    value: Any
    said: tuple[str, ...]


@pytest.mark.parametrize(
    "made",
    [
        Made(plain_result(), trial_rows._OF_RESULT),
        Made(plain_result().answer, trial_rows._OF_ANSWER),
        Made(plain_result().grades[0], trial_rows._OF_GRADE),
    ],
    ids=["result", "answer", "grade"],
)
def test_no_field_is_overlooked(made: Made) -> None:
    says_no_more = check_for_more(type(made.value), made.said)
    assert says_no_more(made.value)
    for each in fields(made.value):
        if each.name not in made.said:
            changed = replace(made.value)
            force_setattr(changed, each.name, "something")
            assert not says_no_more(changed), each.name


def test_other_answers_and_grades_are_written_too() -> None:
    text = Message({"role": "assistant", "content": "3"})
    answers = [
        Answer((text, text)), Answer((text,), Usage(1, 2), 0.1, model="m"), Answer(()),
        Answer((Message({"content": "3", "role": "assistant"}),)),
        Answer((Message({"role": "assistant", "content": {"a": [1]}}),)),
        Answer((Message({"role": "assistant", "content": None, "tool_calls": []}),)),
    ]  # fmt: skip
    plain = Grade("expected", 1.0, True, "equal")
    grades = [
        (plain, plain), (replace(plain, score=None),), (replace(plain, score=1),),
        (replace(plain, details={"a": 1}),), (replace(plain, weight=2.0),),
        (replace(plain, failure=Failure("grader", "no")),), (replace(plain, turn=1),),
    ]  # fmt: skip
    for answer in answers:
        assert_as_all_others(plain_result(answer=answer))
    for some in grades:
        assert_as_all_others(plain_result(grades=some))


@for_each(
    "more", [{"tags": ["a"]}, {"criteria": "nice"}, {"input": []}, {"expected_output": [{"a": 1}]}]
)
def test_other_cases_are_written_too(more: Any) -> None:
    case = plain_case(**more)
    assert write_case("s", case, NOTHING) == encode_row(case_row("s", case))


def test_what_is_no_text_is_left_to_the_encoder() -> None:
    odd: Any = 5
    assert_as_all_others(plain_result(grades=(Grade(odd, 1.0, True, odd),)))
    case = canonical_case({"id": odd, "input": 3, "expected_output": [4]})
    assert write_case("s", case, NOTHING) == encode_row(case_row("s", case))


def test_what_was_graded_again_is_a_row_of_its_own() -> None:
    again = Regraded(TrialKey("s", "c", "t", 1), "failed", "h", 2)
    expected = encode_row(encode_after({"type": "regraded"}, again))
    assert write_outcome(again, NOTHING) == (expected, None)


def test_secrets_are_taken_out_of_plain_rows() -> None:
    secret = "sk-0123456789abcdef"
    known = Scrubber({"KEY": secret}, {"KEY": secret}).look()
    said = Message({"role": "assistant", "content": f"it is {secret}"})
    line, clean = write_outcome(plain_result(answer=Answer((said,))), known)
    assert secret.encode() not in line
    assert clean is not None
    case = plain_case(input=[{"role": "user", "content": secret}])
    assert secret.encode() not in write_case("s", case, known)
