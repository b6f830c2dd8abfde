"""The options of commands, on click. Those of a run are made of its options, which `config`
declares."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import isfinite
from typing import Any, TypeVar

import click

from evalcase.config.options import RunFlag, Shard, list_run_flags
from evalcase.report.formats import MAX_SIZE

F = TypeVar("F", bound=Callable[..., Any] | click.Command)


class WrongUsageError(click.UsageError):
    """What a command has against its options, taken together."""

    def __init__(self, message: str) -> None:
        super().__init__(message, click.get_current_context(silent=True))


def checked(check: Callable[[Any], Any]) -> Callable[..., Any]:
    """A callback for click: `check` is given the value, or None where there is none, and gives what
    the command is told. It raises click.BadParameter."""
    return lambda _context, _parameter, value: check(value)


class GroupedOption(click.Option):
    """An option that stands under a heading of the help page of a GroupedCommand."""

    def __init__(self, *args: Any, group: str, **kwargs: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(*args, **kwargs)
        self.group = group


class GroupedCommand(click.Command):
    """A command with so many options that its help page has headings for them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        others: list[tuple[str, str]] = []
        for each in self.get_params(ctx):
            row = each.get_help_record(ctx) if isinstance(each, click.Option) else None
            if row is not None:
                if isinstance(each, GroupedOption):
                    groups.setdefault(each.group, []).append(row)
                else:
                    others.append(row)
        for heading, rows in {**groups, "Output": others}.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


class Number(click.FloatRange):
    """A finite number in a range. Of shares, one from 1 to 100 is meant as per cent."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - whatever click has
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        try:
            number = float(super().convert(value, param, ctx))
        except click.BadParameter as error:
            with suppress(ValueError):
                share = float(str(value).removesuffix("%")) / 100
                if self.max == 1 and 0.01 < share <= 1:
                    self.fail(f"{error.message} Did you mean {share:g}?", param, ctx)
            raise
        if not isfinite(number):
            self.fail("a finite number is needed", param, ctx)
        return number


stdin_format = click.option(
    "--stdin-format",
    type=click.Choice(["yaml", "json", "jsonl"]),
    default="yaml",
    show_default=True,
    help="The format of standard input, when a path is '-'.",
)


_ARRAYS = {
    "SLURM_ARRAY_TASK_ID": (
        "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_STEP",
    ),
    "JOB_COMPLETION_INDEX": ("0", "", "1"),
    "CI_NODE_INDEX": ("1", "CI_NODE_TOTAL", "1"),
    "CIRCLE_NODE_INDEX": ("0", "CIRCLE_NODE_TOTAL", "1"),
    "BUILDKITE_PARALLEL_JOB": ("0", "BUILDKITE_PARALLEL_JOB_COUNT", "1"),
    "CLOUD_RUN_TASK_INDEX": ("0", "CLOUD_RUN_TASK_COUNT", "1"),
}  # fmt: skip
"""The variables by which schedulers tell a task its number. For each: the number of the first task,
how many there are (Kubernetes doesn't say), and the step between two; a number, or its variable."""


def read_shard(environment: Mapping[str, str], of: int | None) -> Shard:
    """The shard of this process, of as many as its scheduler says, or as are asked for.

    Raise ValueError, with what to do, where it isn't said, or not clearly: a wrong guess would run
    some cases twice, and others never.
    """
    found = [each for each in _ARRAYS if environment.get(each)]
    if len(found) != 1:
        known = " and ".join(found) or f"none of {', '.join(_ARRAYS)}"
        why = "this is not an array task" if not found else "it isn't clear which task this is"
        raise ValueError(f"{why}: {known} is set; write it as 2/5")
    name = found[0]
    first, total, step = _ARRAYS[name]
    count = _read_number(total, environment) if total else of
    if count is None:
        raise ValueError(f"nothing says how many tasks {name} is one of: write it as auto/5")
    if of not in (None, count):
        raise ValueError(f"{total} is {count}, not {of}")
    ahead = _read_number(name, environment) - _read_number(first, environment)
    place, rest = divmod(ahead, max(_read_number(step, environment), 1))
    if rest or not 0 <= place < count:
        told = f"{name} is {environment[name]}, which is not one of {count} tasks without a gap"
        raise ValueError(f"{told}: write it as 2/5")
    return Shard(place + 1, count)


def _read_number(name: str, environment: Mapping[str, str]) -> int:
    text = name if name.isdigit() else environment.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise ValueError(f"{name} is {text!r:.60}, which is not a number of tasks")
    return int(text)


_FLAGS = list_run_flags()


def run_option(name: str, help: str = "") -> Callable[[F], F]:
    """The flag of an option of a run. A command is given None for one that is not used."""
    flag = _FLAGS[name]
    declarations = [*([f"-{flag.short}"] if flag.short else []), f"--{flag.flag}"]
    takes: dict[str, Any] = {
        "type": _make_type(flag), "multiple": flag.option.json == "array",
        "metavar": flag.metavar, "callback": checked(_read_shard) if name == "shard" else None,
    }  # fmt: skip
    if flag.is_switch:
        takes = {"is_flag": True, "default": None}
        if flag.option.default is None:
            declarations = [f"--{flag.flag}/--no-{flag.flag}"]
    return click.option(
        *declarations, name, cls=GroupedOption, group=flag.group, help=help or flag.about, **takes
    )


def run_options(*names: str, **helps: str) -> Callable[[F], F]:
    """Several of them in this order, by default all. `helps` have sentences of their own."""

    def decorate(command: F) -> F:
        for name in reversed((*names, *helps) or (*_FLAGS,)):
            command = run_option(name, helps.get(name, ""))(command)
        return command

    return decorate


def _make_type(flag: RunFlag) -> click.ParamType[Any] | None:
    type = flag.option
    if flag.option.name == "env_file":
        return click.Path(exists=True, dir_okay=False)
    match type.json:
        case "choice":
            return click.Choice(type.bounds["enum"])
        case "integer":
            return click.IntRange(type.bounds.get("minimum", 0), type.bounds.get("maximum"))
        case "number":
            is_over = "exclusiveMinimum" in type.bounds
            least, most = type.bounds.get("minimum", 0), type.bounds.get("maximum")
            return Number(least, most, min_open=is_over)
    return None


def _read_shard(value: str | None) -> Shard | None:
    auto = re.fullmatch(r"auto(?:/([1-9][0-9]{0,8}))?", value or "")
    try:
        if auto is not None:
            return read_shard(os.environ, int(auto[1]) if auto[1] else None)
        return None if value is None else Shard.parse(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


runs_dir_option = run_option("runs_dir")
cluster_option = click.option(
    "--cluster", metavar="PATH",
    help="Cases with the same value at PATH, such as metadata.topic, are treated as related.",
)  # fmt: skip
verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Show all figures: latency, tokens, judging, votes."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def _read_size(text: str) -> int:
    """A number of bytes, as people write one: `50MB`, `800 kB`."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kmg]?)b?", text.strip().lower())
    size = round(float(found[1]) * 1000 ** " kmg".index(found[2] or " ")) if found else 0
    if size <= 0:
        raise click.BadParameter(f"`{text}` is not a size; write 50MB, or 800kB")
    return size


max_size_option = click.option(
    "--max-size", metavar="SIZE", default=f"{MAX_SIZE // 1_000_000}MB", show_default=True,
    callback=checked(_read_size),
    help="Size limit of an HTML page: above it, details of passed cases are left out.",
)  # fmt: skip
