"""The options that all targets on the web have in common: headers, keys and limits.

A value that is secret is only ever named, by the variable that has it, and is read when the target
is opened. It is sent to the one host of the target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, ClassVar, NamedTuple

from evalcase.targets.web.option_types import Headers
from evalcase.types.options import Count, EnvironmentName, OptionFault, Seconds, about
from evalcase.types.target import TargetOptions

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


class WebOptions(TargetOptions, frozen=True, kw_only=True):
    """What is sent beside the body, and how much is waited for."""

    default_key: ClassVar[KeyRule] = KeyRule()

    key_env: Annotated[
        EnvironmentName | None,
        about(
            "The environment variable that holds the API key.",
            example="MY_KEY",
            elsewhere=("api_key", "apikey", "key", "token", "api_key_env", "api_token", "auth"),
        ),
    ] = None
    headers: Annotated[Headers, about("Headers to send, with their values.")] = {}
    header_env: Annotated[
        dict[str, EnvironmentName],
        about(
            "Headers to send, with the environment variables that hold their values.",
            elsewhere=("env_headers", "headers_env"),
        ),
    ] = {}
    max_output_bytes: Annotated[Count, about("How many bytes of a response to keep.")] = 10000000
    connect_timeout_s: Annotated[
        Seconds, about("Time limit for connecting, in seconds.", decides_answer=False)
    ] = 10.0
    allow_link_local: Annotated[bool, about("Also allow link-local and metadata addresses.")] = (
        False
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

    def conflicts(self) -> Iterator[OptionFault]:
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
