"""A run's end of one actor of Ray: messages go in batches, each sent once the one before it has
arrived, and come by a call that waits for them. A slow trial holds up nobody."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from evalcase.errors import ConfigError, TargetError
from evalcase.places.channel import LineChannel

_WAIT_S = 30.0
_DETAIL = re.compile(
    r"(?m)(?:Worker exit detail|The actor died because|Reason): (.+?)(?: Some common|$)"
)


class RayChannel(LineChannel):
    """A worker that is an actor."""

    def __init__(
        self, make: Callable[[], Any], version: str, wait: Callable[[float], None]
    ) -> None:
        """`make` makes the actor; `wait` is told for how long nothing was given to it to run on."""
        super().__init__()
        self._make = make
        self._version = version
        self._wait = wait
        self._actor: Any = None
        self._pushing: asyncio.Task[None] | None = None
        self._pulling: asyncio.Task[None] | None = None
        self._is_closing = False

    async def _start(self) -> None:
        self._actor = self._make()
        try:
            version = await self._hello()
        except ConfigError as error:
            raise TargetError(str(error)) from None
        except Exception as error:
            raise TargetError(f"a worker of Ray can't be started: {explain_loss(error)}") from error
        if version != self._version:
            raise TargetError(
                f"the workers of Ray have evalcase {version}, and this is {self._version}: "
                "install the same there"
            )
        self._pulling = asyncio.ensure_future(self._pull())

    async def _hello(self) -> str:
        told = asyncio.ensure_future(_await_answer(self._actor.hello.remote()))
        waited_s = 0.0
        try:
            while not told.done():
                await asyncio.wait([told], timeout=_WAIT_S)
                if not told.done():
                    waited_s += _WAIT_S
                    self._wait(waited_s)
        finally:
            told.cancel()  # where the run is over
        return str(told.result())

    def _hear_of_end(self, message: dict[str, Any]) -> None:
        if message["op"] == "failed":
            self.kill(message["why"])
            self.lose("")
        elif self._is_closing:
            self._over.set()
        else:
            super()._hear_of_end(message)  # nobody has asked it to

    def _end_worker(self) -> None:
        import ray

        if self._actor is not None:
            with suppress(Exception):  # whatever Ray raises, there is nothing left to end
                ray.kill(self._actor)

    async def close(self, grace_s: float) -> None:
        if self._pulling is not None and not self._over.is_set():
            self._is_closing = True
            self.send({"op": "close"})
            with suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    await self._over.wait()
        for task in (self._pushing, self._pulling):
            if task is not None:
                task.cancel()
        self.kill("it was closed")

    def memory_bytes(self) -> int | None:
        return None  # it looks itself

    def _flush(self) -> None:
        is_pushing = self._pushing is not None and not self._pushing.done()
        if self._pulling is not None and self._lines and not is_pushing:
            self._pushing = asyncio.ensure_future(self._push())

    async def _push(self) -> None:
        while self._lines:
            lines, self._lines = self._lines, []
            try:
                await _await_answer(self._actor.push.remote(b"".join(lines)))
            except Exception as error:  # noqa: BLE001 - whatever Ray raises, the worker is gone
                self.lose(explain_loss(error))
                return

    async def _pull(self) -> None:
        while not self._over.is_set():
            try:
                batch: bytes = await _await_answer(self._actor.pull.remote())
            except Exception as error:  # noqa: BLE001 - as above
                self.lose(explain_loss(error))
                return
            for line in batch.splitlines():
                self.hear(line)


async def _await_answer(reference: Any) -> Any:  # noqa: ANN401 - what an actor returns
    """What Ray answers. Its client breaks where a call is cancelled: nobody waits any more, and
    that is all."""
    answering = asyncio.ensure_future(_await_reference(reference))
    answering.add_done_callback(_hear_out)
    return await asyncio.shield(answering)


async def _await_reference(reference: Any) -> Any:  # noqa: ANN401 - as above
    return await reference


def _hear_out(answering: asyncio.Task[Any]) -> None:
    """Take an error that nobody waits for."""
    if not answering.cancelled():
        answering.exception()


def explain_loss(error: BaseException) -> str:
    """Why an actor is gone, of the many lines that Ray says."""
    text = str(error)
    found = _DETAIL.search(text)
    if found is None:
        first = text.strip().splitlines()
        return f"{type(error).__name__}: {first[-1] if first else ''}"[:300]
    return f"its process or its node is gone: {found[1].rstrip('.')}"[:300]
