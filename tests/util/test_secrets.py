"""Fault 14: secrets in logs, reports and the record."""

import base64
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.types.value import JSON
from evalcase.util.secrets import PERSONAL, Finder, Redactor, Scrubber, is_common, mask_credentials
from tests.for_each import for_each

SECRET = 'sk-é"/+\\ <&>\n😀=key'


def knowing(**values: str) -> Scrubber:
    return Scrubber(values, values)


SCRUBBER = knowing(API_KEY=SECRET)


def scrubbed(value: Any, scrubber: Scrubber = SCRUBBER) -> Any:
    return scrubber.data(value)


@for_each("user", ["", "u", "us"])
@for_each("after", ["", "x", "xy"])
@for_each("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_fault_14_base64_is_found_wherever_it_begins(user: str, after: str, encode: Any) -> None:
    header = encode((user + SECRET + after).encode()).decode()
    found = scrubbed(f"Basic {header}")
    assert "***API_KEY***" in found
    assert len(found) < len("Basic ***API_KEY***") + 4 + 2 * (len(user) + len(after))


@given(
    st.text(st.characters(codec=None, exclude_categories=()), min_size=8).filter(
        lambda text: not is_common(text.strip()) and not set(text) & set("*KEY")
    ),
    st.text(),
    st.text(),
)
def test_fault_14_no_secret_is_left(secret: str, before: str, after: str) -> None:
    value = {before + secret + after: [before, (secret, after + secret)]}
    [(key, [first, rest])] = scrubbed(value, knowing(KEY=secret)).items()
    assert [text for text in (key, first, *rest) if secret.strip() in text] == []


@for_each(
    "value",
    ["test", "none", "1234567", "password", "PASSWORD", "xxxxxxxxxxxx", "sk-no-key-required"],
)
def test_a_short_or_common_value_is_not_looked_for_and_that_is_said_once(value: str) -> None:
    said: list[str] = []
    scrubber = Scrubber({"KEY": value}, ["KEY"], said.append)
    assert [scrubber.text(f"a {value}") for _ in range(3)] == [f"a {value}"] * 3
    assert len(said) == 1
    assert said[0].startswith("the value of KEY is too short or too common")
    assert said[0].endswith(": it is not redacted from records and output")


@for_each(
    ("secret", "number"),
    [
        ("98765432", 98765432), ("98765432", 98765432.0), ("98765432", -98765432),
        ("9876.54321", 9876.54321),
        ("98765432109876543210", 98765432109876543210), ("98765432", 1987654321),
    ],
)  # fmt: skip
def test_a_number_that_is_a_secret_is_found(secret: str, number: float) -> None:
    scrubber = knowing(PIN=secret)
    found = scrubbed({"pin": [number]}, scrubber)["pin"][0]
    assert "***PIN***" in found


LONG = "sk-proj-0123456789abcdefghijklmnop"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"key {LONG[:25]} [9 more characters were cut]", "key ***K*** [9 more"),
        (f"{LONG[-20:]} is wrong", "***K*** is wrong"),
        (f"HTTP 401: {LONG[:12]}, from host", "HTTP 401: ***K***, from host"),
        (f"{LONG} and {LONG[:10]} and {LONG[-10:]}", "***K*** and ***K*** and ***K***"),
        ("nothing of it", "nothing of it"),
        (LONG[:5], LONG[:5]),
    ],
    ids=range(6),
)
def test_pieces_of_a_secret_that_was_cut_are_found(text: str, left: str) -> None:
    told: Any = knowing(K=LONG).look().told({"message": [text]})
    assert told["message"][0].startswith(left)


def test_a_value_is_found_once_it_is_there_and_stays_a_secret_when_it_is_gone() -> None:
    environment = {"OTHER": "1"}
    scrubber = Scrubber(environment, ["KEY"])
    assert scrubber.text("first-secret") == "first-secret"
    environment["KEY"] = "first-secret"
    assert scrubber.text("first-secret") == "***KEY***"
    environment["KEY"] = "second-secret"
    assert scrubber.text("first-secret, second-secret") == "***KEY***, ***KEY***"
    del environment["KEY"]
    assert scrubber.text("first-secret, second-secret") == "***KEY***, ***KEY***"


def test_variables_and_values_may_be_named_later() -> None:
    scrubber = Scrubber({"KEY": "first-secret"})
    assert scrubber.text("first-secret") == "first-secret"
    scrubber.watch(["KEY"])
    scrubber.add("OWN", "second-secret")
    assert scrubber.text("first-secret, second-secret") == "***KEY***, ***OWN***"


@for_each("name", ["HTTP_PROXY", "https_proxy", "ALL_PROXY"])
@for_each("password", ["pw", "long-enough", "p%40ss%3Aword"])
def test_the_password_of_a_proxy_is_a_secret(name: str, password: str) -> None:
    environment: dict[str, str] = {}
    scrubber = Scrubber(environment)
    address = f"http://u:{password}@proxy.invalid:3128"
    assert scrubber.text(address) == address
    environment[name] = address
    assert (
        scrubber.text(f"no route to {address}")
        == f"no route to http://***{name}***proxy.invalid:3128"
    )
    header = base64.b64encode(f"u:{unquote(password)}".encode()).decode()
    if len(password) >= 8:
        assert header not in scrubber.text(f"Proxy-Authorization: Basic {header}")
    assert scrubber.text("u and you@example.invalid") == "u and you@example.invalid"


@pytest.mark.parametrize(
    ("value", "alone"),
    [
        ("Bearer sk-live-0123456789abc", "sk-live-0123456789abc"),
        ("bearer sk-live-0123456789abc", "sk-live-0123456789abc"),
        ("Bot MTk4.Cl2FMQ.ZnCjm1XVW7vR", "MTk4.Cl2FMQ.ZnCjm1XVW7vR"),
        ("postgres://bob:hunter2-hunter3@db/x", "hunter2-hunter3"),
    ],
    ids=["a token", "in small letters", "of a bot", "of a database"],
)
def test_fault_14_what_is_secret_in_a_header_is_found_alone(value: str, alone: str) -> None:
    scrubber = knowing(AUTH=value)
    assert scrubber.data(f"it is {value}.") == "it is ***AUTH***."
    assert scrubber.data(f"it is {alone}.") == "it is ***AUTH***."


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


def test_a_number_is_looked_at_as_it_is_written() -> None:
    replacing = Redactor([*PERSONAL, Finder("customer", r"\b70[0-9]{4}\b")])
    given: JSON = {"card": 4111111111111111, "of": [701234, 5, 2.5, True, None]}
    assert replacing.data(given) == {"card": "[card 1]", "of": ["[customer 1]", 5, 2.5, True, None]}
    assert replacing.counts == {"card": 1, "customer": 1}
