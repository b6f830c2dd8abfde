from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from evalcase.util.files import (
    IrregularError,
    OutsideError,
    OversizeError,
    open_anew,
    open_file,
    read_file,
    read_start,
)


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
    with pytest.raises(OSError, match="it is a pipe that nobody reads"):
        open_anew("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    with open_anew("pipe") as file:
        file.write(b"hi")
    assert os.read(reader, 10) == b"hi"
    os.close(reader)


@pytest.mark.parametrize("name", ["socket", "nowhere", "a\0b", "\ud800", "x" * 5000, "x/" * 3000])
def test_what_can_not_be_opened_is_an_os_error_with_words(folder: Path, name: str) -> None:
    with pytest.raises(OSError, match=r"\w") as caught:
        open_file(f"{folder}/{name}")
    assert caught.value.strerror


def next_descriptor() -> int:
    """The number that the next file will have: the lowest that is free."""
    descriptor = os.open(os.devnull, os.O_RDONLY)
    os.close(descriptor)
    return descriptor


def test_nothing_stays_open_that_was_refused(folder: Path) -> None:
    (folder / "a").write_text("x")
    before = next_descriptor()
    for name, inside in (("pipe", None), ("folder", None), ("a", str(folder / "folder"))):
        with pytest.raises(OSError, match="it"):
            open_file(str(folder / name), inside)
    assert next_descriptor() == before


def test_a_file_is_not_inherited_by_programs(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    with open_file(str(tmp_path / "a")) as file:
        assert not os.get_inheritable(file.fileno())
        assert file.read() == b"x"


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


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")
def test_a_file_that_says_it_is_empty_is_bounded_all_the_same() -> None:
    """As those of /proc do."""
    assert read_file("/proc/self/status", 100_000)
    with pytest.raises(OversizeError):
        read_file("/proc/self/status", 10)
