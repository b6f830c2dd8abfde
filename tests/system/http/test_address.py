from __future__ import annotations

import pytest

from evalcase.system.http.address import split_address
from tests.for_each import for_each


@for_each(
    ("url", "host", "named", "target"),
    [
        ("http://a.example", "a.example", "a.example", "/"),
        ("http://A.Example:80/b", "a.example", "a.example", "/b"),
        ("https://a.example:443/b", "a.example", "a.example", "/b"),
        ("https://a.example:80/b", "a.example", "a.example:80", "/b"),
        ("http://a.example:8080?q=1", "a.example", "a.example:8080", "/?q=1"),
        ("http://[::1]:81/", "::1", "[::1]:81", "/"),
        ("http://[fe80::1%25eth0]/", "fe80::1%eth0", "[fe80::1]", "/"),
        ("http://bücher.example/ü?ö=ä b", "xn--bcher-kva.example", "xn--bcher-kva.example",
         "/%C3%BC?%C3%B6=%C3%A4%20b"),
        ("http://a/%41%2f%zz%", "a", "a", "/%41%2f%25zz%25"),
        ("http://a/b/../c/./d", "a", "a", "/c/d"),
        ("http://a/b;c=1,2:3@4!$&'()*+~-._?a+b=c/d?e", "a", "a",
         "/b;c=1,2:3@4!$&'()*+~-._?a+b=c/d?e"),
        ('http://a/"<>^`{|}\\', "a", "a", "/%22%3C%3E%5E%60%7B%7C%7D%5C"),
        ("http://a/b\r\nX: y#fragment", "a", "a", "/bX:%20y"),
        ("http://a//b", "a", "a", "//b"),
        ("http://a/..//../b", "a", "a", "/b"),
        ("http://a.example.:81/", "a.example.", "a.example:81", "/"),
    ],
)  # fmt: skip
def test_an_address_is_taken_apart(url: str, host: str, named: str, target: str) -> None:
    address = split_address(url)
    assert (address.origin.host, address.origin.named) == (host, named)
    assert address.target == target


def test_an_address_for_a_proxy_is_whole() -> None:
    assert split_address("http://a:81/b?c").whole == "http://a:81/b?c"
    assert split_address("https://[::1]/b").whole == "https://[::1]/b"
    assert split_address("https://[::1]").origin.authority == "[::1]:443"


def test_who_asks_a_proxy_is_unescaped() -> None:
    address = split_address("http://a%40b:c%3Ad%20@proxy:1")
    assert (address.user, address.password, address.origin.port) == ("a@b", "c:d ", 1)
    assert "c:d" not in repr(address)
    assert (split_address("http://proxy").user, split_address("http://u@proxy").password) == (
        None,
        "",
    )


@pytest.mark.parametrize(
    "url", ["", "a.example", "ftp://a", "http://", "http://a b/", "http://a\0b", "http://a..b/",
            "http://a:99999", f"http://{'a' * 70}.example", "http://a\\b",
            "http://straße.example", "http://STRAẞE.example", "http://a\u200db.example"]
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        split_address(url)
