from __future__ import annotations

from evalcase.targets.client import read_quota
from evalcase.types.target import Allowance, Quota
from tests.for_each import for_each

NOON = 1772366400.0  # 2026-03-01T12:00:00Z


def openai(**facts: str) -> dict[str, str]:
    return {f"x-ratelimit-{name.replace('_', '-')}": value for name, value in facts.items()}


@for_each(
    ("reset", "seconds"),
    [
        ("1s", 1.0), ("6m0s", 360.0), ("12ms", 0.012), ("1h2m3.5s", 3723.5), ("1d", 86400.0),
        ("7", 7.0), ("0.5", 0.5), ("2026-03-01T12:00:30Z", 30.0), ("2026-03-01T11:59:00Z", 0.0),
    ],
)  # fmt: skip
def test_when_all_is_there_again(reset: str, seconds: float) -> None:
    said = openai(remaining_requests="9", reset_requests=reset, limit_requests="60")
    assert read_quota(said, NOON) == Quota(Allowance(9, seconds, 60))


def test_requests_and_tokens_of_anthropic() -> None:
    said = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-ratelimit-requests-reset": "2026-03-01T12:00:01Z",
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": "2026-03-01T12:01:00Z",
    }
    assert read_quota(said, NOON) == Quota(Allowance(49, 1.0, 50), Allowance(0, 60.0))
    assert read_quota({"content-type": "text/plain"}, NOON) is None
