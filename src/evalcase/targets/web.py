"""Targets on the web before their first request: options, addresses, keys and proxies. A secret is
only ever named, by the environment variable that has it, and sent to the one host of the target."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import SplitResult, urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

from evalcase.errors import ConfigError, TargetError
from evalcase.types.options import (
    Count,
    EnvironmentName,
    Place,
    Seconds,
    Text,
    about,
    check_path,
    may_hold_secret,
    of_kind,
)
from evalcase.types.problem import Finding
from evalcase.types.target import Surroundings, Target, TargetOptions
from evalcase.types.value import JSON
from evalcase.util.json import JsonPath
from evalcase.util.secrets import is_common
from evalcase.util.text import cut_bytes

if TYPE_CHECKING:
    from evalcase.targets.client import HttpClient

_ADDRESS = "an address such as https://example.com/answer"
_BY_HEADER = "send it as a header, by `header_env`, which names its variable"
_USER = re.compile(r"[^/?#]*//[^/?#]*@")


# Types of options.


def _check_address(value: str, place: Place) -> Iterator[Finding]:
    if _USER.match(value) or _USER.match(f"//{value}"):
        # It isn't shown: a password is the likeliest thing in it.
        what = "has a user or a password in it: name its key with `key_env`"
        yield place.fault(what, hides=True)
        return
    for pair in value.partition("#")[0].partition("?")[2].split("&"):
        name, _, text = pair.partition("=")
        if text and may_hold_secret(name):
            what = f"has a secret in its parameter `{name}`, and addresses are recorded"
            yield place.fault(what, _BY_HEADER, hides=True)
            return
    if _split_url(value) is None:
        yield place.fault(f"is {_ADDRESS}, not {value!r:.80}")
    elif "#" in value:
        yield place.fault("has a part after #, which is never sent")


def _split_url(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if is_usable else None


def without_query(url: str) -> str:
    """An address for messages, without the parts that may be secret."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query="", fragment="").geturl()


Address = Annotated[
    str,
    of_kind(
        _ADDRESS, check=_check_address, schema={"type": "string", "pattern": "^https?://[^/?#@]+"}
    ),
]


def _check_headers(value: dict[str, str], place: Place) -> Iterator[Finding]:
    for name, text in value.items():
        here, token = place.below(name), (text.split() or [""])[-1]
        if not _is_header_value(text):
            yield here.fault("holds what can't be sent in a header", hides=may_hold_secret(name))
        elif may_hold_secret(name) and name.lower() != "idempotency-key" and not is_common(token):
            hint = "let `header_env` name the variable that has its value"
            yield here.fault("looks like a key, and a key is only named", hint, hides=True)


Headers = Annotated[dict[str, Text], of_kind("a mapping of headers", check=_check_headers)]


def _is_header_value(value: str) -> bool:
    return value.isascii() and value.isprintable() and value == value.strip()


def _check_parameters(value: dict[str, str], place: Place) -> Iterator[Finding]:
    for name in value:
        if may_hold_secret(name):
            what = "looks like a secret, and addresses are recorded"
            yield place.below(name).fault(what, _BY_HEADER, hides=True)


Parameters = Annotated[
    dict[str, Text], of_kind("a mapping of parameters to texts", check=_check_parameters)
]


ReplyPath = Annotated[
    JsonPath,
    of_kind("a path such as choices.0.message", check=check_path, read=JsonPath, written=Text),
]


def _check_never(value: bool, place: Place) -> Iterator[Finding]:
    if value:
        yield place.fault("is a path such as choices.0.message or false, not true")


Never = Annotated[bool, of_kind("false", check=_check_never, schema={"const": False})]
"""`false`, beside another type: not at all."""


# Options.

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})


class SecretHeader(NamedTuple):
    """A header whose value an environment variable has; empty for a key without a known one."""

    name: str = "Authorization"
    variable: str = ""
    prefix: str = "Bearer "


class WebOptions(TargetOptions, frozen=True, kw_only=True):
    """Options of all targets on the web: headers, keys and limits."""

    key_env: Annotated[
        EnvironmentName | None,
        about("The environment variable that holds the API key.", elsewhere=("api_key", "token")),
    ] = None
    headers: Annotated[Headers, about("Headers to send, with their values.")] = {}
    header_env: Annotated[
        dict[str, EnvironmentName],
        about("Headers to send, with the environment variables that hold their values."),
    ] = {}
    max_output_bytes: Annotated[Count, about("How many bytes of a response to keep.")] = 10000000
    connect_timeout_s: Annotated[
        Seconds, about("Time limit for connecting, in seconds.", decides_answer=False)
    ] = 10.0
    allow_link_local: Annotated[bool, about("Also allow link-local and metadata addresses.")] = (
        False
    )

    @property
    def key_rule(self) -> SecretHeader:
        """How the key is sent, and the variable that has it if none is named."""
        return SecretHeader()

    @property
    def secret_headers(self) -> list[SecretHeader]:
        """Headers with the variables of their values. One that is set by hand takes the place of a
        key by default."""
        named = [SecretHeader(name, each, "") for name, each in self.header_env.items()]
        rule, given = self.key_rule, {*map(str.lower, (*self.headers, *self.header_env))}
        default = "" if rule.name.lower() in given else rule.variable
        variable = self.key_env or default
        return [*named, rule._replace(variable=variable)] if variable else named

    def conflicts(self) -> Iterator[Finding]:
        named = [("headers", each) for each in self.headers]
        named += [
            ("header_env" if each.name in self.header_env else "key_env", each.name)
            for each in self.secret_headers
        ]
        seen: set[str] = set()
        for option_name, header in named:
            if not _TOKEN.fullmatch(header) or header.lower() in _FRAMING:
                yield Finding((option_name,), f"`{option_name}` can't hold a header {header!r}")
            if header.lower() in seen:
                yield Finding((option_name,), f"`{option_name}` would set {header} twice")
            seen.add(header.lower())


class WebTarget(Target):
    def __init__(
        self, options: WebOptions, surroundings: Surroundings, url: str, method: str = "POST",
        own_headers: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        assert self.kind is not None
        self._name = options.kind or self.kind.name
        self._url = url
        self._method = method
        self._web = options
        self._surroundings = surroundings
        self._environment = surroundings.environment
        self._client: HttpClient | None = None
        own = {} if method == "GET" else {"Content-Type": "application/json", **(own_headers or {})}
        given = {*map(str.lower, (*options.headers, *options.header_env))}
        kept = {name: value for name, value in own.items() if name.lower() not in given}
        self._headers = {**kept, **options.headers}
        self._key_names = tuple(dict.fromkeys(each.variable for each in options.secret_headers))

    async def open(self) -> None:
        from evalcase.targets.client import HttpClient  # aiohttp is slow to import

        # The cache key must be of what is sent from now on.
        self._environment = environment = dict(self._surroundings.environment)
        try:
            headers = {**self._headers, **self._read_secrets()}
            self._client = HttpClient(
                self._url, headers, self._web, self._surroundings.now, environment
            )
        except ConfigError as error:
            raise ConfigError(f"{self._name} target: {error}") from None

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def _read_secrets(self) -> dict[str, str]:
        """The values of secret headers. Raise ConfigError for one that is missing, or can't be
        sent."""
        found = {}
        for name, variable, prefix in self._web.secret_headers:
            value = self._environment.get(variable)
            if not value:
                how = "not set" if value is None else "empty"
                hint = "export it, or name a file that has it with --env-file"
                raise ConfigError(f"the environment variable {variable} is {how}: {hint}")
            if not _is_header_value(value):
                what = "it holds a line end, a space around it, or what is not ASCII"
                raise ConfigError(f"the environment variable {variable} can't be sent: {what}")
            found[name] = prefix + value
        return found

    def _http(self) -> HttpClient:
        assert self._client is not None, "open() comes first"
        return self._client

    def _with_query(self, query: str) -> str:
        join = "&" if urlsplit(self._url).query else "?"
        return f"{self._url}{join}{query}" if query else self._url

    def _request_key(self, body: JSON, query: str = "") -> dict[str, JSON]:
        """Everything that decides an answer, with hashes of headers and proxy in place of their
        values. A key says who pays, and decides no answer; a tenant in a header does."""
        proxy = find_proxy(self._url, self._environment)
        variables = self._web.header_env.items()
        named = {name: self._environment.get(each, "") for name, each in variables}
        given = sorted({**self._headers, **named}.items())
        values = "\n".join(f"{name}: {value}" for name, value in given)
        return {
            "method": self._method,
            "url": self._with_query(query),
            "header_names": [*self._headers, *(each.name for each in self._web.secret_headers)],
            "headers_sha256": sha256(values.encode()).hexdigest(),
            "proxy_sha256": None if proxy is None else sha256(proxy.encode()).hexdigest(),
            "body": body,
        }


# Proxies, by the variables of the environment.

_HOST = re.compile(r"[\w.:%-]+")


def find_proxy(url: str, environment: Mapping[str, str]) -> str | None:
    """The proxy for an address, by HTTP_PROXY and the like. Raise ConfigError for an odd one."""
    parts = urlsplit(url)
    proxies = {  # small letters win, as in curl
        name.lower().removesuffix("_proxy"): environment[name]
        for name in sorted(environment, key=str.islower)
        if name.lower().endswith("_proxy")
    }
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass_environment(parts.netloc, proxies):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    scheme = proxy.partition("://")[0].lower()
    if scheme not in ("http", "https"):
        raise ConfigError(f"a {scheme} proxy is set, and only http ones work")
    split = _split_url(proxy)
    if split is None or not _HOST.fullmatch(split.hostname or ""):
        # It isn't shown: there may be a password in it.
        raise ConfigError("the proxy that is set is not an address such as http://127.0.0.1:3128")
    return proxy


# Errors in the words of servers.

_LONGEST_LINE = 300


def protocol_error(what: str, data: bytes, **more: bool) -> TargetError:
    """The error of an answer that makes no sense; the beginning of it is kept."""
    return TargetError(what, kind="protocol", details={"body": cut_bytes(data)}, **more)


def connection_error(what: str, place: str, *, may_succeed_later: bool = True) -> TargetError:
    message = f"{place}: {one_line(what)}"
    return TargetError(message, kind="connection", may_succeed_later=may_succeed_later)


def error_message(value: JSON) -> str | None:
    """The message of an error, in the places where servers have it."""
    if not isinstance(value, dict):
        return None
    error = value.get("error")
    inner = error if isinstance(error, dict) else value
    for said in (inner.get("message"), error, inner.get("detail"), inner.get("error_description")):
        if isinstance(said, str) and said.strip():
            return one_line(said)
    return None


def one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"
