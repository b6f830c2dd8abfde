"""Options that several commands of runs have, declared once: a flag means the same in each."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import click

from evalcase.cli.options import Count, Decorator, Number, checked, existing_file

if TYPE_CHECKING:
    from typing import TypedDict

    class SharedFlags(TypedDict):
        """What these are to the commands that have them."""

        max_cost_usd: float | None
        max_errors: int | None
        fail_under: float | None
        no_exec: bool
        env_file: str | None
        reports: tuple[str, ...]
        runs_dir: str | None
        quiet: bool
        as_json: bool

    class EngineFlags(TypedDict):
        """Where trials are answered."""

        processes: int | None
        engine: str | None
        on: str | None


def check_finite(value: float | None) -> float | None:
    """A number of an option; `nan` and `inf` are none."""
    if value is not None and not isfinite(value):
        raise click.BadParameter("a finite number is needed")
    return value


def max_cost(help: str) -> Decorator:
    return click.option(
        "--max-cost", "max_cost_usd", callback=checked(check_finite),
        type=Number(0, meant="a number of US dollars, for example 2.5"),
        metavar="USD", help=help,
    )  # fmt: skip


def concurrency(help: str) -> Decorator:
    return click.option("--concurrency", type=Count(1), help=help)


def max_errors(help: str) -> Decorator:
    return click.option("--max-errors", type=Count(0), metavar="N", help=help)


def fail_under(help: str) -> Decorator:
    return click.option(
        "--fail-under", callback=checked(check_finite), type=Number(0, 1), metavar="RATE",
        help=help,
    )  # fmt: skip


def env_file(help: str) -> Decorator:
    return click.option("--env-file", type=existing_file(), metavar="FILE", help=help)


no_exec: Decorator = click.option(
    "--no-exec", is_flag=True, help="Refuse to start processes or import code."
)
cluster: Decorator = click.option(
    "--cluster", metavar="PATH",
    help="Cases with the same value at PATH, such as metadata.topic, are treated as related.",
)  # fmt: skip
runs_dir: Decorator = click.option(
    "--runs-dir", metavar="FOLDER", help="Where runs are stored. [default: .evalcase/runs]"
)
processes: Decorator = click.option(
    "--processes", type=Count(1, 1000), metavar="N",
    help="Run trials in N separate processes: a crash costs only one trial.",
)  # fmt: skip
engine: Decorator = click.option(
    "--engine", metavar="NAME", help="Where trials run: in-process, processes or ray."
)
on: Decorator = click.option(
    "--on", metavar="ADDRESS", help="A Ray cluster: ray://HOST:PORT, HOST:PORT or auto."
)
quiet: Decorator = click.option("--quiet", is_flag=True, help="Print only the last lines.")
as_json: Decorator = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
