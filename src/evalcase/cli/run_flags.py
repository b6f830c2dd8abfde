"""Options that several commands of runs have, declared once: a flag means the same in each."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from evalcase.cli import declare

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
        raise declare.WrongValueError("a finite number is needed")
    return value


def max_cost(help: str) -> declare.Decorator:
    return declare.option(
        "--max-cost", "max_cost_usd", callback=check_finite,
        type=declare.FloatRange(0, meant="a number of US dollars, for example 2.5"),
        metavar="USD", help=help,
    )  # fmt: skip


def concurrency(help: str) -> declare.Decorator:
    return declare.option("--concurrency", type=declare.IntRange(1), help=help)


def max_errors(help: str) -> declare.Decorator:
    return declare.option("--max-errors", type=declare.IntRange(0), metavar="N", help=help)


def fail_under(help: str) -> declare.Decorator:
    return declare.option(
        "--fail-under", callback=check_finite, type=declare.FloatRange(0, 1), metavar="RATE",
        help=help,
    )  # fmt: skip


def env_file(help: str) -> declare.Decorator:
    return declare.option("--env-file", type=declare.ExistingFile(), metavar="FILE", help=help)


no_exec: declare.Decorator = declare.option(
    "--no-exec", is_flag=True, help="Refuse to start processes or import code."
)
cluster: declare.Decorator = declare.option(
    "--cluster", metavar="PATH",
    help="Cases with the same value at PATH, such as metadata.topic, are treated as related.",
)  # fmt: skip
runs_dir: declare.Decorator = declare.option(
    "--runs-dir", metavar="FOLDER", help="Where runs are stored. [default: .evalcase/runs]"
)
processes: declare.Decorator = declare.option(
    "--processes", type=declare.IntRange(1, 1000), metavar="N",
    help="Run trials in N separate processes: a crash costs only one trial.",
)  # fmt: skip
engine: declare.Decorator = declare.option(
    "--engine", metavar="NAME", help="Where trials run: in-process, processes or ray."
)
on: declare.Decorator = declare.option(
    "--on", metavar="ADDRESS", help="A Ray cluster: ray://HOST:PORT, HOST:PORT or auto."
)
quiet: declare.Decorator = declare.option(
    "--quiet", is_flag=True, help="Print only the last lines."
)
as_json: declare.Decorator = declare.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object."
)
