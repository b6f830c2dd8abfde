"""What is found wrong in a project, by `check` and by a run."""

from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase.types.problem import Problem

CANARY = "from pathlib import Path\nPath(__file__).with_suffix('.sang').touch()\n"
SUITE = """\
target: nosuch
cases:
  - {id: one, input: hi, expected_output: hi}
  - {id: two, input: hi, expected_output: hi, target: other}
  - {id: three, input: hi, criteria: Is kind., target: echo}
"""
Found = tuple[str, str, int | None, int | None]


def told(problems: list[Problem], *severities: str) -> list[Found]:
    return sorted((p.code, p.path, p.line, p.column) for p in problems if p.severity in severities)


def problems_of_run(paths: str | Path = ".", **options: Any) -> list[Problem]:
    """What a run, of the current folder, is refused with."""
    with pytest.raises((evalcase.SuiteError, evalcase.ConfigError)) as caught:
        evalcase.evaluate(paths, **options)
    error = caught.value
    assert isinstance(error, evalcase.SuiteError | evalcase.ConfigError)
    return list(error.problems)


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
