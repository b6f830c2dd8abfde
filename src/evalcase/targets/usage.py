"""Tokens and money: the usage that targets report, and the cost of it.

Unknown is None, never 0. A number that makes no sense is left out with a warning, because an
answer that was paid for should not be lost for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

from evalcase.types.answer import MOST_TOKENS, MOST_USD, Usage
from evalcase.types.options import Amount, about
from evalcase.types.target import Warn
from evalcase.types.value import JSON, Value

_INPUT = (
    "prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount", "prompt_token_count",
    "total_prompt_tokens", "input",
)  # fmt: skip
_OUTPUT = (
    "completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount",
    "candidates_token_count", "total_completion_tokens", "output",
)  # fmt: skip
_CACHED = (
    "cached_tokens", "cache_read_input_tokens", "cacheReadInputTokens", "cachedContentTokenCount",
    "cached_content_token_count", "cache_read_tokens", "cache_read", "cached_input_tokens",
    "cacheReadTokens", "total_cached_tokens", "cached",
)  # fmt: skip
_DETAILS = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
_LONGEST_MODEL = 200
_MILLION = 1_000_000


def read_usage(value: JSON, warn: Warn) -> Usage | None:
    """Usage in the form of evalcase, OpenAI, Anthropic, Gemini, Bedrock or a library that follows
    them; None without a usable count."""
    if value is None:
        return None
    if not isinstance(value, dict):
        warn(f"usage is a mapping such as {{input_tokens, output_tokens}}, not {value!r:.80}")
        return None
    details = _first(value, *_DETAILS)
    told = {**value, **(details if isinstance(details, dict) else {})}
    given, made, cached = (_first(told, *names) for names in (_INPUT, _OUTPUT, _CACHED))
    total = value.get("total_tokens")
    if made is None and isinstance(given, int) and isinstance(total, int):
        made = max(0, total - given)  # services of embeddings have no output, and don't say so
    # Anthropic counts the tokens that its cache reads and writes apart from the others, and Gemini
    # those of thoughts.
    apart = ("cache_read_input_tokens", "cache_creation_input_tokens")
    if "cacheCreationInputTokens" in value:  # of Claude Code
        apart = ("cacheReadInputTokens", "cacheCreationInputTokens")
    counts: dict[str, JSON] = {
        "input_tokens": _add(given, *map(value.get, apart)),
        "output_tokens": _add(made, _first(value, "thoughtsTokenCount", "thoughts_token_count")),
        "cached_tokens": cached,
    }
    sound: dict[str, int] = {}
    for name, count in counts.items():
        if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MOST_TOKENS:
            sound[name] = count
        elif count is not None:
            warn(f"`{name}` of usage is a number of tokens, not {count!r:.80}")
    return Usage(**sound) if sound else None


def cache_write_tokens(usage: JSON) -> int:
    """The input tokens that Anthropic stored in its cache, which have a price of their own."""
    written = usage.get("cache_creation_input_tokens") if isinstance(usage, dict) else None
    return written if isinstance(written, int) else 0


def _first(value: Mapping[str, Any], *names: str) -> Any:  # noqa: ANN401 - checked by read_usage
    return next((value[name] for name in names if value.get(name) is not None), None)


def _add(count: Any, *more: Any) -> Any:  # noqa: ANN401 - checked by read_usage
    return count + sum(m for m in more if isinstance(m, int)) if isinstance(count, int) else count


def read_model(reply: Mapping[str, JSON]) -> str | None:
    model = _first(reply, "model", "modelVersion", "model_version")
    return model[:_LONGEST_MODEL] if isinstance(model, str) and model else None


def read_cost(value: JSON, warn: Warn) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_USD:
        return float(value)
    warn(f"`cost_usd` is a sum of 0 or more, not {value!r:.80}")
    return None


class Price(Value, frozen=True, kw_only=True):
    """USD for a million tokens. Cached tokens and those written to a cache cost by default as much
    as other input."""

    input: Annotated[Amount, about("USD per million input tokens.", example=0.15)]
    output: Annotated[Amount, about("USD per million output tokens.", example=0.6)]
    cached: Annotated[
        Amount | None, about("USD per million input tokens read from the provider's cache.")
    ] = None
    cache_write: Annotated[
        Amount | None, about("USD per million input tokens written to the provider's cache.")
    ] = None

    def cost_usd(self, usage: Usage, written: int = 0) -> float:
        cached = usage.cached_tokens or 0
        usual = max(0, (usage.input_tokens or 0) - cached - written)
        cost = usual * self.input + (usage.output_tokens or 0) * self.output
        cost += cached * (self.input if self.cached is None else self.cached)
        cost += written * (self.input if self.cache_write is None else self.cache_write)
        return cost / _MILLION


def cost_of(
    usage: Usage | None, price: Price | None, model: str, base_url: str, written: int = 0
) -> float | None:
    """The cost of an answer in USD, by the configured price, else by genai-prices; None if the
    tokens or the price are unknown. `written` tokens went to a cache."""
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    if price is not None:
        return price.cost_usd(usage, written)
    try:
        import genai_prices
    except ImportError:
        return None
    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=written or None,
    )
    try:
        found = genai_prices.calc_price(tokens, model, provider_api_url=base_url)
    except (LookupError, ValueError):
        return None
    return float(found.total_price)


def prices_version() -> str | None:
    """The version of genai-prices, for the record; None if it isn't installed."""
    try:
        return version("genai-prices")
    except PackageNotFoundError:
        return None
