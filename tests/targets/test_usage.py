from __future__ import annotations

from typing import Any

import pytest

from evalcase.targets.usage import Price, Pricing
from evalcase.types.answer import Usage
from evalcase.types.read_options import make
from tests.for_each import for_each

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"


def pricing(model: str = "m", base_url: str = OPENAI, **price: Any) -> Pricing:
    return Pricing(make(Price, price) if price else None, model, base_url)


def test_a_configured_price_is_for_a_million_tokens() -> None:
    cost = pricing(input=0.15, output=0.60).cost_usd(Usage(1_000_000, 500_000))
    assert cost == pytest.approx(0.45)


def test_cached_input_has_its_own_price_or_that_of_input() -> None:
    usage = Usage(1_000_000, 0, 600_000)
    assert pricing(input=1, output=0, cached=0.5).cost_usd(usage) == pytest.approx(0.7)
    assert pricing(input=1, output=0).cost_usd(usage) == pytest.approx(1.0)


@for_each("usage", [None, Usage(), Usage(5), Usage(None, 5)])
def test_unknown_usage_is_an_unknown_cost_never_nothing(usage: Usage | None) -> None:
    assert pricing(input=1, output=1).cost_usd(usage) is None
    assert pricing("gpt-4o-mini").cost_usd(usage) is None


def test_known_models_are_looked_up() -> None:
    mini = pricing("gpt-4o-mini")
    whole = mini.cost_usd(Usage(1_000_000, 0))
    cached = mini.cost_usd(Usage(1_000_000, 0, 1_000_000))
    assert whole is not None
    assert cached is not None
    assert 0 < cached < whole
    claude = pricing("claude-sonnet-4-5", ANTHROPIC)
    plain = claude.cost_usd(Usage(10_000, 0))
    written = claude.cost_usd(Usage(10_000, 0), 10_000)
    assert plain is not None
    assert written is not None
    assert 0 < plain < written


@pytest.mark.parametrize(
    ("model", "base_url"), [("no-such-model", OPENAI), ("gpt-4o-mini", "http://127.0.0.1:1/v1")]
)
def test_an_unknown_model_or_host_is_an_unknown_cost(model: str, base_url: str) -> None:
    assert pricing(model, base_url).cost_usd(Usage(5, 5)) is None
