"""POST over HTTP: a body in, the bytes of an answer out, every failure a TargetError.

One pool of connections for each target. Redirects are not followed, cookies not kept, and `.netrc`
not read. Proxies come from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, and authorities to
trust from SSL_CERT_FILE, SSL_CERT_DIR, REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE.
"""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp

from evalcase import __version__
from evalcase.errors import ConfigError
from evalcase.model.json_value import JSON
from evalcase.system.processes.pipes import Output
from evalcase.system.threads import Threads
from evalcase.targets.web.address import CheckedResolver, check_address
from evalcase.targets.web.errors import (
    connection_error,
    protocol_error,
    redirect_error,
    status_error,
)
from evalcase.targets.web.options import HttpOptions, without_query

_ERROR_BYTES = 100_000


class Reply(NamedTuple):
    """The beginning of an answer: what it is, and its bytes as they come."""

    content_type: str
    chunks: AsyncIterator[bytes]


class HttpClient:
    """Asks one address. For its options see `http_options`."""

    def __init__(self, options: HttpOptions) -> None:
        self._options = options
        self._session: aiohttp.ClientSession | None = None
        self._proxy: str | None = None
        self._threads: Threads | None = None

    async def open(self) -> None:
        """Raise ConfigError where a key is missing, or the address may not be asked."""
        options = self._options
        headers = options.sent_headers(os.environ)
        self._threads = Threads("evalcase-http")
        if not options.allow_link_local:
            await check_address(options.kind, options.url, self._threads)
        self._proxy = _proxy(options)
        self._session = aiohttp.ClientSession(
            headers={"User-Agent": f"evalcase/{__version__}", **headers},
            connector=aiohttp.TCPConnector(
                limit=0,
                ssl=_trust(options),
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

    async def in_thread(self, function: Callable[..., object], *arguments: object) -> object:
        """Run what blocks, such as reading files, beside the event loop."""
        assert self._threads is not None, "open() comes first"
        return await self._threads.call(function, *arguments)

    async def post(self, body: JSON) -> Output:
        """The whole answer, cut where it is larger than is kept."""
        async with self.reply(body) as reply:
            return await read_all(reply.chunks, self._options.max_output_bytes)

    @asynccontextmanager
    async def reply(self, body: JSON) -> AsyncIterator[Reply]:
        """An answer with a status of 2xx, whose bytes come one by one."""
        assert self._session is not None, "open() comes first"
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        with self._errors():
            async with self._session.post(
                self._options.url, data=data, proxy=self._proxy, allow_redirects=False
            ) as response:
                if not 200 <= response.status <= 299:
                    await self._raise_status(response)
                yield Reply(response.content_type, response.content.iter_any())

    async def _raise_status(self, response: aiohttp.ClientResponse) -> None:
        place, status = self._options.place, response.status
        if 300 <= status <= 399:
            location = response.headers.get("Location")
            to = None if location is None else without_query(str(_joined(response, location)))
            raise redirect_error(status, to, place)
        data = bytearray()
        # The status says more than a body that breaks off.
        with suppress(aiohttp.ClientError, OSError):
            async for chunk in response.content.iter_any():
                data += chunk
                if len(data) > _ERROR_BYTES:
                    break
        raise status_error(status, response.headers, bytes(data), place, time.time())

    @contextmanager
    def _errors(self) -> Iterator[None]:
        place = self._options.place
        try:
            yield
        except aiohttp.ClientConnectorCertificateError as error:
            what = f"its certificate is not trusted: {error.certificate_error}"
            raise connection_error(what, place, may_succeed_later=False) from None
        except aiohttp.ClientHttpProxyError as error:
            headers = {} if error.headers is None else dict(error.headers)
            where = f"the proxy for {place}"
            raise status_error(error.status, headers, b"", where, time.time()) from None
        except aiohttp.ClientResponseError as error:
            raise protocol_error(f"{place}: the answer is not HTTP: {error.message}", b"") from None
        except TimeoutError:
            # The time for the answer is limited from outside: this can only be the connection.
            what = f"no connection within {self._options.connect_timeout_s:g} s"
            raise connection_error(what, place) from None
        except aiohttp.ClientConnectorError as error:
            what = f"can't connect: {error.os_error.strerror or error.os_error}"
            raise connection_error(what, place) from None
        except (aiohttp.ClientError, OSError) as error:
            raise connection_error(f"the connection broke: {error}", place) from None


async def read_all(chunks: AsyncIterator[bytes], most_bytes: int) -> Output:
    """Bytes up to a bound. What is over is not waited for."""
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > most_bytes:
            return Output(bytes(data[:most_bytes]), True)
    return Output(bytes(data), False)


def _joined(response: aiohttp.ClientResponse, location: str) -> object:
    from yarl import URL

    try:
        return response.url.join(URL(location))
    except ValueError:
        return location


def _proxy(options: HttpOptions) -> str | None:
    from urllib.request import getproxies_environment, proxy_bypass

    parts = urlsplit(options.url)
    proxies = getproxies_environment()
    proxy = proxies.get(parts.scheme, proxies.get("all"))
    if not proxy or proxy_bypass(parts.netloc):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        scheme = urlsplit(proxy).scheme
        raise ConfigError(
            f"{options.kind} target: a {scheme} proxy is set, and only http ones work"
        )
    return proxy


def _trust(options: HttpOptions) -> ssl.SSLContext | bool:
    """Authorities of the system, or of SSL_CERT_FILE, which OpenSSL reads by itself."""
    if not options.url.startswith("https:"):
        return True
    names = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
    name = next((name for name in names if os.environ.get(name)), "")
    path = os.environ[name] if name.endswith("BUNDLE") else None
    try:
        if path is not None and os.path.isdir(path):
            return ssl.create_default_context(capath=path)
        return ssl.create_default_context(cafile=path)
    except OSError as error:
        raise ConfigError(f"{options.kind} target: {name} can't be read: {error}") from None
