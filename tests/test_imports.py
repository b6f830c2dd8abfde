"""Any module of the package can be imported first: no imports go in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import evalcase

FOLDER = Path(evalcase.__file__).parent


def find_files(folder: Path) -> dict[str, Path]:
    """The modules of a package, and the file of each."""
    found = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imported(statements: Sequence[ast.AST]) -> Iterator[str]:
    """What is imported when a module is, and not only by a function of it or for its types."""
    for statement in statements:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)
        elif isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from imported(statement.orelse)
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.expr):
            yield from imported([*ast.iter_child_nodes(statement)])


def graph(folder: Path) -> dict[str, set[str]]:
    """Which modules each imports, with the packages that these are in."""
    files = find_files(folder)
    found: dict[str, set[str]] = {}
    for module, path in files.items():
        names = [name.split(".") for name in imported(ast.parse(path.read_bytes()).body)]
        parts = {".".join(name[:end]) for name in names for end in range(1, len(name) + 1)}
        found[module] = (parts & files.keys()) - {module}
    return found


def test_no_imports_go_in_a_circle() -> None:
    imports = graph(FOLDER)
    assert len(imports) > 40
    assert "evalcase.cli.declare" in imports["evalcase.cli.app"]
    TopologicalSorter(imports).prepare()


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(f"if 1:\n    from {tmp_path.name} import two\n")
    (tmp_path / "two.py").write_text(f"class A:\n    import {tmp_path.name}.one\n")
    with pytest.raises(CycleError):
        TopologicalSorter(graph(tmp_path)).prepare()
