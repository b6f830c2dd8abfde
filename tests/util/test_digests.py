from __future__ import annotations

import os
from pathlib import Path
from typing import IO

import pytest

from evalcase.util import files
from evalcase.util.files import UNREADABLE, FileDigests, digest_file, read_bytes

EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_what_can_not_be_read_has_a_word_in_place_of_a_hash(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "nowhere", ".", "/dev/zero"):
        assert digest_file(str(tmp_path / name)) == UNREADABLE
        assert FileDigests().of({"x": str(tmp_path / name)}) == {"x": UNREADABLE}


def test_a_file_that_many_ask_for_is_read_once_and_again_when_it_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def count(path: str) -> str:
        read.append(path)
        return digest_file(path)

    monkeypatch.setattr(files, "digest_file", count)
    path = tmp_path / "a"
    path.write_text("one")
    known = FileDigests()
    first = known.of({"a": str(path), "./a": str(path)})
    assert first["a"] == first["./a"] == known.of({"a": str(path)})["a"]
    assert len(read) == 1
    path.write_text("three")
    assert known.of({"a": str(path)})["a"] not in (first["a"], UNREADABLE)
    assert len(read) == 2
    path.unlink()
    os.mkfifo(path)
    assert known.of({"a": str(path)}) == {"a": UNREADABLE}


def test_the_hash_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch()
    assert digest_file(str(path)) == EMPTY_SHA256
    path.write_bytes(b"x" * (3 << 20))
    large = digest_file(str(path))
    path.write_bytes(b"x" * (3 << 20) + b"y")
    assert digest_file(str(path)) != large


def test_the_hash_of_a_file_that_grows_while_it_is_read_has_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * 10)
    alone = digest_file(str(path))

    def read_and_grow(file: IO[bytes], size: int) -> bytes:
        with path.open("ab") as log:
            log.write(b"x" * 10)
        return read_bytes(file, size)

    monkeypatch.setattr(files, "read_bytes", read_and_grow)
    assert digest_file(str(path)) == alone
