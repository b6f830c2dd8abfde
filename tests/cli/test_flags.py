"""What the commands of runs declare is what they read: nothing that a person says is lost."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from types import ModuleType

import click
import pytest

from evalcase.cli import grade, resume, run, running

SHARED: dict[str, Callable[..., object]] = {
    "take_process": running.take_process,
    "read_engine": running.read_engine,
}
"""What reads flags for several commands."""


def read_by(source: str) -> set[str]:
    """The flags that a source reads itself, and by whom it has others read."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Subscript(ast.Name("flags"), ast.Constant(str() as name)):
                found.add(name)
            case ast.Call(ast.Name(str() as name)) if name in SHARED:
                found |= read_by(inspect.getsource(SHARED[name]))
    return found


def declared_by(command: click.Command) -> set[str]:
    return {str(each.name) for each in command.params}


@pytest.mark.parametrize("module", [run, resume, grade])
def test_every_flag_is_read(module: ModuleType) -> None:
    assert read_by(inspect.getsource(module)) == declared_by(module.command)


def test_a_flag_that_nobody_reads_is_found() -> None:
    @click.command("some")
    @click.option("--quiet", is_flag=True)
    @click.option("--other")
    def some(**flags: object) -> int:
        return 0 if flags["quiet"] else 1

    assert declared_by(some) - read_by('if flags["quiet"]: pass') == {"other"}
