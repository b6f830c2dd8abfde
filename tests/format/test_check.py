"""Projects with mistakes: `check` and `run` find the same, at the same places, and import nothing.

Each folder of `tests/corpus/wrong` is a project. What is found in a file stands in it, as comments:

    # expect: CODE LINE:COL       an error of `check`, which refuses a run, too
    # warn: CODE LINE:COL         a warning of `check`, which a run is not refused for
    # stops: CODE LINE:COL        a warning of `check`, which a run is refused for
    # check only: CODE LINE:COL   an error of `check` in what the run doesn't use

Behind it may stand `unless --target`: it is about a target that is tested, and a run whose targets
the command line names is not refused for it.
"""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase.types.value import replace
from tests.format.checking import CANARY, Found, problems_of_run, told, write

CORPUS = Path(__file__).parent.parent / "corpus" / "wrong"
ANNOUNCED = re.compile(r"# (expect|warn|stops|check only): (\S+) (\d+):(\d+)( unless --target)?")
MODULES = ("agent", "checks", "a")


def projects() -> list[Any]:
    return [pytest.param(path, id=path.name) for path in sorted(CORPUS.iterdir())]


@pytest.fixture
def project(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A copy of a project, in which every module tells if it is imported."""
    source: Path = request.param
    folder = tmp_path / source.name
    shutil.copytree(source, folder)
    for module in MODULES:
        # Whatever is looked for in it, it may have.
        (folder / f"{module}.py").write_text(CANARY + "def __getattr__(name): ...\n")
    # What no linter would let stand here.
    write(folder, broken__py="import pathlib\n\ndef f(:\n")
    (folder / "pack").mkdir()
    (folder / "pack" / "__init__.py").write_text("")
    (folder / "pack" / "fine.py").write_text("def f(): ...\n")
    # What no repository holds well.
    write(tmp_path, elsewhere__py="def f(): ...\n")
    (folder / "linked.py").symlink_to(tmp_path / "elsewhere.py")
    (folder / "linked.answers").symlink_to(tmp_path / "elsewhere.py")
    (folder / "linked-program").symlink_to(sys.executable)
    (folder / "dangling").symlink_to(tmp_path / "nowhere")
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.answers")
    monkeypatch.chdir(folder)
    return folder


def announced(folder: Path, *kinds: str, of_tested: bool = True) -> list[Found]:
    found: list[Found] = []
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            for kind, code, line, column, unless in ANNOUNCED.findall(path.read_text()):
                if kind in kinds and (of_tested or not unless):
                    name = str(path.relative_to(folder)).removesuffix(".expect")
                    found.append((code, name, int(line), int(column)))
    return sorted(found)


def assert_nothing_is_imported(folder: Path) -> None:
    assert list(folder.rglob("*.sang")) == []
    assert not (folder / ".evalcase").exists()


def test_the_canary_sings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agent_canary.py").write_text(CANARY + "def answer(text): return text\n")
    (tmp_path / "a.eval.yaml").write_text("- {input: hi, expected_output: hi}\n")
    monkeypatch.chdir(tmp_path)
    evalcase.evaluate(".", "python:agent_canary:answer")
    assert list(tmp_path.glob("*.sang"))


@pytest.mark.parametrize("project", projects(), indirect=True)
def test_check_finds_everything_at_its_place_and_imports_nothing(project: Path) -> None:
    problems = evalcase.check(".")
    assert told(problems, "error") == announced(project, "expect", "check only")
    assert told(problems, "warning", "note") == announced(project, "warn", "stops")
    assert_nothing_is_imported(project)


@pytest.mark.parametrize("project", projects(), indirect=True)
def test_a_run_is_refused_with_the_same_problems_and_imports_nothing(project: Path) -> None:
    problems = problems_of_run()
    assert told(problems, "error") == announced(project, "expect", "stops")
    assert told(problems, "warning", "note") == []
    checked = {replace(problem, stops=True) for problem in evalcase.check(".")}
    assert set(problems) <= checked
    assert_nothing_is_imported(project)


@pytest.mark.parametrize("project", projects(), indirect=True)
def test_a_run_of_another_target_is_refused_with_all_but_what_that_replaces(project: Path) -> None:
    expected = announced(project, "expect", "stops", of_tested=False)
    if expected:
        assert told(problems_of_run(target="echo"), "error") == expected
    else:
        evalcase.evaluate(".", "echo")
    assert list(project.rglob("*.sang")) == []


@pytest.mark.parametrize("project", projects(), indirect=True)
def test_text_that_is_not_saved_has_the_same_problems(project: Path) -> None:
    found = evalcase.check(".")
    for path in sorted(project.rglob("*")):
        name = str(path.relative_to(project))
        if path.name == "journal.jsonl":
            continue
        if path.suffix in (".yaml", ".jsonl", ".toml") and ".suite." not in name:
            text = path.read_text()
            path.write_text("")
            beside = name.replace(".eval.jsonl", ".suite.yaml")
            expected = [problem for problem in found if problem.path in (name, beside)]
            problems = [p for p in evalcase.check_text(text, name) if p.path in (name, beside)]
            path.write_text(text)
            assert told(problems, "error", "warning") == told(expected, "error", "warning")
