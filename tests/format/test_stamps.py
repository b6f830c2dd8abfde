from __future__ import annotations

import os
from pathlib import Path

from evalcase.cli.check import changed_files, stamp_files


def test_files_that_are_changed_added_or_removed_are_told(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name in ("same.txt", "gone.txt", "below/changed.txt"):
        (tmp_path / name).write_text("1")
    before = stamp_files([str(tmp_path)])
    (tmp_path / "gone.txt").unlink()
    (tmp_path / "new.txt").write_text("1")
    (tmp_path / "below" / "changed.txt").write_text("22")
    found = changed_files(before, stamp_files([str(tmp_path)]))
    assert found == [str(tmp_path / each) for each in ("below/changed.txt", "gone.txt", "new.txt")]


def test_a_change_that_keeps_the_size_is_told_by_its_time(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("1")
    before = stamp_files([str(tmp_path)])
    about = path.stat()
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns + 1))
    assert changed_files(before, stamp_files([str(tmp_path)])) == [str(path)]


def test_what_is_no_business_of_a_check_is_not_looked_at(tmp_path: Path) -> None:
    for name in (".git", ".evalcase", "node_modules", "__pycache__", "env"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("1")
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert [*stamp_files([str(tmp_path), str(tmp_path / "none")])] == [str(tmp_path / "loop")]
