"""The place of every key in files that can be read is the one that a parser finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalcase.editor.cursors import find_cursor
from evalcase.model.finding import KeyPath
from evalcase.read.document import parse_document
from evalcase.read.lines import split_lines
from evalcase.read.places import Branch, Node
from tests.for_each import for_each

ROOT = Path(__file__).parent.parent.parent
MARKS = ("&", "*", "? ", "!", "\t", "<<", "\\")
"""What only a parser can follow: anchors, aliases, tags, keys that are no plain text."""


def readable_files() -> list[Path]:
    found = []
    for folder in (ROOT / "examples", ROOT / "tests" / "corpus" / "valid"):
        for ending in ("yaml", "json"):
            found += sorted(folder.rglob(f"*.{ending}"))
    return [each for each in found if not any(mark in _text(each) for mark in MARKS)]


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def keys_in(node: Node, path: KeyPath = ()) -> Iterator[tuple[KeyPath, int, int]]:
    if isinstance(node, Branch):
        for step, (span, inner) in node.children.items():
            if isinstance(step, str):
                yield (*path, step), span.line - 1, span.column - 1
            yield from keys_in(inner, (*path, step))


@for_each("path", readable_files(), ids=lambda each: each.name)
def test_every_key_is_found_where_it_stands(path: Path) -> None:
    text, format = _text(path).removeprefix("\ufeff"), path.suffix[1:]
    document = parse_document(text, "json" if format == "json" else "yaml", str(path))
    if not document.readable or document.faults:
        pytest.skip("no parser reads it")
    lines = split_lines(text)
    for expected, line, column in keys_in(document.places()):
        cursor = find_cursor(lines, format, line, column + 1)
        assert cursor.slot in ("key", "item")
        assert cursor.path == expected[:-1]
        assert cursor.token.text.strip("\"'") == expected[-1]


def test_no_position_of_a_broken_text_is_too_much() -> None:
    for path in sorted((ROOT / "tests" / "corpus" / "invalid").glob("yaml-*"))[:60]:
        lines = split_lines(_text(path))[:200]
        for line, text in enumerate(lines):
            for column in range(0, min(len(text), 60) + 1, 3):
                find_cursor(lines, "yaml", line, column)
