"""One process: started, fed, read within bounds, and ended with all that it started."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType

from evalcase.errors import TargetError
from evalcase.system.processes import guard, tree
from evalcase.system.processes.pipes import TAIL_BYTES, Output, Pipes
from evalcase.text.complaint import add_complaint

_END_S = 2.0
"""How long to wait for what has been killed, or for pipes that nobody should hold any more."""


class Process:
    """A process in a session of its own. Leaving the context ends it and its descendants."""

    def __init__(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], most_bytes: int
    ) -> None:
        self._argv = argv
        self._cwd = cwd
        self._env = env
        self._token = ""
        """By which its descendants are known, once it is started."""
        self._pipes = Pipes(most_bytes)
        self._transport: asyncio.SubprocessTransport | None = None
        self._born: int | None = None
        self._killed: dict[int, int] = {}

    async def start(self, with_stdin: bool) -> None:
        self._token = tree.new_token()
        try:
            marked = {**self._env, tree.TOKEN: self._token}
            env = {name: _for_system(value) for name, value in marked.items()}
            self._transport, _ = await asyncio.get_running_loop().subprocess_exec(
                lambda: self._pipes, *map(_for_system, self._argv), cwd=self._cwd, env=env,
                stdin=PIPE if with_stdin else DEVNULL, stdout=PIPE, stderr=PIPE,
                start_new_session=True,
            )  # fmt: skip
            self._born = guard.find_birth(self._transport.get_pid() or 0)
        except (OSError, ValueError) as error:
            raise TargetError(self._not_started(error), kind="exit") from None
        except BaseException:
            # Cancelled half-way: asyncio ends the process, but nothing that this has started.
            tree.reap_later(tree.end_family(0, self._token))
            raise

    @property
    def has_ended(self) -> bool:
        return self._pipes.exited.is_set()

    @property
    def unread(self) -> bytes:
        """What it wrote to stdout, and nobody has read yet."""
        return self._pipes.unread

    def write(self, data: bytes) -> None:
        """Send bytes to stdin, in the background. What it doesn't want to know is dropped."""
        stdin = self._stdin()
        if stdin is not None and not stdin.is_closing():
            stdin.write(data)

    def close_stdin(self) -> None:
        """Let it see the end of its input, after all that was written."""
        stdin = self._stdin()
        if stdin is not None:
            stdin.close()

    async def read_line(self) -> Output:
        return await self._pipes.read_line()

    async def run(self, given: bytes | None) -> tuple[int, Output]:
        """Write all of stdin and read all of stdout; the exit code, and what was read.

        It is over when the process ends. What it left behind in the background is ended then,
        so that a trial can't touch the next, and nobody keeps the pipes open.
        """
        await self.start(with_stdin=given is not None)
        if given is not None:
            self.write(given)
            self.close_stdin()
        code = await self.wait()
        self._end_family()
        try:
            async with asyncio.timeout(_END_S):
                return code, await self._pipes.read_all()
        except TimeoutError:
            message = "stdout or stderr stays open after the command has ended"
            raise TargetError(message, kind="protocol", details=self.details()) from None

    async def wait(self) -> int:
        """The exit code, once there is one."""
        await self._pipes.exited.wait()
        assert self._transport is not None
        code = self._transport.get_returncode()
        assert code is not None
        return code

    async def read_rest(self) -> bytes:
        """End what is left of it; what it wrote, and nobody has read."""
        self._end_family()
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await self._pipes.read_all()
        return self.unread

    def details(self) -> dict[str, object]:
        """What helps to find the cause of a failure."""
        code = None if self._transport is None else self._transport.get_returncode()
        details: dict[str, object] = {} if code is None else {"exit_code": code}
        if self.stderr:
            details["stderr"] = self.stderr
        return details

    @property
    def stderr(self) -> str:
        """The last that it wrote there."""
        return self._pipes.tail.decode(errors="backslashreplace")

    def failure(self, what: str, stdout: bytes = b"") -> TargetError:
        """The error of a process that ended when or how it should not have."""
        details = self.details()
        code = details.get("exit_code")
        how = f"{what} {describe_exit(code)}" if isinstance(code, int) else what
        message = add_complaint(how, str(details.get("stderr", "")))
        if stdout:
            details["stdout"] = stdout[-TAIL_BYTES:].decode(errors="backslashreplace")
        return TargetError(message, kind="exit", details=details)

    async def __aenter__(self) -> Process:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        await self.end()

    async def end(self) -> None:
        """Kill what is left, and wait a little until the system has let go of it."""
        if self._transport is None:
            return
        self._end_family()
        try:
            async with asyncio.timeout(_END_S):
                await self._pipes.exited.wait()
                pause_s = 0.001
                while not tree.reap_processes(self._killed):
                    await asyncio.sleep(pause_s)
                    pause_s *= 2
        except TimeoutError:
            return  # in the hands of the kernel: nothing more can be done
        finally:
            tree.reap_later(self._killed)
            self._transport.close()

    def _end_family(self) -> None:
        assert self._transport is not None
        pid = self._transport.get_pid() or 0
        self._killed |= tree.end_family(pid, self._token, self._born)

    def _stdin(self) -> asyncio.WriteTransport | None:
        assert self._transport is not None
        stdin = self._transport.get_pipe_transport(0)
        assert stdin is None or isinstance(stdin, asyncio.WriteTransport)
        return stdin

    def _not_started(self, error: OSError | ValueError) -> str:
        program = self._argv[0]
        if isinstance(error, ValueError):
            odd = "lone surrogate" if isinstance(error, UnicodeError) else "NUL character"
            return f"`{program}` can't be started: an argument holds a {odd}"
        if error.errno == errno.E2BIG:
            hint = "give long texts on stdin or by {input_file}"
            return f"`{program}` can't be started: its arguments are too long; {hint}"
        return f"`{program}` can't be started: {error.strerror}"


def _for_system(text: str) -> str | bytes:
    """A text that a process can be given: as UTF-8, where the locale has no way to write it."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")
    return text


def describe_exit(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
