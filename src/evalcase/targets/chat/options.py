"""What both chat APIs are configured by: a model, an address, parameters and prices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar
from urllib.parse import urlsplit

from evalcase.errors import ConfigError
from evalcase.model.json_value import JSON
from evalcase.model.option import Record, option
from evalcase.model.quick_dataclass import dataclass
from evalcase.model.shape import Anything, Flag, MapOf, Number, OptionFault, Text
from evalcase.targets.chat.api import Api
from evalcase.targets.chat.prices import Price
from evalcase.targets.web.options import KeyRule, WebOptions
from evalcase.targets.web.shapes import Address, complete_address
from evalcase.text.late_pattern import late_pattern

# An address where somebody forgot the scheme: a name that only a computer has, or a port, or a
# domain. What follows the @ in the names of models is a version: `v2`, `001`, `20240620`, `latest`.
_BARE_ADDRESS = late_pattern(
    r"@((?:localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:.]+\]|[\w-]+(?=:\d{1,5}(?:/|$))"
    r"|[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]{2,})(?::\d{1,5})?(?:[/?].*)?)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions(WebOptions):
    """Which model, where it is, and what else it is told."""

    api: ClassVar[Api]

    model: str = option(
        Text("the name of a model"),
        "The name of the model.",
        example="some-model",
        elsewhere=("model_name", "engine", "deployment", "name"),
    )
    base_url: str | None = option(
        Address(),
        "Where the service is; by default the provider's own.",
        default=None,
        elsewhere=("url", "api_base", "endpoint", "host", "base"),
    )
    params: dict[str, JSON] = option(
        MapOf(Anything()),
        "What else is sent: temperature, tools, stream, …",
        default={},
        elsewhere=(
            "temperature", "max_tokens", "max_completion_tokens", "top_p", "top_k", "tools",
            "tool_choice", "stream", "response_format", "stop", "seed", "thinking",
            "reasoning_effort", "extra_body", "parameters",
        ),
    )  # fmt: skip
    price: Price | None = option(
        Record(Price, "a mapping of prices"),
        "What tokens cost, in USD for a million.",
        default=None,
        elsewhere=("prices", "cost", "pricing"),
    )

    batch: bool = option(
        Flag(),
        "Questions are sent in batches, at half the price: answers may take a day.",
        default=False,
        elsewhere=("batched", "batch_api"),
    )
    batch_poll_s: float = option(
        Number(0, above=True), "How often a batch is looked at, in seconds.", default=30.0
    )

    @property
    def address(self) -> str:
        """Where the service is."""
        return (self.base_url or self.api.base_url).rstrip("/")

    @property
    def url(self) -> str:
        """What is asked there."""
        parts = urlsplit(self.address)
        return parts._replace(path=parts.path.rstrip("/") + self.api.path).geturl()

    @property
    def own_headers(self) -> dict[str, str]:
        """Headers that are always sent."""
        return {}

    @property
    def streams(self) -> bool:
        return self.params.get("stream") is True

    @property
    def key_rule(self) -> KeyRule:
        is_default = self.address == self.api.base_url
        return self.api.key if is_default else self.api.key._replace(variable=None)

    def conflicts(self) -> Iterator[OptionFault]:
        yield from WebOptions.conflicts(self)
        for name in self.params:
            if name in self.api.own_params:
                what = f"can't hold `{name}`, which evalcase sends by itself"
                yield OptionFault(("params", name), f"`params` {what}", at="key")
        if self.params.get("n", 1) != 1:
            what = "has `n` over 1: to ask more than once, use `repeat`"
            yield OptionFault(("params", "n"), f"`params` {what}")
        stream = self.params.get("stream", False)
        if not isinstance(stream, bool):
            what = f"is true or false, not {stream!r:.60}"
            yield OptionFault(("params", "stream"), f"`params.stream` {what}")
        if self.batch and stream is True:
            yield OptionFault(("params", "stream"), "`params.stream` does not go with `batch`")
        for name in ("rpm", "tpm"):
            if self.batch and getattr(self, name) is not None:
                what = "does not go with `batch`: a batch is one request, at no rate"
                yield OptionFault((name,), f"`{name}` {what}")


def split_model(kind: str, value: str) -> dict[str, JSON]:
    """`MODEL`, or `MODEL@http://host/v1`. The name of a model may have an @ in it, too."""
    at = max(value.rfind("@http://"), value.rfind("@https://"))
    bare = _BARE_ADDRESS.search(value) if at < 0 else None
    if not value or at == 0 or (bare is not None and bare.start() == 0):
        raise ConfigError(f"{kind} target: it needs a model, as in {kind}:MODEL")
    if bare is not None or (at < 0 and "://" in value):
        raise ConfigError(_without_scheme(kind, value, bare))
    return {"model": value} if at < 0 else {"model": value[:at], "base_url": value[at + 1 :]}


def has_address(kind: str, value: str) -> bool:
    """Whether `kind:VALUE` says where to connect to."""
    return "base_url" in split_model(kind, value)


def _without_scheme(kind: str, value: str, bare: re.Match[str] | None) -> str:
    if bare is None:
        return f"{kind} target: `{value}` has an address that is neither http:// nor https://"
    hint = f"did you mean {kind}:{value[: bare.start()]}@{complete_address(bare[1])}?"
    return f"{kind} target: `{value}` has an address without a scheme: {hint}"
