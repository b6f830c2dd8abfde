from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase.config.catalogue import Catalogue
from evalcase.errors import SuiteError
from evalcase.format.document import Document, parse_document, read_lines
from evalcase.format.load import load_file, load_text
from evalcase.types.problem import Problem
from tests.for_each import for_each

Faults = list[tuple[str, int, int]]


def read(text: str) -> Document:
    return parse_document(text, "json", "x.json")


def value_of(text: str) -> Any:
    document = read(text)
    assert document.readable, document.faults
    assert list(document.faults) == []
    return document.value


def faults_of(text: str) -> Faults:
    return [(each.code, each.line or 0, each.column or 0) for each in read(text).problems]


@for_each(
    ("text", "line", "column", "hint"),
    [
        ("", 1, 1, None),
        ('{"a": 1,}', 1, 8, "remove"),
        ("[1, 2,]", 1, 6, "remove"),
        ('{"a" 1}', 1, 6, None),
        ("{'a': 1}", 1, 2, "double quotes"),
        ('{"a": \'b\'}', 1, 7, "double quotes"),
        ("[1, // one\n2]", 1, 5, "comments"),
        ("/* x */ 1", 1, 1, "comments"),
        ('{"a": 1}\n{"a": 2}', 2, 1, None),
        ('"a', 1, 1, None),
        (r'"\q"', 1, 2, None),
        ("tru", 1, 1, None),
        ("[01]", 1, 3, None),
        ("[0x1F]", 1, 3, None),
        ("\ufeff1", 1, 1, None),
        ("]", 1, 1, None),
        ("[\u00a01]", 1, 2, None),
    ],
)  # fmt: skip
def test_syntax_errors_have_their_place(
    text: str, line: int, column: int, hint: str | None
) -> None:
    document = read(text)
    assert not document.readable
    (fault,) = document.problems
    assert fault.code == "syntax"
    assert fault.line == line
    assert abs((fault.column or 0) - column) <= 1, fault
    if hint:
        assert hint in (fault.hint or "")


def test_duplicate_keys_are_all_reported_and_the_first_is_kept() -> None:
    text = '{"a": 1,\n "b": {"c": 1, "c": 2},\n "a": 2, "\\u0061": 3}'
    assert faults_of(text) == [
        ("duplicate-key", 2, 16),
        ("duplicate-key", 3, 2),
        ("duplicate-key", 3, 10),
    ]
    assert read(text).value == {"a": 1, "b": {"c": 1}}


def test_a_duplicate_key_does_not_hide_what_stands_in_its_value() -> None:
    assert faults_of('{"a": 1, "a": [NaN]}') == [
        ("not-json-value", 1, 16),
        ("duplicate-key", 1, 10),
    ]


@for_each(
    ("text", "column"),
    [
        ("[1, NaN]", 5),
        ('{"a": -Infinity}', 7),
        ("[1e400]", 2),
        ('["ok", "\\udc00"]', 8),
        ('{"\\ud800": 1}', 2),
        ('["\\ud83d\\ud83d\\ude00"]', 2),
    ],
)
def test_values_that_json_cannot_hold(text: str, column: int) -> None:
    assert faults_of(text) == [("not-json-value", 1, column)]


def test_the_reader_forgets_the_faults_of_the_text_before() -> None:
    assert faults_of('{"a": 1, "a": 2}') == [("duplicate-key", 1, 10)]
    assert faults_of("[NaN") == [("syntax", 1, 5)]
    assert value_of('{"a": 1}') == {"a": 1}


@for_each("text", ['"\\ud83d\\ude00"', '"😀"', '"\\\\ud800"', '"ud800 \\\\\\\\ud800"'])
def test_text_that_only_looks_like_half_a_character(text: str) -> None:
    assert isinstance(value_of(text), str)


# Jsonl


GOOD = '{"id": "%s", "input": "hi", "expected_output": "x"}'


def lines_of(data: bytes) -> list[tuple[object, ...]]:
    """Number and value of each line; number and code of what can't be read."""
    return [
        (item.line, item.code) if isinstance(item, Problem) else (item.first_line, item.value)
        for item in read_lines(BytesIO(data), "x.jsonl")
    ]


def places(text: str) -> list[tuple[str, int | None, int | None]]:
    return [(p.code, p.line, p.column) for p in load_text(text, "jsonl", Catalogue()).problems]


def test_blank_lines_are_skipped_and_counted() -> None:
    assert lines_of(b"\n1\n  \t\n\r\n2\n\n\n") == [(2, 1), (5, 2)]


def test_only_a_line_feed_ends_a_line() -> None:
    text = '["a\u2028b\u2029c\u0085d"]\n[2]\n'
    assert lines_of(text.encode()) == [(1, ["a\u2028b\u2029c\x85d"]), (2, [2])]
    assert lines_of(b'{"a":\r1}\n[2]') == [(1, {"a": 1}), (2, [2])]


def test_a_byte_order_mark_is_skipped_on_the_first_line_only() -> None:
    assert lines_of(b"\xef\xbb\xbf1\n\xef\xbb\xbf2\n") == [(1, 1), (2, "syntax")]
    assert lines_of(b"\xef\xbb\xbf\n1") == [(2, 1)]
    assert lines_of(b"\xef\xbb\xbf") == []


def test_a_line_that_cannot_be_read_does_not_stop_the_rest() -> None:
    data = b'1\n{"a": \n"caf\xe9"\n2\n"\x07"\n' + b"[" * 101 + b"]" * 101 + b"\n3"
    assert lines_of(data) == [
        (1, 1),
        (2, "syntax"),
        (3, "bad-encoding"),
        (4, 2),
        (5, "control-character"),
        (6, "too-deep"),
        (7, 3),
    ]


def test_faults_and_findings_of_one_line_are_in_order() -> None:
    text = '{"inptu": 1, "id": "a", "id": "b", "input": 5}'
    assert places(text) == [
        ("unknown-field", 1, 2),
        ("duplicate-key", 1, 25),
        ("wrong-type", 1, 45),
    ]


def test_the_same_id_on_two_lines_names_the_first(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{GOOD % 'a'}\n\n{GOOD % 'b'}\n{GOOD % 'a'}\n")
    (problem,) = load_file(str(path), Catalogue()).problems
    assert (problem.code, problem.line, problem.column) == ("duplicate-id", 4, 8)
    assert "line 1" in problem.message
    assert problem.case == "a"


def test_cases_come_one_by_one_until_the_first_error(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f'{GOOD % "a"}\n{GOOD % "b"}\n{{"input": 5}}\n{GOOD % "c"}\n{{"input": 6}}\n')
    given: list[str] = []

    def collect() -> None:
        given.extend(case.id for case in evalcase.iter_cases(path))

    with pytest.raises(SuiteError) as raised:
        collect()
    assert given == ["a", "b"]
    assert [problem.line for problem in raised.value.problems] == [3, 5]


# The suite fields beside a JSONL file


def test_two_files_of_suite_fields_are_one_too_many(tmp_path: Path) -> None:
    (tmp_path / "x.eval.jsonl").write_text(GOOD % "a")
    (tmp_path / "x.suite.yaml").write_text("name: a")
    (tmp_path / "x.eval.suite.yml").write_text("name: b")
    problems = load_file(str(tmp_path / "x.eval.jsonl"), Catalogue()).problems
    assert [problem.code for problem in problems] == ["conflicting-fields"]


@for_each(
    "text",
    [
        '{\n  "input": "q",\n  "expected_output": "x"\n}\n',
        '[\n  {"input": "q"},\n  {"input": "r"},\n]\n',
    ],
)
def test_json_over_several_lines_is_named_once(text: str) -> None:
    (problem,) = load_text(text, "jsonl", Catalogue()).problems
    assert problem.code == "syntax"
    assert "JSON over several lines" in problem.message
    assert ".json" in (problem.hint or "")
