from typing import Any

import pytest

from evalcase.targets.usage import Price, cost_of
from evalcase.types.answer import Usage
from evalcase.types.read_options import make
from tests.for_each import for_each

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"


def cost(
    usage: Usage | None, model: str = "m", base_url: str = OPENAI, written: int = 0, **price: Any
) -> float | None:
    return cost_of(usage, make(Price, price) if price else None, model, base_url, written)


def test_a_configured_price_is_for_a_million_tokens() -> None:
    assert cost(Usage(1_000_000, 500_000), input=0.15, output=0.60) == pytest.approx(0.45)


def test_cached_input_has_its_own_price_or_that_of_input() -> None:
    usage = Usage(1_000_000, 0, 600_000)
    assert cost(usage, input=1, output=0, cached=0.5) == pytest.approx(0.7)
    assert cost(usage, input=1, output=0) == pytest.approx(1.0)


@for_each("usage", [None, Usage(), Usage(5), Usage(None, 5)])
def test_unknown_usage_is_an_unknown_cost_never_nothing(usage: Usage | None) -> None:
    assert cost(usage, input=1, output=1) is None
    assert cost(usage, "gpt-4o-mini") is None


def test_known_models_are_looked_up() -> None:
    whole = cost(Usage(1_000_000, 0), "gpt-4o-mini")
    cached = cost(Usage(1_000_000, 0, 1_000_000), "gpt-4o-mini")
    assert whole is not None
    assert cached is not None
    assert 0 < cached < whole
    plain = cost(Usage(10_000, 0), "claude-sonnet-4-5", ANTHROPIC)
    written = cost(Usage(10_000, 0), "claude-sonnet-4-5", ANTHROPIC, 10_000)
    assert plain is not None
    assert written is not None
    assert 0 < plain < written


@pytest.mark.parametrize(
    ("model", "base_url"), [("no-such-model", OPENAI), ("gpt-4o-mini", "http://127.0.0.1:1/v1")]
)
def test_an_unknown_model_or_host_is_an_unknown_cost(model: str, base_url: str) -> None:
    assert cost(Usage(5, 5), model, base_url) is None
