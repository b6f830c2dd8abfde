from __future__ import annotations

from evalcase.format.document import Document, parse_document
from tests.for_each import for_each

Faults = list[tuple[str, int, int]]


def read(text: str) -> Document:
    return parse_document(text, "yaml", "x.yaml")


def faults_of(text: str) -> Faults:
    return [(each.code, each.line or 0, each.column or 0) for each in read(text).problems]


# Where libyaml is not YAML 1.2: what it would get wrong is put right or refused


def test_a_question_mark_at_the_start_of_a_flow_key() -> None:
    # libyaml drops the question mark. Right is the key `?foo`; an error is honest too.
    for text in (
        "{?foo: bar}",
        "{a: 1, ?foo: bar}",
        "[?foo: bar]",
        "[?foo]",
        "{?foo: bar, bar: 42}",
    ):
        document = read(text)
        if document.readable and not document.faults:
            assert "?foo" in str(document.value)
        else:
            ((code, line, column),) = faults_of(text)
            assert (code, line) == ("syntax", 1)
            assert column in (text.index("?") + 1, text.index("foo") + 1)


@for_each(("text", "column"), [("&an:chor x", 1), ("a: &an:chor x", 4), ("[1, &a:b [2]]", 5)])
def test_a_colon_in_the_name_of_an_anchor(text: str, column: int) -> None:
    assert faults_of(text) == [("syntax", 1, column)]


@for_each(
    "text",
    [
        "{x: :x}",
        '{"a"\n: b}',
        "a:\n\t- b",
        "\ta: b",
        "- a\n-\tb: c\n \td: e",
        "%UNKNOWN x\n---\na",
        "[a, b: c: d]",
        "[:a]",
        "|\n  \ta\n",
    ],
)
def test_exotic_syntax_that_libyaml_refuses_is_an_error_with_a_place(text: str) -> None:
    ((code, line, column),) = faults_of(text)
    lines = text.split("\n")
    assert code == "syntax"
    assert 1 <= line <= len(lines)
    assert 1 <= column <= len(lines[line - 1]) + 1


# Syntax


@for_each(
    ("text", "line", "column", "hint"),
    [
        ("input: What: is it?", 1, 12, "quotes"),
        ("a: 1\n b: 2", 2, 3, "quotes"),
        ("a: @x", 1, 4, "quotes"),
        ("a: `x`", 1, 4, "quotes"),
        ("a: 'x", 1, 4, None),
        ('a: "x\nb: 1\n', 1, 4, None),
        ("a: [1, 2", 1, 4, None),
        ("a: {b: 1", 1, 4, None),
        ("a: [1 2\nb: 3", 1, 4, None),
        ('a: "\\q"', 1, 5, "single quotes"),
        ("a: * x", 1, 4, "quotes"),
        ("a: & x", 1, 4, "quotes"),
        ("- a\nb: 1", 2, 1, "- "),
        ("cases:\n  - id: a\n   input: b", 3, 4, "line up under its first one"),
        ("cases:\n  - id: a\n  input: b", 3, 3, "line up under its first one"),
        ("a: 1\nb\n", 2, 1, None),
        ("a: 1\n- b\n", 2, 1, "indentation"),
        ("a: %x", 1, 4, None),
        ("'a' 'b'", 1, 5, None),
        ("a: ]", 1, 4, None),
    ],
)
def test_syntax_errors_point_at_the_place(
    text: str, line: int, column: int, hint: str | None
) -> None:
    document = read(text)
    assert not document.readable
    assert document.value is None
    (fault,) = document.problems
    assert fault.code == "syntax"
    assert fault.line == line
    # The opening bracket or quote, or where the reader lost its way on that line.
    assert abs((fault.column or 0) - column) <= 1, fault
    if hint:
        assert hint in (fault.hint or "")


# Keys


def test_an_alias_is_no_key() -> None:
    assert faults_of("x: &k a\n*k : 2") == [("bad-key", 2, 1)]


def test_faults_in_several_places_are_all_told() -> None:
    text = "a: .inf\nb: !x 1\na: 2\nc: {[d]: 1}\ne: 1e999\n"
    assert [code for code, _, _ in faults_of(text)] == [
        "not-json-value", "bad-tag", "duplicate-key", "bad-key", "not-json-value",
    ]  # fmt: skip
