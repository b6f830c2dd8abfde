"""The headers in which services say how much more they take: OpenAI's, and Anthropic's.

OpenAI's say how long it takes until all is there again (`6m0s`), Anthropic's when that is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from evalcase.types.target import Allowance, Quota

_WHAT = ("requests", "tokens")
_FACTS = ("remaining", "reset", "limit")
_HEADERS = [
    [[form.format(what, fact) for fact in _FACTS] for what in _WHAT]
    for form in ("x-ratelimit-{1}-{0}", "anthropic-ratelimit-{0}-{1}")
]
"""The names of headers: by provider, by what is left, and by what is said of it."""
_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SPAN = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")
_PIECE = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")


def read_quota(headers: Mapping[str, str], now_s: float) -> Quota | None:
    """What is left by the headers of an answer; None if they don't say.

    `now_s` is the time of the day, in seconds since the epoch.
    """
    for of_requests, of_tokens in _HEADERS:
        requests = _read_allowance(headers, of_requests, now_s)
        tokens = _read_allowance(headers, of_tokens, now_s)
        if requests is not None or tokens is not None:
            return Quota(requests, tokens)
    return None


def _read_allowance(headers: Mapping[str, str], names: list[str], now_s: float) -> Allowance | None:
    remaining, reset, limit = names
    left = _read_number(headers.get(remaining))
    full_in_s = None if left is None else _read_seconds(headers.get(reset, ""), now_s)
    if left is None or full_in_s is None:
        return None
    return Allowance(left, full_in_s, _read_number(headers.get(limit)))


def _read_number(text: str | None) -> float | None:
    return float(text) if text is not None and _NUMBER.fullmatch(text.strip()) else None


def _read_seconds(text: str, now_s: float) -> float | None:
    """A number of seconds, a span such as `1m6.5s`, or a time in RFC 3339."""
    text = text.strip()
    if (number := _read_number(text)) is not None:
        return number
    if _SPAN.fullmatch(text):
        return sum(float(count) * _UNITS_S[unit] for count, unit in _PIECE.findall(text))
    from datetime import datetime

    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if when.tzinfo is None else max(0.0, when.timestamp() - now_s)
