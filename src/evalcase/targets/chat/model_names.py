"""`MODEL`, or `MODEL@http://host/v1`: the name of a model, and where it is asked, out of one text.

The name of a model may have an @ in it, too, but none that the providers themselves have does. So
an @ without a whole address after it is an error, whatever it looks like: nothing that was meant
as an address is ever sent to a provider, with the key for it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from evalcase.errors import ConfigError
from evalcase.targets.web.option_types import complete_address
from evalcase.types.value import JSON

# What is probably an address, where somebody forgot the scheme: a name that only a computer has, or
# a port, or a domain. It only decides what is hinted at.
_HOST = re.compile(
    r"(?:localhost\b.*|(?:\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:.]+\]|[\w-]+(?=:\d{1,5}(?:/|$)|:$)"
    r"|[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]{2,}\.?)(?::\d{0,5})?(?:[/?].*)?)$"
)
# A preset of OpenRouter and a revision of Hugging Face come after an @, too.
_PATH = re.compile(r"(?!preset/|refs/)[\w.:-]*/")
_HTTP = re.compile(r"(https?)(?![\w-])[:;/\\]*", re.IGNORECASE)
_WHOLE = re.compile(r"(?:^|@)https?://", re.IGNORECASE)
# A file may have such a name, too.
_DOMAIN = re.compile(r"@[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]{2,}$")
# An address that stands where the model should: nothing of an @ tells it.
_ALONE = re.compile(r"//|\\\\|localhost(?![\w.-])|\d+\.\d+\.\d+\.\d+(?![\w.-])", re.IGNORECASE)
_LIKE_AT = {ord(sign): "@" for sign in "\uff20\ufe6b"}
"""Signs that look like an @, and were meant as one."""
_MARKS = ("//", "\\\\", "::")
"""What addresses have, and no names of models."""


class NamedAddress(NamedTuple):
    """What stands before an address, and the one that was meant: "" if nobody knows."""

    model: str
    meant: str
    is_whole: bool
    """Whether it is what an address has to be."""
    has_scheme: bool = True
    is_likely: bool = True
    """Whether it looks like an address; else `model` is the whole text."""


def find_address(value: str) -> NamedAddress | None:
    """The address that a text has, or should have behind its @; None if it has neither."""
    value = value.translate(_LIKE_AT)
    if _ALONE.match(value):
        return NamedAddress("", _mend_address(value), is_whole=False, has_scheme=False)
    found = list(_WHOLE.finditer(value))
    if found:
        at = found[-1].start()
        is_first = value[at] != "@"
        return NamedAddress(value[:at], value[at if is_first else at + 1 :], is_whole=True)
    if "://" in value:
        return NamedAddress(value.partition("@")[0], "", is_whole=False)
    model, at_sign, place = value.rpartition("@")
    if at_sign and _looks_like_address(model, place):
        return NamedAddress(model, _mend_address(place), is_whole=False, has_scheme=False)
    model, at_sign, places = value.partition("@")
    if any(mark in places for mark in _MARKS):
        return NamedAddress(model, "", is_whole=False, has_scheme=False)
    if at_sign:
        return NamedAddress(value, "", is_whole=False, has_scheme=False, is_likely=False)
    return None


def _looks_like_address(model: str, place: str) -> bool:
    if _HOST.match(place) or _HTTP.match(place) or any(mark in place for mark in _MARKS):
        return True
    # A name may begin with an @, as `@cf/meta/llama` does, also behind that of a gateway.
    return model[-1:] not in ("", "/") and _PATH.match(place) is not None


def split_model(kind: str, value: str) -> dict[str, JSON]:
    """The options that `kind:value` gives. Raise ConfigError if it has no model, or an address
    that nothing can be sent to."""
    found = find_address(value)
    if not value or (found is not None and not found.model):
        address = f"@{found.meant}" if found is not None and found.meant else ""
        raise ConfigError(f"{kind} target: it needs a model, as in {kind}:MODEL{address}")
    if found is None:
        return {"model": value}
    if found.is_whole:
        return {"model": found.model, "base_url": found.meant}
    if found.has_scheme:
        why = "has an address that is neither http:// nor https://"
        raise ConfigError(f"{kind} target: `{value}` {why}")
    if not found.is_likely:
        hint = f"{_NEEDS_ADDRESS}: {kind}:{value}@http://HOST"
        raise ConfigError(f"{kind} target: `{value}` has no address behind its @; {hint}")
    hint = f"did you mean {kind}:{found.model}@{found.meant}?"
    if not found.meant:
        hint = f"write {kind}:{found.model}@http://HOST"
    elif _DOMAIN.search(value):
        hint += f" If it is a part of the name, write {kind}:{value}@http://HOST"
    raise ConfigError(f"{kind} target: `{value}` has an address without a scheme: {hint}")


_NEEDS_ADDRESS = "a model with an @ in its name needs the address of its service"


def object_to_model(name: str) -> tuple[str, str] | None:
    """What is wrong with the name of a model that is asked where its provider is, and a hint."""
    found = find_address(name)
    if found is None:
        return None
    if not found.is_likely:
        return "`model` has an @ in it", f"{_NEEDS_ADDRESS}: say it as base_url"
    model, address = found.model or "MODEL", found.meant or "http://HOST"
    return "`model` has an address in it", f'write model = "{model}" and base_url = "{address}"'


def has_address(value: str) -> bool:
    """Whether the value of `kind:VALUE` says where to connect to, be it badly."""
    return find_address(value) is not None


def _mend_address(place: str) -> str:
    http = _HTTP.match(place)
    rest = place[http.end() :] if http is not None else place
    host, slash, path = rest.lstrip("/\\").rstrip(":").partition("/")
    if "::" in host and "[" not in host:
        host = f"[{host}]"
    if not host or host[-1] == ":":
        return ""
    if http is not None:
        return f"{http[1].lower()}://{host}{slash}{path}"
    return complete_address(f"{host}{slash}{path}")
