"""Formats of texts that a schema may name: each a question that is answered without a guess."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time

_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_TIME = re.compile(r"\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")


def _is_date(text: str) -> bool:
    return bool(_DATE.fullmatch(text)) and _can_read(lambda: date.fromisoformat(text))


def _is_time(text: str) -> bool:
    return bool(_TIME.fullmatch(text)) and _can_read(lambda: time.fromisoformat(text.upper()))


def _is_date_time(text: str) -> bool:
    return bool(_DATE_TIME.fullmatch(text)) and _can_read(
        lambda: datetime.fromisoformat(text.upper())
    )


def _is_ip(text: str, version: int) -> bool:
    from ipaddress import ip_address

    return (
        "%" not in text
        and _can_read(lambda: ip_address(text))
        and ip_address(text).version == version
    )


def _can_read(read: Callable[[], object]) -> bool:
    try:
        read()
    except ValueError:
        return False
    return True


FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _is_date,
    "time": _is_time,
    "date-time": _is_date_time,
    "email": lambda text: bool(_EMAIL.fullmatch(text)),
    "uuid": lambda text: bool(_UUID.fullmatch(text)),
    "uri": lambda text: bool(_URI.fullmatch(text)),
    "ipv4": lambda text: _is_ip(text, 4),
    "ipv6": lambda text: _is_ip(text, 6),
}

FORMATS_ELSEWHERE = (
    "duration", "hostname", "idn-email", "idn-hostname", "iri", "iri-reference", "json-pointer",
    "regex", "relative-json-pointer", "uri-reference", "uri-template",
)  # fmt: skip
"""They exist, and need the extra `schema`."""
