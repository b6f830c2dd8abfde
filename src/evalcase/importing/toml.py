"""Targets to the part of `evalcase.toml` that configures them."""

from __future__ import annotations

from collections.abc import Mapping

from evalcase.format.toml import write_key, write_setting
from evalcase.types.value import JSON


def write_targets(targets: Mapping[str, Mapping[str, JSON]], judge: str | None = None) -> str:
    """A table for each target, and one that says which of them judges."""
    tables = []
    for name, options in targets.items():
        lines = [f"[targets.{write_key(name)}]"]
        lines += [write_setting(option, value) for option, value in options.items()]
        tables.append("\n".join(lines) + "\n")
    if judge is not None:
        tables.append(f"[judge]\n{write_setting('target', judge)}\n")
    return "\n".join(tables)
