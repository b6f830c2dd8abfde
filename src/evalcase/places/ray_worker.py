"""A worker as an actor of Ray: batches of lines in by `push`, and out by `pull`, which waits until
there is something. Lines are JSON; nothing else of ours is handed to Ray."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from typing import Any

import evalcase
from evalcase.places.scrubbed_output import ScrubbedOutput
from evalcase.places.service import Service, make_service
from evalcase.places.setting import Setting
from evalcase.places.wire import from_line, to_line
from evalcase.types.codec import decode_object
from evalcase.types.value import replace
from evalcase.util.environment import this_environment
from evalcase.util.process_tree import resident_bytes

_LOOK_S = 0.2
_TELL_S = 1.0
"""How long the run has to hear why a worker ends itself."""
_KILLED = 137


class RayWorker:
    """An actor. Its methods are called in the order in which they were sent."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._came = asyncio.Event()
        self._service: Service | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None
        """The thread of that loop."""

    async def hello(self) -> str:
        """The version that is installed here."""
        return evalcase.__version__

    async def push(self, batch: bytes) -> None:
        """Take messages, the greeting first."""
        for line in batch.splitlines():
            message = from_line(line)
            if self._service is None:
                await self._begin(message)
            elif message["op"] == "close":
                await self._service.close()
                self._send({"op": "closed"})
            else:
                self._service.take(message)

    async def pull(self) -> bytes:
        """All that there is to say; it waits for something to say."""
        await self._came.wait()
        self._came.clear()
        lines, self._lines = self._lines, []
        return b"".join(lines)

    async def _begin(self, greeting: dict[str, Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        try:
            self._service = make_service(_make_setting(greeting), this_environment(), self._send)
            # Ray has its logs there.
            sys.stdout, sys.stderr = (_scrub_output(number, self._service) for number in (1, 2))
            await self._service.open()
        except Exception as error:  # noqa: BLE001 - the boundary: the run must be told
            self._send({"op": "failed", "why": f"{type(error).__name__}: {error}"})
            return
        if (most := greeting.get("most_bytes")) is not None:
            threading.Thread(target=self._look_at_memory, args=(most,), daemon=True).start()

    def _send(self, message: dict[str, Any]) -> None:
        """It may be called in any thread."""
        assert self._loop is not None
        if threading.get_ident() == self._thread:
            self._put(to_line(message))
        else:
            self._loop.call_soon_threadsafe(self._put, to_line(message))

    def _put(self, line: bytes) -> None:
        self._lines.append(line)
        self._came.set()

    def _look_at_memory(self, most_bytes: int) -> None:
        """End this process if it takes more than it may: Ray only looks at whole machines."""
        while (resident_bytes(os.getpid()) or 0) <= most_bytes:
            time.sleep(_LOOK_S)
        why = f"it took more than {most_bytes // 10**6} MB of memory"
        self._send({"op": "failed", "why": why})
        time.sleep(_TELL_S)
        os._exit(_KILLED)


def _make_setting(greeting: dict[str, Any]) -> Setting:
    """The setting, in the copy of the project that Ray has made; variables that are named and not
    set here are taken from the run."""
    for name, value in greeting["environment"].items():
        os.environ.setdefault(name, value)
    setting = decode_object(Setting, greeting["setting"], "setting")
    root = os.getcwd()
    below = os.path.relpath(setting.cwd, setting.root)
    cwd = root if below.startswith("..") else os.path.normpath(os.path.join(root, below))
    return replace(setting, root=root, cwd=cwd, shipped_from=setting.root)


def _scrub_output(number: int, service: Service) -> ScrubbedOutput:
    return ScrubbedOutput(os.fdopen(os.dup(number), "wb"), service.scrub)
