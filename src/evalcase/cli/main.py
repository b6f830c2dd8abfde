"""The entry point. `--version` is answered before anything is imported that it doesn't need."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

END_S = 3.0
"""How long threads and exit handlers of user code may take when all is done."""


def main() -> None:
    """Run the command and leave with its exit code, whatever user code has left behind."""
    code = 3  # not concluded
    try:
        _import_at_once(sys.argv[1:])
        code = run_command_line()
    except KeyboardInterrupt:  # before anything was there to see to it
        sys.stderr.write("evalcase: interrupted\n")
        code = 130
    except BaseException as error:  # noqa: BLE001 - not even what it means could be told
        sys.stderr.write(f"evalcase: can't continue: {type(error).__name__}\n")
    if "evalcase.runner.event_loop" in sys.modules:
        _end_process(code)
    raise SystemExit(code)


def run_command_line() -> int:
    """Run the command; its exit code."""
    if sys.argv[1:] == ["--version"]:
        from evalcase import __version__

        sys.stdout.write(f"evalcase {__version__}\n")
        return 0
    from evalcase.cli.app import run_command

    return run_command(sys.argv[1:])


def _import_at_once(arguments: list[str]) -> None:
    """Import what the command needs, and keep the garbage collector from looking at it: all of it
    stays until the end. A tenth of what a start takes would go into those looks."""
    if arguments == ["--version"]:
        return
    import gc

    gc.disable()
    from evalcase.cli.app import import_command

    import_command(arguments)
    gc.freeze()
    gc.enable()


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
