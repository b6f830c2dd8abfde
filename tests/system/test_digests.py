from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalcase.system import digests
from evalcase.system.digests import UNREADABLE, FileDigests, digest_file


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

    monkeypatch.setattr(digests, "digest_file", count)
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
