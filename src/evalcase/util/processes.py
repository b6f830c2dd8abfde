"""Programs that a run starts: fed, read within bounds, and ended with all that they started; and
what they see where they work in a workspace.

A program runs once, or is kept as a worker, which gets one JSON object a line and answers each with
one. asyncio's own streams don't fit: some versions of Python report the end of a process only when
no descendant holds its pipes any more.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import signal
import subprocess
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from math import inf
from typing import Literal, NamedTuple

import psutil

from evalcase.errors import ConfigError, TargetError
from evalcase.types.value import JSON
from evalcase.types.workspace import Space
from evalcase.util.environment import monotonic
from evalcase.util.errors import add_complaint
from evalcase.util.json import BadJsonError, parse_json
from evalcase.util.process_tree import TOKEN, end_family, find_process, has_ended, new_token
from evalcase.util.text import cut_bytes, shorten_text

_TAIL_BYTES = 4096
"""How much of stderr is held."""
_END_S = 2.0
"""How long to wait for processes that were killed, or for pipes to close."""
LINGER_S = 30.0
"""How long a program may take to end once it says that it is done."""


class Output(NamedTuple):
    data: bytes
    truncated: bool


class Watch(NamedTuple):
    """When a program is ended that has not ended by itself."""

    time_s: float | None = None
    """How long it may run."""
    idle_s: float | None = None
    """How long it may print nothing."""
    is_end: Callable[[bytes], bool] = lambda _: False
    """Whether a line says that it is done: then it has LINGER_S to end."""


class Process(asyncio.SubprocessProtocol):
    """A process in a session of its own. Leaving the context ends it and its descendants.

    It holds the first bytes of stdout and the last of stderr.
    """

    def __init__(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], most_bytes: int,
        show: Callable[[bytes], None] = lambda _: None,
    ) -> None:  # fmt: skip
        """`show` gets what it writes to stderr."""
        self._argv = argv
        self._cwd = cwd
        self._env = env
        self._token = ""
        """By which its descendants are known, once it is started."""
        self._transport: asyncio.SubprocessTransport | None = None
        self._root: psutil.Process | None = None
        self._killed: set[psutil.Process] = set()
        self._is_swept = False
        """Whether it has ended, and nothing that it started is left."""
        self._most_bytes = most_bytes
        self._show = show
        self._stdout = bytearray()
        self._stderr = bytearray()
        self._truncated = False
        self._is_held = False
        """Whether its pipes had to be closed: a process that can't be found holds them."""
        self._open = {1, 2}
        self._heard = 0.0
        """When it last printed something."""
        self.stopped: Literal["time", "idle", "linger"] | None = None
        """The limit by which it was ended."""
        self.has_ended = False
        self._changed = asyncio.Event()

    # Called by asyncio.

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._heard = monotonic()
        self._changed.set()
        if fd == 2:
            self._stderr += data
            del self._stderr[:-_TAIL_BYTES]
            self._show(data)
            return
        room = self._most_bytes - len(self._stdout)
        self._truncated = self._truncated or room < len(data)
        self._stdout += data[:room] if room < len(data) else data

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc
        self._open.discard(fd)
        self._changed.set()

    def process_exited(self) -> None:
        self.has_ended = True
        self.kill()  # what it left in the background may hold its pipes, or touch the next trial
        asyncio.get_running_loop().call_later(_END_S, self._close_pipes)
        self._changed.set()

    def _close_pipes(self) -> None:
        self._is_held = bool(self._open)
        if self._transport is not None:
            self._transport.close()

    async def _until(self, is_so: Callable[[], bool], limit_s: float | None = None) -> None:
        """Wait until it is so, or the time is over."""
        if is_so():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not is_so():
                    self._changed.clear()
                    await self._changed.wait()

    async def start(self, with_stdin: bool) -> None:
        self._token = new_token()
        try:
            marked = {**self._env, TOKEN: self._token}
            env = {name: _for_system(value) for name, value in marked.items()}
            self._transport, _ = await asyncio.get_running_loop().subprocess_exec(
                lambda: self, *map(_for_system, self._argv), cwd=self._cwd, env=env,
                stdin=PIPE if with_stdin else DEVNULL, stdout=PIPE, stderr=PIPE,
                start_new_session=True,
            )  # fmt: skip
            self._root = find_process(self._transport.get_pid())
        except (OSError, ValueError) as error:
            if isinstance(error, ValueError):
                why = (
                    "an argument or a variable holds a NUL character or a lone surrogate, or the "
                    "name of a variable an ="
                )
            elif error.errno == errno.E2BIG:
                why = "its arguments are too long; give long texts on stdin or by {input_file}"
            else:
                why = str(error.strerror)
            what = f"`{self._argv[0]}` can't be started: {why}"
            raise TargetError(what, kind="exit") from None
        except BaseException:
            # Cancelled half-way: asyncio ends the process, but not its descendants.
            end_family(self._token)
            raise

    @property
    def unread(self) -> bytes:
        return bytes(self._stdout)

    @property
    def stderr(self) -> str:
        return self._stderr.decode(errors="backslashreplace")

    def write(self, data: bytes) -> None:
        """Send bytes to stdin, in the background. A process that closed it gets nothing."""
        stdin = self._stdin()
        if stdin is not None and not stdin.is_closing():
            stdin.write(data)

    def close_stdin(self) -> None:
        """End its input, after all that was written."""
        stdin = self._stdin()
        if stdin is not None:
            stdin.close()

    def _stdin(self) -> asyncio.WriteTransport | None:
        assert self._transport is not None
        stdin = self._transport.get_pipe_transport(0)
        assert stdin is None or isinstance(stdin, asyncio.WriteTransport)
        return stdin

    async def read_line(self) -> Output:
        """The next line of stdout. Without a line feed it is the last, or over the bound."""
        await self._until(self._has_line)
        end = self._stdout.find(b"\n") + 1 or len(self._stdout)
        line = bytes(self._stdout[:end])
        del self._stdout[:end]
        return Output(line, self._truncated)

    def _has_line(self) -> bool:
        return b"\n" in self._stdout or self._truncated or 1 not in self._open

    async def run(self, given: bytes | None, watch: Watch | None = None) -> tuple[int, Output]:
        """Write all of stdin and read all of stdout; the exit code, and the output.

        It is over when the process ends, or when it reaches a limit, which `stopped` names then.
        """
        await self.start(with_stdin=given is not None)
        if given is not None:
            self.write(given)
            self.close_stdin()
        if watch is not None:
            self.stopped = await self._watch(watch)
        code = await self.wait() if self.stopped is None else 0
        output = await self.read_rest()
        if self._is_held:
            message = "stdout or stderr stays open after the command has ended"
            raise TargetError(message, kind="protocol", details=self.details())
        return code, Output(output, self._truncated)

    async def _watch(self, watch: Watch) -> Literal["time", "idle", "linger"] | None:
        """Wait until it ends, or reaches a limit, which is returned."""
        began = self._heard = monotonic()
        said_end, seen = inf, 0
        while not self.has_ended:
            while (end := self._stdout.find(b"\n", seen)) >= 0:
                if watch.is_end(bytes(self._stdout[seen:end])):
                    said_end = monotonic()
                seen = end + 1
            at, limit = min(
                (began + (watch.time_s or inf), "time"), (said_end + LINGER_S, "linger"),
                (self._heard + (watch.idle_s or inf), "idle"),
            )  # fmt: skip
            left_s = at - monotonic()
            if left_s <= 0:
                return limit  # type: ignore[return-value]
            self._changed.clear()
            await self._until(self._changed.is_set, None if left_s == inf else left_s)
        return None

    async def wait(self) -> int:
        await self._until(lambda: self.has_ended)
        assert self._transport is not None
        code = self._transport.get_returncode()
        assert code is not None
        return code

    async def read_rest(self) -> bytes:
        """End it with all that it started; the bytes of stdout that were not read."""
        self.kill()
        await self._until(lambda: not self._open, 2 * _END_S)
        return self.unread

    def details(self) -> dict[str, object]:
        """For a failure: the exit code and the end of stderr."""
        code = None if self._transport is None else self._transport.get_returncode()
        details: dict[str, object] = {} if code is None else {"exit_code": code}
        return {**details, "stderr": self.stderr} if self.stderr else details

    def failure(self, what: str, stdout: bytes = b"") -> TargetError:
        """The error of a process that ended when or how it should not have."""
        details = self.details()
        code = details.get("exit_code")
        how = f"{what} {describe_exit(code)}" if isinstance(code, int) else what
        if stdout:
            details["stdout"] = stdout[-_TAIL_BYTES:].decode(errors="backslashreplace")
        return TargetError(add_complaint(how, self.stderr), kind="exit", details=details)

    async def __aenter__(self) -> Process:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()

    async def end(self) -> None:
        """Kill what is left, and wait a little until it is gone."""
        if self._transport is None:
            return
        self.kill()
        try:
            await self._until(lambda: self.has_ended, _END_S)
            for pause_s in (0.001, 0.01, 0.05, 0.2, 0.5, 1.0):
                if all(map(has_ended, self._killed)):
                    break
                await asyncio.sleep(pause_s)
        finally:
            self._transport.close()

    def kill(self) -> None:
        """Kill it, and all that it started."""
        if not self._is_swept:
            self._killed |= end_family(self._token, self._root)
            self._is_swept = self.has_ended


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
    known = {each.value: each.name for each in signal.Signals}
    return f"was ended by {known.get(-code, f'signal {-code}')}"


_CLOSE_S = 1.0

CheckReply = Callable[[dict[str, JSON]], str | None]
"""What is wrong with a reply, in words that follow `the worker's reply `."""


class LineWorkers:
    """Starts worker processes when they are needed. Each does one thing at a time."""

    def __init__(
        self, make: Callable[[], Process], check: CheckReply, warn: Callable[[str], None]
    ) -> None:
        self._make = make
        self._check = check
        self._warn = warn
        self._idle: list[Process] = []
        self._held: dict[str, Process] = {}
        """The workers of sessions that are not over."""
        self._numbers = count(1)

    async def exchange(
        self, given: Mapping[str, object], session: str | None = None
    ) -> dict[str, JSON]:
        """The reply of a worker; a session has one worker. Raise TargetError if the reply makes no
        sense."""
        process = self._held.pop(session or "", None) or await self._take()
        try:
            reply = await self._ask(process, given)
        except BaseException:
            await process.end()
            raise
        if session is None:
            self._idle.append(process)
        else:
            self._held[session] = process
        return reply

    def release(self, session: str) -> None:
        """End a session: its worker is free for others."""
        process = self._held.pop(session, None)
        if process is not None:
            self._idle.append(process)

    async def close(self) -> None:
        processes = [*self._idle, *self._held.values()]
        self._idle, self._held = [], {}
        await asyncio.gather(*map(self._end, processes))

    async def _end(self, process: Process) -> None:
        """Close its input, and end it if it doesn't end by itself."""
        process.close_stdin()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_S):
                    await process.wait()
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

    async def _ask(self, process: Process, given: Mapping[str, object]) -> dict[str, JSON]:
        def odd(what: str, data: bytes) -> TargetError:
            details = {**process.details(), "output": cut_bytes(data)}
            return TargetError(f"{what}: {_first_line(data)}", kind="protocol", details=details)

        id = f"x{next(self._numbers)}"
        if process.unread:
            raise odd("the worker wrote a line before it was asked", process.unread)
        process.write(json.dumps({**given, "id": id}).encode() + b"\n")
        data, truncated = await process.read_line()
        if not data.endswith(b"\n"):
            if truncated:
                raise odd(f"the worker's reply is longer than {len(data)} bytes", data)
            await process.wait()
            raise process.failure("the worker ended without an answer: it", data)
        try:
            reply = parse_json(data)
        except BadJsonError as error:
            why = f"the worker's reply is not JSON ({error}); logs go to stderr"
            raise odd(why, data) from None
        reply = reply if isinstance(reply, dict) else {}
        complaint = self._check(reply)
        if complaint is None and reply.get("id") != id:
            complaint = f"has the id {reply.get('id')!r:.80}, not {id!r}"
        if complaint is not None:
            raise odd(f"the worker's reply {complaint}", data)
        return reply


def _first_line(data: bytes) -> str:
    return shorten_text(cut_bytes(data.split(b"\n", 1)[0]).strip(), 201)


# Isolation: a program in a workspace sees this machine, or nothing but the system, the workspace, a
# home and what is mounted for it. `bwrap` needs no rights and no images. `docker` and `podman` run
# an image.

_MINIMAL = ("PATH", "HOME", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR", "SSL_CERT_FILE",
            "SSL_CERT_DIR")  # fmt: skip
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
WORKSPACE, HOME = "/workspace", "/home/agent"
_TMP = "/tmp"  # noqa: S108 - a folder of its own
_ENGINES = ("docker", "podman")
_LABEL = "evalcase"
_CHECK_S = 30.0
_OF_CLIENT = ("HOME", "PATH", "PWD", "TMPDIR")
"""Variables that the client of containers needs as they are."""


def minimal_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """What programs need to find their way on this machine. No key is among it: they may be an
    agent, or what it wrote."""
    return {
        name: value
        for name, value in variables.items()
        if name in _MINIMAL or name.startswith("LC_") or name.upper() in _PROXIES
    }


def check_isolation(isolation: str, variables: Mapping[str, str]) -> None:
    """Raise ConfigError if programs can't be isolated like this here."""
    engine = isolation.partition(":")[0]
    if engine == "none":
        return
    program = shutil.which(engine, path=variables.get("PATH"))
    if program is None:
        what = f'`isolation = "{isolation}"` needs the program `{engine}`'
        raise ConfigError(f"{what}, and there is none on this machine")
    check = [*_sandbox(network=False), "true"] if engine == "bwrap" else ["info"]
    try:
        ran = subprocess.run(  # noqa: S603 - with our own arguments
            [program, *check], capture_output=True, timeout=_CHECK_S, check=False
        )
        if ran.returncode == 0:
            return
        said = ran.stderr.decode(errors="replace").strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    raise ConfigError(f"`{engine}` can't be used on this machine: {said[-300:]}")


def enclose(
    space: Space, argv: Sequence[str], environment: Mapping[str, str], *, network: bool,
    writable: Sequence[str] = (),
) -> tuple[list[str], dict[str, str], str]:  # fmt: skip
    """The arguments and variables of a program that sees what the isolation of its workspace
    allows, and the name of its container, if it has one. `writable` are further folders that it may
    use, at the paths that they have."""
    if space.isolation == "none":
        return [*argv], {**environment}, ""
    engine, _, image = space.isolation.partition(":")
    program = shutil.which(engine, path=environment.get("PATH")) or engine
    argv = [as_seen(space, each) for each in argv]
    inside = {name: as_seen(space, value) for name, value in environment.items()}
    inside |= {"HOME": HOME, "PWD": WORKSPACE, "TMPDIR": _TMP}
    binds = [(each, each, ":ro") for each in space.mounts]
    binds += [(each, each, "") for each in writable]
    binds += [(space.path, WORKSPACE, ""), (space.home, HOME, "")]
    if engine == "bwrap":
        options = _sandbox(network=network)
        for source, place, is_read_only in binds:
            options += ["--ro-bind" if is_read_only else "--bind", source, place]
        return [program, *options, "--chdir", WORKSPACE, "--", *argv], inside, ""
    name = f"{_LABEL}-{os.urandom(6).hex()}"
    # By the folder of its run, a later run finds what was left of it.
    folder = next((each for each in space.path.split(os.sep) if each.startswith("run-")), "")
    label = f"{_LABEL}={folder}"
    options = ["run", "--rm", "-i", "--init", "--name", name, "--label", label]
    options += ["--user", f"{os.getuid()}:{os.getgid()}", "-w", WORKSPACE]
    options += ["--userns=keep-id"] if engine == "podman" else []
    options += [] if network else ["--network", "none"]
    for source, place, is_read_only in binds:
        options += ["-v", f"{source}:{place}{is_read_only}"]
    # By name alone, the client passes a variable on: no value is seen among the arguments.
    passed = {each: value for each, value in inside.items() if each not in _OF_CLIENT}
    options += ["-e", f"HOME={HOME}", *(word for each in passed for word in ("-e", each))]
    return [program, *options, image, *argv], {**os.environ, **passed}, name


def _sandbox(*, network: bool) -> list[str]:
    """The options by which bwrap shows the system and nothing else."""
    options = ["--unshare-all", *(["--share-net"] if network else []), "--die-with-parent"]
    options += ["--new-session", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc"]
    for folder in ("/bin", "/sbin", "/lib", "/lib64"):
        if os.path.islink(folder):
            options += ["--symlink", os.readlink(folder), folder]
        else:
            options += ["--ro-bind-try", folder, folder]
    names = "/run/systemd/resolve"  # where /etc/resolv.conf leads on many machines
    options += ["--ro-bind-try", names, names, "--proc", "/proc", "--dev", "/dev"]
    return [*options, "--tmpfs", _TMP]


def as_seen(space: Space, text: str) -> str:
    """A text with the paths that the workspace and the home have inside."""
    return text.replace(space.path, WORKSPACE).replace(space.home, HOME)


def hide_paths(space: Space, data: bytes) -> bytes:
    """The same for what a program printed: it is alike in all trials, and on all machines."""
    for path, place in ((space.path, WORKSPACE), (space.home, HOME)):
        for each in {path, os.path.realpath(path)}:
            data = data.replace(os.fsencode(each), place.encode())
    return data


@asynccontextmanager
async def process_in(
    space: Space, argv: Sequence[str], environment: Mapping[str, str], most_bytes: int, *,
    cwd: str | None = None, network: bool = True, writable: Sequence[str] = (),
) -> AsyncIterator[Process]:  # fmt: skip
    """A process in a workspace. Leaving the context ends it, its descendants and its container."""
    argv, environment, container = enclose(
        space, argv, environment, network=network, writable=writable
    )
    try:
        async with Process(argv, cwd or space.path, environment, most_bytes) as process:
            yield process
    finally:
        if container:  # killing the client does not end it
            await asyncio.to_thread(_run_client, [argv[0], "rm", "-f", container])


def note_containers(folder: str, isolation: str) -> None:
    """Note in the folder of a run that it has containers."""
    if isolation.startswith(_ENGINES):
        with open(os.path.join(folder, isolation.partition(":")[0]), "wb"):
            pass


def remove_containers(folder: str) -> None:
    """Remove the containers that a run left, whose workspaces were in a folder."""
    for name in _ENGINES:
        program = shutil.which(name) if os.path.exists(os.path.join(folder, name)) else None
        if program is None:
            continue
        label = f"label={_LABEL}={os.path.basename(folder)}"
        for each in _run_client([program, "ps", "-aq", "--filter", label]).split():
            _run_client([program, "rm", "-f", each])


def _run_client(argv: Sequence[str]) -> str:
    """What the client of containers prints; nothing where it fails."""
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(  # noqa: S603 - with our own arguments
            argv, capture_output=True, text=True, timeout=_CHECK_S, check=True
        ).stdout
    return ""
