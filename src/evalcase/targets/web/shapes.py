"""Shapes of options that only targets on the web have: addresses, headers, paths into JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON, describe_kind
from evalcase.model.shape import MapOf, OptionFault, Text
from evalcase.model.shape_variable import may_hold_secret
from evalcase.model.value import Value
from evalcase.text.credentials import mask_credentials
from evalcase.text.json_path import JsonPath
from evalcase.text.secret_forms import is_common

_BY_HEADER = "send it as a header, by `header_env`, which names its variable"
_USER = re.compile(r"[^/?#]*//[^/?#]*@")


class Address(Value, frozen=True):
    """Where something can be asked by HTTP."""

    @property
    def words(self) -> str:
        return "an address such as https://example.com/answer"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        name = path[-1]
        if not isinstance(value, str):
            yield OptionFault(path, f"`{name}` is {self.words}, not {describe_kind(value)}")
        elif _USER.match(value) or _USER.match(f"//{value}"):
            # It isn't shown: a password is the likeliest thing in it.
            what = "has a user or a password in it: name its key with `key_env`"
            yield OptionFault(path, f"`{name}` {what}", hides=True)
        elif (parameter := _secret_parameter(value)) is not None:
            what = f"has a secret in its parameter `{parameter}`, and addresses are recorded"
            yield OptionFault(path, f"`{name}` {what}", _BY_HEADER, hides=True)
        elif not _is_usable(value):
            yield OptionFault(
                path, f"`{name}` is {self.words}, not {value!r:.80}", _scheme_hint(value)
            )
        elif urlsplit(value).fragment:
            fragment = mask_credentials(f"#{urlsplit(value).fragment}")
            what = f"ends in {fragment}, which is never sent"
            yield OptionFault(path, f"`{name}` {what}")

    def read(self, value: JSON) -> Any:  # noqa: ANN401 - whatever the field holds
        return value

    def schema(self) -> dict[str, JSON]:
        return {"type": "string", "pattern": "^https?://[^/?#@]+"}


def _secret_parameter(url: str) -> str | None:
    """The name of what looks like a key in the query of an address."""
    query = url.partition("#")[0].partition("?")[2]
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        if value and may_hold_secret(name):
            return name
    return None


def _is_usable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _scheme_hint(url: str) -> str | None:
    return None if "://" in url or not url else f"did you mean {complete_address(url)}?"


def complete_address(place: str) -> str:
    """An address without a scheme, with the one that it most likely has."""
    host = place.partition("/")[0].rpartition(":")[0] or place.partition("/")[0]
    is_local = host == "localhost" or "." not in host or host.replace(".", "").isdigit()
    return f"{'http' if is_local else 'https'}://{place}"


class Headers(MapOf, frozen=True):
    """Headers, with their values."""

    item: Text = Text()
    what: str = "a mapping of headers"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        yield from MapOf.faults(self, value, path)
        for name, text in value.items() if isinstance(value, dict) else ():
            if isinstance(text, str) and not is_header_value(text):
                what = f"`{path[-1]}.{name}` holds what can't be sent in a header"
                yield OptionFault((*path, name), what, hides=may_hold_secret(name))
            elif isinstance(text, str) and _carries_secret(name, text):
                what = f"`{path[-1]}.{name}` looks like a key, and a key is only named"
                hint = "let `header_env` name the variable that has its value"
                yield OptionFault((*path, name), what, hint, hides=True)


class Parameters(MapOf, frozen=True):
    """Parameters of a query, with their texts."""

    item: Text = Text()
    what: str = "a mapping of parameters to texts"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        yield from MapOf.faults(self, value, path)
        for name, text in value.items() if isinstance(value, dict) else ():
            if may_hold_secret(name) and text:
                what = f"`{path[-1]}.{name}` looks like a secret, and addresses are recorded"
                yield OptionFault((*path, name), what, _BY_HEADER, hides=True)


def _carries_secret(header: str, value: str) -> bool:
    """Whether a header lets somebody in; words that only stand for a key let nobody in."""
    *_, token = value.split() or ("",)
    return may_hold_secret(header) and header.lower() != _SENT_ONCE and not is_common(token)


_SENT_ONCE = "idempotency-key"


def is_header_value(value: str) -> bool:
    """Whether a text can be the value of a header."""
    return value.isascii() and value.isprintable() and value == value.strip()


class JsonPathText(Value, frozen=True):
    """A path into JSON, held as a JsonPath."""

    @property
    def words(self) -> str:
        return "a path such as choices.0.message"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, str) or not value:
            shown = "empty" if value == "" else f"not {describe_kind(value)}"
            yield OptionFault(path, f"`{path[-1]}` is {self.words}, {shown}")
            return
        try:
            JsonPath(value)
        except ValueError as error:
            yield OptionFault(path, f"`{path[-1]}` {error}")

    def read(self, value: JSON) -> Any:  # noqa: ANN401 - whatever the field holds
        return JsonPath(str(value))

    def schema(self) -> dict[str, JSON]:
        return {"type": "string", "minLength": 1}


class Never(Value, frozen=True):
    """`false`, beside another shape: not at all."""

    @property
    def words(self) -> str:
        return "false"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if value is not False:
            yield OptionFault(
                path, f"`{path[-1]}` is false, not {describe_kind(value)}", unlike=True
            )

    def read(self, value: JSON) -> Any:  # noqa: ANN401 - whatever the field holds
        return value

    def schema(self) -> dict[str, JSON]:
        return {"const": False}
