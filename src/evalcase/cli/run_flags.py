"""Flags of several commands. Those of a run are made of its options, which `config` declares."""

from __future__ import annotations

import os
import re
from typing import Any

import click

from evalcase.cli.array_shard import read_shard
from evalcase.cli.options import Count, Decorator, F, Number, checked, existing_file
from evalcase.config.options import RunFlag, Shard, list_run_flags

_FLAGS = list_run_flags()


def run_option(name: str, help: str = "") -> Decorator:
    """The flag of an option of a run. A command is given None for one that is not used."""
    flag = _FLAGS[name]
    declaration = f"--{flag.flag}"
    if flag.is_switch:
        if flag.option.default is None:
            declaration = f"{declaration}/--no-{flag.flag}"
        return click.option(declaration, name, is_flag=True, default=None, help=help or flag.about)
    return click.option(
        declaration, name, type=_make_type(flag), multiple=flag.is_repeatable, metavar=flag.metavar,
        callback=checked(_read_shard) if name == "shard" else None, help=help or flag.about,
    )  # fmt: skip


def run_options(*names: str, **helps: str) -> Decorator:
    """Several of them in this order, by default all. `helps` have sentences of their own."""

    def decorate(command: F) -> F:
        for name in reversed((*names, *helps) or (*_FLAGS,)):
            command = run_option(name, helps.get(name, ""))(command)
        return command

    return decorate


def _make_type(flag: RunFlag) -> click.ParamType[Any] | None:
    type = flag.option.takes
    if flag.option.name == "env_file":
        return existing_file()
    match type.json:
        case "choice":
            return click.Choice(type.bounds["enum"])
        case "integer":
            return Count(type.bounds.get("minimum"), type.bounds.get("maximum"))
        case "number":
            meant = f"{flag.words}, for example {flag.option.example}"
            is_over = "exclusiveMinimum" in type.bounds
            least, most = type.bounds.get("minimum", 0), type.bounds.get("maximum")
            return Number(least, most, min_open=is_over, meant=meant)
    return None


def _read_shard(value: str | None) -> Shard | None:
    if value is None:
        return None
    auto = re.fullmatch(r"auto(?:/([1-9][0-9]{0,8}))?", value)
    if auto is None and value.startswith("auto"):
        raise click.BadParameter("write it as auto, or as auto/5 for five parts")
    try:
        if auto is None:
            return Shard.parse(value)
        return read_shard(os.environ, int(auto[1]) if auto[1] else None)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


runs_dir = run_option("runs_dir")
cluster: Decorator = click.option(
    "--cluster", metavar="PATH",
    help="Cases with the same value at PATH, such as metadata.topic, are treated as related.",
)  # fmt: skip
quiet: Decorator = click.option("--quiet", is_flag=True, help="Print only the last lines.")
as_json: Decorator = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
