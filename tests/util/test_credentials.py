from __future__ import annotations

import pytest

from evalcase.util.secrets import mask_credentials
from tests.for_each import for_each


@for_each(
    ("typed", "shown"),
    [
        ("http://me:hunter2@h:8/x", "http://**********@h:8/x"),
        ("http://hunter2@h", "http://*******@h"),
        ("me:hunter2@h:8", "**********@h:8"),
        ("openai:m@http://a:b@h", "openai:m@http://***@h"),
        ("https://h/x?q=1&api_key=abc&n=2", "https://h/x?q=1&api_key=***&n=2"),
        ("https://h/x?accessToken=abc", "https://h/x?accessToken=***"),
        ("https://h/x?sig=abc#token=d", "https://h/x?sig=***#token=*"),
        ('{Authorization = "Bearer abc"}', '{Authorization = "Bearer ***"}'),
        (f"key = sk-live-{'7' * 16}", f"key = {'*' * 24}"),
        ("http://h/a@b?page=2", "http://h/a@b?page=2"),
        ("mail bob@example.com // and @more", "mail bob@example.com // and @more"),
        ("a key = b, monkey=c", "a key = b, monkey=c"),
    ],
)
def test_what_lets_others_in_is_masked_and_nothing_else(typed: str, shown: str) -> None:
    assert mask_credentials(typed) == shown
    assert len(shown) == len(typed)


@pytest.mark.parametrize(
    "piece", ["a", "a:", "//", "//a", "@", "a@", "?a=", "Bearer ", "sk-", "eyJ"]
)
def test_no_text_takes_longer_than_its_length_allows(piece: str) -> None:
    text = piece * 50_000
    assert len(mask_credentials(text)) == len(text)
