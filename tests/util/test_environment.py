import os
import resource
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evalcase.util.environment import allow_descriptors, make_key, read_key, state_folder
from tests.for_each import for_each


def test_a_key_is_made_once_and_for_its_user_only(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "evalcase"
    key = make_key(str(folder))
    assert (len(key), make_key(str(folder)), read_key(str(folder))) == (32, key, key)
    assert [path.name for path in folder.iterdir()] == ["key"]
    assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def empty(key: Path) -> None:
    key.write_bytes(b"")
    key.chmod(0o600)


def readable(key: Path) -> None:
    key.write_bytes(bytes(32))
    key.chmod(0o644)


def link(key: Path) -> None:
    other = key.with_name("other")
    other.write_bytes(bytes(32))
    other.chmod(0o600)
    key.symlink_to(other)


def pipe(key: Path) -> None:
    os.mkfifo(key, 0o600)


@for_each(
    ("spoil", "why"),
    [
        (empty, "it is damaged"),
        (readable, "others can read or write it"),
        (link, "it is a link"),
        (pipe, "not a regular file"),
    ],
)
def test_what_others_may_have_put_there_is_no_key_and_stays(
    tmp_path: Path, spoil: Callable[[Path], None], why: str
) -> None:
    spoil(tmp_path / "key")
    before = os.lstat(tmp_path / "key")
    for get in (read_key, make_key):
        with pytest.raises(OSError, match=why):
            get(str(tmp_path))
    after = os.lstat(tmp_path / "key")
    assert (after.st_ino, after.st_mode, after.st_size) == (
        before.st_ino, before.st_mode, before.st_size
    )  # fmt: skip


def test_a_key_of_somebody_else_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_key(str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(OSError, match="it belongs to another user"):
        read_key(str(tmp_path))


@for_each(
    ("environment", "found"),
    [
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/evalcase"),
        ({"XDG_STATE_HOME": "x", "HOME": "/h"}, "/h/.local/state/evalcase"),
        ({"XDG_STATE_HOME": "", "HOME": "/h"}, "/h/.local/state/evalcase"),
        ({"HOME": "/h"}, "/h/.local/state/evalcase"),
        ({"HOME": "here"}, None),
        ({}, None),
    ],
)
def test_where_the_state_of_a_user_is(environment: dict[str, str], found: str | None) -> None:
    assert state_folder(environment) == found


@pytest.fixture
def limit() -> Iterator[int]:
    """The number of descriptors that the process may have, which is set to it again."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_as_many_are_allowed_as_are_needed_and_can_be(limit: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, limit))
    allow_descriptors(200)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (300, limit)
    allow_descriptors(400)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (400, limit)
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, limit))
    allow_descriptors(10**9)
    most = 10_240 if limit == resource.RLIM_INFINITY else min(10_240, limit)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (most, limit)
