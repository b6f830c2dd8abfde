"""`evalcase view` and `evalcase lsp`: the servers for browsers and for editors."""

from __future__ import annotations

import os
import sys

import click

from evalcase.cli.options import runs_dir_option
from evalcase.cli.terminal import find_project
from evalcase.report.terminal import Reader
from evalcase.runner.event_loop import run_async
from evalcase.store.runs import find_run
from evalcase.util.environment import this_environment


@click.command("view")
@click.argument("run", required=False)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="PORT",
    help="The port to listen on. [default: any free port]",
)  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@runs_dir_option
def view_command(run: str | None, port: int, no_browser: bool, runs_dir: str | None) -> int:
    """Browse all runs of this project in the browser: open, compare, or watch one in progress.

    With RUN, its page is opened. Only records are read, and nothing is written. The server answers
    only this machine, at an address that can't be guessed; Ctrl-C stops it.

    \b
    evalcase view                        the list of runs
    evalcase view latest                 the newest one
    evalcase view --port 8765 --no-browser       on another machine, and here:
    ssh -L 8765:localhost:8765 HOST      then open the address it printed
    """
    from evalcase.report.view import Listing, serve_viewer  # aiohttp

    (config, folder), environment = find_project(runs_dir), this_environment()
    found = find_run(run, folder).run if run is not None else None
    listing = Listing(folder, config.root, environment.state)
    serving = serve_viewer(
        listing, Reader(environment.cwd, config), environment, sys.stdout, run=found, port=port,
        opens_browser=not no_browser,
    )  # fmt: skip
    try:
        run_async(serving)
    except KeyboardInterrupt:
        return 0
    return 0


@click.command("lsp")
def lsp_command() -> int:
    """Start the language server, which talks to an editor over standard input and output.

    Editors start it. It offers the problems of `check` as you type, completion, hover texts, quick
    fixes, go to definition, and the verdict of each case in the newest run. Nothing in the project
    is executed, and nothing is written.

    It needs pygls, which the extra `lsp` installs: pip install "pygls>=2.0"

    Exit code: 0 if the editor shut it down; 1 if the editor is gone; 2 without the extra.
    """
    try:
        from evalcase.editor.server import make_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        sys.stderr.write(
            "evalcase: the language server needs pygls, from the extra `lsp`: "
            'pip install "pygls>=2.0"\n'
        )
        return 2
    # Standard output is for the protocol alone: whatever else is printed goes to standard error.
    sys.stdout.flush()
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    server = make_server()
    server.start_io(sys.stdin.buffer, output)
    return 0 if server.is_shut_down else 1
