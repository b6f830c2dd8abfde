from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evalcase.types.value import JSON
from evalcase.util.text import as_json, call_lines, call_text, content_text
from tests.for_each import for_each


@for_each(
    ("content", "text"),
    [
        (None, ""),
        ("as it is\n", "as it is\n"),
        ([{"type": "text", "text": "a"}, {"type": "text", "value": "b"}], "ab"),
        ([{"type": "text", "text": "Look: "}, {"type": "image", "path": "a.png"}],
         "Look: [image: a.png]"),
        ([{"type": "text", "text": "Hi there"}, {"type": "file", "path": "f.txt"},
          {"type": "image"}, {"type": "text", "text": ""}, {"type": "text", "text": "and so"},
          {"type": "text", "text": " on"}],
         "Hi there [file: f.txt] [image] and so on"),
        ([{"type": "file", "value": "x" * 500}], f"[file: {'x' * 99}…]"),
        ([{"type": "refusal", "refusal": "I can't."}], "[refusal: I can't.]"),
        ([{"type": "image_url", "image_url": {"url": "http://localhost/a.png"}}],
         "[image_url: http://localhost/a.png]"),
        ([{"type": "cat", "lives": 9}], '[cat: {"lives": 9}]'),
        ([{"type": "audio"}], "[audio]"),
        ({"a": [1]}, '{\n  "a": [\n    1\n  ]\n}'),
        ([], "[]"),
        (5, "5"),
    ],
)  # fmt: skip
def test_content_of_every_shape_has_a_text(content: Any, text: str) -> None:
    assert content_text(content) == text


@for_each(
    ("call", "line"),
    [
        ({"tool": "t"}, "t()"),
        ({"tool": "t", "input": {"a": 1, "b": "é"}}, 't(a=1, b="é")'),
        ({"tool": "t", "input": {"a b": 1}}, 't({"a b": 1})'),
        ({"tool": "t", "input": [1]}, "t([1])"),
        ({"function": {"name": "f", "arguments": '{"a": 1}'}}, "f(a=1)"),
        ({"function": {"name": "f", "arguments": "{"}}, 'f("{")'),
        ({"tool": 5}, '{"tool": 5}'),
        ({"function": 5}, '{"function": 5}'),
        (None, "null"),
    ],
)
def test_calls_of_every_shape_have_a_line(call: Any, line: str) -> None:
    assert list(call_lines({"role": "assistant", "tool_calls": [call]})) == [line]


def test_what_a_call_gave_stands_below_it() -> None:
    calls: list[JSON] = [
        {"tool": "t", "output": {"found": "é"}},
        {"tool": "u"},
        {"tool": "v", "output": "no"},
    ]
    lines = list(call_lines({"role": "assistant", "tool_calls": calls}, outputs=True))
    assert lines == ["t()", '  returned {"found": "é"}', "u()", "v()", "  returned no"]


def test_what_is_no_list_of_calls_has_no_lines() -> None:
    assert list(call_lines({"tool_calls": 5})) == []
    assert list(call_lines({})) == []


def test_what_json_cannot_hold_is_named() -> None:
    assert as_json("\ud800") == '"\\ud800"'
    assert as_json({"a": object()}) == "(a mapping that can't be shown)"  # type: ignore[dict-item]
    assert call_text("t", {"a": "\ud800"}) == 't(a="\\ud800")'


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(anything)
def test_messages_of_strangers_never_break_it(value: Any) -> None:
    content_text(value)
    list(call_lines({"role": "x", "content": value, "tool_calls": value}))
    list(call_lines({"role": "x", "tool_calls": [value, {"tool": value}, {"function": value}]}))
