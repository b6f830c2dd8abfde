"""Programs that a run starts: fed, read within bounds, and ended with all that they started.

A program runs once, or is kept as a worker, which is given one JSON object a line and answers each
with one. The streams of asyncio are of no use here: in some versions of Python they report the end
of a process only when no descendant holds its pipes any more.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from types import TracebackType
from typing import NamedTuple

import psutil

from evalcase.errors import TargetError
from evalcase.types.value import JSON
from evalcase.util.errors import add_complaint
from evalcase.util.json import BadJsonError, parse_json
from evalcase.util.process_tree import TOKEN, end_family, find_process, has_ended, new_token
from evalcase.util.text import cut_bytes

TAIL_BYTES = 4096
"""How much of stderr is kept."""


class Output(NamedTuple):
    data: bytes
    truncated: bool


class Pipes(asyncio.SubprocessProtocol):
    """Keeps the first bytes of stdout and the last of stderr. What is over is forgotten."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._stdout = bytearray()
        self._truncated = False
        self._open = {1, 2}
        self._read_or_closed = asyncio.Event()
        self._all_closed = asyncio.Event()
        self.tail = bytearray()
        self.exited = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.tail += data
            del self.tail[:-TAIL_BYTES]
            return
        room = self._most_bytes - len(self._stdout)
        self._truncated = self._truncated or room < len(data)
        self._stdout += data[:room] if room < len(data) else data
        self._read_or_closed.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc
        self._open.discard(fd)
        self._read_or_closed.set()
        if not self._open:
            self._all_closed.set()

    def process_exited(self) -> None:
        self.exited.set()

    async def read_all(self) -> Output:
        """All of stdout, once stdout and stderr are closed."""
        await self._all_closed.wait()
        return Output(bytes(self._stdout), self._truncated)

    @property
    def unread(self) -> bytes:
        """What came on stdout, and nobody has read yet."""
        return bytes(self._stdout)

    async def read_line(self) -> Output:
        """The next line of stdout. Without a line feed it is the last, or over the bound."""
        seen = 0
        while (end := self._stdout.find(b"\n", seen)) < 0:
            seen = len(self._stdout)
            if self._truncated or 1 not in self._open:
                return self._take(seen)
            self._read_or_closed.clear()
            await self._read_or_closed.wait()
        return self._take(end + 1)

    def _take(self, length: int) -> Output:
        data = bytes(self._stdout[:length])
        del self._stdout[:length]
        return Output(data, self._truncated)


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
        self._root: psutil.Process | None = None
        self._killed: set[psutil.Process] = set()
        self._is_swept = False
        """Whether it has ended, and nothing that it started is left."""

    async def start(self, with_stdin: bool) -> None:
        self._token = new_token()
        try:
            marked = {**self._env, TOKEN: self._token}
            env = {name: _for_system(value) for name, value in marked.items()}
            self._transport, _ = await asyncio.get_running_loop().subprocess_exec(
                lambda: self._pipes, *map(_for_system, self._argv), cwd=self._cwd, env=env,
                stdin=PIPE if with_stdin else DEVNULL, stdout=PIPE, stderr=PIPE,
                start_new_session=True,
            )  # fmt: skip
            self._root = find_process(self._transport.get_pid())
        except (OSError, ValueError) as error:
            raise TargetError(self._not_started(error), kind="exit") from None
        except BaseException:
            # Cancelled half-way: asyncio ends the process, but nothing that this has started.
            end_family(self._token)
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
                while not all(map(has_ended, self._killed)):
                    await asyncio.sleep(pause_s)
                    pause_s *= 2
        except TimeoutError:
            return  # nothing more can be done
        finally:
            self._transport.close()

    def _end_family(self) -> None:
        if not self._is_swept:
            self._killed |= end_family(self._token, self._root)
            self._is_swept = self.has_ended

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


_CLOSE_S = 1.0
_SHOWN_CHARACTERS = 200

CheckReply = Callable[[dict[str, JSON]], str | None]
"""What is wrong with a reply, in words that go on after `the worker's reply `."""


class LineWorkers:
    """Starts processes when they are needed; each is at one thing at a time."""

    def __init__(
        self, make: Callable[[], Process], check: CheckReply, warn: Callable[[str], None]
    ) -> None:
        self._make = make
        self._check = check
        self._warn = warn
        self._idle: list[Process] = []
        self._held: dict[str, Process] = {}
        """Those that are kept for one session, until it is over."""
        self._numbers = count(1)

    async def exchange(
        self, given: Mapping[str, object], session: str | None = None
    ) -> dict[str, JSON]:
        """The reply to what is sent. Raise TargetError if there is none that makes sense. All of
        one session goes to one process."""
        process = self._held.pop(session, None) if session is not None else None
        process = process or await self._take()
        try:
            id = f"x{next(self._numbers)}"
            reply = await _exchange_lines(process, {**given, "id": id}, id, self._check)
        except BaseException:
            await process.end()
            raise
        if session is None:
            self._idle.append(process)
        else:
            self._held[session] = process
        return reply

    def release(self, session: str) -> None:
        """Let others have the process of a session that is over."""
        process = self._held.pop(session, None)
        if process is not None:
            self._idle.append(process)

    async def close(self) -> None:
        """Let each see the end of its input, and end those that don't end by themselves."""
        for session in list(self._held):
            self.release(session)
        idle, self._idle = self._idle, []
        try:
            for process in idle:
                process.close_stdin()
            async with asyncio.timeout(_CLOSE_S):
                for process in idle:
                    await process.wait()
        except TimeoutError:
            return  # ended below
        finally:
            await asyncio.gather(*(self._end(process) for process in idle))

    async def _end(self, process: Process) -> None:
        """End one that is at nothing: what it wrote nevertheless is the reply to nothing."""
        try:
            rest = await process.read_rest()
        finally:
            await process.end()
        if rest.strip():
            self._warn(f"a worker wrote a line that it was not asked for: {_first_line(rest)}")

    async def _take(self) -> Process:
        while self._idle:
            process = self._idle.pop()
            if not process.has_ended:
                return process
            await self._end(process)
        process = self._make()
        await process.start(with_stdin=True)
        return process


async def _exchange_lines(
    process: Process, given: Mapping[str, object], id: str, check: CheckReply
) -> dict[str, JSON]:
    if process.unread:
        raise _make_odd_error(
            process, "the worker wrote a line before it was asked", process.unread
        )
    process.write(json.dumps(given).encode() + b"\n")
    data, truncated = await process.read_line()
    if truncated and not data.endswith(b"\n"):
        raise _make_odd_error(process, f"the worker's reply is longer than {len(data)} bytes", data)
    if not data.endswith(b"\n"):
        await process.wait()
        raise process.failure("the worker ended without an answer: it", data)
    try:
        reply = parse_json(data)
    except BadJsonError as error:
        why = f"the worker's reply is not JSON ({error}); logs go to stderr"
        raise _make_odd_error(process, why, data) from None
    complaint = check(reply if isinstance(reply, dict) else {})
    if complaint is not None or not isinstance(reply, dict):
        raise _make_odd_error(process, f"the worker's reply {complaint}", data)
    if reply.get("id") != id:
        why = f"the worker's reply has the id {reply.get('id')!r:.80}, not {id!r}"
        raise _make_odd_error(process, why, data)
    return reply


def _make_odd_error(process: Process, what: str, data: bytes) -> TargetError:
    details = {**process.details(), "output": cut_bytes(data)}
    return TargetError(f"{what}: {_first_line(data)}", kind="protocol", details=details)


def _first_line(data: bytes) -> str:
    line = cut_bytes(data.split(b"\n", 1)[0]).strip()
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}…"
