"""A page as a browser would unpack it: what it says of the run, its columns and its details."""

import json
import re
import zlib
from base64 import b64decode
from typing import Any, NamedTuple


class Opened(NamedTuple):
    text: str
    about: dict[str, Any]
    columns: dict[str, list[Any]]
    chunks: dict[int, list[dict[str, Any]]]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table, a mapping for each row."""
        names = list(self.columns)
        lists = zip(*self.columns.values(), strict=True)
        return [dict(zip(names, values, strict=True)) for values in lists]

    def detail(self, case: str) -> dict[str, Any]:
        row = next(row for row in self.rows if row["case"] == case)
        detail: dict[str, Any] = self.chunks[row["chunk"]][row["place"]]
        return detail


def open_page(data: bytes) -> Opened:
    text = data.decode()
    parts = {
        id: json.loads(_unpack(b64decode(packed, validate=True)))
        for id, packed in re.findall(r'<template id="([^"]+)">([^<]*)</template>', text)
    }
    about = parts.pop("run")
    blocks = [parts.pop(id) for id in list(parts) if id.startswith("rows")]
    columns = {name: [value for block in blocks for value in block[name]] for name in blocks[0]}
    return Opened(text, about, columns, {int(id[1:]): part for id, part in parts.items()})


def _unpack(data: bytes) -> bytes:
    return zlib.decompress(data, 31) if data.startswith(b"\x1f\x8b") else data
