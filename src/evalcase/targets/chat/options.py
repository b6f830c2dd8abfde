"""What both chat APIs are configured by: a model, an address, parameters and prices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar
from urllib.parse import urlsplit

from evalcase.targets.chat.api import Api
from evalcase.targets.chat.model_names import object_to_model
from evalcase.targets.chat.prices import Price
from evalcase.targets.web.option_types import Address
from evalcase.targets.web.options import KeyRule, WebOptions
from evalcase.types.options import OptionFault, Seconds, Text, about
from evalcase.types.value import JSON

_NO_RATE = "can't be combined with `batch`: a batch is one request, at no rate"


class ChatOptions(WebOptions, frozen=True, kw_only=True):
    """Which model, where it is, and what else it is told."""

    api: ClassVar[Api]

    model: Annotated[
        Text,
        about(
            "The name of the model.",
            example="some-model",
            elsewhere=("model_name", "engine", "deployment", "name"),
            words="the name of a model",
        ),
    ]
    base_url: Annotated[
        Address | None,
        about(
            "The base URL of the API; by default, the provider's.",
            elsewhere=("url", "api_base", "endpoint", "host", "base"),
        ),
    ] = None
    params: Annotated[
        dict[str, JSON],
        about(
            "Further parameters of requests: temperature, tools, stream, …",
            elsewhere=(
                "temperature",
                "max_tokens",
                "max_completion_tokens",
                "top_p",
                "top_k",
                "tools",
                "tool_choice",
                "stream",
                "response_format",
                "stop",
                "seed",
                "thinking",
                "reasoning_effort",
                "extra_body",
                "parameters",
            ),
        ),
    ] = {}
    price: Annotated[
        Price | None,
        about(
            "The price of tokens, in USD per million.",
            elsewhere=("prices", "cost", "pricing"),
            decides_answer=False,
            words="a mapping of prices",
        ),
    ] = None

    batch: Annotated[
        bool,
        about(
            "Send questions in batches, at half the price; answers may take a day.",
            elsewhere=("batched", "batch_api"),
            decides_answer=False,
        ),
    ] = False
    batch_poll_s: Annotated[
        Seconds, about("How often to check on a batch, in seconds.", decides_answer=False)
    ] = 30.0

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
        if self.batch and self.rpm is not None:
            yield OptionFault(("rpm",), f"`rpm` {_NO_RATE}")
        if self.batch and self.tpm is not None:
            yield OptionFault(("tpm",), f"`tpm` {_NO_RATE}")
        unfit = object_to_model(self.model) if self.base_url is None else None
        if unfit is not None:
            yield OptionFault(("model",), *unfit)
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
        if self.batch and self.params.get("stream") is True:
            yield OptionFault(
                ("params", "stream"), "`params.stream` can't be combined with `batch`"
            )
        yield from super().conflicts()
