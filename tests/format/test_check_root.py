"""Which configuration `check` goes by, and what it does without one."""

from pathlib import Path

import pytest

import evalcase
from tests.format.checking import SUITE, write


def test_the_configuration_of_another_folder(folder: Path) -> None:
    (folder / "sub").mkdir()
    write(folder / "sub", evalcase__toml="[targets.nosuch]\nkind='echo'\n", a__eval__yaml=SUITE)
    assert {p.code for p in evalcase.check("sub")} == {"undefined-target", "no-judge"}
    assert [p.code for p in evalcase.check("sub", root="sub")] == ["unknown-target", "no-judge"]


def test_a_root_is_taken_as_it_is_whatever_lies_above_it(folder: Path) -> None:
    write(folder, evalcase__toml="[targets.nosuch]\nkind='echo'\n")
    (folder / "sub").mkdir()
    write(folder / "sub", a__eval__yaml=SUITE)
    without = {"undefined-target", "no-judge"}
    assert {p.code for p in evalcase.check("sub", root="sub")} == without
    assert {p.code for p in evalcase.check_text(SUITE, "sub/a.eval.yaml", root="sub")} == without
    assert {p.code for p in evalcase.check("sub", root=folder)} == {"unknown-target", "no-judge"}


def test_a_root_that_is_no_folder_is_refused(folder: Path) -> None:
    write(folder, a__eval__yaml="- {input: a, expected_output: b}\n")
    for root, what in (("gone", "gone is not there"), ("a.eval.yaml", "a.eval.yaml is a file")):
        with pytest.raises(evalcase.ConfigError, match=f"folder of a project, and {what}"):
            evalcase.check(".", root=root)
        with pytest.raises(evalcase.ConfigError, match=f"folder of a project, and {what}"):
            evalcase.check_text("", "x.eval.yaml", root=root)
