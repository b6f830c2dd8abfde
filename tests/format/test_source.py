from __future__ import annotations

import os
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from evalcase.format.source import (
    UnreadableError,
    read_source,
    tell_undecodable,
)
from evalcase.types.problem import Problem, Span
from tests.for_each import for_each


def problem_of(path: Path | str) -> Problem:
    with pytest.raises(UnreadableError) as raised:
        read_source(str(path))
    return raised.value.problem


def test_one_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfa\xef\xbb\xbf")
    assert read_source(str(tmp_path / "x")) == "a\ufeff"


def test_a_missing_file(tmp_path: Path) -> None:
    problem = problem_of(tmp_path / "x")
    assert (problem.code, problem.path) == ("unreadable-file", str(tmp_path / "x"))
    assert problem.message == "there is no such file or folder"
    assert problem.span is None


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bad").write_bytes(b"\xff")
    before = sorted(Path("/dev/fd").iterdir())
    for name in ("pipe", "bad", "missing", "."):
        problem_of(tmp_path / name)
    assert sorted(Path("/dev/fd").iterdir()) == before


def test_standard_input_is_read_as_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sys.stdin", TextIOWrapper(BytesIO(b"\xef\xbb\xbfa\r\n\xc3\xa9"), "latin-1")
    )
    assert read_source("-") == "a\r\né"


@for_each(
    ("data", "line", "column", "byte"),
    [
        (b"\xff", 1, 1, "0xff"),
        (b"abc\xe9", 1, 4, "0xe9"),
        (b"a\nb\r\nc\rd\x80", 4, 2, "0x80"),
        ("é日😀".encode() + b"\xc3(", 1, 4, "0xc3"),
        (b"ok \xe2\x82", 1, 4, "0xe2"),
        (b"\xef\xbb\xbfab\xff", 1, 3, "0xff"),
        ("a\u2028b\x85".encode() + b"\xff", 1, 5, "0xff"),
    ],
)
def test_bytes_that_are_no_utf_8(
    tmp_path: Path, data: bytes, line: int, column: int, byte: str
) -> None:
    (tmp_path / "x.yaml").write_bytes(data)
    problem = problem_of(tmp_path / "x.yaml")
    assert problem.code == "bad-encoding"
    assert problem.span == Span(line, column, line, column + 1)
    assert byte in problem.message
    assert problem.hint == "save the file as UTF-8"
    assert problem.excerpt is not None
    assert problem.excerpt.text[column - problem.excerpt.column] == "\ufffd"


def test_the_excerpt_of_a_long_broken_line_is_short() -> None:
    data = b"x" * 10_000 + b"\xff" + b"y" * 10_000
    problem = tell_undecodable(UnicodeDecodeError("utf-8", data, 10_000, 10_001, ""), "x")
    assert problem.column == 10_001
    assert problem.excerpt is not None
    assert len(problem.excerpt.text) < 1_000
    assert problem.excerpt.text[problem.column - problem.excerpt.column] == "\ufffd"
