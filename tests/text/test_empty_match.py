from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.text.empty_match import is_found_everywhere

EVERYWHERE = [
    "a|",
    "x*",
    "x?",
    "(x*)",
    "(?:a|b*)",
    "^",
    "$",
    "^x*",
    r"x*\Z",
    ".*",
    "(?i:x)?",
    "(?>x*)",
]
NOT = [
    "a",
    "^$",
    "x+",
    r"\b",
    "(?=x)",
    "(?!x)",
    r"(x?)\1y",
    "x*y",
    "^x*$",
    "[ab]",
    "a|b",
    "(?:^|x)y",
]


@pytest.mark.parametrize("pattern", EVERYWHERE)
@given(text=st.text())
def test_what_is_said_to_be_found_everywhere_is(pattern: str, text: str) -> None:
    assert is_found_everywhere(pattern)
    assert re.search(pattern, text)


@pytest.mark.parametrize("pattern", NOT)
def test_what_may_be_missing_is_not_found_everywhere(pattern: str) -> None:
    assert not is_found_everywhere(pattern)
