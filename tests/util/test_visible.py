from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from evalcase.util.text import make_visible
from tests.for_each import for_each


@for_each("text", ["", "plain", "añb", "日本語", "👩‍👩‍👧", "می‌خواهم", "e\u0301", "\u3000"])
def test_text_in_any_script_stays_as_it_is(text: str) -> None:
    assert make_visible(text) == text


@for_each(
    ("text", "shown"),
    [
        ("\x1b[31mred", "<U+001B>[31mred"),
        ("\x9b31m", "<U+009B>31m"),
        ("a\nb\rc\td", "a<U+000A>b<U+000D>c<U+0009>d"),
        ("\u202eabc", "<U+202E>abc"),
        ("a\u200bb", "a<U+200B>b"),
        ("\udcff", "<U+DCFF>"),
        ("\U000e0041", "<U+E0041>"),
    ],
)
def test_what_steers_or_hides_is_spelt(text: str, shown: str) -> None:
    assert make_visible(text) == shown


@given(st.text())
def test_nothing_dangerous_is_left_and_the_rest_can_be_encoded(text: str) -> None:
    shown = make_visible(text)
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cs", "Zl", "Zp"}
    assert shown.encode().decode() == shown
