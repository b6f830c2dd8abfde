"""Which configuration `check` goes by, and what it does without one."""

from __future__ import annotations

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


def test_it_is_shown_as_seen_from_where_a_person_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, evalcase__toml="x = 1\n", a__eval__yaml="- {input: a, expected_output: b}\n")
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder / "sub")
    (problem,) = evalcase.check("..")
    assert problem.path == "../evalcase.toml"
    monkeypatch.chdir("/")
    (problem,) = evalcase.check(folder, root=folder)
    assert problem.path == str(folder.resolve() / "evalcase.toml")


def test_hints_name_the_file_that_has_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.evalcase]\nretries = 1\n")
    suite = "- {input: x, criteria: Is kind., target: bot}\n- {input: y, target: 'http://a.b'}\n"
    (tmp_path / "a.eval.yaml").write_text(suite)
    judge, bot, address = (problem.hint or "" for problem in evalcase.check("a.eval.yaml"))
    assert judge == (
        "add to pyproject.toml, with the target that judges:\n"
        '[tool.evalcase.judge]\ntarget = "openai:MODEL"'
    )
    assert bot.startswith("add [tool.evalcase.targets.bot] to pyproject.toml, or write kind:value")
    assert address == "add [tool.evalcase.targets.NAME] to pyproject.toml, and name that here"
    (tmp_path / "a.eval.yaml").write_text("- {input: x, expected_output: x}\n")
    with pytest.raises(evalcase.ConfigError, match=r"in \[tool.evalcase\] of pyproject.toml"):
        evalcase.evaluate("a.eval.yaml")
