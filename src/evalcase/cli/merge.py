"""`evalcase merge`: the shards of a run put together to one."""

from __future__ import annotations

import os
from contextlib import ExitStack

import click

from evalcase.cli.options import runs_dir_option
from evalcase.cli.running import OutputOptions, Session, output_options
from evalcase.cli.stored import find_project
from evalcase.cli.terminal import write_prose
from evalcase.config.config import Config
from evalcase.config.options import RunOptions
from evalcase.errors import ConfigError, RecordError
from evalcase.report.evaluated import hold_to_gates, read_evaluated
from evalcase.store.folder import Run, Sealer, find_sealer, is_own
from evalcase.store.merge import merge_shards, read_shards
from evalcase.store.runs import FoundRun, find_run, list_runs
from evalcase.store.stored import StoredRun
from evalcase.types.result import first_code
from evalcase.util.environment import Environment, this_environment


@click.command("merge")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--partial", is_flag=True,
    help="Merge the shards there are into an incomplete run, which `resume` can complete.",
)  # fmt: skip
@runs_dir_option
@output_options
def merge_command(
    runs: tuple[str, ...], partial: bool, output: OutputOptions, runs_dir: str | None,
) -> int:  # fmt: skip
    """Merge the shards of a run into one.

    RUNS are runs made with --shard, given by id or folder, or folders of such runs. The result is
    a run like any other, stored with the other runs; the shards are not changed.

    \b
    evalcase run --shard 1/3 --runs-dir shards   on the first of three machines
    evalcase merge shards                        all shards in that folder
    evalcase merge shards --partial              without one that was lost

    The exit code is 2 if shards don't belong together or one is given twice (both are named), 3 if
    one is missing or not complete and --partial is not given, and otherwise that of an unsharded
    run.
    """
    (config, folder), environment = find_project(runs_dir), this_environment()
    session = Session(output, config, runs_dir)
    with ExitStack() as stack:
        named = [each for name in runs for each in _find_runs(name, folder)]
        found = {os.path.realpath(each.run.path): each for each in named}  # each once
        stored = [stack.enter_context(StoredRun(*each)) for each in found.values()]
        shards = read_shards(stored)
        if (lacks := shards.lacks()) and not partial:
            raise RecordError(f"{'; '.join(lacks)}. --partial merges what is there")
        for warning in shards.other_versions():
            write_prose(f"warning: {warning}")
        sealer = _sealer_for([each.run for each in stored], config, environment)
        run = merge_shards(
            shards, folder, config.root,
            now=environment.now(), random=environment.entropy, sealer=sealer,
        )  # fmt: skip
    options = RunOptions.from_dict(run.about.options)
    evaluated = hold_to_gates(read_evaluated(StoredRun(run)), options)
    session.is_own = sealer is not None
    return first_code(evaluated.exit_code, session.conclude(evaluated))


def _find_runs(name: str, folder: str) -> list[FoundRun]:
    """The run of a name; or all that a folder holds."""
    if os.path.isdir(name) and not os.path.exists(os.path.join(name, "run.json")):
        listed = list_runs(os.path.abspath(name))
        damaged = [each.problem for each in listed if each.run is None]
        if damaged:
            raise RecordError(damaged[0])
        runs = [FoundRun(each.run, None) for each in listed if each.run is not None]
        if runs:
            return runs
        try:
            return [find_run(name, folder)]
        except ConfigError:
            raise ConfigError(f"the folder {name} has no runs") from None
    return [find_run(name, folder)]


def _sealer_for(runs: list[Run], config: Config, environment: Environment) -> Sealer | None:
    """What seals the result: nothing, if any of it is a stranger's."""
    if all(is_own(run, environment.state, config.root) for run in runs):
        return find_sealer(environment.state, config.root, environment.entropy)
    return None
