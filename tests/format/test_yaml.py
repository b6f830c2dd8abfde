from __future__ import annotations

from typing import Any

from evalcase.format.document import Document, parse_document
from tests.for_each import for_each

Faults = list[tuple[str, int, int]]


def read(text: str) -> Document:
    return parse_document(text, "yaml", "x.yaml")


def value_of(text: str) -> Any:
    document = read(text)
    assert document.readable, document.faults
    assert list(document.faults) == []
    return document.value


def faults_of(text: str) -> Faults:
    return [(each.code, each.line or 0, each.column or 0) for each in read(text).problems]


STYLES: dict[str, tuple[str, Any]] = {
    "literal": ("|\n  a\n   b\n\n  c\n", "a\n b\n\nc\n"),
    "literal, stripped": ("|-\n  a\n\n", "a"),
    "literal, kept": ("|+\n  a\n\n", "a\n\n"),
    "literal, indented": ("|2\n   a\n  b\n", " a\nb\n"),
    "literal with a comment": ("| # why\n  # text\n", "# text\n"),
    "literal with blank lines first": ("|\n\n\n  a\n", "\n\na\n"),
    "literal with what looks like YAML": ("|\n  - a: b\n  ---x\n  %y\n", "- a: b\n---x\n%y\n"),
    "folded": (">\n  a\n  b\n\n  c\n", "a b\nc\n"),
    "folded, more indented": (">\n  a\n    b\n  c\n", "a\n  b\nc\n"),
    "plain over lines": ("a b\n  c\n\n  d", "a b c\nd"),
    "plain with marks": ("a: b:c d#e -f ?g &h *i !j %k @l", {"a": "b:c d#e -f ?g &h *i !j %k @l"}),
    "single quotes": ("'it''s \\n'", "it's \\n"),
    "double quotes over lines": ('"a\n  b\\\n  c\n\n  d"', "a bc\nd"),
    "escapes": (r'"\x41\u0042\U00000043\"\\\/\t\n\ \_"', 'ABC"\\/\t\n \xa0'),
    "flow over lines": ("[a,\n b,\n  {c: d,\n e: f}\n]", ["a", "b", {"c": "d", "e": "f"}]),
    "flow with a trailing comma": ("[[a,], {b: c,}]", [["a"], {"b": "c"}]),
    "flow like JSON": ('{"a":1,"b":[true,null]}', {"a": 1, "b": [True, None]}),
    "flow pair": ("[a: b, c]", [{"a": "b"}, "c"]),
    "flow pair with question mark": ("[? a : b]", [{"a": "b"}]),
    "flow mapping with question mark": ("{? a : b, ? c}", {"a": "b", "c": None}),
    "flow, empty": ("[[], {}, '']", [[], {}, ""]),
    "flow with comments": ("[a, # one\n b] # two", ["a", "b"]),
    "flow text with blanks": ("[a b, c  d ]", ["a b", "c  d"]),
    "list in a list": ("- - a\n  - b\n-\n  - c", [["a", "b"], ["c"]]),
    "mapping in a list": ("- a: 1\n  b: 2\n-   c: 3\n", [{"a": 1, "b": 2}, {"c": 3}]),
    "list in a mapping, not indented": ("a:\n- 1\n- 2\nb: 3", {"a": [1, 2], "b": 3}),
    "question mark": ("? a\n: b\n? c\n", {"a": "b", "c": None}),
    "question mark and text": ("? |\n  a\n: - b\n", {"a\n": ["b"]}),
    "odd indentation": ("a:\n     b:\n      c: 1\n     d: 2", {"a": {"b": {"c": 1}, "d": 2}}),
    "comments everywhere": ("# x\na: # y\n  # z\n  b # w\n# v", {"a": "b"}),
    "a marker and an end": ("--- # x\na: 1\n...\n# y\n", {"a": 1}),
    "text on the marker's line": ("--- text\n", "text"),
    "block text on the marker's line": ("--- |\n a\n", "a\n"),
    "a tab as separator": ("a:\tb", {"a": "b"}),
    "a tab before a comment": ("a: b\t# c", {"a": "b"}),
    "key with blanks": ("a b : c", {"a b": "c"}),
    "quoted keys": ("'a': 1\n\"b\" : 2", {"a": 1, "b": 2}),
    "wide characters": ("日本: 語\n😀: [é]", {"日本": "語", "😀": ["é"]}),
    "anchors": ("a: &x [1, &y 2]\nb: *x\nc: *y", {"a": [1, 2], "b": [1, 2], "c": 2}),
    "an anchor on a key": ("&k a: 1\nb: *k", {"a": 1, "b": "a"}),
    "an alias as a key": ("a: &k x\n*k : 1", {"a": "x", "x": 1}),
    "an anchor on a block mapping": ("a: &x\n  b: 1\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
    "anchor names": ("[&a-b_1 x, *a-b_1]", ["x", "x"]),
}  # fmt: skip


@for_each("name", STYLES)
def test_styles(name: str) -> None:
    text, value = STYLES[name]
    assert value_of(text) == value
    if "\n" in text:
        assert value_of(text.replace("\n", "\r\n")) == value


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


def test_a_duplicate_key_by_alias() -> None:
    assert faults_of("x: &k a\na: 1\n*k : 2") == [("duplicate-key", 3, 1)]
    assert read("x: &k a\na: 1\n*k : 2").value == {"x": "a", "a": 1}


# Merges


def test_faults_in_several_places_are_all_told() -> None:
    text = "a: .inf\nb: !x 1\na: 2\nc: {[d]: 1}\ne: 1e999\n"
    assert [code for code, _, _ in faults_of(text)] == [
        "not-json-value", "bad-tag", "duplicate-key", "bad-key", "not-json-value",
    ]  # fmt: skip
