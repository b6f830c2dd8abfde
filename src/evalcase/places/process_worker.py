"""A worker as a process: messages as lines on standard input, answers on what was its standard
output. It is run as `python -m evalcase.places.process_worker` by the run that it works for.

What code of the user's prints goes to standard error. It ends when its input does, so that it
never outlives the run.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
import signal
import sys
from typing import Any

from evalcase.places.scrubbed_output import ScrubbedOutput
from evalcase.places.service import Service, make_service
from evalcase.places.setting import Setting
from evalcase.places.wire import from_line, to_line
from evalcase.runner.event_loop import run_async
from evalcase.types.codec import decode_object
from evalcase.util.environment import this_environment

_OUT_OF_INPUT = 0
_PR_SET_PDEATHSIG = 1


class Inlet(asyncio.Protocol):
    """Bytes to messages."""

    def __init__(self, over: asyncio.Future[None]) -> None:
        self._over = over
        self._rest = b""
        self.service: Service | None = None
        self.waiting: list[dict[str, Any]] = []
        """What came before there was a service."""
        self.came = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            message = from_line(line)
            if message.get("op") == "close":
                self._end()
            elif self.service is None:
                self.waiting.append(message)
                self.came.set()
            else:
                self.service.take(message)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._end()

    def _end(self) -> None:
        self.came.set()
        if not self._over.done():
            self._over.set_result(None)


class Outlet:
    """Messages to bytes: all of one turn of the loop in one write."""

    def __init__(self, transport: asyncio.WriteTransport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._lines: list[bytes] = []

    def send(self, message: dict[str, Any]) -> None:
        """It may be called in any thread: some warnings are."""
        line = to_line(message)
        if _is_this_loop(self._loop):
            self._put(line)
        else:
            self._loop.call_soon_threadsafe(self._put, line)

    def _put(self, line: bytes) -> None:
        if not self._lines:
            self._loop.call_soon(self.flush)
        self._lines.append(line)

    def flush(self) -> None:
        lines, self._lines = self._lines, []
        if lines:
            self._transport.write(b"".join(lines))


def _is_this_loop(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


class LineService:
    """A service between two pipes."""

    def __init__(self) -> None:
        self._service: Service | None = None

    async def serve(self, out: int) -> None:
        """Answer lines until there are no more."""
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()
        lines = Inlet(over)
        await loop.connect_read_pipe(lambda: lines, os.fdopen(0, "rb", buffering=0))
        pipe = os.fdopen(out, "wb", buffering=0)
        transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, pipe)
        outlet = Outlet(transport)
        await lines.came.wait()
        if not lines.waiting:
            return
        setting = decode_object(Setting, lines.waiting.pop(0)["setting"], "setting")
        service = self._service = make_service(setting, this_environment(), outlet.send)
        sys.stdout = sys.stderr = ScrubbedOutput(sys.stderr.buffer, service.scrub)
        await service.open()
        for message in lines.waiting:
            service.take(message)
        lines.service = service
        await over
        await service.close()
        outlet.flush()
        await asyncio.sleep(0)

    def warn_of_stray(self, what: str) -> None:
        """Tell the run what user code did outside of any trial."""
        if self._service is not None:
            self._service.warn(what)


def end_with_parent() -> None:
    """Have the kernel end this process when the run does, also while it is blocked and can't see
    the end of its input. Where there is no such call, only the input tells."""
    if sys.platform != "linux":
        return
    import ctypes

    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(_OUT_OF_INPUT)  # it has ended in between


def serve_run() -> None:
    """Serve until the input ends; then end at once, whatever threads are left."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    out = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    service = LineService()
    try:
        run_async(service.serve(out), service.warn_of_stray)
    finally:
        sys.stderr.flush()
        os._exit(_OUT_OF_INPUT)


if __name__ == "__main__":
    serve_run()
