"""The options of pytest for evals, as options of a run."""

from __future__ import annotations

import os
from math import isfinite
from typing import Any, NamedTuple, cast

import pytest

from evalcase.config.config import Config, read_config
from evalcase.config.options import Keywords, RunFlag, list_run_flags, read_keywords
from evalcase.errors import ConfigError
from evalcase.pytest_plugin import OPTIONS


class EvalSettings(NamedTuple):
    """How evals are to be run."""

    config: Config
    """That of the project."""
    cwd: str
    """The folder that paths are relative to."""
    targets: tuple[str, ...]
    """They replace the targets that suites name."""
    keywords: Keywords


def read_settings(config: pytest.Config) -> EvalSettings:
    """Raise pytest.UsageError if something can't be used."""
    given = config.getoption("evals_target") or config.getini("evalcase_target")
    values: dict[str, Any] = {}
    flags = list_run_flags()
    for flag in (flags[name] for name in OPTIONS):
        name = flag.flag.replace("-", "_")
        asked = config.getoption(f"evals_{name}")
        where = f"--evals-{flag.flag}"
        if asked is None:
            asked, where = config.getini(f"evalcase_{name}") or None, f"`evalcase_{name}`"
            if asked and flag.metavar in ("FILE", "FOLDER"):
                # A path in a file is seen from pytest's root folder.
                asked = os.path.join(config.rootpath, asked)
        if asked is not None:
            values[flag.option.name] = _read_value(flag, asked, where)
    try:
        read_keywords(values)
    except ConfigError as error:
        raise pytest.UsageError(f"--evals: {error}") from error
    cwd = os.getcwd()
    project = read_config(_find_project(config, cwd), cwd)
    return EvalSettings(project, cwd, tuple(dict.fromkeys(given)), cast("Keywords", values))


def _read_value(flag: RunFlag, asked: str | bool, where: str) -> object:
    json = flag.option.takes.json
    if json not in ("integer", "number"):
        return asked
    try:
        number = float(asked)
        if isfinite(number):
            return int(asked) if json == "integer" else number
    except ValueError:
        pass
    raise pytest.UsageError(f"{where} is {flag.words}, not {asked!r}")


def _find_project(config: pytest.Config, cwd: str) -> str:
    """As for the command, the project is that of the working folder; from outside, pytest's."""
    root = os.path.realpath(config.rootpath)
    is_inside = os.path.commonpath([root, os.path.realpath(cwd)]) == root
    return cwd if is_inside else root
