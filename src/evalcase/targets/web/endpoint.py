"""One address that is asked again and again: where it is, what is always sent, what is secret."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from urllib.parse import urlsplit

from evalcase.errors import ConfigError
from evalcase.targets.web.network import find_proxy
from evalcase.targets.web.option_types import is_header_value
from evalcase.targets.web.options import SecretHeader, WebOptions
from evalcase.types.value import JSON, Value


class Endpoint(Value, frozen=True):
    """An address, with all that a request has beside its body."""

    kind: str
    url: str
    place: str
    """The address without its query, for messages."""
    headers: dict[str, str]
    secrets: tuple[SecretHeader, ...]
    """Headers that the configuration names the variables of."""
    key: SecretHeader | None
    options: WebOptions
    method: str = "POST"

    @property
    def key_names(self) -> tuple[str, ...]:
        """Every environment variable that a secret is taken from."""
        return tuple(dict.fromkeys(secret.variable for secret in self._all_secrets))

    @property
    def _all_secrets(self) -> tuple[SecretHeader, ...]:
        return self.secrets if self.key is None else (*self.secrets, self.key)

    @property
    def has_body(self) -> bool:
        """Whether a request has a body. Of all that are sent, only a GET has none."""
        return self.method != "GET"

    def with_query(self, query: str) -> str:
        """The address with a query that is written as addresses have it, beside its own."""
        if not query:
            return self.url
        return f"{self.url}{'&' if urlsplit(self.url).query else '?'}{query}"

    def cache_key(self, body: JSON, environment: Mapping[str, str], query: str = "") -> JSON:
        """All that decides an answer, and nothing secret: of values in headers and of the proxy, a
        hash.

        A key says who pays, and another one changes no answer; a tenant in a header does.
        """
        named = {each.name: environment.get(each.variable, "") for each in self.secrets}
        sent = {**self.headers, **named}
        values = "\n".join(f"{name}: {value}" for name, value in sorted(sent.items()))
        proxy = find_proxy(self.kind, self.url, environment)
        names: list[JSON] = [*self.headers, *(secret.name for secret in self._all_secrets)]
        return {
            "method": self.method,
            "url": self.with_query(query),
            "header_names": names,
            "headers_sha256": sha256(values.encode()).hexdigest(),
            "proxy_sha256": None if proxy is None else sha256(proxy.encode()).hexdigest(),
            "body": body,
        }

    def sent_headers(self, environment: Mapping[str, str]) -> dict[str, str]:
        """All headers. Raise ConfigError where a variable is missing, or can't be sent."""
        secrets = self._all_secrets
        found = {each.name: each.prefix + self._secret(each, environment) for each in secrets}
        return {**self.headers, **found}

    def _secret(self, secret: SecretHeader, environment: Mapping[str, str]) -> str:
        value = environment.get(secret.variable)
        start = f"{self.kind} target: the environment variable {secret.variable}"
        if not value:
            hint = "export it, or name a file that has it with --env-file"
            raise ConfigError(f"{start} is {'not set' if value is None else 'empty'}: {hint}")
        if not is_header_value(value):
            what = "a line end, a space around it, or a character that is not ASCII"
            raise ConfigError(f"{start} holds what can't be sent in a header: {what}")
        return value


def make_endpoint(
    kind: str, options: WebOptions, url: str, own: Mapping[str, str] | None = None,
    method: str = "POST",
) -> Endpoint:  # fmt: skip
    """The endpoint of some options. `own` are headers that this kind of target always sends."""
    secrets = tuple(SecretHeader(*pair) for pair in options.header_env.items())
    given = {name.lower() for name in (*options.headers, *options.header_env)}
    headers = {"Content-Type": "application/json", **(own or {})} if method != "GET" else {}
    kept = {name: value for name, value in headers.items() if name.lower() not in given}
    return Endpoint(
        kind, url, without_query(url), {**kept, **options.headers}, secrets, options.key, options,
        method,
    )  # fmt: skip


def without_query(url: str) -> str:
    """An address as messages may show it: without what may be secret in it."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query="", fragment="").geturl()
