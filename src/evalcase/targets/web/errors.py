"""What goes wrong with a request, as errors that say what happened and whether to try again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from evalcase.errors import TargetError
from evalcase.types.value import JSON
from evalcase.util.text import cut_bytes

REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid", "cf-ray")
_MOST_CHARACTERS = 300


def status_error(
    status: int, headers: Mapping[str, str], body: bytes, place: str, now_s: float
) -> TargetError:
    """The error of a status other than 2xx."""
    details: dict[str, Any] = {"status": status, "body": cut_bytes(body)}
    for name in REQUEST_IDS:
        if name in headers:
            details["request_id"] = headers[name]
            break
    wait_s = retry_after_s(headers, now_s)
    said = error_message(_read_json(body))
    return TargetError(
        f"HTTP {_status_name(status)}{': ' + said if said else ''}, from {place}",
        kind="http",
        details=details,
        may_succeed_later=may_succeed_later(status),
        retry_after_s=wait_s,
        overloaded=status in (429, 529) or (status == 503 and wait_s is not None),
    )


def redirect_error(status: int, location: str | None, place: str) -> TargetError:
    """The error of a redirect: a key must go nowhere but to the address that was configured."""
    details = {"status": status, "location": location}
    if location is None:
        return TargetError(
            f"HTTP {_status_name(status)}, from {place}", kind="http", details=details
        )
    hint = "redirects are not followed; configure that address if it is the right one"
    message = f"HTTP {_status_name(status)}: {place} points to {location}; {hint}"
    return TargetError(message, kind="http", details=details)


def connection_error(what: str, place: str, *, may_succeed_later: bool = True) -> TargetError:
    message = f"{place}: {one_line(what)}"
    return TargetError(message, kind="connection", may_succeed_later=may_succeed_later)


def protocol_error(what: str, data: bytes, **more: bool) -> TargetError:
    """The error of an answer that makes no sense; the beginning of it is kept."""
    return TargetError(what, kind="protocol", details={"body": cut_bytes(data)}, **more)


def may_succeed_later(status: int) -> bool:
    return status in (408, 429) or 500 <= status <= 599


def retry_after_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """How long the server asks to wait; None where it doesn't, or says something odd."""
    for name, per_s in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if text.replace(".", "", 1).isdecimal() and text.isascii():
            return float(text) / per_s
    return _seconds_until(headers.get("retry-after", ""), now_s)


def error_message(value: JSON) -> str | None:
    """What a server says about an error, in the places where servers say it."""
    if not isinstance(value, dict):
        return None
    error = value.get("error")
    inner = error if isinstance(error, dict) else value
    for said in (inner.get("message"), error, inner.get("detail"), inner.get("error_description")):
        if isinstance(said, str) and said.strip():
            return one_line(said)
    return None


def one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_CHARACTERS else line[: _MOST_CHARACTERS - 1] + "…"


def _seconds_until(date: str, now_s: float) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - now_s)
    except (ValueError, OverflowError, TypeError):
        return None


def _status_name(status: int) -> str:
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return "529 (overloaded)" if status == 529 else str(status)


def _read_json(body: bytes) -> JSON:
    try:
        value: JSON = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value
