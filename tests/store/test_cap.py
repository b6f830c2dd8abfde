import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.store.journal import TooLargeError, cap_answer, cap_text
from evalcase.types.answer import Answer
from evalcase.types.message import Message
from tests.for_each import for_each


@for_each(
    ("text", "limit", "kept", "cut"),
    [
        ("a" * 2000, 10, "a" * 10, "1,990"),
        ("é" * 10, 5, "éé", "16"),
        ("😀" * 10, 7, "😀", "36"),
        ("\ud800" * 4, 11, "\ud800" * 3, "3"),
        ("abc", 0, "", "3"),
    ],
)
def test_what_does_not_is_cut_between_characters(
    text: str, limit: int, kept: str, cut: str
) -> None:
    assert cap_text(text, limit) == (f"{kept}\n[{cut} more bytes were cut]", True)


@given(st.text(st.characters(codec=None, exclude_categories=())), st.integers(0, 50))
def test_nothing_is_changed_but_cut(text: str, limit: int) -> None:
    kept, truncated = cap_text(text, limit)
    if truncated:
        mark = re.search(r"\n\[([\d,]+) more bytes were cut\]\Z", kept)
        assert mark is not None
        start, cut = kept[: mark.start()], mark[1]
        size = len(start.encode("utf-8", "surrogatepass"))
        assert text.startswith(start)
        assert limit - 4 < size <= limit
        assert size + int(cut.replace(",", "")) == len(text.encode("utf-8", "surrogatepass"))
    else:
        assert kept == text


@for_each(
    "message",
    [
        {"role": "assistant", "content": {"text": "x" * 1000}},
        {"role": "assistant", "content": [{"type": "text", "text": "x" * 1000}]},
        {"role": "assistant", "content": "", "tool_calls": [{"tool": "t", "input": "x" * 1000}]},
    ],
)
def test_data_that_is_too_long_is_no_answer(message: dict[str, Any]) -> None:
    with pytest.raises(TooLargeError, match=r"1,0\d\d bytes, and 100 are kept") as caught:
        cap_answer(Answer((Message(message),)), 100)
    assert "xxx" in caught.value.excerpt
