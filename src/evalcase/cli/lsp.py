"""`evalcase lsp`: the language server, for editors to start."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

from evalcase.cli import declare


@declare.command("lsp")
def command() -> int:
    """Talk to an editor by the language server protocol, over standard input and output.

    An editor starts it: the problems of `check` while you type, completion, explanations, quick
    fixes, the places that names stand for, and beside each case what became of it in the newest
    run. Nothing of the project is executed, and nothing is written.

    It needs pygls, which the extra `lsp` brings: pip install "pygls>=2.0"

    Exit code: 0 after the editor has ended it; 1 if the editor is gone; 2 without the extra.
    """
    try:
        from evalcase.lsp.features import make_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        sys.stderr.write(
            "evalcase: the language server needs pygls, which the extra `lsp` brings: "
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
