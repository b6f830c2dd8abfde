"""`evalcase workspace`: the workspace of a stored trial, made again in a folder."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator

import click

from evalcase.cli.options import runs_dir_option
from evalcase.cli.resume import require_own, trust_option
from evalcase.cli.terminal import print_lines, write_prose
from evalcase.config.catalogue import Catalogue
from evalcase.config.config import Config, load_config, read_env_file
from evalcase.errors import ConfigError, RecordError
from evalcase.format.load import load_file
from evalcase.runner.plan import make_scrubber
from evalcase.runner.resume import read_request
from evalcase.runner.workspaces import Workspaces, check_machine
from evalcase.store.folder import Run, folder_of_run
from evalcase.store.runs import find_run
from evalcase.store.stored import StoredRun
from evalcase.types.result import Result
from evalcase.types.value import replace
from evalcase.types.workspace import Changes, WorkspaceError
from evalcase.util.environment import Environment, this_environment
from evalcase.util.text import make_visible, write_count


@click.command("workspace")
@click.argument("run")
@click.argument("folder", metavar="DIR")
@click.option("--case", required=True, metavar="ID", help="The id of the case.")
@click.option("--target", metavar="NAME", help="The target, if there are several.")
@click.option(
    "--repeat", type=click.IntRange(1), metavar="N", help="The repeat, if there are several."
)
@runs_dir_option
@trust_option
def workspace_command(
    run: str, folder: str, case: str, target: str | None, repeat: int | None,
    runs_dir: str | None, trust: bool,
) -> int:  # fmt: skip
    """Make the workspace of a stored trial again, as the agent left it, in the new folder DIR.

    The commands of `prepare` and `setup` are run for it, as the suite has them now. If the files
    come out otherwise than they were, nothing is written. A run that was made by somebody else, or
    elsewhere, is refused unless you pass --trust.

    \b
    evalcase workspace latest --case discount look/
    evalcase workspace latest --case discount --target agent --repeat 2 look/
    """
    config, environment = load_config(os.getcwd(), os.getcwd()), this_environment()
    found, _ = find_run(run, config.find_runs(runs_dir))
    if not trust:
        require_own(found, config)
    if os.path.lexists(folder):
        raise ConfigError(f"{folder} is there already: name a new folder")
    if (env_file := read_request(found).env_file) is not None:
        environment.variables.update({**read_env_file(env_file), **environment.variables})
    with StoredRun(found) as stored:
        result = _find_trial(stored.results(), case, target, repeat)
    changes = result.workspace
    assert changes is not None
    environment = replace(environment, cwd=os.path.join(config.root, folder_of_run(found)))
    asyncio.run(_rebuild(found, config, environment, result, changes, os.path.abspath(folder)))
    changed = f"{write_count(len(changes.changed), 'file')} changed"
    print_lines([f"{make_visible(folder)}: {make_visible(case)} at {result.key.target}, {changed}"])
    return 0


def _find_trial(
    results: Iterator[Result], case: str, target: str | None, repeat: int | None
) -> Result:
    """The one trial that is meant. Raise ConfigError if there is none, or more than one."""
    found = [
        each for each in results
        if each.key.case == case and each.workspace is not None
        and target in (None, each.key.target) and repeat in (None, each.key.repeat)
    ]  # fmt: skip
    if not found:
        raise ConfigError(f"the run has no such trial of case `{case}` with a workspace")
    for name in ("suite", "target", "repeat"):
        several = sorted({str(getattr(each.key, name)) for each in found})
        if len(several) > 1:
            what = f"there are several trials of case `{case}`"
            hint = "name one by an id of its own" if name == "suite" else f"add --{name}"
            raise ConfigError(f"{what}: {hint}, which is one of {', '.join(several)}")
    return found[0]


async def _rebuild(
    run: Run, config: Config, environment: Environment, result: Result, changes: Changes,
    folder: str,
) -> None:  # fmt: skip
    check_machine(environment.variables)
    scrubber = make_scrubber(config, environment.variables, write_prose)
    suite, id = os.path.join(environment.cwd, result.key.suite), result.key.case
    loaded = load_file(suite, Catalogue())
    cases = loaded.suite.cases if loaded.suite is not None else ()
    case = next((each for each in cases if each.id == id and each.has_workspace), None)
    if case is None:
        raise ConfigError(f"{suite} has no valid case `{id}` with a workspace any more")
    workspaces = Workspaces(run.path, config, environment, scrubber, write_prose)
    try:
        space = workspaces.reserve(case, result.key.suite, result.key.target, changes.isolation)
        await workspaces.rebuild(space, changes, ready=False)
        await asyncio.to_thread(shutil.move, space.path, folder)
    except WorkspaceError as error:
        raise RecordError(f"the workspace can't be made again: {error}") from None
    except OSError as error:
        raise ConfigError(f"{folder} can't be written: {error.strerror or error}") from None
    finally:
        await workspaces.close()
