"""What a real spreadsheet makes of the CSV report: Gnumeric reads it, openpyxl what that writes.

Without Gnumeric these are skipped, and say so; with `EVALCASE_SPREADSHEET=needed`, as in `.ci/run`,
that is a failure.
"""

import os
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest
from openpyxl import load_workbook

from tests.cli.command import LIMIT_S
from tests.run.project import Project

TEXTS = {
    "formula": "=1+1", "sum": "@SUM(A1:A9)", "plus": "+49 30 1234", "minus": "-2",
    "command": "=cmd|' /C calc'!A0", "tab": "\t=1", "full": "\uff1d1+1",
    "lines": "one\ntwo\n\nthree", "quotes": 'say "hi", she; said: """', "zeros": "007",
    "unicode": "Grüße 🎉 日本語 e\u0301", "right": "שלום עולם", "apostrophe": "it's",
    "markup": "<script>alert(1)</script>&amp;",
}  # fmt: skip


@pytest.fixture
def converter() -> str:
    found = shutil.which("ssconvert")
    if found is None:
        said = "no spreadsheet: `apt-get install gnumeric` brings one"
        if os.environ.get("EVALCASE_SPREADSHEET") == "needed":
            pytest.fail(said)
        pytest.skip(said)
    return found


def read_cells(project: Project, converter: str, folder: Path) -> dict[str, dict[str, object]]:
    """Rows by case, and cells by column. No cell may be a formula."""
    project.run("report", "--format", "csv", "-o", "out.csv")
    done = subprocess.run(
        [converter, str(project.path / "out.csv"), str(folder / "out.xlsx")],
        check=False, capture_output=True, timeout=LIMIT_S,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it misses a style that nobody needs
        sheet = load_workbook(folder / "out.xlsx").worksheets[0]
    head, *rows = list(sheet.iter_rows())
    assert not [cell.coordinate for row in rows for cell in row if cell.data_type == "f"]
    names = [str(cell.value) for cell in head]
    told: list[dict[str, object]] = [
        {name: cell.value for name, cell in zip(names, row, strict=True)} for row in rows
    ]
    return {str(row["case"]): row for row in told}


def test_a_spreadsheet_shows_what_was_said_and_calculates_nothing(
    project: Project, converter: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project.suite(*({"id": name, "input": text, "expected_output": text}
                    for name, text in TEXTS.items()), target="echo")  # fmt: skip
    project.run("run", "--quiet")
    rows = read_cells(project, converter, tmp_path_factory.mktemp("sheet"))
    answers = {name: row["answer"] for name, row in rows.items()}
    assert answers == TEXTS
    assert {row["verdict"] for row in rows.values()} == {"passed"}
    assert {row["repeat"] for row in rows.values()} == {1}
    assert all(isinstance(row["duration_s"], int | float) for row in rows.values())
