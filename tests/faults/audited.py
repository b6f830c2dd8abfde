"""What a command that runs in the process of the tests executes, starts and connects to.

An audit hook of Python's hears of it, whatever way it is done. A hook can't be taken away again, so
there is one for all tests, and it listens only while somebody wants to know.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TOLD = frozenset({
    "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen",
    "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn",
})  # fmt: skip
_listening: list[tuple[str, set[str], list[str]]] = []
_installed: list[bool] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if not _listening:
        return
    folder, modules, heard = _listening[-1]
    if event in _TOLD:
        heard.append(f"{event} {arguments}")
    elif event == "import" and arguments[0] in modules:
        heard.append(f"import {arguments[0]}")
    elif event == "exec":
        # A module is run by `exec`; those of the project are the ones below its folder.
        code = arguments[0]
        name = getattr(code, "co_filename", "")
        if name.startswith(folder):
            heard.append(f"exec {name}")


@contextmanager
def audited(folder: Path) -> Iterator[list[str]]:
    """All that is heard meanwhile, of modules only those in the folder."""
    if not _installed:
        sys.addaudithook(_hear)
        _installed.append(True)
    modules = {path.stem for path in folder.glob("*.py")}
    heard: list[str] = []
    _listening.append((str(folder), modules, heard))
    try:
        yield heard
    finally:
        _listening.pop()
