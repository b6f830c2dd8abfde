"""Processes that are kept: each is given one JSON object a line, and answers it with one.

What is sent has an `id`, which comes back with the reply. One that ends, writes anything else, or
is given up costs what it was at, and is replaced; so does one that wrote a line before it was
asked, or a second line for what was asked before: that is never the reply to something else. Where
nothing is asked any more, such a line is warned of.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from itertools import count

from evalcase.errors import TargetError
from evalcase.model.json_value import JSON
from evalcase.system.processes.process import Process
from evalcase.text.abridge import cut_bytes
from evalcase.text.strict_json import BadJsonError, parse_json

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
