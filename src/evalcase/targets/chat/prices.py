"""Tokens to money: by the prices of the configuration, else by those of genai-prices, else unknown.

`price` has USD for a million tokens: `input`, `output`, `cached` (input that the provider had
already) and `cache_write` (input that it stores), which are by default that of `input`.
Unknown is None, never 0: a model without a price, an answer without usage.
"""

from __future__ import annotations

from typing import Annotated

from evalcase.types.answer import Usage
from evalcase.types.options import Amount, about
from evalcase.types.value import Value

_MILLION = 1_000_000


class Price(Value, frozen=True, kw_only=True):
    """USD for a million tokens."""

    input: Annotated[Amount, about("USD per million input tokens.", example=0.15)]
    output: Annotated[Amount, about("USD per million output tokens.", example=0.6)]
    cached: Annotated[
        Amount | None, about("USD per million input tokens read from the provider's cache.")
    ] = None
    cache_write: Annotated[
        Amount | None, about("USD per million input tokens written to the provider's cache.")
    ] = None


class Pricing:
    """What answers of one model cost."""

    def __init__(self, price: Price | None, model: str, base_url: str) -> None:
        self._price = price
        self._model = model
        self._base_url = base_url

    def load(self) -> None:
        """Do now what takes a moment, so that no answer waits for it."""
        if self._price is None:
            _looked_up(self._model, self._base_url, Usage(1, 1), 0)

    def cost_usd(self, usage: Usage | None, cache_write_tokens: int = 0) -> float | None:
        """The cost; None where the tokens or the price are unknown."""
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = usage.cached_tokens or 0
        if self._price is None:
            return _looked_up(self._model, self._base_url, usage, cache_write_tokens)
        price = self._price
        usual = max(0, usage.input_tokens - cached - cache_write_tokens)
        cost = usual * price.input + usage.output_tokens * price.output
        cost += cached * (price.input if price.cached is None else price.cached)
        stored = price.input if price.cache_write is None else price.cache_write
        return (cost + cache_write_tokens * stored) / _MILLION


def prices_version() -> str | None:
    """The version of genai-prices, which its prices depend on; None where it isn't installed."""
    from importlib.util import find_spec

    if find_spec("genai_prices") is None:
        return None  # quicker than to look for its version, and the usual case
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("genai-prices")
    except PackageNotFoundError:
        return None


def _looked_up(model: str, base_url: str, usage: Usage, cache_write_tokens: int) -> float | None:
    try:
        import genai_prices
    except ImportError:
        return None
    tokens = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cached_tokens,
        "cache_write_tokens": cache_write_tokens or None,
    }
    try:
        price = genai_prices.calc_price(
            genai_prices.Usage(**tokens), model, provider_api_url=base_url
        )
    except (LookupError, ValueError):
        return None
    return float(price.total_price)
