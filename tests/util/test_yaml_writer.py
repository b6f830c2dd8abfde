import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evalcase.format.document import parse_document
from evalcase.format.writer import write_yaml
from tests.for_each import for_each


def read_yaml(text: str) -> Any:
    document = parse_document(text, "yaml", "x.yaml")
    assert document.problems == [], text
    return document.value


def text_of(value: object) -> str:
    return "".join(write_yaml(value))


def exact(value: Any) -> Any:
    """Something equal only for values of the same types, with keys in the same order."""
    if isinstance(value, dict):
        return ("dict", [(key, exact(item)) for key, item in value.items()])
    if isinstance(value, list):
        return ("list", [exact(item) for item in value])
    return (type(value).__name__, repr(value))


def assert_reads_back(value: Any) -> None:
    text = text_of(value)
    assert exact(read_yaml(text)) == exact(value), text
    # A YAML 1.1 loader agrees, so that no other tool takes the file for something else.
    assert exact(yaml.load(text, yaml.CSafeLoader)) == exact(value), text


@for_each(
    ("text", "written"),
    [
        ("a\nb", "|-\n  a\n  b\n"),
        ("a\nb\n", "|\n  a\n  b\n"),
        ("a\nb\n\n\n", "|+\n  a\n  b\n\n\n"),
        ("  a\nb", "|2-\n    a\n  b\n"),
        ("\na\n", "|2\n\n  a\n"),
        ("\ta\n", "|2\n  \ta\n"),
        ("a\n\tb\n  \nc  \n", "|\n  a\n  \tb\n    \n  c  \n"),
        ("a\n---\n# b\n", "|\n  a\n  ---\n  # b\n"),
        ("\n", '"\\n"\n'),
        (" \n ", '" \\n "\n'),
        ("a\r\nb", '"a\\r\\nb"\n'),
        ("a\nb\x85", '"a\\nb\\u0085"\n'),
    ],
)
def test_text_of_several_lines_is_a_block_where_that_is_exact(text: str, written: str) -> None:
    assert text_of(text) == written
    for value in (text, [text, text], {"a": text, "b": [{"c": text}, text], "d": 1}):
        assert_reads_back(value)


COULD_BE_SOMETHING_ELSE = """
    y Y n N yes Yes NO no on On OFF off true TRUE False null Null NULL ~ << = 1 -1 +1 0 00 007 0o14
    0x1F 0b11 1_000 12:30:00 12:30 190:20:30.15 2024-01-01 2024-01-01T00:00:00Z 1.0 .5 1. 1e3 1e+16
    .inf -.INF .nan - -- --- ... ? : # ! & * | > @ ` % [ ] { } , ' " [a] {a:b} a: :a -a ?a
""".split()
HAS_SPACE = ["", " ", "a: b", "a #b", " a", "a ", "- a", "? a", "\u00a0", "\u0663", "4 apples"]


@for_each("text", [*COULD_BE_SOMETHING_ELSE, *HAS_SPACE])
def test_text_that_could_be_taken_for_something_else_is_quoted(text: str) -> None:
    assert text_of(text) == json.dumps(text, ensure_ascii=False) + "\n"
    assert text_of([text]) == f"[{json.dumps(text, ensure_ascii=False)}]\n"
    for value in (text, [text], {text: text}, [[text, text]], {"k": {text: [text]}}):
        assert_reads_back(value)


@for_each(
    "text",
    ["hello", "Hello, world", "What is 2+2?", "it's \"fine\" [really] {yes}", "a:b", "a#b", "日本",
     "😀 ok", "<b>x</b>", "/srv/x", "$x", "(a)", "C:\\x", "naïve — yes", "a  b", "nope", "y2k"],
)  # fmt: skip
def test_text_that_is_safe_everywhere_is_plain(text: str) -> None:
    assert text_of(text) == f"{text}\n"
    for value in (text, [text], {text: text}):
        assert_reads_back(value)


@for_each(
    ("char", "escape"),
    [
        ("\0", "\\u0000"), ("\x1b", "\\u001b"), ("\t", "\\t"), ("\x7f", "\\u007f"),
        ("\x85", "\\u0085"), ("\x9b", "\\u009b"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"),
        ("\u202e", "\\u202e"), ("\ufeff", "\\ufeff"), ("\ufffe", "\\ufffe"), ("\uffff", "\\uffff"),
    ],
)  # fmt: skip
def test_characters_that_a_file_must_not_hold_are_escaped(char: str, escape: str) -> None:
    assert text_of(f"a{char}b") == f'"a{escape}b"\n'
    assert_reads_back({f"a{char}b": [f"{char}\n{char}", char]})


def test_lists_are_on_one_line_only_when_they_are_short_and_plain() -> None:
    assert text_of(["a", 1, None, "b,c"]) == '[a, 1, null, "b,c"]\n'
    assert text_of([[1, 2], []]) == "- [1, 2]\n- []\n"
    assert text_of(["a", [["b"], {}], {"c": "d"}]) == "- a\n- - [b]\n  - {}\n- c: d\n"
    assert text_of(["a sentence that is long enough"]) == "- a sentence that is long enough\n"
    assert text_of(list(range(50))).startswith("- 0\n- 1\n")


@for_each("value", [{1: 2}, {"a": object()}, [b"x"], {1, 2}, (1, 2)])
def test_what_is_no_json_value_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        text_of(value)


NASTY = st.text(
    st.sampled_from(
        "ab 1\n\n\t\r:#-?,[]{}&*!|>'\"%@`~=<.\\\x00\x1b\x85\u2028\ufeff\uffff😀é\u0301日"
    )
)
STRINGS = st.one_of(st.text(st.characters(exclude_categories=["Cs"])), NASTY)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    STRINGS,
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5), st.dictionaries(STRINGS, inner, max_size=5)
    ),
    max_leaves=20,
)
often = settings(max_examples=2 * settings().max_examples)


@often
@given(VALUES)
def test_every_json_value_reads_back_as_it_was(value: object) -> None:
    assert_reads_back(value)


@often
@given(NASTY)
def test_every_string_reads_back_in_every_place(text: str) -> None:
    assert_reads_back({text: text, "list": [text, [text, {"a": text}]], "z": {"y": {text: text}}})
