from __future__ import annotations

import json
import os
from pathlib import Path

from tests.cli.command import evalcase

BROKEN = "input: q # keep me\nexpected_output: x\nskip: no\n"
MENDED = "input: q # keep me\nexpected_output: x\nskip: false\n"


def test_what_was_changed_is_shown_and_the_exit_code_is_that_of_what_is_left(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.eval.yaml"
    path.write_text(BROKEN)
    done = evalcase("check", "--fix", cwd=tmp_path)
    assert (done.code, done.err, path.read_text()) == (0, "", MENDED)
    assert done.out == (
        "a.eval.yaml:3:7: no → false\na.eval.yaml: 1 mistake fixed\n\n"
        "no problems found: 1 case in 1 file\n"
    )
    again = evalcase("check", "--fix", cwd=tmp_path)
    assert (again.code, again.out) == (0, "no problems found: 1 case in 1 file\n")


def test_output_for_programs_is_of_what_is_left_only(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text(BROKEN + "nonsense: 1\n")
    done = evalcase("check", "--fix", "--format", "json", cwd=tmp_path)
    assert [each["code"] for each in json.loads(done.out)] == ["unknown-field"]
    assert "no → false" in done.err


def test_a_link_out_of_the_project_is_not_written_through(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside.eval.yaml", tmp_path / "project"
    outside.write_text(BROKEN)
    project.mkdir()
    (project / "evalcase.toml").touch()
    (project / "a.eval.yaml").symlink_to(outside)
    for paths in ([], ["a.eval.yaml"]):
        done = evalcase("check", "--fix", *paths, cwd=project)
        assert done.code == 2
        assert "mended" not in done.out
    assert outside.read_text() == BROKEN


def test_standard_input_is_no_file(tmp_path: Path) -> None:
    done = evalcase("check", "--fix", "-", cwd=tmp_path, stdin=BROKEN.encode())
    assert (done.code, done.out) == (2, "")
    assert "--fix needs files" in done.err


def test_a_file_that_can_not_be_written_is_told_and_still_checked(tmp_path: Path) -> None:
    path = tmp_path / "a.eval.yaml"
    path.write_text(BROKEN)
    os.link(path, tmp_path / "other")
    done = evalcase("check", "--fix", cwd=tmp_path)
    assert (done.code, path.read_text()) == (2, BROKEN)
    assert "a.eval.yaml: can't be written: it has several names" in done.out
    assert "error[bad-value]" in done.out
