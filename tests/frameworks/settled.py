"""Values that differ each time (ids, times, folders, ports) to ones that don't, and shapes."""

import re
from typing import Any

_TEXTS = [
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "0190a1b2-0000-7000-8000-00c0ffee0000"),
    (r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", "2026-01-02T03:04:05Z"),
    (r"\w{3}, \d\d \w{3} 20\d\d \d\d:\d\d:\d\d GMT", "Fri, 02 Jan 2026 03:04:05 GMT"),
    (r"BaseHTTP/\S+ Python/[\d.]+", "loopback"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:8000"),
    (r"\b(aitxt|msg|call)-[A-Za-z0-9]{16,24}\b", r"\1-0000000000000000"),
]  # fmt: skip
_TIMES = re.compile(r"(duration|_ms$|Ms$|^(start|end)_time$|^timestamp$|^performance$|_us$)")


def settle(value: Any, folders: dict[str, str] | None = None) -> Any:
    """The same each time that it is recorded."""
    if isinstance(value, dict):
        return {
            key: _settle_number(item)
            if _TIMES.search(key) and isinstance(item, int | float) and not isinstance(item, bool)
            else settle(_shorten(item), folders)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [settle(item, folders) for item in value]
    if isinstance(value, str):
        for pattern, text in _TEXTS:
            value = re.sub(pattern, text, value)
        for folder, name in (folders or {}).items():
            value = value.replace(folder, name)
    return value


def _shorten(value: Any) -> Any:
    """The first sentence of a long text: programs explain themselves at length."""
    if isinstance(value, str) and len(value) > 160 and ". " in value:
        return value[: value.index(". ") + 1]
    return value


def _settle_number(value: float) -> float:
    return 250 if isinstance(value, int) else 0.25


def shape(value: Any) -> Any:
    """Keys and types. A list is the set of its items' shapes, whatever their number."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        shapes: list[Any] = []
        for item in map(shape, value):
            if item not in shapes:
                shapes.append(item)
        return shapes
    return type(value).__name__
