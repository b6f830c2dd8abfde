"""A request to a chat API in, the JSON object of its answer out: sent whole, or as a stream."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, cast

from evalcase.errors import TargetError
from evalcase.targets.asking.files import Files, has_files, load_files
from evalcase.targets.web.endpoint import Endpoint
from evalcase.targets.web.errors import error_message, protocol_error
from evalcase.targets.web.event_stream import Event, EventReader
from evalcase.types.question import Question
from evalcase.types.target import Quota, Surroundings
from evalcase.types.value import JSON
from evalcase.util.json import parse_json
from evalcase.util.processes import Output
from evalcase.util.text import EXCERPT_CHARACTERS

if TYPE_CHECKING:
    from evalcase.targets.web.client import HttpClient

_DRAIN_S = 1.0
_KEPT_BYTES = 8 * EXCERPT_CHARACTERS
_OVERLOADED = frozenset({"overloaded_error", "rate_limit_error", "rate_limit_exceeded"})
_PASSING = _OVERLOADED | {"server_error", "api_error", "internal_server_error", "timeout_error"}


class Assembler(Protocol):
    """Puts the events of a stream together."""

    def take(self, event: Event) -> bool:
        """Whether the stream is over with this event. Raise ValueError if it makes no sense."""

    def whole(self) -> dict[str, Any] | None:
        """The answer as it would have been sent in one piece; None if something is missing."""

    def text(self) -> str:
        """What came so far."""


class ChatClient:
    """Asks one endpoint that speaks JSON, or streams of it."""

    def __init__(self, endpoint: Endpoint, surroundings: Surroundings) -> None:
        self._endpoint = endpoint
        self._surroundings = surroundings
        self._client: HttpClient | None = None

    async def open(self) -> None:
        # The client is slow to import, and only who asks something needs it.
        from evalcase.targets.web.client import HttpClient

        self._client = HttpClient(self._endpoint, self._surroundings)
        await self._client.open()

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def http(self) -> HttpClient:
        """What requests go by."""
        assert self._client is not None, "open() comes first"
        return self._client

    def quota(self) -> Quota | None:
        """What the service said last of how much more it takes, once."""
        return None if self._client is None else self._client.take_quota()

    async def load_files(self, question: Question) -> Files:
        """The files of a question, read beside the event loop."""
        if not has_files(question):
            return {}
        assert self._client is not None, "open() comes first"
        root = self._surroundings.root
        return cast("Files", await self._client.in_thread(load_files, question, root))

    async def ask(self, body: JSON, assembler: Assembler | None) -> dict[str, Any]:
        """The answer, which is no error of the service. Raise TargetError."""
        assert self._client is not None, "open() comes first"
        if assembler is None:
            return _read_object((await self._client.ask(body)).output)
        from evalcase.targets.web.client import read_all

        async with self._client.reply(body) as reply:
            if reply.content_type == "text/event-stream":
                return await self._assembled(reply.chunks, assembler)
            return _read_object(await read_all(reply.chunks, self._most_bytes))

    @property
    def _most_bytes(self) -> int:
        return self._endpoint.options.max_output_bytes

    async def _assembled(
        self, chunks: AsyncIterator[bytes], assembler: Assembler
    ) -> dict[str, Any]:
        reader, kept, size = EventReader(), bytearray(), 0
        is_over = False
        async for chunk in chunks:
            size += len(chunk)
            kept += chunk[: max(0, _KEPT_BYTES - len(kept))]
            if size > self._most_bytes:
                raise _make_broken_error("it is larger than `max_output_bytes`", kept, assembler)
            is_over = _take_events(reader.feed(chunk), assembler, kept)
            if is_over:
                await _drain_chunks(chunks)
                break
        if not is_over:
            is_over = _take_events(reader.close(), assembler, kept)
        value = assembler.whole()
        if value is None:
            error = _make_broken_error("it ended before the answer was complete", kept, assembler)
            error.may_succeed_later = not is_over  # then it was cut, as by a broken connection
            raise error
        return value


def service_error(error: JSON, data: bytes) -> TargetError:
    """The error of a service that said 200, and then that something went wrong."""
    inner = error if isinstance(error, dict) else {}
    codes = {code for code in (inner.get("type"), inner.get("code")) if isinstance(code, str)}
    said = error_message({"error": error}) or "it says no more"
    return protocol_error(
        f"the service answered with an error: {said}",
        data,
        may_succeed_later=not codes.isdisjoint(_PASSING),
        overloaded=not codes.isdisjoint(_OVERLOADED),
    )


def no_answer_error(why: str, value: dict[str, Any]) -> TargetError:
    """The error of a reply that has none of what an answer is made of."""
    data = json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass")
    return protocol_error(f"there is no answer in what came back: {why}", data)


def _read_object(output: Output) -> dict[str, Any]:
    try:
        if output.truncated:
            raise ValueError("it is larger than `max_output_bytes`")
        value = parse_json(output.data)
    except ValueError as error:
        raise protocol_error(f"the answer is not JSON: {error}", output.data) from None
    if not isinstance(value, dict):
        raise protocol_error("the answer is not a JSON object", output.data)
    if value.get("error") is not None:
        raise service_error(value["error"], output.data)
    return value


def _take_events(events: list[Event], assembler: Assembler, kept: bytearray) -> bool:
    for event in events:
        try:
            if assembler.take(event):
                return True
        except ValueError as error:
            raise _make_broken_error(str(error), kept, assembler) from None
    return False


def _make_broken_error(why: str, kept: bytearray, assembler: Assembler) -> TargetError:
    error = protocol_error(f"the stream of the answer can't be read: {why}", bytes(kept))
    error.details["output"] = assembler.text()[:EXCERPT_CHARACTERS]
    return error


async def _drain_chunks(chunks: AsyncIterator[bytes]) -> None:
    """Read what little may be left, so that the connection can be used again."""
    with suppress(StopAsyncIteration, TimeoutError, TargetError):
        async with asyncio.timeout(_DRAIN_S):
            for _ in range(4):
                await anext(chunks)
