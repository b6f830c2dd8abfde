"""The entry point: the exit code is right whatever user code has left behind."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress

from evalcase import __version__

END_S = 3.0
"""How long threads and exit handlers of user code may take when all is done."""


def main() -> None:
    """Run the command and leave with its exit code, whatever user code has left behind."""
    if sys.argv[1:] == ["--version"]:  # without the time that imports take
        sys.stdout.write(f"evalcase {__version__}\n")
        raise SystemExit(0)
    code = 3  # not concluded
    try:
        run_command = _import_at_once()
        code = run_command(sys.argv[1:])
    except KeyboardInterrupt:  # before anything was there to see to it
        sys.stderr.write("evalcase: interrupted\n")
        code = 130
    except BaseException as error:  # noqa: BLE001 - not even what it means could be told
        sys.stderr.write(f"evalcase: can't continue: {type(error).__name__}\n")
    if "evalcase.runner.event_loop" in sys.modules:
        _end_process(code)
    raise SystemExit(code)


def _import_at_once() -> Callable[[list[str]], int]:
    """Import what the command needs, and keep the garbage collector from looking at it: all of it
    stays until the end. A fifth of what a start takes would go into those looks."""
    gc.disable()
    from evalcase.cli.app import COMMANDS, command_of, run_command

    if len(sys.argv) > 1 and sys.argv[1] in COMMANDS:
        command_of(sys.argv[1])
    gc.freeze()
    gc.enable()
    return run_command


def _end_process(code: int) -> None:
    """Python waits for threads and exit handlers before it ends, and closes coroutines that were
    abandoned; some of them never end. Then the exit code still has to be the right one."""
    import threading
    import time

    from evalcase.util.user_calls import has_abandoned

    def leave(wait_s: float) -> None:
        time.sleep(wait_s)
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):  # user code may have closed or replaced it
                stream.flush()
        os._exit(code)

    if has_abandoned():
        leave(0)
    threading.Thread(target=leave, args=(END_S,), name="evalcase-end", daemon=True).start()
