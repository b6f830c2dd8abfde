"""A command as a process that a test can wait for, kill and talk to, forked by `fork_server`.

It is a `subprocess.Popen` in all but who its parent is. Where more than evalcase is at stake (the
start of Python, its options and locale, what is imported when) a test starts Python itself.
"""

from __future__ import annotations

import inspect
import json
import os
import select
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

from tests.cli.fork_server import STATUS

ROOT = Path(__file__).parent.parent.parent
_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT / "src")}
"""As that of a command, as far as Python looks at it."""
_SIGNATURE = inspect.signature(subprocess.Popen._execute_child)  # type: ignore[attr-defined]


class ForkServer:
    """The one of this process of tests, started when it is first needed."""

    _one: ClassVar[ForkServer | None] = None

    def __init__(self) -> None:
        # In order, whole, and its end is told: what a request needs.
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.cli.fork_server", str(theirs.fileno())],
                cwd=ROOT, env=_ENVIRONMENT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip

    @classmethod
    def get(cls) -> ForkServer:
        if cls._one is None:
            cls._one = cls()
        return cls._one

    @classmethod
    def end(cls) -> None:
        if cls._one is not None:
            cls._one._requests.close()
            cls._one._process.wait()
            cls._one = None

    def fork(self, asked: list[Any], streams: list[int]) -> int:
        """Have it fork; the pipe that tells of the process."""
        told, tell = os.pipe()
        try:
            socket.send_fds(self._requests, [json.dumps(asked).encode()], [*streams, tell])
        finally:
            os.close(tell)
        return told


class ForkedProcess(subprocess.Popen[bytes]):
    """The command with these arguments. `terminal` makes standard input that of a new session."""

    def __init__(self, arguments: list[str], *, terminal: bool = False, **options: Any) -> None:
        self._terminal, self._told = terminal, -1
        super().__init__(arguments, start_new_session=terminal, **options)

    def _execute_child(self, *values: Any) -> None:
        """In place of starting a program: the one step that is not `subprocess`'s own."""
        given = _SIGNATURE.bind(self, *values).arguments
        ends = [given[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        asked = [
            given["args"], str(given["cwd"] or Path.cwd()), dict(given["env"]),
            given["start_new_session"], self._terminal,
        ]  # fmt: skip
        streams = [number if end == -1 else end for number, end in enumerate(ends)]
        try:
            self._told = ForkServer.get().fork(asked, streams)
        finally:
            self._close_pipe_fds(*[given[name] for name in pipes])  # type: ignore[attr-defined]
        self.pid = self._read_told()
        self._child_created = True

    def _read_told(self) -> int:
        data = os.read(self._told, STATUS.size)
        assert data, "the server of forks is gone"
        (number,) = STATUS.unpack(data)
        return int(number)

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        return self._wait_for(0.0)

    def _wait(self, timeout: float | None) -> int:
        code = self._wait_for(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return code

    def _wait_for(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._told], [], [], timeout)[0]:
            status = self._read_told()
            os.close(self._told)
            self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode
