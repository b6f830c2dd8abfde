"""What pytest was told about evals, by its options and its configuration, as options of a run."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import isfinite
from typing import Any, NamedTuple, cast

import pytest

from evalcase.errors import ConfigError
from evalcase.project.config import Config, read_config
from evalcase.project.keywords import Keywords, read_keywords


def _read_number(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(text)
    return value


_VALUES: dict[str, tuple[str, Callable[[str], object], str]] = {
    "concurrency": ("concurrency", int, "a whole number"),
    "repeat": ("repeat", int, "a whole number"),
    "timeout": ("timeout_s", _read_number, "a number of seconds"),
    "retries": ("retries", int, "a whole number"),
    "max_cost": ("max_cost_usd", _read_number, "a number of dollars"),
    "max_errors": ("max_errors", int, "a whole number"),
    "env_file": ("env_file", str, ""),
    "runs_dir": ("runs_dir", str, ""),
}
_PATHS = ("env_file", "runs_dir")
_FLAGS = ("cache", "no_exec", "retry_timeouts")


class EvalSettings(NamedTuple):
    """How evals are to be run."""

    config: Config
    """That of the project."""
    cwd: str
    """What paths are seen from."""
    targets: tuple[str, ...]
    """Those that take the place of what suites name."""
    keywords: Keywords


def read_settings(config: pytest.Config) -> EvalSettings:
    """Raise pytest.UsageError if something can't be used."""
    given = config.getoption("evals_target") or config.getini("evalcase_target")
    targets = tuple(dict.fromkeys(given))
    values: dict[str, Any] = {}
    for name, (keyword, read, words) in _VALUES.items():
        text, said_by = _find_value(config, name)
        if text is not None:
            try:
                values[keyword] = read(text)
            except ValueError:
                raise pytest.UsageError(f"{said_by} is {words}, not {text!r}") from None
    for name in _FLAGS:
        if config.getoption(f"evals_{name}") or config.getini(f"evalcase_{name}"):
            values[name] = True
    keywords = cast("Keywords", values)
    try:
        read_keywords((), targets, keywords)
    except ConfigError as error:
        raise pytest.UsageError(f"--evals: {error}") from error
    cwd = os.getcwd()
    return EvalSettings(read_config(_find_project(config, cwd), cwd), cwd, targets, keywords)


def _find_value(config: pytest.Config, name: str) -> tuple[str | None, str]:
    """What was said, and by what. A path in a file is seen from pytest's root folder."""
    text: str | None = config.getoption(f"evals_{name}")
    if text is not None:
        return text, f"--evals-{name.replace('_', '-')}"
    text = config.getini(f"evalcase_{name}")
    if text and name in _PATHS:
        text = os.path.join(config.rootpath, text)
    return text or None, f"`evalcase_{name}`"


def _find_project(config: pytest.Config, cwd: str) -> str:
    """As for the command, the project is that of the working folder; from outside, pytest's."""
    root = os.path.realpath(config.rootpath)
    is_inside = os.path.commonpath([root, os.path.realpath(cwd)]) == root
    return cwd if is_inside else root
