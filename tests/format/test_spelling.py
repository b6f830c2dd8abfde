"""Numbers that are not written as they are read: told where that is all there is to expect."""

from __future__ import annotations

from evalcase.format.positions import Format
from tests.for_each import for_each
from tests.spec.found import only_problem, problems_of

RESPELT = [("3.10", "3.1"), ("007", "7"), ("12345678901234567890.0", "1.2345678901234567e+19"),
           ("1e3", "1000.0"), ("0x1F", "31"), ("0o14", "12"), ("+5", "5"), (".5", "0.5"),
           ("1.50", "1.5")]  # fmt: skip


@for_each(("written", "read"), RESPELT)
def test_a_number_that_loses_its_spelling_is_told(written: str, read: str) -> None:
    problem = only_problem(f"input: q\nexpected_output: {written}\n")
    assert (problem.code, problem.span) == ("lost-spelling", (2, 18, 2, 18 + len(written)))
    assert f"the number {read}," in problem.message
    assert problem.hint == f'write it in quotes: "{written}"'


@for_each("written", ["4", "-4", "0", "3.1", "1.0", "1e+16", '"3.10"', "3.10.1"])
def test_a_number_that_keeps_its_spelling_is_not(written: str) -> None:
    assert problems_of(f"input: q\nthreshold: 0.80\nexpected_output: {written}\n") == []


@for_each(
    ("expected", "column"),
    [("{role: assistant, content: 3.10}", 45), ("[{role: assistant, content: 3.10}]", 46),
     ("&a 3.10", 18)],
)  # fmt: skip
def test_the_content_of_a_message_is_all_there_is(expected: str, column: int) -> None:
    problem = only_problem(f"input: q\nexpected_output: {expected}\n")
    assert (problem.code, problem.column) == ("lost-spelling", column)
    assert problem.hint == 'write it in quotes: "3.10"'


@for_each("format", ["json", "jsonl"])
@for_each(
    ("written", "told"),
    [("3.10", True), ("12345678901234567890.0", True), ("0.1000000000000000055", True),
     ("1e5", False), ("1E-7", False), ("1e21", False), ("3.0", False), ("100", False)],
)  # fmt: skip
def test_in_json_it_is_digits_that_count(format: Format, written: str, told: bool) -> None:
    text = f'{{"input": "q", "expected_output": {written}}}'
    assert [each.code for each in problems_of(text, format)] == ["lost-spelling"] * told
