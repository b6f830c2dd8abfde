from __future__ import annotations

import re
from typing import Any

from evalcase.format.document import parse_document
from evalcase.types.problem import At, Finding, KeyPath, Span
from tests.for_each import for_each

BREAK = re.compile(r"\r\n|\r|\n")


def source(text: str, span: Span) -> str:
    """The text between the two ends of a span, counted by hand."""
    starts = [0, *(found.end() for found in BREAK.finditer(text))]
    return text[
        starts[span.line - 1] + span.column - 1 : starts[span.end_line - 1] + span.end_column - 1
    ]


def at(text: str, path: KeyPath, what: At = "value", format: Any = "yaml") -> str:
    document = parse_document(text, format, "x")
    assert document.readable, document.faults
    return source(text, document.positions.span(path, what))


YAML = """\
# comment
name: plain text   # comment
"quoted key": "a \\"b\\" c"
single: 'it''s'
over: first
  second
  third

literal: |
  one
   two

folded: >-
  three


list:
- a
-   b: 1
    c: [x, {y: z}]   # comment

- - d
flow: {k: [1, "two", {}], l: , m}
empty:
? question
: answer
日本: 語 # wide
😀: [é, "\U0001f600", ü]
\ttab: no
""".replace("\ttab: no\n", "tab:\tvalue\t# comment\n")


@for_each(
    ("path", "key", "value"),
    [
        (("name",), "name", "plain text"),
        (("quoted key",), '"quoted key"', '"a \\"b\\" c"'),
        (("single",), "single", "'it''s'"),
        (("over",), "over", "first\n  second\n  third"),
        (("literal",), "literal", "|\n  one\n   two"),
        (("folded",), "folded", ">-\n  three"),
        (("list",), "list", "- a\n-   b: 1\n    c: [x, {y: z}]   # comment\n\n- - d"),
        (("list", 0), "a", "a"),
        (("list", 1), "b: 1\n    c: [x, {y: z}]", "b: 1\n    c: [x, {y: z}]"),
        (("list", 1, "b"), "b", "1"),
        (("list", 1, "c"), "c", "[x, {y: z}]"),
        (("list", 1, "c", 0), "x", "x"),
        (("list", 1, "c", 1), "{y: z}", "{y: z}"),
        (("list", 1, "c", 1, "y"), "y", "z"),
        (("list", 2), "- d", "- d"),
        (("list", 2, 0), "d", "d"),
        (("flow",), "flow", '{k: [1, "two", {}], l: , m}'),
        (("flow", "k"), "k", '[1, "two", {}]'),
        (("flow", "k", 1), '"two"', '"two"'),
        (("flow", "k", 2), "{}", "{}"),
        (("flow", "l"), "l", ""),
        (("flow", "m"), "m", ""),
        (("empty",), "empty", ""),
        (("question",), "question", "answer"),
        (("日本",), "日本", "語"),
        (("😀",), "😀", '[é, "\U0001f600", ü]'),
        (("😀", 2), "ü", "ü"),
        (("tab",), "tab", "value"),
    ],
)
@for_each("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_yaml_node(path: KeyPath, key: str, value: str, end: str) -> None:
    text = YAML.replace("\n", end)
    assert at(text, path, "key") == key.replace("\n", end)
    assert at(text, path, "value") == value.replace("\n", end)


def test_block_scalars_end_with_their_text() -> None:
    for style in ("|", "|-", "|+", ">", ">-", ">+", "|2", "| # comment"):
        text = f"a: {style}\n  text\n  more\n\n\n# comment\nb: 1\n"
        assert at(text, ("a",)) == f"{style}\n  text\n  more"
    assert at("a: |\n\n\nb: 1", ("a",)) == "|"
    assert at("- |\n x\n- y", (0,)) == "|\n x"
    assert at("a:\n  - |\n    x", ("a", 0)) == "|\n    x"
    assert at("a: |\n  text ", ("a",)).rstrip() == "|\n  text"


def test_a_path_that_leads_nowhere_ends_at_its_parent() -> None:
    assert at("a: {b: 1}", ("a", "c")) == "{b: 1}"
    assert at("a: {b: 1}", ("a", "c", "d", 0)) == "{b: 1}"
    assert at("a: [1]", ("a", 5), "key") == "a"
    assert at("x", ("a",)) == "x"
    assert at('{"a": {"b": 1}}', ("a", "c"), format="json") == '{"b": 1}'


# Anchors, aliases, merges


ANCHORS = """\
x: &one
  a: 1
  b: [2, &two 3]
y: *one
z:
- *two
- {<<: *one, c: 4}
- <<: [{p: 5}, *one]
  a: 6
*two : 7
&key k: *key
m: {<<: {q: 8}}
"""


@for_each(
    ("path", "key", "value"),
    [
        (("x",), "x", "&one\n  a: 1\n  b: [2, &two 3]"),
        (("x", "b", 1), "&two 3", "&two 3"),
        (("y",), "y", "*one"),
        (("z", 0), "*two", "*two"),
        (("z", 1), "{<<: *one, c: 4}", "{<<: *one, c: 4}"),
        (("z", 1, "c"), "c", "4"),
        (("z", 2), "<<: [{p: 5}, *one]\n  a: 6", "<<: [{p: 5}, *one]\n  a: 6"),
        (("z", 2, "a"), "a", "6"),
        (("z", 2, "p"), "p", "5"),
        (("3",), "*two", "7"),
        (("k",), "&key k", "*key"),
        (("m", "q"), "q", "8"),
        # What an alias brings in is where it was written.
        (("y", "a"), "a", "1"),
        (("y", "b", 0), "2", "2"),
        (("z", 1, "a"), "a", "1"),
        (("z", 1, "b", 1), "&two 3", "&two 3"),
        (("z", 2, "b"), "b", "[2, &two 3]"),
    ],
)
def test_anchors_aliases_and_merges(path: KeyPath, key: str, value: str) -> None:
    assert at(ANCHORS, path, "key") == key
    assert at(ANCHORS, path) == value


def test_a_place_inside_an_alias_names_the_alias() -> None:
    document = parse_document(ANCHORS, "yaml", "x")
    _, through = document.positions.find(("y", "b", 0))
    assert through is not None
    assert source(ANCHORS, through) == "*one"
    (problem,) = document.place([Finding(("y", "b", 0), "wrong", code="wrong-type")])
    assert problem.message == "wrong (used through the alias at line 4, column 4)"
    assert (problem.line, problem.column) == (3, 7)


def test_a_place_inside_a_merge_names_the_alias() -> None:
    document = parse_document(ANCHORS, "yaml", "x")
    for path, line, column in [(("z", 1, "a"), 7, 8), (("z", 2, "b", 0), 8, 16)]:
        (problem,) = document.place([Finding(path, "wrong", code="wrong-type")])
        assert problem.message == f"wrong (used through the alias at line {line}, column {column})"


def test_an_alias_itself_is_pointed_at_where_it_stands() -> None:
    document = parse_document(ANCHORS, "yaml", "x")
    (problem,) = document.place([Finding(("y",), "wrong", code="wrong-type")])
    assert (problem.message, problem.line, problem.column) == ("wrong", 4, 4)


def test_an_anchor_given_anew_before_a_key_by_alias() -> None:
    text = "a: &k one\nb: [&k two, {*k : 1}]\nc: {*k : 2}\n"
    assert parse_document(text, "yaml", "x").value == {
        "a": "one", "b": ["two", {"two": 1}], "c": {"two": 2},
    }  # fmt: skip
    assert at(text, ("c", "two")) == "2"
    assert at(text, ("b", 1, "two"), "key") == "*k"


# JSON


JSON = """ {
  "a" : [ 1, "t\\"w]o", {"b":{}}, [], -2.5e3 ],
\t"\\u0063": "日本😀", "d": null
} """


@for_each(
    ("path", "key", "value"),
    [
        (("a",), '"a"', '[ 1, "t\\"w]o", {"b":{}}, [], -2.5e3 ]'),
        (("a", 1), '"t\\"w]o"', '"t\\"w]o"'),
        (("a", 2), '{"b":{}}', '{"b":{}}'),
        (("a", 2, "b"), '"b"', "{}"),
        (("a", 3), "[]", "[]"),
        (("a", 4), "-2.5e3", "-2.5e3"),
        (("c",), '"\\u0063"', '"日本😀"'),
        (("d",), '"d"', "null"),
        ((), JSON.strip(), JSON.strip()),
    ],
)
def test_every_kind_of_json_node(path: KeyPath, key: str, value: str) -> None:
    for end in ("\n", "\r\n", "\r"):
        text = JSON.replace("\n", end)
        assert at(text, path, "key", "json") == key.replace("\n", end)
        assert at(text, path, "value", "json") == value.replace("\n", end)


# Findings


def test_a_finding_with_a_second_place_names_it() -> None:
    document = parse_document("- id: a\n- id: a\n", "yaml", "x")
    finding = Finding((1, "id"), "taken", code="duplicate-id", also=(0, "id"))
    (problem,) = document.place([finding])
    assert problem.message == "taken; the first is at line 1, column 7"
    assert (problem.line, problem.column) == (2, 7)
