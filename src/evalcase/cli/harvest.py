"""`evalcase harvest`: the draft of a suite of what really happened."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import click

from evalcase.cli.options import Count, checked
from evalcase.config.config import load_config
from evalcase.errors import ConfigError
from evalcase.format.source import STDIN, format_of
from evalcase.importers.harvest import Harvested, HarvestOptions, harvest_file
from evalcase.runner.plan import make_scrubber
from evalcase.tracing.otlp import BadTraceError
from evalcase.util.files import OutsideError, write_atomically
from evalcase.util.project import leaves_by_link
from evalcase.util.secrets import PERSONAL, Finder
from evalcase.util.text import make_visible, write_count

_SHOWN = 5


def _read_only(given: tuple[str, ...]) -> tuple[str, ...]:
    for each in given:
        key, is_pair, _ = each.partition("=")
        if each not in ("errored", "slow") and not (is_pair and key):
            raise click.BadParameter(f"'{each}' is not errored, slow or KEY=VALUE.")
    return given


@click.command("harvest")
@click.argument("traces")
@click.option(
    "-o", "--output", metavar="FILE",
    help="Where to write the suite; by default, standard output. Never overwrites a file.",
)  # fmt: skip
@click.option(
    "--only", multiple=True, metavar="WHICH", callback=checked(_read_only),
    help="'errored': a span failed; 'slow': the slowest tenth; KEY=VALUE: a span has that "
    "attribute. Repeatable: all must hold.",
)  # fmt: skip
@click.option(
    "--sample", type=Count(1), metavar="N", help="A random sample of N cases.",
)  # fmt: skip
@click.option(
    "--seed", type=Count(0), default=0, show_default=True, metavar="N",
    help="The seed of --sample: the same number draws the same cases.",
)  # fmt: skip
@click.option(
    "--criteria", is_flag=True,
    help="Draft criteria for a judge from the answers, instead of an expected output.",
)  # fmt: skip
@click.option("--keep-system", is_flag=True, help="Keep the agent's system messages.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
def command(
    traces: str, output: str | None, only: tuple[str, ...], sample: int | None, seed: int,
    criteria: bool, keep_system: bool, dry_run: bool,
) -> int:  # fmt: skip
    """Draft a suite from an agent's traces, for a person to finish.

    TRACES is an OTLP JSON file, with one export per line or one for the whole file. Each trace
    becomes a case: the question is its input, and the answer a draft of its expected output.
    Near-duplicate questions are merged into one. Keys, e-mail addresses and whatever else your
    patterns match (`[harvest]` in evalcase.toml) are replaced. Nothing is executed or fetched.

    \b
    evalcase harvest traces.jsonl -o real.eval.yaml
    evalcase harvest traces.jsonl --only errored --dry-run
    evalcase harvest traces.jsonl --only service.name=shop --sample 50 --seed 1

    Exit code: 0, 1 if a trace could not be converted to a case, 2 if nothing was written.
    """
    to_file = output not in (None, STDIN)
    if to_file and output is not None:
        if format_of(output) != "yaml":
            return _refuse_output(
                f"{make_visible(output)} is not a .yaml or .yml file, and a suite is YAML"
            )
        if os.path.lexists(output):
            return _refuse_output(f"{make_visible(output)} already exists")
    try:
        config = load_config(os.getcwd(), os.getcwd())
        finders = (
            *(PERSONAL if config.harvest.defaults else ()),
            *_make_finders(config.harvest.patterns),
        )
        options = HarvestOptions(traces, only, sample, seed, criteria, keep_system, finders)
        harvested = harvest_file(options, make_scrubber(config, os.environ, lambda _: None))
    except ConfigError as error:
        return _refuse_output(str(error))
    except OSError as error:
        return _refuse_output(f"{make_visible(traces)} can't be read: {error.strerror or error}")
    except BadTraceError as error:
        return _refuse_output(make_visible(f"{traces}{error}"))
    if not harvested.cases:
        _tell_harvest(harvested, sys.stderr.write)
        return _refuse_output(f"{make_visible(traces)} has no trace that can become a case")
    if not dry_run and not _write_suite(harvested.text, output if to_file else None):
        return 2
    talk = sys.stdout if to_file or dry_run else sys.stderr
    place = make_visible(output) if output is not None and to_file else "standard output"
    done = "would write" if dry_run else "wrote"
    talk.write(f"{done} {place}: {write_count(harvested.cases, 'case')} of "
               f"{write_count(harvested.traces, 'trace')}\n")  # fmt: skip
    _tell_harvest(harvested, talk.write)
    return 1 if harvested.left_out else 0


def _make_finders(patterns: dict[str, str]) -> tuple[Finder, ...]:
    return tuple(Finder(name, pattern) for name, pattern in patterns.items())


def _refuse_output(why: str) -> int:
    sys.stderr.write(f"evalcase: {why}; nothing was written\n")
    return 2


def _tell_harvest(harvested: Harvested, write: Callable[[str], object]) -> None:
    if harvested.chosen < harvested.traces:
        write(f"chosen    {harvested.chosen:,} by --only\n")
    if harvested.merged:
        write(f"folded    {harvested.merged:,} that ask nearly the same as another\n")
    if harvested.replaced:
        told = [f"{name} × {times:,}" for name, times in harvested.replaced.items()]
        write(f"replaced  {', '.join(told)}\n")
    for number, why in enumerate(harvested.left_out):
        if number == _SHOWN:
            write(f"          and {len(harvested.left_out) - _SHOWN:,} more\n")
            break
        write(f"{'left out' if not number else '':8}  {make_visible(why)}\n")


def _write_suite(text: str, path: str | None) -> bool:
    if path is None:
        sys.stdout.write(text)
        return True
    try:
        if leaves_by_link(path):
            raise OutsideError
        write_atomically(path, text.encode(), replace=False)
    except OSError as error:
        _refuse_output(f"{make_visible(path)} can't be written: {error.strerror or error}")
        return False
    return True
