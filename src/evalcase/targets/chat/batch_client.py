"""Requests to the batch endpoints of a service: JSON in and out, files up and down."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from json import dumps
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from urllib.parse import urlencode, urlsplit

from evalcase.errors import TargetError
from evalcase.targets.chat.batch_answers import BatchAnswers, HasAnswer, IsOurs
from evalcase.targets.chat.batch_draft import DraftFile
from evalcase.targets.web.errors import connection_error, protocol_error
from evalcase.types.value import JSON
from evalcase.util.json import BadJsonError, parse_json

if TYPE_CHECKING:
    from evalcase.targets.web.client import HttpClient, Reply

_LONGEST_S = 600.0
_MOST_BYTES = 10_000_000
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,200}")


class BatchLook(NamedTuple):
    """The progress of a batch."""

    is_over: bool
    answered: int
    questions: int
    """0 where the service has not counted them yet."""
    status: str
    """As the service says it."""


class BatchClient:
    """Speaks to one service. `client` gives what does, once it is open."""

    def __init__(self, base_url: str, client: Callable[[], HttpClient]) -> None:
        self._base_url = urlsplit(base_url)._replace(query="").geturl().rstrip("/")
        self._client = client

    async def get(self, path: str, **query: str) -> dict[str, Any]:
        async with self._send("GET", path + ("?" + urlencode(query) if query else "")) as reply:
            return await _read_object(reply)

    async def post(self, path: str, value: JSON) -> dict[str, Any]:
        async with self._send("POST", path, dumps(value).encode()) as reply:
            return await _read_object(reply)

    async def post_draft(self, path: str, draft: DraftFile) -> dict[str, Any]:
        body = draft.finish()
        async with self._send("POST", path, body, draft.form.content_type) as reply:
            return await _read_object(reply)

    async def download(
        self, path: str, into: BatchAnswers, has_answer: HasAnswer, is_ours: IsOurs
    ) -> int:
        async with self._send("GET", path) as reply:
            return await into.take(reply.chunks, has_answer, is_ours)

    @asynccontextmanager
    async def _send(
        self,
        method: str,
        path: str,
        data: bytes | BinaryIO = b"",
        content_type: str = "application/json",
    ) -> AsyncIterator[Reply]:
        try:
            async with (
                asyncio.timeout(_LONGEST_S),
                self._client().send(method, self._base_url + path, data, content_type) as reply,
            ):
                yield reply
        except TimeoutError:
            raise connection_error(f"nothing within {_LONGEST_S:g} s", self._base_url) from None


def id_of(value: dict[str, Any], what: str) -> str:
    """What a service calls something. It becomes part of an address."""
    id = value.get("id")
    if not isinstance(id, str) or not _ID.fullmatch(id):
        raise TargetError(f"the service returned no id for {what}: {id!r:.60}", kind="protocol")
    return id


def count_of(value: object) -> int:
    return value if type(value) is int and value >= 0 else 0


async def _read_object(reply: Reply) -> dict[str, Any]:
    from evalcase.targets.web.client import read_all

    data, truncated = await read_all(reply.chunks, _MOST_BYTES)
    try:
        value = None if truncated else parse_json(data)
    except BadJsonError as error:
        raise protocol_error(f"the answer is not JSON: {error}", data) from None
    if not isinstance(value, dict):
        raise protocol_error("the answer is not a JSON object", data)
    return value
