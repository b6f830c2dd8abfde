"""What all targets that speak HTTP have in common: an address, headers, keys and limits.

| option | meaning |
|---|---|
| `key_env` | the environment variable that has the key |
| `headers` | headers, with their values |
| `header_env` | headers, with the environment variables that have their values |
| `max_output_bytes` | how much of an answer is kept, by default 10,000,000 |
| `concurrency` | how many requests it is sent at once, at most |
| `connect_timeout_s` | how long a connection may take to be made, by default 10 |
| `allow_link_local` | true: link-local and metadata addresses may be asked, too |

A value that is secret is only ever named, by the variable that has it, and is read when the target
is opened. It is sent to the one host of the target.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import urlsplit

from evalcase.errors import ConfigError
from evalcase.model.json_value import JSON
from evalcase.targets.options import Options

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})


class SecretHeader(NamedTuple):
    name: str
    variable: str
    prefix: str = ""


class KeyRule(NamedTuple):
    """How a kind of target sends its key, and the variable that has it if none is named."""

    header: str = "Authorization"
    prefix: str = "Bearer "
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class HttpOptions:
    kind: str
    url: str
    headers: dict[str, str]
    secrets: tuple[SecretHeader, ...]
    max_output_bytes: int
    concurrency: int | None
    connect_timeout_s: float
    allow_link_local: bool

    @property
    def key_names(self) -> tuple[str, ...]:
        """Every environment variable that a secret is taken from."""
        return tuple(dict.fromkeys(secret.variable for secret in self.secrets))

    @property
    def place(self) -> str:
        """The address without its query, for messages."""
        return without_query(self.url)

    def cache_key(self, body: JSON) -> JSON:
        """All that decides an answer, and nothing secret: of values in headers, a hash."""
        values = "\n".join(f"{name}: {value}" for name, value in sorted(self.headers.items()))
        names: list[JSON] = [*self.headers, *(secret.name for secret in self.secrets)]
        return {
            "url": self.url,
            "header_names": names,
            "headers_sha256": sha256(values.encode()).hexdigest(),
            "body": body,
        }

    def sent_headers(self, environment: Mapping[str, str]) -> dict[str, str]:
        """All headers. Raise ConfigError where a variable is missing, or can't be sent."""
        found = {each.name: each.prefix + self._secret(each, environment) for each in self.secrets}
        return {**self.headers, **found}

    def _secret(self, secret: SecretHeader, environment: Mapping[str, str]) -> str:
        value = environment.get(secret.variable)
        start = f"{self.kind} target: the environment variable {secret.variable}"
        if not value:
            hint = "export it, or name a file that has it with --env-file"
            raise ConfigError(f"{start} is {'not set' if value is None else 'empty'}: {hint}")
        if not _is_header_value(value):
            what = "a line end, a space around it, or a character that is not ASCII"
            raise ConfigError(f"{start} holds what can't be sent in a header: {what}")
        return value


def read_http_options(
    kind: str, read: Options, url: str, key: KeyRule, own: dict[str, str] | None = None
) -> HttpOptions:
    """The shared options. `own` are headers that this kind of target always sends."""
    given = _plain_headers(read)
    secrets = [SecretHeader(*pair) for pair in _texts(read, "header_env").items()]
    set_already = {name.lower() for name in [*given, *(secret.name for secret in secrets)]}
    default = None if key.header.lower() in set_already else key.variable
    variable = read.text("key_env") or default
    if variable is not None:
        secrets.append(SecretHeader(key.header, variable, key.prefix))
    headers = {"Content-Type": "application/json", **(own or {})}
    headers = {name: value for name, value in headers.items() if name.lower() not in set_already}
    _check_names(read, [*given, *(secret.name for secret in secrets)])
    return HttpOptions(
        kind,
        url,
        {**headers, **given},
        tuple(secrets),
        read.count("max_output_bytes", 10_000_000),
        read.count("concurrency", 1) if read.has("concurrency") else None,
        read.number("connect_timeout_s", 10.0),
        read.flag("allow_link_local"),
    )


def check_url(read: Options, name: str, url: str) -> str:
    """An address that can be asked. Raise ConfigError for any other."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = None
    if not usable:
        read.refuse(name, f"is an address such as https://example.com/answer, not {url!r}")
    if parts.username is not None or parts.password is not None:
        read.refuse(name, "has a user or a password in it: name its key with `key_env`")
    if parts.fragment:
        read.refuse(name, f"ends in #{parts.fragment}, which is never sent")
    return url


def without_query(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query="", fragment="").geturl()


def _plain_headers(read: Options) -> dict[str, str]:
    headers = _texts(read, "headers")
    for name, value in headers.items():
        if not _is_header_value(value):
            read.refuse(f"headers.{name}", "holds what can't be sent in a header")
    return headers


def _texts(read: Options, name: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    for key, value in read.mapping(name).items():
        if not isinstance(value, str) or not value:
            read.refuse(f"{name}.{key}", f"is text, not {value!r}; quote it")
        texts[key] = value
    return texts


def _check_names(read: Options, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not _TOKEN.fullmatch(name) or name.lower() in _FRAMING:
            read.refuse("headers", f"can't hold a header {name!r}")
        if name.lower() in seen:
            read.refuse("headers", f"or the key would set {name} twice: leave one out")
        seen.add(name.lower())


def _is_header_value(value: str) -> bool:
    return value.isascii() and value.isprintable() and value == value.strip()
