"""Tokens and money as targets report them, under the names that are in use.

What makes no sense is left out, with a warning: unknown is better than wrong.
"""

from __future__ import annotations

from collections.abc import Mapping

from evalcase.types.answer import MOST_TOKENS, MOST_USD, Usage
from evalcase.types.target import Warn
from evalcase.types.value import JSON

_NAMES = {
    "input_tokens": "input_tokens", "input": "input_tokens", "prompt_tokens": "input_tokens",
    "output_tokens": "output_tokens", "output": "output_tokens",
    "completion_tokens": "output_tokens",
    "cached_tokens": "cached_tokens", "cached": "cached_tokens",
}  # fmt: skip

CACHE_WRITTEN = "cache_creation_input_tokens"
_CACHE_READ = "cache_read_input_tokens"
_LONGEST_MODEL = 200

_DERIVED = frozenset({"total_tokens", "total"})


def read_usage(value: JSON, warn: Warn) -> Usage | None:
    """Usage from a mapping; None where nothing usable is said."""
    if value is None:
        return None
    if not isinstance(value, dict):
        warn(f"usage is a mapping such as {{input_tokens, output_tokens}}, not {value!r:.80}")
        return None
    counts: dict[str, int] = {}
    for name, count in value.items():
        if name not in _NAMES:
            if name not in _DERIVED:
                warn(f"{name!r} of usage is not read; it has {', '.join(_NAMES)}")
        elif isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MOST_TOKENS:
            counts.setdefault(_NAMES[name], count)
        elif count is not None:
            warn(f"`{name}` of usage is a number of tokens, not {count!r:.80}")
    return Usage(**counts) if counts else None


def read_openai_usage(
    value: JSON, warn: Warn, given: str = "prompt", made: str = "completion"
) -> Usage | None:
    """The same from OpenAI's own form, which has details of details, and other names in each of
    its services for tokens that were given and made."""
    if not isinstance(value, dict):
        return None
    details = value.get(f"{given}_tokens_details")
    counts: dict[str, JSON] = {
        "input_tokens": value.get(f"{given}_tokens"),
        "output_tokens": value.get(f"{made}_tokens"),
        "cached_tokens": details.get("cached_tokens") if isinstance(details, dict) else None,
    }
    return read_usage(counts, warn)


def read_anthropic_usage(value: JSON, warn: Warn) -> Usage | None:
    """The same from Anthropic's form: its three kinds of input together, if it says the first."""
    if not isinstance(value, dict):
        return None
    kinds = [value.get("input_tokens"), value.get(_CACHE_READ), value.get(CACHE_WRITTEN)]
    given = [count for count in kinds if isinstance(count, int)]
    counts: dict[str, JSON] = {
        "input_tokens": sum(given) if isinstance(kinds[0], int) else None,
        "output_tokens": value.get("output_tokens"),
        "cached_tokens": value.get(_CACHE_READ),
    }
    return read_usage(counts, warn)


def read_usage_in_camel_case(value: JSON, warn: Warn) -> Usage | None:
    """The same from `{inputTokens, outputTokens}`, as Bedrock has it."""
    if not isinstance(value, dict):
        return None
    counts: dict[str, JSON] = {
        "input_tokens": value.get("inputTokens"),
        "output_tokens": value.get("outputTokens"),
        "cached_tokens": value.get("cacheReadInputTokens"),
    }
    return read_usage(counts, warn)


def read_model(reply: Mapping[str, JSON]) -> str | None:
    """The model that answered, as its service names it."""
    model = reply.get("model")
    return model[:_LONGEST_MODEL] if isinstance(model, str) and model else None


def read_cost(value: JSON, warn: Warn) -> float | None:
    """A sum of money in USD; None where none is said."""
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and isinstance(value, int | float) and 0 <= value <= MOST_USD:
        return float(value)
    warn(f"`cost_usd` is a sum of 0 or more, and nobody has spent so much: {value!r:.80}")
    return None
