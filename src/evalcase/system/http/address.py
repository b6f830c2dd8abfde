"""Addresses, taken apart once: the host to connect to, and what is asked of it."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit

_STRAY = re.compile(r"%(?![0-9A-Fa-f]{2})")
_IN_PATH = "%:@/!$&'()*+,;=~"
_IN_QUERY = _IN_PATH + "?"
_UNSURE = "ß\N{GREEK SMALL LETTER FINAL SIGMA}\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
_PORTS = {"http": 80, "https": 443}


class HttpOrigin(NamedTuple):
    """Whom to ask."""

    is_secure: bool
    host: str
    """As it is looked up: in ASCII, without brackets."""
    port: int

    @property
    def name(self) -> str:
        """The host as a certificate names it."""
        return self.host.partition("%")[0].rstrip(".")

    @property
    def authority(self) -> str:
        """The host with its port, as `CONNECT` names it."""
        return f"{self._shown_host}:{self.port}"

    @property
    def named(self) -> str:
        """The host with its port unless that is the usual one, as `Host` names it."""
        is_usual = self.port == _PORTS["https" if self.is_secure else "http"]
        return self._shown_host if is_usual else self.authority

    @property
    def _shown_host(self) -> str:
        return f"[{self.name}]" if ":" in self.host else self.name


class HttpAddress(NamedTuple):
    """Whom to ask, and for what."""

    origin: HttpOrigin
    target: str
    """Path and query, as they are sent."""
    user: str | None = None
    password: str = ""

    @property
    def whole(self) -> str:
        """As a proxy is told."""
        return f"http{'s' * self.origin.is_secure}://{self.origin.named}{self.target}"

    def __repr__(self) -> str:
        return f"HttpAddress({self.origin.named})"  # nothing that may be secret


def split_address(url: str) -> HttpAddress:
    """Raise ValueError if it is none. What is escaped already stays as it is."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError("it is no address of HTTP")
    port = parts.port or _PORTS[parts.scheme]
    origin = HttpOrigin(parts.scheme == "https", _read_host(parts.hostname), port)
    path = parts.path
    if "/." in path:
        path = "/" + urljoin("/", path).removeprefix("/")
    target = _escape(path or "/", _IN_PATH)
    if parts.query:
        target += "?" + _escape(parts.query, _IN_QUERY)
    user = None if parts.username is None else unquote(parts.username)
    return HttpAddress(origin, target, user, unquote(parts.password or ""))


def _read_host(host: str) -> str:
    # The standard library knows IDNA of 2003, which is enough to find a host, but for these.
    if any(each in host for each in _UNSURE):
        raise ValueError("its host is another by older and by newer rules: write it as xn--…")
    name = unquote(host) if ":" in host else host.encode("idna").decode()
    if not name.isprintable() or any(each in name for each in " /?#@\\<>\"'"):
        raise ValueError("it has a host that there can't be")
    return name


def _escape(text: str, safe: str) -> str:
    return quote(_STRAY.sub("%25", text), safe=safe)
