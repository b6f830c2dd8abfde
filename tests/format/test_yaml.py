from __future__ import annotations

from math import copysign
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


# The YAML 1.2 core schema


@for_each(
    "text",
    "no No NO yes on off y n Y N 12:30:00 1:30 2024-01-01 2024-01-01T00:00:00Z 1_000 0b11 0o8 0xG "
    "+0x1F -0o7 0x-1 0x 0o e3 1e 1e+ . .. -- ++1 +-1 -a = << inf nan NaN Infinity -inf "
    "nULL tRUE fALSE nil None undefined \u0661\u0662 \uff11\uff12 1,000 1.2.3 1e5.5 0X1F 0O14 "
    "+.nan .iNF 0.0.0.0 true1 nullx ~~ ~x null~".split(),
)
def test_a_plain_scalar_that_is_text(text: str) -> None:
    assert value_of(f"[{text}]" if "," not in text else f"- {text}") == [text]
    assert value_of(f"a: {text}") == {"a": text}


@for_each(
    ("text", "value"),
    [
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("-19", -19),
        ("014", 14),
        ("00", 0),
        ("0o14", 12),
        ("0o0", 0),
        ("0x1F", 31),
        ("0xdeadBEEF", 0xDEADBEEF),
        ("0x" + "0" * 5_000 + "1", 1),
        ("123456789012345678901234567890", 123456789012345678901234567890),
    ],
)
def test_a_plain_scalar_that_is_an_integer(text: str, value: int) -> None:
    found = value_of(text)
    assert found == value
    assert type(found) is int


@for_each(
    ("text", "value"),
    [
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("+.5", 0.5),
        ("-.5e-3", -0.0005),
        ("1e3", 1000.0),
        ("1E+3", 1000.0),
        ("1.e3", 1000.0),
        ("-0.0", -0.0),
        ("014.5", 14.5),
        ("0.1", 0.1),
        ("1e-999", 0.0),
        ("1.7976931348623157e308", 1.7976931348623157e308),
    ],
)
def test_a_plain_scalar_that_is_a_float(text: str, value: float) -> None:
    found = value_of(text)
    assert type(found) is float
    assert found == value
    assert copysign(1, found) == copysign(1, value)


def test_nothing_is_null() -> None:
    assert value_of("a:\nb:   \nc: # nothing\nd:") == {"a": None, "b": None, "c": None, "d": None}
    assert value_of("-\n-") == [None, None]
    assert value_of("{a: , b, c: }") == {"a": None, "b": None, "c": None}
    assert value_of("a: &x\nb: *x") == {"a": None, "b": None}


def test_a_scalar_key_is_its_source_text() -> None:
    text = "1: a\n1.0: b\ntrue: c\nnull: d\n~: e\n0x10: f\nyes: g\n2024-01-01: h\n'': i\n"
    assert list(value_of(text)) == [
        "1", "1.0", "true", "null", "~", "0x10", "yes", "2024-01-01", "",
    ]  # fmt: skip
    # In Python 1 == True == 1.0, so these three would be one key.
    assert value_of("{1: a, true: b, 1.0: c}") == {"1": "a", "true": "b", "1.0": "c"}


# Block and flow styles


STYLES: dict[str, tuple[str, Any]] = {
    "literal": ("|\n  a\n   b\n\n  c\n", "a\n b\n\nc\n"),
    "literal, stripped": ("|-\n  a\n\n", "a"),
    "literal, kept": ("|+\n  a\n\n", "a\n\n"),
    "literal, kept at the end of a list": ("- |+\n  a\n\n- b", ["a\n\n", "b"]),
    "literal, indented": ("|2\n   a\n  b\n", " a\nb\n"),
    "literal, indented and stripped": ("|2-\n   a\n", " a"),
    "literal, either order": ("|-2\n   a\n", " a"),
    "literal with a comment": ("| # why\n  # text\n", "# text\n"),
    "literal, empty": ("a: |\nb: 1", {"a": "", "b": 1}),
    "literal with blank lines first": ("|\n\n\n  a\n", "\n\na\n"),
    "literal with trailing blanks": ("|\n  a  \n  b\t\n", "a  \nb\t\n"),
    "literal with tabs": ("|\n  a\n  \tb\n", "a\n\tb\n"),
    "literal with a tab first": ("|2\n  \ta\n", "\ta\n"),
    "literal with what looks like YAML": ("|\n  - a: b\n  ---x\n  %y\n", "- a: b\n---x\n%y\n"),
    "folded": (">\n  a\n  b\n\n  c\n", "a b\nc\n"),
    "folded, more indented": (">\n  a\n    b\n  c\n", "a\n  b\nc\n"),
    "folded, stripped": (">-\n  a\n  b\n", "a b"),
    "folded, kept": (">+\n  a\n\n", "a\n\n"),
    "folded, two blank lines": (">\n  a\n\n\n  b\n", "a\n\nb\n"),
    "plain over lines": ("a b\n  c\n\n  d", "a b c\nd"),
    "plain with marks": ("a: b:c d#e -f ?g &h *i !j %k @l", {"a": "b:c d#e -f ?g &h *i !j %k @l"}),
    "plain link": ("a: http://x:80/?q=1#f", {"a": "http://x:80/?q=1#f"}),
    "plain with quotes inside": ("a: it's \"so\"", {"a": "it's \"so\""}),
    "plain that starts with a mark": ("[-a, --b]", ["-a", "--b"]),
    "single quotes": ("'it''s \\n'", "it's \\n"),
    "single quotes over lines": ("'a\n  b\n\n  c'", "a b\nc"),
    "double quotes over lines": ('"a\n  b\\\n  c\n\n  d"', "a bc\nd"),
    "double quotes with blanks": ('"a  \\\n    \\  b"', "a    b"),
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


def test_order_of_keys_is_kept() -> None:
    assert list(value_of("{z: 1, a: 2, m: 3}")) == ["z", "a", "m"]


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


def test_a_colon_after_an_anchor_is_fine() -> None:
    assert value_of("&a : x") == {"": "x"}
    assert value_of("&a a: x") == {"a": "x"}


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


def test_duplicate_keys_are_all_reported_and_the_first_is_kept() -> None:
    text = "a: 1\nb: {c: 1, c: 2}\na: 2\n'a': 3\n"
    assert faults_of(text) == [
        ("duplicate-key", 2, 11),
        ("duplicate-key", 3, 1),
        ("duplicate-key", 4, 1),
    ]
    assert read(text).value == {"a": 1, "b": {"c": 1}}


def test_a_duplicate_key_by_alias() -> None:
    assert faults_of("x: &k a\na: 1\n*k : 2") == [("duplicate-key", 3, 1)]
    assert read("x: &k a\na: 1\n*k : 2").value == {"x": "a", "a": 1}


def test_keys_that_only_look_alike_are_not_duplicates() -> None:
    assert value_of("{1: a, '1.0': b, a: c, A: d, é: e, e\u0301: f}").keys() == {
        "1", "1.0", "a", "A", "é", "e\u0301",
    }  # fmt: skip


@for_each(
    ("text", "place", "value"),
    [
        ("{[a]: b, c: d}", (1, 2), {"c": "d"}),
        ("? [a]\n: b\nc: d", (1, 3), {"c": "d"}),
        ("? {a: {b: c}}\n: {d: e}\nc: d", (1, 3), {"c": "d"}),
        ("? - a\n: b\nc: d", (1, 3), {"c": "d"}),
        ("{x: &l [1], *l : 2, c: d}", (1, 13), {"x": [1], "c": "d"}),
        ("[[a]: b]", (1, 2), [{}]),
    ],
)
def test_a_collection_as_a_key(text: str, place: tuple[int, int], value: Any) -> None:
    assert faults_of(text) == [("bad-key", *place)]
    assert read(text).value == value


# Merges


MERGES: dict[str, tuple[str, Any]] = {
    "one": ("x: &a {b: 1, c: 2}\ny: {<<: *a, d: 3}", {"b": 1, "c": 2, "d": 3}),
    "explicit keys win, before": ("x: &a {b: 1, c: 2}\ny: {b: 9, <<: *a}", {"b": 9, "c": 2}),
    "explicit keys win, after": ("x: &a {b: 1, c: 2}\ny: {<<: *a, b: 9}", {"c": 2, "b": 9}),
    "in place": ("x: &a {b: 1}\ny: {p: 0, <<: *a, q: 2}", {"p": 0, "b": 1, "q": 2}),
    "a list, the earlier wins": (
        "x: [&a {b: 1}, &c {b: 2, d: 3}]\ny: {<<: [*a, *c]}",
        {"b": 1, "d": 3},
    ),
    "written out": ("x: 1\ny: {<<: {b: 1}, c: 2}", {"b": 1, "c": 2}),
    "nothing": ("x: &a {}\ny: {<<: *a, c: 2}", {"c": 2}),
    "an empty list": ("x: 1\ny: {<<: [], c: 2}", {"c": 2}),
    "of a merge": ("x: &a {b: 1}\nz: &z {<<: *a, c: 2}\ny: {<<: *z}", {"b": 1, "c": 2}),
    "shallow": ("x: &a {b: {c: 1, d: 2}}\ny: {<<: *a, b: {c: 9}}", {"b": {"c": 9}}),
    "block": ("x: &a\n  b: 1\ny:\n  <<: *a\n  c: 2\n", {"b": 1, "c": 2}),
    "a quoted key is no merge": ("x: 1\ny: {'<<': {b: 1}}", {"<<": {"b": 1}}),
    "a tagged key is no merge": ("x: 1\ny: {!!str <<: {b: 1}}", {"<<": {"b": 1}}),
    "a value is no merge": ("x: 1\ny: [<<]", ["<<"]),
}


@for_each("name", MERGES)
def test_merges(name: str) -> None:
    text, value = MERGES[name]
    found = value_of(text)["y"]
    assert found == value
    assert list(found) == list(value)


def test_faults_in_several_places_are_all_told() -> None:
    text = "a: .inf\nb: !x 1\na: 2\nc: {[d]: 1}\ne: 1e999\n"
    assert [code for code, _, _ in faults_of(text)] == [
        "not-json-value", "bad-tag", "duplicate-key", "bad-key", "not-json-value",
    ]  # fmt: skip
