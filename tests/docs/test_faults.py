"""The list of faults has a file of tests for each row, and every such test is on the list."""

from __future__ import annotations

import re
from pathlib import Path

from docs.regenerate import ROOT

PAGE = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8").partition("\n## ")[0]
TESTS = ROOT / "tests"
_ROW = re.compile(r"^\| \[(\d+)\]\(\.\./tests/faults/(\S+)\) \|", re.MULTILINE)
_TEST = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)


def names(path: Path) -> list[str]:
    return _TEST.findall(path.read_text(encoding="utf-8"))


def test_every_row_has_a_file_whose_tests_are_named_after_it() -> None:
    rows = _ROW.findall(PAGE)
    assert len(rows) == PAGE.count("\n| ") - 1, "a row that links to no file"
    for number, file in rows:
        found = names(TESTS / "faults" / file)
        assert found, file
        prefix = f"test_fault_{int(number):02}_"
        assert file.startswith(prefix)
        assert [name for name in found if not name.startswith(prefix)] == []


def test_every_file_of_faults_is_in_one_row() -> None:
    listed = [file for _, file in _ROW.findall(PAGE)]
    assert sorted(listed) == sorted(path.name for path in (TESTS / "faults").glob("test_*.py"))


def test_every_test_that_is_named_after_a_fault_names_a_row() -> None:
    numbers = {f"{int(number):02}" for number, _ in _ROW.findall(PAGE)}
    for path in TESTS.rglob("test_*.py"):
        for name in names(path):
            fault = re.match(r"test_fault_(\w+?)_", name)
            assert fault is None or fault[1] in numbers, f"{path.name}: {name}"


def test_numbers_are_unique_and_go_up() -> None:
    numbers = [int(number) for number, _ in _ROW.findall(PAGE)]
    assert numbers == sorted(set(numbers))
