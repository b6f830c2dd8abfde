"""Headers: as they are read, and as lines to be sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar, overload

T = TypeVar("T")


class HttpHeaders(Mapping[str, str]):
    """What came, by names in any case. The values of one that came repeatedly are joined."""

    __slots__ = ("_values",)

    def __init__(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        values: dict[str, str] = {}
        repeated: dict[str, list[str]] = {}
        for name, value in pairs:
            key = name.decode("latin-1").lower()
            text = value.decode("utf-8", "surrogateescape")
            if key in values:
                repeated.setdefault(key, [values[key]]).append(text)
            else:
                values[key] = text
        values.update({key: ", ".join(texts) for key, texts in repeated.items()})
        self._values = values

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def get(self, name: str, /) -> str | None: ...
    @overload
    def get(self, name: str, /, default: str | T) -> str | T: ...
    def get(self, name: str, /, default: str | T | None = None) -> str | T | None:
        return self._values.get(name.lower(), default)


def write_lines(headers: Mapping[str, str]) -> bytes:
    """Headers as they are sent. Raise ValueError where one can't be; its value is not shown."""
    return b"".join(_write_line(name, value) for name, value in headers.items())


def merge_headers(*layers: Mapping[str, str]) -> dict[str, str]:
    """Headers of several layers. One of a later layer takes the place of an earlier one, however
    it is spelt."""
    merged: dict[str, tuple[str, str]] = {}
    for layer in layers:
        merged |= {name.lower(): (name, value) for name, value in layer.items()}
    return dict(merged.values())


def _write_line(name: str, value: str) -> bytes:
    is_name = name.isascii() and name.isprintable() and not any(each in name for each in ": ")
    if not name or not is_name or not value.replace("\t", " ").isprintable():
        raise ValueError(f"the header {name!r:.60} can't be sent")
    return f"{name}: {value}\r\n".encode()
