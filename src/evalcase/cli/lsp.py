"""`evalcase lsp`: the language server, for editors to start."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

import click


@click.command("lsp")
def command() -> int:
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
    server = make_server()
    server.start_io(sys.stdin.buffer, _take_output())
    return 0 if server.is_shut_down else 1


def _take_output() -> BinaryIO:
    """Standard output for the protocol alone: whatever else is printed goes to standard error."""
    sys.stdout.flush()
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return output
