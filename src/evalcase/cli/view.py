"""`evalcase view`: all runs of the project in the browser, served to this machine alone."""

from __future__ import annotations

import os
import sys

import click

from evalcase.cli.errors import explain_errors
from evalcase.cli.options import Count, runs_dir_option
from evalcase.cli.paths import look_for_runs
from evalcase.store.runs import find_run
from evalcase.util.environment import this_environment


@click.command("view")
@click.argument("run", required=False)
@click.option(
    "--port", type=Count(0, 65535), default=0, metavar="PORT",
    help="The port to listen on. [default: any free port]",
)  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@runs_dir_option
@explain_errors
def command(run: str | None, port: int, no_browser: bool, runs_dir: str | None) -> int:
    """Browse all runs of this project in the browser: open, compare, or watch one in progress.

    With RUN, its page is opened. Only records are read, and nothing is written. The server answers
    only this machine, at an address that can't be guessed; Ctrl-C stops it.

    \b
    evalcase view                        the list of runs
    evalcase view latest                 the newest one
    evalcase view --port 8765 --no-browser       on another machine, and here:
    ssh -L 8765:localhost:8765 HOST      then open the address it printed
    """
    from evalcase.report.view import Opening, serve_viewer
    from evalcase.runner.event_loop import run_async

    config = look_for_runs(os.getcwd())
    folder = config.find_runs(runs_dir)
    found = find_run(run, folder).run if run is not None else None
    opening = Opening(folder, config, found, port, opens_browser=not no_browser)
    try:
        run_async(serve_viewer(opening, this_environment(), sys.stdout))
    except KeyboardInterrupt:
        return 0
    return 0
