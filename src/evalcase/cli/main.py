"""The entry point. `--version` is answered before anything is imported that it doesn't need."""

from __future__ import annotations

import sys
from os import _exit as end_process  # as it is now: code of the user's finds another

END_S = 3.0
"""How long threads and exit handlers of the user's may take when all is done."""


def main() -> None:
    """Run the command and leave with its exit code, whatever the user's code has left behind."""
    try:
        _import_at_once(sys.argv[1:])
        code = run_command_line()
    except KeyboardInterrupt:  # before anything was there to see to it
        sys.stderr.write("evalcase: interrupted\n")
        code = 130
    except BaseException as error:  # noqa: BLE001 - not even what it means could be told
        sys.stderr.write(f"evalcase: can't continue: {type(error).__name__}\n")
        code = 3
    if "evalcase.system.loop" in sys.modules:
        if not _can_open():
            # Python gives threads up at its end, for which the system loads a library: without a
            # descriptor that can't be, and the process aborts.
            _leave_by_force(code)
        _leave_by_force_later(code)
    # Not by sys.exit, which may be anything by now.
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


def _can_open() -> bool:
    import os

    try:
        os.close(os.open(os.devnull, os.O_WRONLY))
    except OSError:
        return False
    return True


def _leave_by_force_later(code: int) -> None:
    """Python waits for threads before it ends, and some never do: then the exit code still has to
    be the right one. A thread of ours goes on until the very end."""
    import threading
    from time import sleep

    def leave() -> None:
        sleep(END_S)
        _leave_by_force(code)

    threading.Thread(target=leave, name="evalcase-end", daemon=True).start()


def _leave_by_force(code: int) -> None:
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # they may be anything by now
            stream.flush()
    end_process(code)
