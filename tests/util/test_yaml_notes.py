from __future__ import annotations

from textwrap import dedent
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from evalcase.format.writer import Comments, Inline, Spaced, write_yaml
from tests.for_each import for_each
from tests.util.test_yaml_writer import STRINGS, VALUES, exact, read_yaml


def noted(value: Any, comments: Comments) -> str:
    text = "".join(write_yaml(value, comments))
    assert exact(read_yaml(text)) == exact(value), text
    return text


def test_a_comment_stands_above_what_it_is_about() -> None:
    value = {"a": 1, "b": {"c": [True, {"d": 2, "e": 3}]}}
    comments: Comments = {
        (): "the whole",
        ("a",): "one\ntwo",
        ("b",): "b",
        ("b", "c", 0): "first",
        ("b", "c", 1): "second",
        ("b", "c", 1, "d"): "its d",
        ("b", "c", 1, "e"): "its e",
    }
    assert noted(value, comments) == dedent("""\
        # the whole

        # one
        # two
        a: 1
        # b
        b:
          c:
            # first
            - true
            # second
            # its d
            - d: 2
              # its e
              e: 3
        """)


@for_each(
    ("value", "path", "written"),
    [
        ({"a": [1]}, ("a", 1), "a:\n  - 1\n  # here\n"),
        ({"a": {"b": 1}}, ("a", "c"), "a:\n  b: 1\n  # here\n"),
        ({"a": {"b": 1}}, ("a", "c", 4, "d"), "a:\n  b: 1\n  # here\n"),
        ({"a": 1}, ("b",), "a: 1\n# here\n"),
        ({"a": 1}, ("a", "b"), "# here\na: 1\n"),
        ({"a": []}, ("a", 0), "# here\na: []\n"),
        ({"a": {}}, ("a", "b"), "# here\na: {}\n"),
        (1, ("a",), "# here\n1\n"),
        ([[["x"]]], (0, 0, 0), "# here\n- - - x\n"),
        ({"a": Inline(b=1)}, ("a", "b"), "a:\n  # here\n  b: 1\n"),
    ],
)  # fmt: skip
def test_no_comment_is_lost(value: Any, path: tuple[str | int, ...], written: str) -> None:
    assert noted(value, {path: "here"}) == written


def test_a_comment_can_end_neither_its_line_nor_the_text_above() -> None:
    value = {"a": "text\n\n", "b": 1}
    text = noted(value, {("b",): "one\r\ntwo\u2028x\x1b[31m\n\n- c: 2"})
    assert text == dedent("""\
        a: |+
          text

        # one<U+000D>
        # two<U+2028>x<U+001B>[31m
        #
        # - c: 2
        b: 1
        """)


STEPS = st.one_of(st.integers(0, 3), STRINGS)


def paths_in(value: Any) -> list[tuple[str | int, ...]]:
    """The paths of all that is in a value."""
    found: list[tuple[str | int, ...]] = [()]
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        found += [(step, *rest) for step, item in pairs for rest in paths_in(item)]
    return found


def inlined(value: Any) -> Any:
    """The same with every mapping to be written on one line, and blank lines in every list."""
    if isinstance(value, dict):
        return Inline({key: inlined(item) for key, item in value.items()})
    return Spaced(inlined(item) for item in value) if isinstance(value, list) else value


@given(st.data())
def test_comments_and_blank_lines_never_change_the_value(data: st.DataObject) -> None:
    value = data.draw(VALUES)
    some = st.one_of(st.sampled_from(paths_in(value)), st.lists(STEPS, max_size=4).map(tuple))
    comments = data.draw(st.dictionaries(some, STRINGS, max_size=5))
    for each in (value, inlined(value)):
        text = "".join(write_yaml(each, comments))
        for read in (read_yaml, lambda text: yaml.load(text, yaml.CSafeLoader)):
            assert exact(read(text)) == exact(value), text
