from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalcase.util.files import write_atomically
from tests.store.faults import ForgetfulDisk, SmallDisk, StutteringDisk


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_and_one_that_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_atomically(str(path), b"one")
    assert path.read_bytes() == b"one"
    path.chmod(0o640)
    inode = path.stat().st_ino
    write_atomically(str(path), b"two", StutteringDisk())
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"two", 0o640)
    assert path.stat().st_ino != inode
    assert names(tmp_path) == ["a"]


def test_a_new_file_is_made_with_the_mode_that_any_program_would_give_it(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_atomically(str(tmp_path / "a"), b"one")
    finally:
        os.umask(mask)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("disk", [SmallDisk(2), ForgetfulDisk(1)])
def test_what_was_there_stays_when_writing_fails(tmp_path: Path, disk: SmallDisk) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one")
    with pytest.raises(OSError, match=r"No space|error"):
        write_atomically(str(path), b"three", disk)
    assert path.read_bytes() == b"one"
    assert names(tmp_path) == ["a"]


def test_a_file_is_replaced_only_if_it_still_is_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one")
    for before in (b"", b"on", b"one more", b"two"):
        with pytest.raises(OSError, match="changed by someone else"):
            write_atomically(str(path), b"three", before=before)
    assert names(tmp_path) == ["a"]
    write_atomically(str(path), b"three", before=b"one")
    assert path.read_bytes() == b"three"


def test_a_file_that_may_not_be_replaced_stays_also_when_it_came_in_between(tmp_path: Path) -> None:
    path = tmp_path / "a"

    class Overtaken(StutteringDisk):
        def fsync(self, fd: int) -> None:
            super().fsync(fd)
            path.write_bytes(b"theirs")

    with pytest.raises(FileExistsError):
        write_atomically(str(path), b"ours", Overtaken(), replace=False)
    assert path.read_bytes() == b"theirs"
    with pytest.raises(FileExistsError):
        write_atomically(str(path), b"ours", replace=False)
    write_atomically(str(tmp_path / "b"), b"ours", replace=False)
    assert (tmp_path / "b").read_bytes() == b"ours"
    assert names(tmp_path) == ["a", "b"]


def test_a_link_is_followed_and_stays_one(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real").write_bytes(b"one")
    (tmp_path / "link").symlink_to("folder/real")
    write_atomically(str(tmp_path / "link"), b"two")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "real").read_bytes() == b"two"


def test_what_can_not_be_replaced_says_why(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one")
    os.link(path, tmp_path / "b")
    with pytest.raises(OSError, match="several names") as caught:
        write_atomically(str(path), b"two")
    assert caught.value.strerror
    with pytest.raises(FileNotFoundError):
        write_atomically(str(tmp_path / "nowhere" / "a"), b"two")
    assert path.read_bytes() == b"one"
