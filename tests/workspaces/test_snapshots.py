"""The files of a folder before and after are compared, and nothing is left of the comparison."""

import os
import tracemalloc
from pathlib import Path

import pytest

from evalcase.types.workspace import Changes
from evalcase.util.snapshots import MOST_PATCH_BYTES, Tree, apply_patch, compare, hash_files, scan
from tests.for_each import for_each


class Folders:
    """A folder before and after, and one for what a comparison needs."""

    def __init__(self, root: Path) -> None:
        self.before, self.after, self.work = root / "before", root / "after", root / "work"
        for each in (self.before, self.after, self.work):
            each.mkdir(parents=True)

    def trees(self) -> tuple[Tree, Tree]:
        before, after = (
            hash_files(str(each), scan(str(each))) for each in (self.before, self.after)
        )
        return before, after

    def compare(self, before: Tree, after: Tree) -> tuple[Changes, bytes | None]:
        sides = {"before": str(self.before), "after": str(self.after)}
        return compare(before, after, lambda path, side: f"{sides[side]}/{path}", str(self.work))


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def test_nothing_is_left_of_a_comparison_or_of_a_patch_that_was_applied(folders: Folders) -> None:
    (folders.before / "a").write_text("old\n")
    (folders.after / "a").write_text("new\n")
    for _ in range(2):
        changes, patch = folders.compare(*folders.trees())
        assert "-old\n+new\n" in changes.diff
        assert list(folders.work.iterdir()) == []
    assert patch is not None
    apply_patch(patch, str(folders.before))
    assert (folders.before / "a").read_text() == "new\n"
    with pytest.raises(OSError, match="git apply: "):
        apply_patch(patch, str(folders.before))
    assert len(list(folders.work.parent.iterdir())) == 3


@for_each(["now", "stored"], [("01", b"01\0\0\0\0\0\0"), ("0123456789", b"01234567")])
def test_a_file_that_is_written_while_it_is_compared_keeps_the_size_it_had(
    tmp_path: Path, now: str, stored: bytes
) -> None:
    folders = Folders(tmp_path / now)
    (folders.after / "log").write_text("01234567")
    (folders.after / "other").write_text("whole")
    trees = folders.trees()
    (folders.after / "log").write_text(now)
    changes, patch = folders.compare(*trees)
    assert [(each.path, each.size[1]) for each in changes.changed] == [("log", 8), ("other", 5)]
    assert patch is not None
    apply_patch(patch, str(folders.before))
    assert (folders.before / "log").read_bytes() == stored
    assert (folders.before / "other").read_text() == "whole"


def test_a_large_file_is_listed_without_its_text_and_never_held_as_a_whole(
    folders: Folders,
) -> None:
    size = 100_000_000
    (folders.after / "data.txt").touch()
    os.truncate(folders.after / "data.txt", size)
    tracemalloc.start()
    try:
        changes, patch = folders.compare(*folders.trees())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    (change,) = changes.changed
    assert (change.path, change.size, change.binary) == ("data.txt", (0, size), True)
    assert changes.diff.splitlines()[-1] == "Binary files /dev/null and b/data.txt differ"
    assert not changes.diff_cut
    assert patch is not None
    assert most < 1.2 * MOST_PATCH_BYTES
