"""A process that has imported evalcase already, and forks for each command that a test asks for.

What it forks is a process as any other: its own folder, environment, arguments, streams, session
and terminal, signals as Python begins with them, no descriptor but its streams, no thread. It runs
`python -m evalcase` from its first line, and leaves by the end of the interpreter: threads are
waited for, and exit handlers are called. Only the start of Python and the imports are not done
again, and what was imported is not taken apart at the end: that takes most of what a short command
takes. Who tests what happens when objects of the user's are taken apart starts Python itself.
"""

import atexit
import fcntl
import gc
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import struct
import sys
import termios
import threading
import time
from importlib import import_module
from os import _exit as end_process  # as it is now: code of the user's finds another
from pathlib import Path
from typing import Any, NamedTuple

STATUS = struct.Struct("=i")
"""What is written to the pipe of a command: the id of its process, and how that ended."""
MOST_BYTES = 1 << 17
STREAMS = 3
NOT_IMPORTED = ("evalcase.__main__", "evalcase.editor.server", "evalcase.pytest_plugin")
"""What is run as a program, and what no command that is forked needs."""
_IMPORTED: dict[str, Any] = {}
"""All modules that were there before anything was forked."""
_CODES: list[object] = []
"""The exit code, once the command has said it."""


class Asked(NamedTuple):
    """What a command is to be given."""

    arguments: list[str]
    cwd: str
    env: dict[str, str]
    new_session: bool
    terminal: bool
    """Whether standard input is to be the terminal of its session."""


def import_all() -> None:
    import evalcase

    for module in pkgutil.walk_packages(evalcase.__path__, "evalcase."):
        if not module.name.startswith(NOT_IMPORTED):
            import_module(module.name)
    threads = len(list(Path("/proc/self/task").iterdir()))
    assert threads == 1, "a process with threads can't be forked"
    # Nothing of the tests is there. Here, as to go through all of them would copy much in a fork.
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    sys.path_importer_cache.clear()
    _IMPORTED.update(sys.modules)
    _IMPORTED["itself"] = _IMPORTED  # so that nothing ever takes it apart
    gc.collect()
    gc.freeze()


def _leave() -> None:
    """When all else is done: end, or keep from the interpreter what it would take apart."""
    if _nothing_is_left():
        end_process(_CODES[0])  # type: ignore[arg-type]
    for name in _IMPORTED.keys() - {"builtins", "sys"}:
        sys.modules.pop(name, None)


def _nothing_is_left() -> bool:
    """Whether the rest of the interpreter's end can't matter: the command has said its exit code,
    its streams are its own and are written, and no thread of the user's is given up."""
    threads = {each.name for each in threading.enumerate()} - {"MainThread", "evalcase-end"}
    is_usual = sys.stdout is sys.__stdout__ and sys.stderr is sys.__stderr__
    if threads or not is_usual or [type(code) for code in _CODES] != [int]:
        return False
    try:
        os.close(os.open(os.devnull, os.O_WRONLY))
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # which the interpreter has a word and a code for
        return False
    return True


def serve(requests: socket.socket) -> Asked:
    """Fork for each request until nobody is there to ask. Only the forked return from it."""
    signal.signal(signal.SIGCHLD, lambda *_: None)
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    under_way: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([requests.fileno(), ended], [], [])
        if ended in ready:
            os.read(ended, 4096)
            _tell_ended(under_way)
        if requests.fileno() in ready:
            message, descriptors, _, _ = socket.recv_fds(requests, MOST_BYTES, STREAMS + 1)
            if not message:
                os._exit(0)
            *streams, status = descriptors
            process = os.fork()
            if not process:
                return _become(Asked(*json.loads(message)), streams)
            os.write(status, STATUS.pack(process))
            under_way[process] = status
            for each in streams:
                os.close(each)


def _tell_ended(under_way: dict[int, int]) -> None:
    while under_way:
        process, status = os.waitpid(-1, os.WNOHANG)
        if not process:
            return
        pipe = under_way.pop(process)
        os.write(pipe, STATUS.pack(status))
        os.close(pipe)


def _become(asked: Asked, streams: list[int]) -> Asked:
    """Be as a process that was started with this."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    os.closerange(STREAMS, 256)
    if asked.new_session:
        os.setsid()
    if asked.terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(asked.cwd)
    os.environ.clear()
    os.environ.update(asked.env)
    time.tzset()
    _open_streams()
    if "PYTHONFAULTHANDLER" in asked.env:
        import faulthandler

        faulthandler.enable()
    return asked


def _open_streams() -> None:
    """As Python opens them where the locale is C.UTF-8."""
    sys.stdin = sys.__stdin__ = _stream(0, "stdin", "r", "surrogateescape")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _stream(1, "stdout", "w", "surrogateescape")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _stream(2, "stderr", "w", "backslashreplace")  # type: ignore[misc]


def _stream(descriptor: int, name: str, mode: str, errors: str) -> io.TextIOWrapper:
    binary: Any = open(descriptor, f"{mode}b", closefd=False)  # noqa: SIM115
    binary.raw.name = f"<{name}>"
    by_line = name == "stderr" or os.isatty(descriptor)
    stream = io.TextIOWrapper(binary, "utf-8", errors, newline="\n", line_buffering=by_line)
    stream.mode = mode  # type: ignore[misc]
    return stream


def _prepare_imports(asked: Asked, path: list[str]) -> None:
    """What `python -m` puts before all else is there."""
    sys.path[:] = [str(Path.cwd()), *path]
    sys.argv[:] = ["evalcase", *asked.arguments]


if __name__ == "__main__":
    PATH = sys.path[1:]
    atexit.register(_leave)  # before all others, to be called after them
    import_all()
    ASKED = serve(socket.socket(fileno=int(sys.argv[1])))
    _prepare_imports(ASKED, PATH)
    # Here and not below a function, so that what is raised ends the interpreter as ever.
    try:
        runpy.run_module("evalcase", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        _CODES.append(end.code)
        raise
