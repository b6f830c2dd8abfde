"""Requests over HTTP: a body in, the bytes of an answer out, every failure a TargetError.

One pool of connections for each target. Redirects are not followed, cookies not kept, and `.netrc`
not read. Proxies come from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, and authorities to
trust from SSL_CERT_FILE, SSL_CERT_DIR, REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from json import JSONEncoder
from typing import BinaryIO, NamedTuple
from urllib.parse import urljoin

from evalcase import __version__
from evalcase.errors import ConfigError, TargetError
from evalcase.model.json_value import JSON
from evalcase.model.quota import Quota
from evalcase.model.target import Surroundings
from evalcase.system.http.address import split_address
from evalcase.system.http.answer import HttpAnswer
from evalcase.system.http.client import Client, HttpExchange, HttpRequest
from evalcase.system.http.connection import Upload
from evalcase.system.http.errors import (
    CantConnectError,
    CertificateError,
    ConnectTimeoutError,
    HttpError,
    NotHttpError,
    ProxyRefusedError,
)
from evalcase.system.http.routing import Network
from evalcase.system.processes.pipes import Output
from evalcase.system.threads import Threads
from evalcase.targets.web.address import CheckedResolver, check_address
from evalcase.targets.web.endpoint import Endpoint, without_query
from evalcase.targets.web.errors import (
    connection_error,
    protocol_error,
    redirect_error,
    status_error,
)
from evalcase.targets.web.network import load_trust
from evalcase.targets.web.proxy import find_proxy
from evalcase.targets.web.quota import read_quota
from evalcase.targets.web.unpacking import ACCEPTED, BrokenBodyError, unpack
from evalcase.targets.web.whole_reply import WholeReply

_ERROR_BYTES, _ERROR_S = 100_000, 5.0
"""How much is read of what an error says, and how long that is waited for."""
_BLOCK_BYTES = 1 << 18
_FAILURES = (HttpError, BrokenBodyError)
_PARTIAL = 206
"""Only a part of an answer: nobody asked for one."""
_UNAUTHORIZED = 401
_CODED = "Content-Encoding"
# Made once: each call of `json.dumps` with options makes another.
_to_json = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Reply(NamedTuple):
    """The beginning of an answer: what it is, and its bytes as they come."""

    content_type: str
    chunks: AsyncIterator[bytes]


class HttpClient:
    """Asks one endpoint."""

    def __init__(self, endpoint: Endpoint, surroundings: Surroundings) -> None:
        self._endpoint = endpoint
        self._surroundings = surroundings
        self._client: Client | None = None
        self._headers: dict[str, str] = {}
        self._request: HttpRequest | None = None
        self._resolver: CheckedResolver | None = None
        self._threads: Threads | None = None
        self._quota: Quota | None = None

    async def open(self) -> None:
        """Raise ConfigError where a key is missing, or the address may not be asked."""
        endpoint, environment = self._endpoint, self._surroundings.environment
        options = endpoint.options
        headers = endpoint.sent_headers(environment)
        self._threads = Threads("evalcase-http")
        if not options.allow_link_local:
            await check_address(endpoint.kind, endpoint.url, self._threads)
        agent = f"evalcase/{__version__}"
        proxy = find_proxy(endpoint.kind, endpoint.url, environment)
        self._resolver = CheckedResolver(self._threads, options.allow_link_local)
        self._client = Client(Network(
            resolver=self._resolver,
            tls=load_trust(endpoint, proxy, environment),
            proxy=None if proxy is None else split_address(proxy),
            limit_s=options.connect_timeout_s,
            agent=agent,
        ))  # fmt: skip
        self._headers = {"User-Agent": agent, "Accept-Encoding": ACCEPTED, **headers}
        self._request = self._prepare(endpoint.method, endpoint.url, self._headers)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
        if self._resolver is not None:
            self._resolver.close()
        if self._threads is not None:
            self._threads.close()

    def take_quota(self) -> Quota | None:
        """What the service said last of how much more it takes, once."""
        quota, self._quota = self._quota, None
        return quota

    async def in_thread(self, function: Callable[..., object], *arguments: object) -> object:
        """Run what blocks, such as reading files, beside the event loop."""
        assert self._threads is not None, "open() comes first"
        return await self._threads.call(function, *arguments)

    async def ask(
        self, body: JSON, headers: Mapping[str, str] | None = None, query: str = ""
    ) -> WholeReply:
        """The whole answer, cut where it is larger than is kept. Headers, and a query as addresses
        have it, are for this one only."""
        try:
            async with self._ask(body, headers, query) as answer:
                await self._check_status(answer, self._endpoint.url)
                output = await _read_body(answer, self._endpoint.options.max_output_bytes)
                return WholeReply(answer.content_type, output)
        except _FAILURES as error:
            raise self._failure(error) from None

    @asynccontextmanager
    async def reply(self, body: JSON) -> AsyncIterator[Reply]:
        """An answer with a status of 2xx, whose bytes come one by one."""
        try:
            async with self._ask(body) as answer:
                await self._check_status(answer, self._endpoint.url)
                yield Reply(answer.content_type, _unpack_answer(answer))
        except _FAILURES as error:
            raise self._failure(error) from None

    @asynccontextmanager
    async def send(
        self, method: str, url: str, data: bytes | BinaryIO = b"",
        content_type: str = "application/json",
    ) -> AsyncIterator[Reply]:  # fmt: skip
        """Ask something else of the same host, with the same headers. A file is closed."""
        assert self._client is not None, "open() comes first"
        request = self._prepare(method, url, {**self._headers, "Content-Type": content_type})
        try:
            body = data if isinstance(data, bytes) else self._upload(data)
            async with self._client.ask(request, body) as answer:
                await self._check_status(answer, url)
                yield Reply(answer.content_type, _unpack_answer(answer))
        except _FAILURES as error:
            raise self._failure(error) from None
        finally:
            if not isinstance(data, bytes):
                data.close()

    def _ask(
        self, body: JSON, headers: Mapping[str, str] | None = None, query: str = ""
    ) -> HttpExchange:
        assert self._client is not None, "open() comes first"
        assert self._request is not None
        endpoint, request = self._endpoint, self._request
        if query:
            request = self._prepare(endpoint.method, endpoint.with_query(query), self._headers)
        data = _to_json(body).encode() if endpoint.has_body else b""
        return self._client.ask(request, data, headers)

    def _prepare(self, method: str, url: str, headers: Mapping[str, str]) -> HttpRequest:
        assert self._client is not None
        try:
            return self._client.prepare(method, url, headers)
        except ValueError as error:
            kind, place = self._endpoint.kind, without_query(url)
            raise ConfigError(f"{kind} target: {place} can't be asked: {error}") from None

    def _upload(self, file: BinaryIO) -> Upload:
        async def read_blocks() -> AsyncGenerator[bytes, None]:
            while block := await self.in_thread(file.read, _BLOCK_BYTES):
                assert isinstance(block, bytes)
                yield block

        return Upload(os.fstat(file.fileno()).st_size - file.tell(), read_blocks())

    async def _check_status(self, answer: HttpAnswer, url: str) -> None:
        self._quota = read_quota(answer.headers, self._surroundings.now()) or self._quota
        if 200 <= answer.status <= 299 and answer.status != _PARTIAL:
            return
        place, status = self._endpoint.place, answer.status
        if status == _UNAUTHORIZED and not self._endpoint.key_names:
            place += "; no key was sent: `key_env` in the configuration names the variable of one"
        if 300 <= status <= 399:
            raise redirect_error(status, _find_location(url, answer.headers), place)
        data = bytearray()
        # The status says more than a body that breaks off, or never comes.
        with suppress(*_FAILURES, TimeoutError):
            async with asyncio.timeout(_ERROR_S):
                async for chunk in _unpack_answer(answer):
                    data += chunk
                    if len(data) > _ERROR_BYTES:
                        break
        raise status_error(status, answer.headers, bytes(data), place, self._surroundings.now())

    def _failure(self, error: Exception) -> TargetError:
        """What went wrong with a connection, the more exact kinds first."""
        place = self._endpoint.place
        if isinstance(error, CertificateError):
            what = f"its certificate is not trusted: {error}"
            return connection_error(what, place, may_succeed_later=False)
        if isinstance(error, ProxyRefusedError):
            where, now_s = f"the proxy for {place}", self._surroundings.now()
            return status_error(error.status, error.headers, b"", where, now_s)
        if isinstance(error, NotHttpError):
            return protocol_error(f"{place}: the answer is not HTTP: {error}", b"")
        if isinstance(error, ConnectTimeoutError):
            return connection_error(str(error), place)
        if isinstance(error, CantConnectError):
            return connection_error(f"can't connect: {error}", place)
        if isinstance(error, BrokenBodyError):
            return connection_error(f"the answer is not whole: {error}", place)
        return connection_error(f"the connection broke: {error}", place)


async def _read_body(answer: HttpAnswer, most_bytes: int) -> Output:
    length = answer.length
    # What is compressed says how long it is on the way, and may be any size once it is here.
    if length is not None and length <= most_bytes and _CODED not in answer.headers:
        return Output(await answer.read(), False)
    return await read_all(_unpack_answer(answer), most_bytes)


def _unpack_answer(answer: HttpAnswer) -> AsyncIterator[bytes]:
    coded = answer.headers.get(_CODED)
    return answer if coded is None else unpack(answer, coded)


async def read_all(chunks: AsyncIterator[bytes], most_bytes: int) -> Output:
    """Bytes up to a bound. What is over is not waited for."""
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > most_bytes:
            return Output(bytes(data[:most_bytes]), True)
    return Output(bytes(data), False)


def _find_location(url: str, headers: Mapping[str, str]) -> str | None:
    """Where a redirect leads, as messages may show it; None if it is no address."""
    location = headers.get("Location")
    try:
        return None if location is None else without_query(urljoin(url, location))
    except ValueError:
        return None
