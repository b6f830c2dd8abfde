"""The place of every key in files that can be read is the one that a parser finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalcase.editor.cursor import find_cursor
from evalcase.format.document import Document, parse_document
from evalcase.format.positions import Format, split_lines
from evalcase.types.problem import KeyPath
from tests.for_each import for_each

ROOT = Path(__file__).parent.parent.parent
MARKS = ("? ", "!", "\\")
"""Keys that are no plain text."""


def readable_files() -> list[Path]:
    found = []
    for folder in (ROOT / "examples", ROOT / "tests" / "corpus" / "valid"):
        for ending in ("yaml", "json"):
            found += sorted(folder.rglob(f"*.{ending}"))
    return [each for each in found if not any(mark in _text(each) for mark in MARKS)]


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def keys_in(document: Document, value: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """The keys that are written where they are used, and not behind an alias."""
    steps: Any = value if isinstance(value, dict) else ()
    steps = range(len(value)) if isinstance(value, list) else steps
    for step in steps:
        if document.positions.find((*path, step), "key")[1] is None:
            if isinstance(step, str):
                yield (*path, step)
            yield from keys_in(document, value[step], (*path, step))  # type: ignore[index]


@for_each("path", readable_files(), ids=lambda each: each.name)
def test_every_key_is_found_where_it_stands(path: Path) -> None:
    text = _text(path).removeprefix("\ufeff")
    format: Format = "json" if path.suffix == ".json" else "yaml"
    document = parse_document(text, format, str(path))
    if not document.readable or document.faults:
        pytest.skip("no parser reads it")
    lines = split_lines(text)
    for expected in keys_in(document, document.value):
        span = document.positions.span(expected, "key")
        cursor = find_cursor(lines, format, span.line - 1, span.column)
        assert cursor.slot in ("key", "item")
        assert cursor.path == expected[:-1]
        assert cursor.token.text.strip("\"'") == expected[-1]


def test_no_position_of_a_broken_text_is_too_much() -> None:
    for path in sorted((ROOT / "tests" / "corpus" / "invalid").glob("yaml-*"))[:60]:
        lines = split_lines(_text(path))[:200]
        for line, text in enumerate(lines):
            for column in range(0, min(len(text), 60) + 1, 3):
                find_cursor(lines, "yaml", line, column)
