"""Types of options that only targets on the web have: addresses, headers, paths into JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated
from urllib.parse import urlsplit

from evalcase.types.options import OptionFault, Place, Text, may_hold_secret, of_kind
from evalcase.util.json import JsonPath
from evalcase.util.secrets import is_common, mask_credentials

_ADDRESS = "an address such as https://example.com/answer"
_BY_HEADER = "send it as a header, by `header_env`, which names its variable"
_USER = re.compile(r"[^/?#]*//[^/?#]*@")


def _check_address(value: str, place: Place) -> Iterator[OptionFault]:
    if _USER.match(value) or _USER.match(f"//{value}"):
        # It isn't shown: a password is the likeliest thing in it.
        what = "has a user or a password in it: name its key with `key_env`"
        yield place.fault(what, hides=True)
    elif (parameter := _secret_parameter(value)) is not None:
        what = f"has a secret in its parameter `{parameter}`, and addresses are recorded"
        yield place.fault(what, _BY_HEADER, hides=True)
    elif not _is_usable(value):
        yield place.fault(f"is {_ADDRESS}, not {value!r:.80}", _scheme_hint(value))
    elif urlsplit(value).fragment:
        fragment = mask_credentials(f"#{urlsplit(value).fragment}")
        yield place.fault(f"ends in {fragment}, which is never sent")


Address = Annotated[
    str,
    of_kind(
        _ADDRESS,
        check=_check_address,
        schema={"type": "string", "pattern": "^https?://[^/?#@]+"},
    ),
]
"""Where something can be asked by HTTP."""


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


def _check_headers(value: dict[str, str], place: Place) -> Iterator[OptionFault]:
    for name, text in value.items():
        here = place.below(name)
        if not is_header_value(text):
            yield here.fault("holds what can't be sent in a header", hides=may_hold_secret(name))
        elif _carries_secret(name, text):
            hint = "let `header_env` name the variable that has its value"
            yield here.fault("looks like a key, and a key is only named", hint, hides=True)


Headers = Annotated[dict[str, Text], of_kind("a mapping of headers", check=_check_headers)]


def _check_parameters(value: dict[str, str], place: Place) -> Iterator[OptionFault]:
    for name in value:
        if may_hold_secret(name):
            what = "looks like a secret, and addresses are recorded"
            yield place.below(name).fault(what, _BY_HEADER, hides=True)


Parameters = Annotated[
    dict[str, Text], of_kind("a mapping of parameters to texts", check=_check_parameters)
]


def _carries_secret(header: str, value: str) -> bool:
    """Whether a header holds credentials. Words that only stand for a key are none."""
    *_, token = value.split() or ("",)
    return may_hold_secret(header) and header.lower() != _SENT_ONCE and not is_common(token)


_SENT_ONCE = "idempotency-key"


def is_header_value(value: str) -> bool:
    """Whether a text can be the value of a header."""
    return value.isascii() and value.isprintable() and value == value.strip()


def _check_path(value: str, place: Place) -> Iterator[OptionFault]:
    try:
        JsonPath(value)
    except ValueError as error:
        yield place.fault(str(error))


ReplyPath = Annotated[
    JsonPath,
    of_kind(
        "a path such as choices.0.message",
        check=_check_path,
        read=JsonPath,
        written=Text,
    ),
]
"""A path into the JSON of a reply."""


def _check_never(value: bool, place: Place) -> Iterator[OptionFault]:
    if value:
        yield place.fault("is a path such as choices.0.message or false, not true")


Never = Annotated[bool, of_kind("false", check=_check_never, schema={"const": False})]
"""`false`, beside another type: not at all."""
