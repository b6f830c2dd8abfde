"""Where a cursor stands, in texts that can be read and in texts that can't."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalcase.editor.cursor import find_cursor
from evalcase.format.document import Document, parse_document
from evalcase.format.positions import Format, split_lines
from evalcase.types.problem import KeyPath
from tests.editor.at_cursor import cursor_in
from tests.for_each import for_each

CASE = "cases:\n  - id: a\n"

STANDS = [
    ("|", (), "key", ""),
    ("na|", (), "key", "na"),
    ("name: |", ("name",), "value", ""),
    ("name:|", ("name",), "value", ""),
    ("- |", (0,), "item", ""),
    ("- a: 1\n- |", (1,), "item", ""),
    (f"{CASE}    |", ("cases", 0), "key", ""),
    (f"{CASE}    in|", ("cases", 0), "key", "in"),
    (f"{CASE}    i|nput: x", ("cases", 0), "key", "input"),
    (f"{CASE}    input: |", ("cases", 0, "input"), "value", ""),
    (f"{CASE}    input: he|llo", ("cases", 0, "input"), "value", "hello"),
    (f"{CASE}    input: hello # |", (), "text", ""),
    (f"{CASE}    input: 'a # |b'", ("cases", 0, "input"), "value", "'a # b'"),
    (f"{CASE}# a comment\n\n    |", ("cases", 0), "key", ""),
    (f"{CASE}  - |id: b", ("cases", 1), "key", "id"),
    (f"{CASE}  - id: |b", ("cases", 1, "id"), "value", "b"),
    ("cases:\n- id: a\n- id: b\n  |", ("cases", 1), "key", ""),
    ("cases:\n- id: a\nna|", (), "key", "na"),
    (f"{CASE}    graders:\n      - con|", ("cases", 0, "graders", 0), "item", "con"),
    (f"{CASE}    graders:\n      - a\n      - |", ("cases", 0, "graders", 1), "item", ""),
    (f"{CASE}    graders:\n    - all:\n      - x|", ("cases", 0, "graders", 0, "all", 0), "item",
     "x"),
    (f"{CASE}    graders:\n      |", ("cases", 0, "graders"), "key", ""),
    (f"{CASE}    repeat:\n      ti|: 3", ("cases", 0, "repeat"), "key", "ti"),
    ('"cases":\n  - "id": |', ("cases", 0, "id"), "value", ""),
    ("a: 1\n---\nb: |", ("b",), "value", ""),
    # Text is no place for names.
    (f"{CASE}    input: >\n      one: |", (), "text", ""),
    (f"{CASE}    input: |-\n      one", (), "text", ""),
    (f"{CASE}    input: one\n      two|", (), "text", ""),
    (f"{CASE}    input: >\n      one\n    |", ("cases", 0), "key", ""),
    # Between brackets.
    (f"{CASE}    tags: [|]", ("cases", 0, "tags", 0), "item", ""),
    (f"{CASE}    tags: [a, b|]", ("cases", 0, "tags", 1), "item", "b"),
    (f"{CASE}    tags: [a|", ("cases", 0, "tags", 0), "item", "a"),
    (f"{CASE}    input: {{ro|}}", ("cases", 0, "input"), "key", "ro"),
    (f"{CASE}    input: [{{role: |}}]", ("cases", 0, "input", 0, "role"), "value", ""),
    (f"{CASE}    input: [{{role: us|er, content: x}}]", ("cases", 0, "input", 0, "role"),
     "value", "user"),
    (f"{CASE}    input: {{\n      role: user,\n      co|", ("cases", 0, "input"), "key", "co"),
    (f"{CASE}    input: {{\n      role: us|", ("cases", 0, "input", "role"), "value", "us"),
    (f"{CASE}    input: [a] |", (), "text", ""),
    ("- {id: a, |}", (0,), "key", ""),
    ("{cases: [{|", ("cases", 0), "key", ""),
]  # fmt: skip


@for_each(("text", "path", "slot", "token"), STANDS)
def test_a_place_in_yaml(text: str, path: tuple[Any, ...], slot: str, token: str) -> None:
    # A block mark looks like a cursor: where there is one, the cursor is behind it.
    if "|-" in text:
        text = text.replace("|-", ">-") + "|"
    cursor = cursor_in(text)
    assert (cursor.path, cursor.slot, cursor.token.text) == (path, slot, token)


def test_what_stands_beside_is_known_above_and_below() -> None:
    cursor = cursor_in(
        f"{CASE}    graders:\n      - max: 3\n        |\n        type: length\nname: s"
    )
    assert cursor.path == ("cases", 0, "graders", 0)
    assert cursor.fields == {"max": 3, "type": "length"}
    assert cursor.value({}) == {
        "cases": [{"id": "a", "graders": [{}]}], "name": "s",
    }  # fmt: skip


def test_values_are_read_as_what_they_are() -> None:
    text = "- a: true\n  b: null\n  c: '1'\n  d: 1.5\n  e: [x]\n  f: {y: 1}\n  g: >\n    t\n  |"
    assert cursor_in(text).fields == {
        "a": True, "b": None, "c": "1", "d": 1.5, "e": ["x"], "f": {"y": 1}, "g": "t\n",
    }  # fmt: skip


IN_JSON = [
    ('{"|"', (), "key", '""'),
    ('{"cases": [{"id": "a", "inp|', ("cases", 0), "key", '"inp'),
    ('{"cases": [{"id": "a"}, {"id": "|"}]}', ("cases", 1, "id"), "value", '""'),
    ('{"cases": [\n  {"id": "a",\n   "tags": ["x", "|"]}]}', ("cases", 0, "tags", 1), "item", '""'),
    ('{"a": {"b": "{["}, |}', (), "key", ""),
    ('{"a": 1} |', (), "text", ""),
]


@for_each(("text", "path", "slot", "token"), IN_JSON)
def test_a_place_in_json(text: str, path: tuple[Any, ...], slot: str, token: str) -> None:
    cursor = cursor_in(text, "json")
    assert (cursor.path, cursor.slot, cursor.token.text) == (path, slot, token)


def test_a_line_of_jsonl_stands_for_itself() -> None:
    cursor = cursor_in('{"id": "a"}\n{"input": "x", "|', "jsonl")
    assert (cursor.path, cursor.slot, cursor.fields) == ((), "key", {"input": "x"})


# The place of every key in files that can be read is the one that a parser finds


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
        return
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
