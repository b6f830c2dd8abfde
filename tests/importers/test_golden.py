"""Files in the formats of others, and what becomes of each: `NAME.in.ENDING` is imported with the
options in `NAME.arguments`, if there are any, to `NAME.eval.yaml`; what is said of it is in
`NAME.said`. `python -m tests.importers.test_golden` writes them anew.
"""

import os
import shlex
import shutil
import tempfile
from pathlib import Path

import pytest

import evalcase
from tests.cli.in_process import run_in_process
from tests.for_each import for_each

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*/*.in.*"))


def import_golden(path: Path, folder: Path) -> tuple[str, str]:
    """The suite that comes of a file, and what is said of it, with the exit code."""
    stem = path.name.partition(".in.")[0]
    arguments = path.with_name(f"{stem}.arguments")
    own = shlex.split(arguments.read_text()) if arguments.exists() else []
    shutil.copytree(path.parent, folder, dirs_exist_ok=True)
    output = f"{stem}.out.eval.yaml"
    ended = run_in_process(["import", path.name, *own, "-o", output], cwd=folder, env=ENVIRONMENT)
    assert ended.code in (0, 1), (path, ended)
    said = f"{ended.stderr.decode()}{ended.stdout.decode()}exit code {ended.code}\n"
    return (folder / output).read_text(), said


ENVIRONMENT = {"PATH": os.environ.get("PATH", "")}


def golden_paths(path: Path) -> tuple[Path, Path]:
    stem, _, ending = path.name.partition(".in.")
    return (
        path.with_name(f"{stem}.{ending}.eval.yaml"),
        path.with_name(f"{stem}.{ending}.said"),
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_file_becomes_the_suite_that_is_known_to_be_right(path: Path, tmp_path: Path) -> None:
    suite, said = import_golden(path, tmp_path)
    expected_suite, expected_said = golden_paths(path)
    assert suite == expected_suite.read_text()
    assert said == expected_said.read_text()


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that is here, where no project is around it."""
    folder = tmp_path_factory.mktemp("importing") / "copied"
    return Path(shutil.copytree(HERE, folder))


@for_each("path", FILES)
def test_every_suite_passes_the_check(path: Path, copied: Path) -> None:
    folder = copied / path.parent.name
    if "[repos." in golden_paths(path)[1].read_text():
        return  # it needs what is printed, as below
    problems = evalcase.check([folder / golden_paths(path)[0].name], root=folder)
    assert [str(each) for each in problems if each.severity == "error"] == []


@for_each("path", FILES)
def test_every_suite_passes_the_check_with_the_tables_that_are_printed(
    path: Path, tmp_path: Path
) -> None:
    suite, said = golden_paths(path)
    printed = said.read_text().partition("for evalcase.toml:")[2].partition("exit code")[0]
    if not printed:
        return
    folder = Path(shutil.copytree(path.parent, tmp_path / "project", dirs_exist_ok=True))
    (folder / "evalcase.toml").write_text(printed)
    ended = run_in_process(["check", suite.name], cwd=folder, env=ENVIRONMENT)
    assert ended.code == 0, ended


def _write_all() -> None:
    for path in FILES:
        with tempfile.TemporaryDirectory() as folder:
            texts = import_golden(path, Path(folder))
        for golden, text in zip(golden_paths(path), texts, strict=True):
            golden.write_text(text)


if __name__ == "__main__":
    _write_all()
