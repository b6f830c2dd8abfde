"""The built-in comparison, sentence by sentence of its specification."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.graders.base import Context
from evalcase.graders.differences import cut_around
from evalcase.types.case import canonical_case
from evalcase.types.grade import Grade
from evalcase.types.target import Question
from evalcase.types.value import encode_object
from tests.for_each import for_each
from tests.graders.expectation import answer_of, calls, compare, grade_expected

SEARCH = {"tool": "search", "input": {"from": "OSL", "to": "LIS"}}
BOOK = {"tool": "book", "input": {"flight": "TP 751"}}
PAY = {"tool": "pay", "input": {"amount": 129}}


# Text: equal after trimming outer white space and unifying line ends, nothing else.


@for_each("got", ["a\nb", "  a\nb\n", "a\r\nb", "a\rb", "\ta\nb \r\n\r\n"])
def test_text_is_equal_after_trimming_outer_white_space_and_unifying_line_ends(got: str) -> None:
    grade = compare("a\nb\n", got)
    assert (grade.score, grade.passed, grade.reason) == (1.0, True, "the text is equal")
    assert grade.details == {}


@for_each(
    "got", ["A\nb", "a\n\nb", "a \nb", "a b", "a\nb.", '"a\nb"', "**a**\nb", "a\nb\u200b", ""]
)
def test_nothing_else_is_forgiven_in_text(got: str) -> None:
    grade = compare("a\nb", got)
    assert (grade.score, grade.passed) == (0.0, False)
    assert grade.details["expected"] == "a\nb"


@for_each(
    ("expected", "got", "reason"),
    [
        ("4", "", 'expected "4", got an empty text'),
        ("4", " \n", 'expected "4", got only white space: " \\n"'),
        (" ", "4", 'expected only white space: " ", got "4"'),
        ("Paris", "paris", 'expected "Paris", got "paris" (only upper and lower case differ)'),
        ("\u00e9", "e\u0301",
         'expected "\u00e9", got "e\u0301" (expected U+00E9, got U+0065)'),
        ("a\nb\nc", "a\nx\nc", 'line 2, character 1: expected …"b"…, got …"x"…'),
        ("a\nb", "a\nb\nc", 'line 2, character 2: expected the end after …"b", got …"b\\nc"'),
        ("x" * 65, "x" * 64 + "y",
         'line 1, character 65: expected …"xxxxxxxxxxxxxxxxxxxxx", got …"xxxxxxxxxxxxxxxxxxxxy"'),
    ],
)  # fmt: skip
def test_the_reason_shows_what_differed_and_where(expected: str, got: str, reason: str) -> None:
    assert compare(expected, got).reason == reason


@for_each(
    ("expected", "got", "told"),
    [
        ("六", "天", False),
        ("a", "\u0430", True),  # the second is Cyrillic
        ('"x"', "“x”", True),
        ("\uff11", "1", True),
        ("a b", "a\u00a0c", True),
    ],
)  # fmt: skip
def test_code_points_are_told_where_an_eye_could_not_tell(
    expected: str, got: str, told: bool
) -> None:
    assert ("U+" in compare(expected, got).details.get("note", "")) is told


def test_a_line_end_at_the_end_of_a_short_text_is_shown() -> None:
    assert cut_around("7\n", 0) == '"7\\n"'
    assert cut_around("7\n8", 0) == '"7"…'


def test_the_side_by_side_texts_are_cut_around_the_difference() -> None:
    grade = compare("x" * 50_000 + "expected", "x" * 50_000 + "got")
    assert grade.details["expected"].endswith("xxxexpected")
    assert grade.details["got"].endswith("xxxgot")
    assert len(grade.details["got"]) < 4100
    assert len(grade.reason) < 200


# A JSON value: the answer is parsed as JSON (a fenced block is unwrapped) and compared deeply.


@for_each(
    "got",
    [
        '{"a": 1, "b": [true, null]}',
        '\n {"b":[true,null],"a":1}\n',
        '```json\n{"a": 1, "b": [true, null]}\n```',
        '```\n{"a": 1, "b": [true, null]}```\n',
        '~~~~ json\n{"a": 1, "b": [true, null]}\n~~~~',
        {"a": 1, "b": [True, None]},
        [{"type": "text", "text": '{"a": 1,'}, {"type": "text", "text": '"b": [true, null]}'}],
    ],
)
def test_the_answer_is_parsed_as_json_and_a_fenced_block_is_unwrapped(got: Any) -> None:
    grade = compare({"a": 1, "b": [True, None]}, got)
    assert (grade.passed, grade.reason) == (True, "the JSON value is equal")


@for_each(("expected", "got"), [(1, "1.0"), (1.0, 1), ({"a": [2]}, '{"a": [2.0]}'), (0, "-0.0")])
def test_1_equals_1_0(expected: Any, got: Any) -> None:
    assert compare(expected, got).passed


@for_each(
    ("expected", "got"),
    [(True, "1"), (1, "true"), (False, 0), ([0], [False]), ([None], [0]), (2**53 + 1, 2.0**53)],
)
def test_true_is_not_1(expected: Any, got: Any) -> None:
    assert not compare(expected, got).passed


@for_each(
    ("expected", "got", "reason"),
    [
        ({"labels": ["a", "urgent"]}, {"labels": ["a", "late"]},
         '$.labels[1]: expected "urgent", got "late"'),
        ({"a": 1, "risk level": "High"}, {"a": 1}, '$["risk level"]: missing, expected "High"'),
        ([1, 2], [1], "$[1]: missing, expected 2"),
        ([1], [1, {"b": 2}], '$[1]: not expected, got {"b": 2}'),
        ({"n": 3}, {"n": "3"}, '$.n: expected 3, got "3"'),
        ({"a": 1}, [1], '$: expected {"a": 1}, got [1]'),
    ],
)  # fmt: skip
def test_the_reason_has_the_paths_of_what_differs(expected: Any, got: Any, reason: str) -> None:
    assert compare(expected, json.dumps(got)).reason == reason
    assert compare(expected, got).reason == reason


@for_each(
    ("got", "reason"),
    [
        ("Sure!", "the answer is not JSON: Expecting value at line 1, column 1"),
        ('Here:\n```json\n{"a": 1}\n```', "the answer is not JSON: Expecting value at line 1"),
        ('{"a": 1, "a": 1}', 'the answer is not JSON: it has the key "a" twice'),
        ('{"a": NaN}', "the answer is not JSON: NaN is not a JSON value"),
        ("[" * 100_000, "the answer is not JSON: it is nested more than 100 deep"),
        (None, "the answer is not JSON: it has no text"),
    ],
)
def test_an_answer_that_is_not_json_says_why(got: Any, reason: str) -> None:
    grade = compare({"a": 1}, got)
    assert (grade.score, grade.passed) == (0.0, False)
    assert grade.reason.startswith(reason)


# Tool calls: each expected call, in order, name equal and its input contained in the actual one.


def test_each_expected_call_in_order_and_extra_calls_are_allowed() -> None:
    expected = [calls(SEARCH), calls(PAY)]
    grade = compare(expected, calls(SEARCH, BOOK), calls(BOOK, PAY), "Done.")
    assert (grade.score, grade.reason) == (1.0, "all 2 expected calls were made in order")


def test_a_call_out_of_order_is_not_made() -> None:
    grade = compare([calls(SEARCH, BOOK, PAY)], calls(BOOK, PAY, SEARCH))
    assert grade.score == pytest.approx(2 / 3)
    assert not grade.passed
    assert grade.reason == (
        "2 of 3 expected calls made in order; "
        'call 1, search(from="OSL", to="LIS"): '
        "made out of order, as call 3 of the answer"
    )


@for_each(
    ("expected", "got", "passed"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": [1]}, {"a": [1]}, True),
        ({"a": [1]}, {"a": [1, 2]}, False),
        ({"a": [{"x": 1}]}, {"a": [{"x": 1, "y": 2}]}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": None}, {}, False),
        ({}, None, True),
        (None, {"a": 1}, True),
    ],
)
def test_mappings_by_recursive_subset_lists_by_equality_no_input_is_any(
    expected: Any, got: Any, passed: bool
) -> None:
    grade = compare([calls({"tool": "t", "input": expected})], calls({"tool": "t", "input": got}))
    assert grade.passed is passed


def test_both_forms_of_a_call_are_the_same() -> None:
    openai = {"id": "1", "function": {"name": "book", "arguments": '{"flight": "TP 751", "n": 1}'}}
    assert compare([calls(BOOK)], calls(openai)).passed
    assert compare([calls({"tool": "book"})], calls(openai)).passed
    written = {"function": {"name": "book", "arguments": '{"flight": "TP 751"}'}}
    assert compare([calls(written)], calls(BOOK)).passed


def test_the_reason_says_which_call_is_missing_and_what_came_instead() -> None:
    grade = compare([calls(SEARCH, BOOK)], calls({"tool": "search", "input": {"from": "BGO"}}))
    assert grade.reason == (
        "0 of 2 expected calls made in order; "
        'call 1, search(from="OSL", to="LIS"): '
        '$.from: expected "OSL", got "BGO"; $.to: missing, expected "LIS"; '
        'call 2, book(flight="TP 751"): not made; the answer called search'
    )


def test_the_details_have_the_calls_side_by_side() -> None:
    made = calls(
        {"tool": "search", "input": {"n": 1, "to": "LIS", "from": "OSL"}},
        {"tool": "log"},
        {"tool": "book", "input": {"seats": 2, "flight": "TP 752"}},
    )
    grade = compare([calls(SEARCH, BOOK, PAY)], made)
    whole, book = 'search(n=1, to="LIS", from="OSL")', 'book(seats=2, flight="TP 752")'
    assert grade.details == {
        "calls": [
            {"expected": 'search(from="OSL", to="LIS")', "got": whole, "made": True},
            {"expected": None, "got": "log()", "made": True},
            {"expected": 'book(flight="TP 751")', "got": book, "made": False},
            {"expected": "pay(amount=129)", "got": None, "made": False, "note": "not made"},
        ]
    }  # fmt: skip


def test_an_answer_without_calls_says_so() -> None:
    grade = compare([calls({"tool": "t"})], "No.")
    assert grade.reason == "expected t(), but the answer has no tool calls"
    row = {"expected": "t()", "got": None, "made": False, "note": "no tool calls"}
    assert grade.details == {"calls": [row]}
    several = compare([calls({"tool": "t"}, BOOK)], "No.").reason
    assert several == "expected 2 calls, but the answer has no tool calls"


def test_then_the_last_expected_content_by_the_rules_before() -> None:
    expected = [calls(SEARCH), {"role": "assistant", "content": {"found": 3}}]
    right = compare(expected, calls(SEARCH), '```json\n{"found": 3}\n```')
    assert right.reason == "the expected call was made; the JSON value is equal"
    wrong = compare(expected, calls(SEARCH), '{"found": 2}')
    assert (wrong.score, wrong.passed) == (0.5, False)
    assert wrong.reason == (
        "1 of 2 steps right: the expected call was made; $.found: expected 3, got 2"
    )
    assert "calls" not in wrong.details, "they are right"
    assert wrong.details["where"] == "$.found"


# Content parts count as their joined text; null content is not compared; the rest is context.


def test_content_parts_count_as_their_joined_text() -> None:
    parts = [{"type": "text", "text": "We open "}, {"type": "text", "value": "at 10."}]
    expected = [{"role": "assistant", "content": parts}]
    assert compare(expected, "We open at 10.").passed
    assert compare("We open at 10.", parts).passed


def test_expected_parts_without_text_are_not_passed_over_in_silence() -> None:
    parts = [{"type": "text", "text": "Look:"}, {"type": "image", "url": "a.png"}]
    grade = compare([{"role": "assistant", "content": parts}], "Look:")
    assert grade.reason == "the text is equal (1 part without text not compared)"
    image = compare([{"role": "assistant", "content": parts[1:]}], "")
    assert (image.score, image.passed) == (None, False)


def test_null_content_is_not_compared() -> None:
    assert compare([calls(SEARCH, content=None)], calls(SEARCH), "Whatever.").passed


def test_messages_of_other_roles_and_earlier_texts_are_context() -> None:
    expected = [
        {"role": "assistant", "content": "Let me look."},
        calls(SEARCH),
        {"role": "tool", "content": [1, 2]},
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": "Two flights."},
    ]
    assert compare(expected, calls(SEARCH, content="Wait."), "Two flights.").passed
    assert not compare(expected, "Let me look.").passed


@pytest.mark.parametrize(
    "expected",
    [[{"role": "user", "content": "x"}], [{"role": "assistant", "content": None}]],
)
def test_where_nothing_can_be_compared_there_is_no_score(expected: Any) -> None:
    grade = compare(expected, "x")
    assert (grade.score, grade.passed, grade.failure) == (None, False, None)
    assert grade.reason.startswith("there is nothing to compare")


# Nothing that a model may say makes it crash.

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=12,
)


def graded(expected: Any, got: Any) -> Grade:
    """Past the border, where anything may come from a case or a target made in Python."""
    message = {"role": "assistant", "content": expected}
    case = canonical_case({"id": "a", "input": [], "expected_output": [message]})
    answer = answer_of({"role": "assistant", "content": got})
    return grade_expected(Context(case, Question((), "a"), answer))


@given(json_values, json_values)
def test_it_never_crashes_and_its_details_are_json(expected: Any, got: Any) -> None:
    for grade in (graded(expected, got), graded(expected, json.dumps(got))):
        assert grade.passed is (grade.score == 1.0)
        assert grade.reason
        json.dumps(encode_object(grade), allow_nan=False)


@given(json_values.filter(lambda value: value is not None))
def test_a_value_equals_itself_as_data_and_as_json(value: Any) -> None:
    assert graded(value, value).score in (1.0, None)
    if not isinstance(value, str):
        assert graded(value, json.dumps(value, indent=1)).score in (1.0, None)


def test_values_that_json_cannot_hold_are_differences_not_crashes() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert not graded({"a": 1}, deep).passed
    assert not graded("text", deep).passed
    assert not graded({"a": 1}, {"a": 10**5000}).passed
    reason = 'expected "text", got "\\ud800" (expected U+0074, got U+D800)'
    assert graded("text", "\ud800").reason == reason
