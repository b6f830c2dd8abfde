import os
import socket
from pathlib import Path

import pytest

from evalcase.util.files import (
    UNREADABLE,
    IrregularError,
    OutsideError,
    OversizeError,
    digest_file,
    digest_files,
    open_file,
    open_to_write,
    read_file,
    read_start,
    write_atomically,
)
from tests.store.faults import ForgetfulDisk, SmallDisk, StutteringDisk


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One of each that is not a regular file: a pipe that nobody writes to, a socket, a folder."""
    monkeypatch.chdir(tmp_path)  # the address of a socket must be short
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "link-to-pipe").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    return tmp_path


# What is opened.


@pytest.mark.parametrize("name", ["pipe", "link-to-pipe", "folder", "zero", "/dev/null"])
def test_what_is_no_regular_file_is_refused_without_waiting(folder: Path, name: str) -> None:
    with pytest.raises(IrregularError, match="it is not a regular file"):
        open_file(str(folder / name))
    with pytest.raises(IrregularError):
        read_file(str(folder / name), 10)
    with pytest.raises(IrregularError):
        read_start(str(folder / name), 10)


@pytest.mark.usefixtures("folder")
def test_a_pipe_that_nobody_reads_is_not_written_to() -> None:
    with pytest.raises(OSError, match="it is a pipe that no program reads"):
        open_to_write("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    with open_to_write("pipe") as file:
        file.write(b"hi")
    assert os.read(reader, 10) == b"hi"
    os.close(reader)


# Where it has to lie.


def test_a_file_has_to_lie_inside_once_links_are_followed(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "deep").mkdir(parents=True)
    (project / "in.txt").write_text("in")
    (tmp_path / "out.txt").write_text("out")
    (tmp_path / "project-twin").write_text("twin")
    (project / "link-in").symlink_to("in.txt")
    (project / "link-out").symlink_to("../out.txt")
    (project / "away").symlink_to("..")
    (tmp_path / "door").symlink_to("project")
    for name in ("in.txt", "link-in", "deep/../in.txt", "away/project/in.txt"):
        assert read_file(str(project / name), 10, inside=str(project)) == b"in"
        assert read_file(str(project / name), 10, inside=str(tmp_path / "door")) == b"in"
    for name in ("link-out", "../out.txt", "away/out.txt", "../project-twin"):
        assert read_file(str(project / name), 10)
        with pytest.raises(OutsideError, match="outside the project"):
            read_file(str(project / name), 10, inside=str(project))


def test_what_was_opened_counts_and_not_what_has_the_name_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link that is turned around between the opening and the look at it."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "mine.txt").write_text("mine")
    (tmp_path / "secret.txt").write_text("secret")
    link = project / "link"
    link.symlink_to("../secret.txt")
    opened = os.open

    def open_then_turn(path: str, flags: int) -> int:
        descriptor = opened(path, flags)
        link.unlink()
        link.symlink_to("mine.txt")
        return descriptor

    monkeypatch.setattr(os, "open", open_then_turn)
    with pytest.raises(OutsideError):
        open_file(str(link), str(project))


# How much is read.


def test_a_bound_holds_for_the_size_and_for_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_file(str(path), 5) == b"12345"
    with pytest.raises(OversizeError, match="it is larger than 4 bytes"):
        read_file(str(path), 4)
    assert read_start(str(path), 5) == (b"12345", False)
    assert read_start(str(path), 4) == (b"1234", True)
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(OversizeError, match=r"larger than 1,000 bytes"):
        read_file(str(path), 1000)


def test_what_can_not_be_read_has_a_word_in_place_of_a_hash(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "nowhere", ".", "/dev/zero"):
        assert digest_file(str(tmp_path / name)) == UNREADABLE
        assert digest_files({"x": str(tmp_path / name)}) == {"x": UNREADABLE}


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
