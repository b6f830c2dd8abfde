"""`evalcase.toml`, or `[tool.evalcase]` of `pyproject.toml`, to a configuration."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from math import inf
from typing import Any

from evalcase.errors import ConfigError
from evalcase.system.files import read_file
from evalcase.system.project_root import project_root
from evalcase.text.suggest import did_you_mean

_MOST_BYTES = 10_000_000
_SETTINGS: dict[str, type | tuple[type, ...]] = {
    "target": str,
    "targets": dict,
    "secrets": list,
    "concurrency": int,
    "timeout_s": (int, float),
    "retries": int,
    "grader_timeout_s": (int, float),
    "runs_dir": str,
    "cache": bool,
}


@dataclass(frozen=True, slots=True)
class Config:
    """What a project says about running its suites. Everything has a default."""

    root: str
    """The project's folder, from which Python targets are imported."""
    path: str | None = None
    """The file it was read from."""
    target: str | None = None
    """The target of cases that name none."""
    targets: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Options by name; `kind` says what sort of target it is."""
    secrets: tuple[str, ...] = ()
    """Environment variables whose values never reach a record or the terminal."""
    concurrency: int = 10
    timeout_s: float = 120.0
    retries: int = 2
    runs_dir: str | None = None
    grader_timeout_s: float = 120.0
    """How long a grader may take that says nothing else."""
    cache: bool = False
    """Whether answers are taken from the cache, and kept there."""


def load_config(start: str) -> Config:
    """The configuration of the project that a folder belongs to."""
    root = project_root(os.path.realpath(start))
    for name, table in (("evalcase.toml", ()), ("pyproject.toml", ("tool", "evalcase"))):
        path = os.path.join(root, name)
        if os.path.isfile(path):
            data = _read_toml(path)
            for key in table:
                data = data.get(key, {}) if isinstance(data, dict) else {}
            if data or not table:
                return _config(root, path, data)
    return Config(root)


def _read_toml(path: str) -> Any:  # noqa: ANN401 - whatever the file holds
    import tomllib

    try:
        return tomllib.loads(read_file(path, _MOST_BYTES).decode())
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None


def _config(root: str, path: str, data: dict[str, Any]) -> Config:
    for name, value in data.items():
        if name not in _SETTINGS:
            raise ConfigError(f"{path}: `{name}` is not a setting{_nearest(name)}")
        wanted = _SETTINGS[name]
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise ConfigError(f"{path}: `{name}` has the wrong type: {value!r}")
    _check_targets(path, data.get("targets", {}))
    _check_numbers(path, data)
    secrets = data.get("secrets", [])
    if not all(isinstance(name, str) for name in secrets):
        raise ConfigError(f"{path}: `secrets` is a list of names of environment variables")
    settings = {name: value for name, value in data.items() if name != "secrets"}
    return Config(root, path, secrets=tuple(secrets), **settings)


def _check_targets(path: str, targets: dict[str, Any]) -> None:
    for name, options in targets.items():
        if not isinstance(options, dict) or not isinstance(options.get("kind"), str):
            raise ConfigError(f'{path}: [targets.{name}] needs a kind, such as kind = "python"')


def _check_numbers(path: str, data: dict[str, Any]) -> None:
    for name, least in (
        ("concurrency", 1),
        ("retries", 0),
        ("timeout_s", 0.001),
        ("grader_timeout_s", 0.001),
    ):
        if not least <= data.get(name, least) < inf:
            raise ConfigError(f"{path}: `{name}` is {least} or more")


def _nearest(name: str) -> str:
    hint = did_you_mean(name, _SETTINGS)
    return f": {hint}" if hint else ""
