"""POST over HTTP: a body in, the bytes of an answer out, every failure a TargetError.

One pool of connections for each target. Redirects are not followed, cookies not kept, and `.netrc`
not read. Proxies come from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, and authorities to
trust from SSL_CERT_FILE, SSL_CERT_DIR, REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from json import JSONEncoder

import aiohttp
from yarl import URL

from evalcase import __version__
from evalcase.errors import TargetError
from evalcase.model.json_value import JSON
from evalcase.model.quick_tuple import NamedTuple
from evalcase.model.quota import Quota
from evalcase.model.target import Surroundings
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

_ERROR_BYTES = 100_000
_FAILURES = (aiohttp.ClientError, TimeoutError, OSError, BrokenBodyError)
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
        self._url: URL | None = None
        self._session: aiohttp.ClientSession | None = None
        self._proxy: str | None = None
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
        self._url = URL(endpoint.url)
        self._proxy = find_proxy(endpoint.kind, endpoint.url, environment)
        self._session = aiohttp.ClientSession(
            headers={
                "User-Agent": f"evalcase/{__version__}",
                "Accept-Encoding": ACCEPTED,
                **headers,
            },
            auto_decompress=False,
            connector=aiohttp.TCPConnector(
                limit=0,
                ssl=load_trust(endpoint, environment),
                resolver=CheckedResolver(self._threads, options.allow_link_local),
            ),
            timeout=aiohttp.ClientTimeout(total=None, connect=options.connect_timeout_s),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
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

    async def post(self, body: JSON, headers: Mapping[str, str] | None = None) -> Output:
        """The whole answer, cut where it is larger than is kept. Headers are for this one only."""
        try:
            async with self._request(body, headers) as response:
                await self._check_status(response)
                return await _read_body(response, self._endpoint.options.max_output_bytes)
        except _FAILURES as error:
            raise self._failure(error) from None

    @asynccontextmanager
    async def reply(self, body: JSON) -> AsyncIterator[Reply]:
        """An answer with a status of 2xx, whose bytes come one by one."""
        try:
            async with self._request(body) as response:
                await self._check_status(response)
                yield Reply(response.content_type, _unpack_response(response))
        except _FAILURES as error:
            raise self._failure(error) from None

    @asynccontextmanager
    async def send(
        self, method: str, url: str, data: object = None, content_type: str = "application/json"
    ) -> AsyncIterator[Reply]:
        """Ask something else of the same host, with the same headers."""
        assert self._session is not None, "open() comes first"
        try:
            async with self._session.request(
                method, URL(url), data=data, proxy=self._proxy, allow_redirects=False,
                headers={"Content-Type": content_type},
            ) as response:  # fmt: skip
                await self._check_status(response)
                yield Reply(response.content_type, _unpack_response(response))
        except _FAILURES as error:
            raise self._failure(error) from None

    def _request(
        self, body: JSON, headers: Mapping[str, str] | None = None
    ) -> aiohttp.client._RequestContextManager:
        assert self._session is not None, "open() comes first"
        assert self._url is not None
        return self._session.post(
            self._url, data=_to_json(body).encode(), headers=headers, proxy=self._proxy,
            allow_redirects=False,
        )  # fmt: skip

    async def _check_status(self, response: aiohttp.ClientResponse) -> None:
        self._quota = read_quota(response.headers, self._surroundings.now()) or self._quota
        if 200 <= response.status <= 299:
            return
        place, status = self._endpoint.place, response.status
        if 300 <= status <= 399:
            location = response.headers.get("Location")
            to = None if location is None else without_query(_join_location(response, location))
            raise redirect_error(status, to, place)
        data = bytearray()
        # The status says more than a body that breaks off.
        with suppress(aiohttp.ClientError, OSError, BrokenBodyError):
            async for chunk in _unpack_response(response):
                data += chunk
                if len(data) > _ERROR_BYTES:
                    break
        raise status_error(status, response.headers, bytes(data), place, self._surroundings.now())

    def _failure(self, error: Exception) -> TargetError:
        """What went wrong with a connection, the more exact kinds first."""
        place = self._endpoint.place
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            what = f"its certificate is not trusted: {error.certificate_error}"
            return connection_error(what, place, may_succeed_later=False)
        if isinstance(error, aiohttp.ClientHttpProxyError):
            headers = {} if error.headers is None else dict(error.headers)
            where = f"the proxy for {place}"
            return status_error(error.status, headers, b"", where, self._surroundings.now())
        if isinstance(error, aiohttp.ClientResponseError):
            return protocol_error(f"{place}: the answer is not HTTP: {error.message}", b"")
        if isinstance(error, TimeoutError):
            # The time for the answer is limited from outside: this can only be the connection.
            limit_s = self._endpoint.options.connect_timeout_s
            return connection_error(f"no connection within {limit_s:g} s", place)
        if isinstance(error, aiohttp.ClientConnectorError):
            what = f"can't connect: {error.os_error.strerror or error.os_error}"
            return connection_error(what, place)
        if isinstance(error, BrokenBodyError):
            return connection_error(f"the answer is not whole: {error}", place)
        return connection_error(f"the connection broke: {error}", place)


async def _read_body(response: aiohttp.ClientResponse, most_bytes: int) -> Output:
    length = response.content_length
    # What is compressed says how long it is on the way, and may be any size once it is here.
    if length is not None and length <= most_bytes and _CODED not in response.headers:
        return Output(await response.read(), False)
    return await read_all(_unpack_response(response), most_bytes)


def _unpack_response(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    chunks = response.content.iter_any()
    coded = response.headers.get(_CODED)
    return chunks if coded is None else unpack(chunks, coded)


async def read_all(chunks: AsyncIterator[bytes], most_bytes: int) -> Output:
    """Bytes up to a bound. What is over is not waited for."""
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > most_bytes:
            return Output(bytes(data[:most_bytes]), True)
    return Output(bytes(data), False)


def _join_location(response: aiohttp.ClientResponse, location: str) -> str:
    try:
        return str(response.url.join(URL(location)))
    except ValueError:
        return location
