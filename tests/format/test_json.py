from __future__ import annotations

from typing import Any

from evalcase.format.document import Document, parse_document
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
