"""`evalcase explain` says what the page of a diagnostic code says, and `check` names it."""

from __future__ import annotations

import tomllib
from pathlib import Path

from evalcase.cli.reference import read_page
from evalcase.types.problem import CODES
from tests.cli.in_process import run_in_process
from tests.cli.pseudo_terminal import PseudoTerminal
from tests.for_each import for_each

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "diagnostics"


def explain(folder: Path, *arguments: str) -> tuple[int, str, str]:
    ended = run_in_process(["explain", *arguments], cwd=folder, env={})
    return ended.code, ended.stdout.decode(), ended.stderr.decode()


@for_each("code", CODES)
def test_every_code_has_its_page(code: str) -> None:
    assert read_page(code) == (PAGES / f"{code}.md").read_text(encoding="utf-8")


def test_an_installed_package_has_the_same_pages() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    included = build["targets"]["wheel"]["force-include"]
    assert included == {"docs/diagnostics": "evalcase/diagnostics"}


def test_a_code_is_explained_as_it_is_printed(tmp_path: Path) -> None:
    code, told, _ = explain(tmp_path, "error[unknown-field]")
    assert code == 0
    assert told.lstrip().startswith("unknown-field\n\nError. A field isn't part of the format.\n")
    assert "expcted_output: Lima" in told
    assert explain(tmp_path, "unknown-field") == (0, told, "")


def test_a_code_that_is_not_there_is_answered_with_the_nearest(tmp_path: Path) -> None:
    code, told, error = explain(tmp_path, "unknown-feild")
    assert (code, told) == (2, "")
    assert "did you mean `unknown-field`?" in error
    for strange in ("xyz", "not-a-list"):
        assert "lists all codes" in explain(tmp_path, strange)[2]


def test_without_a_code_all_are_listed(tmp_path: Path) -> None:
    code, told, _ = explain(tmp_path)
    assert code == 0
    assert [line.split()[0] for line in told.splitlines()] == [*CODES]


def test_on_a_terminal_the_list_is_broken_between_words(tmp_path: Path) -> None:
    terminal = PseudoTerminal(tmp_path, "explain")
    terminal.finish()
    lines = terminal.text.splitlines()
    assert max(map(len, lines)) <= 80
    start = next(at for at, line in enumerate(lines) if line.startswith("unknown-file-type"))
    assert lines[start].endswith(" evalcase doesn't")
    assert lines[start + 1].split() == ["read."]


def test_check_names_it_on_a_terminal_where_there_are_problems(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text("input: hi\nexpcted_output: x\n")
    (tmp_path / "b.eval.yaml").write_text("input: hi\nexpected_output: x\n")
    piped = run_in_process(["check", "a.eval.yaml"], cwd=tmp_path, env={})
    assert b"evalcase explain" not in piped.stdout
    assert "evalcase explain unknown-field tells more" in _show_on_terminal(tmp_path, "a.eval.yaml")
    assert "evalcase explain" not in _show_on_terminal(tmp_path, "b.eval.yaml")


def _show_on_terminal(folder: Path, name: str) -> str:
    terminal = PseudoTerminal(folder, "check", name)
    terminal.finish()
    return terminal.text
