"""The options that all targets on the web have in common: headers, keys and limits.

A value that is secret is only ever named, by the variable that has it, and is read when the target
is opened. It is sent to the one host of the target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from evalcase.model.conflict import conflict
from evalcase.model.option import option
from evalcase.model.shape import Flag, MapOf, Number, OptionFault
from evalcase.model.shape_seconds import Seconds
from evalcase.model.shape_variable import VariableName
from evalcase.model.target import TargetOptions
from evalcase.targets.web.shapes import Headers

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})


class KeyRule(NamedTuple):
    """How a kind of target sends its key, and the variable that has it if none is named."""

    header: str = "Authorization"
    prefix: str = "Bearer "
    variable: str | None = None


class SecretHeader(NamedTuple):
    """A header whose value an environment variable has."""

    name: str
    variable: str
    prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions(TargetOptions):
    """What is sent beside the body, and how much is waited for."""

    default_key: ClassVar[KeyRule] = KeyRule()

    key_env: str | None = option(
        VariableName(),
        "The environment variable that holds the API key.",
        default=None,
        example="MY_KEY",
        elsewhere=("api_key", "apikey", "key", "token", "api_key_env", "api_token", "auth"),
    )
    headers: dict[str, str] = option(Headers(), "Headers to send, with their values.", default={})
    header_env: dict[str, str] = option(
        MapOf(VariableName()),
        "Headers to send, with the environment variables that hold their values.",
        default={},
        elsewhere=("env_headers", "headers_env"),
    )
    max_output_bytes: int = option(
        Number(1, whole=True), "How many bytes of a response to keep.", default=10_000_000
    )
    connect_timeout_s: float = option(
        Seconds(), "Time limit for connecting, in seconds.", default=10.0, decides_answer=False
    )
    allow_link_local: bool = option(
        Flag(), "Also allow link-local and metadata addresses.", default=False
    )

    @property
    def key_rule(self) -> KeyRule:
        """How the key is sent."""
        return self.default_key

    @property
    def key(self) -> SecretHeader | None:
        """The header of the key. One that is set by hand takes the place of a key by default."""
        rule = self.key_rule
        given = {name.lower() for name in (*self.headers, *self.header_env)}
        default = None if rule.header.lower() in given else rule.variable
        variable = self.key_env or default
        return None if variable is None else SecretHeader(rule.header, variable, rule.prefix)

    @conflict
    def _headers_clash(self) -> Iterator[OptionFault]:
        """Headers that can't be sent, or are there twice."""
        named = [("headers", each) for each in self.headers]
        named += [("header_env", each) for each in self.header_env]
        named += [] if self.key is None else [("key_env", self.key.name)]
        seen: set[str] = set()
        for option_name, header in named:
            if not _TOKEN.fullmatch(header) or header.lower() in _FRAMING:
                yield OptionFault((option_name,), f"`{option_name}` can't hold a header {header!r}")
            if header.lower() in seen:
                what = f"would set {header} twice: leave one out"
                yield OptionFault((option_name,), f"`{option_name}` {what}")
            seen.add(header.lower())
