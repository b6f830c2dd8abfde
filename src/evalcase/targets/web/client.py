"""Requests over HTTP, by aiohttp: a body in, the bytes of an answer out, every failure a
TargetError.

Each target has one pool of connections. Redirects are not followed, cookies not kept, and `.netrc`
not read. Proxies and authorities come from the variables of the environment that `network` reads.
"""

from __future__ import annotations

import asyncio
import errno
import io
import os
import socket
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from json import JSONEncoder
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import urljoin

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from evalcase import __version__
from evalcase.errors import ConfigError, TargetError
from evalcase.targets.web.endpoint import Endpoint, without_query
from evalcase.targets.web.errors import (
    connection_error,
    protocol_error,
    redirect_error,
    status_error,
)
from evalcase.targets.web.network import (
    ALLOW_HINT,
    check_literal,
    find_proxy,
    is_refused,
    load_trust,
)
from evalcase.targets.web.quota import read_quota
from evalcase.targets.web.streamed import WholeReply
from evalcase.types.target import Quota, Surroundings
from evalcase.types.value import JSON
from evalcase.util.environment import leaves_room
from evalcase.util.processes import Output
from evalcase.util.user_calls import run_in_thread

_ERROR_BYTES, _ERROR_S = 100_000, 5.0
"""How much is read of what an error says, and how long that is waited for."""
_LONGEST_HEADER = 1 << 16
_LARGE_BODY = 1 << 20
_PARTIAL = 206
"""Only a part of an answer, which was never asked for."""
_UNAUTHORIZED = 401
_CODED = "Content-Encoding"
_AGENT = f"evalcase/{__version__}"
# Made once: each call of `json.dumps` with options makes another.
_to_json = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Reply(NamedTuple):
    """The beginning of an answer: what it is, and its bytes as they come, or a TargetError."""

    content_type: str
    chunks: AsyncIterator[bytes]


class HttpClient:
    """Asks one endpoint."""

    def __init__(self, endpoint: Endpoint, surroundings: Surroundings) -> None:
        self._endpoint = endpoint
        self._surroundings = surroundings
        self._session: aiohttp.ClientSession | None = None
        self._url = URL()
        self._headers: dict[str, str] = {}
        self._how: dict[str, Any] = {}
        """What every request is given: proxy, authorities, no redirects."""
        self._quota: Quota | None = None

    async def open(self) -> None:
        """Raise ConfigError where a key is missing, or the address may not be asked."""
        endpoint, environment = self._endpoint, self._surroundings.environment
        kind, url, options = endpoint.kind, endpoint.url, endpoint.options
        # They are no default of the session: aiohttp would send those to a proxy, too.
        own = {"User-Agent": _AGENT, "Accept-Encoding": "gzip, deflate"}
        self._headers = {**own, **endpoint.sent_headers(environment)}
        if not options.allow_link_local:
            check_literal(kind, url)
        self._url = self._read_url(url)
        proxy = find_proxy(kind, url, environment)
        self._how = {
            "allow_redirects": False,
            "proxy": proxy,
            "proxy_headers": None if proxy is None else {"User-Agent": _AGENT},
            "ssl": load_trust(kind, url, proxy, environment) or True,
        }
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # the run limits how many requests there are at once
                resolver=_CheckedResolver(options.allow_link_local),
                socket_factory=_make_socket,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=options.connect_timeout_s),
            auto_decompress=False,
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def take_quota(self) -> Quota | None:
        """What the service said last of how much more it takes, once."""
        quota, self._quota = self._quota, None
        return quota

    async def in_thread(self, function: Callable[..., object], *arguments: object) -> object:
        """Run what blocks, such as reading files, beside the event loop."""
        return await run_in_thread(function, *arguments)

    async def ask(
        self, body: JSON, headers: Mapping[str, str] | None = None, query: str = ""
    ) -> WholeReply:
        """The whole answer, cut where it is larger than is kept. Headers, and a query as addresses
        have it, are for this one only."""
        url = self._url
        if query:
            url = self._read_url(self._endpoint.with_query(query))
        method = self._endpoint.method
        async with await self._request(method, url, self._body(body), headers) as response:
            await self._check_status(response)
            output = await self._read_body(response)
            return WholeReply(response.content_type, output)

    @asynccontextmanager
    async def reply(self, body: JSON) -> AsyncIterator[Reply]:
        """An answer with a status of 2xx, whose bytes come one by one."""
        method = self._endpoint.method
        async with await self._request(method, self._url, self._body(body)) as response:
            await self._check_status(response)
            yield Reply(response.content_type, self._read_chunks(response))

    @asynccontextmanager
    async def send(
        self, method: str, url: str, data: bytes | BinaryIO = b"",
        content_type: str = "application/json",
    ) -> AsyncIterator[Reply]:  # fmt: skip
        """Ask something else of the same host, with the same headers. A file is closed."""
        headers = {"Content-Type": content_type}
        try:
            async with await self._request(method, self._read_url(url), data, headers) as response:
                await self._check_status(response)
                yield Reply(response.content_type, self._read_chunks(response))
        finally:
            if not isinstance(data, bytes):
                data.close()

    def _body(self, body: JSON) -> bytes | BinaryIO:
        data = _to_json(body).encode() if self._endpoint.has_body else b""
        # aiohttp writes a file in pieces, and warns of bytes as large as this.
        return data if len(data) < _LARGE_BODY else io.BytesIO(data)

    async def _request(
        self, method: str, url: URL, data: bytes | BinaryIO,
        headers: Mapping[str, str] | None = None,
    ) -> aiohttp.ClientResponse:  # fmt: skip
        """The beginning of an answer. Once it is left, what was not read closes its connection."""
        assert self._session is not None, "open() comes first"
        sent = self._headers
        if headers:
            names = {name.lower() for name in headers}
            kept = {name: value for name, value in sent.items() if name.lower() not in names}
            sent = {**kept, **headers}
        try:
            return await self._session.request(
                method, url, data=data or None, headers=sent, **self._how
            )
        except aiohttp.ClientError as error:
            raise self._failure(error) from None

    def _read_url(self, url: str) -> URL:
        try:
            return URL(url)
        except ValueError as error:
            kind, place = self._endpoint.kind, without_query(url)
            raise ConfigError(f"{kind} target: {place} can't be asked: {error}") from None

    async def _check_status(self, response: aiohttp.ClientResponse) -> None:
        headers, now_s = response.headers, self._surroundings.now()
        self._quota = read_quota(headers, now_s) or self._quota
        status, place = response.status, self._endpoint.place
        if 200 <= status <= 299 and status != _PARTIAL:
            return
        if status == _UNAUTHORIZED and not self._endpoint.key_names:
            place += "; no key was sent: `key_env` in the configuration names the variable of one"
        if 300 <= status <= 399:
            raise redirect_error(status, _find_location(response), place)
        data = bytearray()
        # The status says more than a body that breaks off, or never comes.
        with suppress(TargetError, TimeoutError):
            async with asyncio.timeout(_ERROR_S):
                async for chunk in self._read_chunks(response):
                    data += chunk
                    if len(data) > _ERROR_BYTES:
                        break
        raise status_error(status, headers, bytes(data), place, now_s)

    async def _read_body(self, response: aiohttp.ClientResponse) -> Output:
        most_bytes = self._endpoint.options.max_output_bytes
        length = response.content_length
        # What is compressed says how long it is on the way, and may be any size once it is here.
        if length is None or length > most_bytes or _CODED in response.headers:
            return await read_all(self._read_chunks(response), most_bytes)
        try:
            return Output(await response.read(), False)
        except aiohttp.ClientError as error:
            raise self._failure(error) from None

    async def _read_chunks(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        encoding = response.headers.get(_CODED, "").strip().lower()
        unpacker = None
        if encoding not in ("", "identity"):
            if encoding not in ("gzip", "x-gzip", "deflate"):
                what = f"its Content-Encoding is `{encoding:.40}`, which was not asked for"
                raise protocol_error(f"{self._endpoint.place}: {what}", b"")
            unpacker = _Unpacker(is_gzip=encoding != "deflate")
        try:
            async for chunk in response.content.iter_any():
                for piece in (chunk,) if unpacker is None else unpacker.add(chunk):
                    yield piece
            if unpacker is not None and not unpacker.is_whole:
                raise _BrokenBodyError(f"its {encoding} data ends too early")
        except (aiohttp.ClientError, _BrokenBodyError) as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> TargetError:
        """What went wrong with a connection, the more exact kinds first."""
        place = self._endpoint.place
        match error:
            case aiohttp.ClientConnectorCertificateError():
                what = f"its certificate is not trusted: {error.certificate_error}"
                return connection_error(what, place, may_succeed_later=False)
            case aiohttp.ClientHttpProxyError():
                where, now_s = f"the proxy for {place}", self._surroundings.now()
                return status_error(error.status, error.headers or {}, b"", where, now_s)
            case aiohttp.ClientResponseError():
                return protocol_error(f"{place}: the answer is not HTTP: {error.message}", b"")
            case aiohttp.ConnectionTimeoutError():
                limit_s = self._endpoint.options.connect_timeout_s
                return connection_error(f"no connection within {limit_s:g} s", place)
            case aiohttp.ClientConnectorError():
                return _connector_error(error, place)
            case _BrokenBodyError() | aiohttp.ClientPayloadError():
                return connection_error(f"the answer is not whole: {error}", place)
        what = str(error) or type(error).__name__
        return connection_error(f"the connection broke: {what}", place)


def _connector_error(error: aiohttp.ClientConnectorError, place: str) -> TargetError:
    cause = error.os_error
    if isinstance(cause, _RefusedAddressError):
        return connection_error(f"can't connect: {cause}", place, may_succeed_later=False)
    if cause.errno == errno.ECONNREFUSED:
        host = f"[{error.host}]" if ":" in str(error.host) else error.host
        what = f"nothing listens at {host}:{error.port}; is the server running?"
    else:
        what = cause.strerror or str(cause) or "the other side closed the connection"
    return connection_error(f"can't connect: {what}", place)


async def read_all(chunks: AsyncIterator[bytes], most_bytes: int) -> Output:
    """Bytes up to a bound. What is over is not waited for."""
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > most_bytes:
            return Output(bytes(data[:most_bytes]), True)
    return Output(bytes(data), False)


def _find_location(response: aiohttp.ClientResponse) -> str | None:
    """Where a redirect leads, as messages may show it; None if it is no address."""
    location = response.headers.get("Location")
    try:
        return None if location is None else without_query(urljoin(str(response.url), location))
    except ValueError:
        return None


def _make_socket(address: tuple[Any, ...]) -> socket.socket:
    """A socket, if others can be opened beside it: the record needs files, too."""
    family, kind, protocol, *_ = address
    made = socket.socket(family, kind, protocol)
    if not leaves_room(made.fileno()):
        made.close()
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    return made


class _RefusedAddressError(OSError):
    """A name leads to an address that is never asked."""


class _CheckedResolver(AbstractResolver):
    """Resolves names in daemon threads, which can't keep Python from ending, and refuses link-local
    and metadata addresses. aiohttp asks it for names only."""

    def __init__(self, allow_link_local: bool) -> None:
        self._allow = allow_link_local

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found: Any = await run_in_thread(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM)
        results = []
        for each_family, _, protocol, _, address in found:
            if not self._allow and is_refused(address[0]):
                what = f"{host} leads to {address[0]}, a link-local or metadata address"
                raise _RefusedAddressError(f"{what}; {ALLOW_HINT}")
            results.append(ResolveResult(
                hostname=host, host=address[0], port=port, family=each_family, proto=protocol,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            ))  # fmt: skip
        return results

    async def close(self) -> None:
        """The threads belong to the client."""


class _BrokenBodyError(Exception):
    """A body can't be unpacked, or not to its end."""


class _Unpacker:
    """Unpacks a compressed body as it comes, to its end: aiohttp takes half of a gzip file for a
    whole one."""

    _GZIP = 16 + zlib.MAX_WBITS
    _MOST = 1_000_000
    """How many bytes are unpacked at a time: a few may become any number."""

    def __init__(self, *, is_gzip: bool) -> None:
        self._is_gzip = is_gzip
        self._stream = zlib.decompressobj(self._GZIP if is_gzip else zlib.MAX_WBITS)
        self._is_begun = False

    @property
    def is_whole(self) -> bool:
        return self._stream.eof or not self._is_begun

    def add(self, data: bytes) -> Iterator[bytes]:
        is_full = False
        while data or is_full:
            if self._stream.eof:
                # A gzip file may be several, one after the other.
                if not self._is_gzip:
                    raise _BrokenBodyError("there is more after its end")
                self._stream = zlib.decompressobj(self._GZIP)
            try:
                piece = self._unpack(data)
            except zlib.error as error:
                raise _BrokenBodyError(f"it can't be unpacked: {error}") from None
            self._is_begun = True
            if piece:
                yield piece
            data = self._stream.unconsumed_tail or self._stream.unused_data
            is_full = len(piece) == self._MOST and not self._stream.eof

    def _unpack(self, data: bytes) -> bytes:
        try:
            return self._stream.decompress(data, self._MOST)
        except zlib.error:
            if self._is_gzip or self._is_begun:
                raise
            # Some servers take "deflate" at its word, and leave out the frame.
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._stream.decompress(data, self._MOST)
