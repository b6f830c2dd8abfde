"""What both chat APIs are configured by: a model, an address, parameters and prices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from evalcase.model.conflict import conflict
from evalcase.model.json_value import JSON
from evalcase.model.option import Record, option
from evalcase.model.shape import Anything, Flag, MapOf, OptionFault, Text
from evalcase.model.shape_seconds import Seconds
from evalcase.targets.chat.api import Api
from evalcase.targets.chat.model_names import object_to_model
from evalcase.targets.chat.prices import Price
from evalcase.targets.web.options import KeyRule, WebOptions
from evalcase.targets.web.shapes import Address

_NO_RATE = "can't be combined with `batch`: a batch is one request, at no rate"


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
        "The base URL of the API; by default, the provider's.",
        default=None,
        elsewhere=("url", "api_base", "endpoint", "host", "base"),
    )
    params: dict[str, JSON] = option(
        MapOf(Anything()),
        "Further parameters of requests: temperature, tools, stream, …",
        default={},
        elsewhere=(
            "temperature", "max_tokens", "max_completion_tokens", "top_p", "top_k", "tools",
            "tool_choice", "stream", "response_format", "stop", "seed", "thinking",
            "reasoning_effort", "extra_body", "parameters",
        ),
    )  # fmt: skip
    price: Price | None = option(
        Record(Price, "a mapping of prices"),
        "The price of tokens, in USD per million.",
        default=None,
        elsewhere=("prices", "cost", "pricing"),
        decides_answer=False,
    )

    batch: bool = option(
        Flag(),
        "Send questions in batches, at half the price; answers may take a day.",
        default=False,
        elsewhere=("batched", "batch_api"),
        decides_answer=False,
    )
    batch_poll_s: float = option(
        Seconds(),
        "How often to check on a batch, in seconds.",
        default=30.0,
        decides_answer=False,
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

    @conflict
    def _params_are_ours(self) -> Iterator[OptionFault]:
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

    @conflict
    def _a_batch_streams(self) -> Iterator[OptionFault]:
        if self.batch and self.params.get("stream") is True:
            yield OptionFault(
                ("params", "stream"), "`params.stream` can't be combined with `batch`"
            )

    @conflict
    def _a_batch_has_requests(self) -> Iterator[OptionFault]:
        if self.batch and self.rpm is not None:
            yield OptionFault(("rpm",), f"`rpm` {_NO_RATE}")

    @conflict
    def _a_batch_has_tokens(self) -> Iterator[OptionFault]:
        if self.batch and self.tpm is not None:
            yield OptionFault(("tpm",), f"`tpm` {_NO_RATE}")

    @conflict
    def _address_in_model(self) -> Iterator[OptionFault]:
        """Beside a `base_url`, a name may be any: nothing is sent to where nobody said."""
        unfit = object_to_model(self.model) if self.base_url is None else None
        if unfit is not None:
            yield OptionFault(("model",), *unfit)
