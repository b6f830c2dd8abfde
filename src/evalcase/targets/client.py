"""Requests over HTTP, by aiohttp: a body in, the bytes of an answer out, every failure a
TargetError that says whether to try again.

Each target has one pool of connections. Redirects are not followed, so that a key goes nowhere but
to the configured address. Cookies are not kept, and `.netrc` is not read. Link-local and metadata
addresses, which give away the keys of a machine, are refused.
"""

from __future__ import annotations

import asyncio
import errno
import io
import json
import os
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import responses
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Any, BinaryIO
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from multidict import CIMultiDict
from yarl import URL

from evalcase import __version__
from evalcase.errors import ConfigError, TargetError
from evalcase.targets.base import OVERLOADED, may_pass
from evalcase.targets.web import (
    WebOptions,
    connection_error,
    error_message,
    find_proxy,
    protocol_error,
    without_query,
)
from evalcase.types.value import JSON
from evalcase.util.processes import Output
from evalcase.util.text import cut_bytes
from evalcase.util.user_calls import run_in_thread

_ERROR_BYTES, _ERROR_S = 100_000, 5.0
"""How much of the body of an error is read, and how long that may take."""
_FINISH_S = 1.0
_LONGEST_HEADER = 1 << 16
_LARGE_BODY = 1 << 20
_PARTIAL = 206
"""Only a part of an answer, which was never asked for."""
_AGENT = f"evalcase/{__version__}"
_REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid", "cf-ray")
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class HttpClient:
    def __init__(
        self, url: str, headers: Mapping[str, str], options: WebOptions, now: Callable[[], float],
        environment: Mapping[str, str],
    ) -> None:  # fmt: skip
        """Raise ConfigError where the address may not be asked. An event loop has to run."""
        if not options.allow_link_local:
            _check_literal(url)
        self._url = _read_url(url)
        self._place = without_query(url)
        self._options = options
        self._now = now
        # They are no default of the session: aiohttp would send those to a proxy, too.
        # aiohttp takes half of a gzip file for a whole answer, so none is asked for.
        own = {"User-Agent": _AGENT, "Accept-Encoding": "identity"}
        self._headers: CIMultiDict[str] = CIMultiDict({**own, **headers})
        proxy = find_proxy(url, environment)
        self._how: dict[str, Any] = {
            "allow_redirects": False,
            "proxy": proxy,
            "proxy_headers": None if proxy is None else {"User-Agent": _AGENT},
            "ssl": _load_trust(url, proxy, environment) or True,
        }
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # the run limits how many requests there are at once
                resolver=_CheckedResolver(options.allow_link_local),
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=options.connect_timeout_s),
            auto_decompress=False,
            raise_for_status=self._check_status,
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )

    async def close(self) -> None:
        await self._session.close()

    def ask(
        self, method: str, body: JSON, headers: Mapping[str, str] | None = None,
        url: str | None = None,
    ) -> Reply:  # fmt: skip
        """Ask with a body of JSON; a GET has none."""
        data = b"" if method == "GET" else _to_json(body).encode()
        # aiohttp writes a file in pieces, and warns of bytes as large as this.
        return self.send(
            method, url, data if len(data) < _LARGE_BODY else io.BytesIO(data), headers
        )

    def send(
        self, method: str, url: str | None = None, data: bytes | BinaryIO = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:  # fmt: skip
        """Ask anything of the host; headers are for this request only."""
        sent = self._headers
        if headers:
            sent = sent.copy()
            sent.update(headers)
        where = self._url if url is None else _read_url(url)
        request = self._session.request(method, where, data=data or None, headers=sent, **self._how)
        return Reply(request, self._failure)

    async def _check_status(self, response: aiohttp.ClientResponse) -> None:
        """Raise TargetError for a response that is no answer."""
        headers, status, place, body = response.headers, response.status, self._place, b""
        encoding = headers.get("Content-Encoding", "").strip().lower()
        is_answer = 200 <= status <= 299 and status != _PARTIAL
        if is_answer and encoding in ("", "identity"):
            return
        async with response:
            if is_answer:
                what = f"its Content-Encoding is `{encoding:.40}`, and none was asked for"
                raise protocol_error(f"{place}: {what}", b"")
            if status == HTTPStatus.UNAUTHORIZED and not self._options.secret_headers:
                place += (
                    "; no key was sent: `key_env` in the configuration names the variable of one"
                )
            if 300 <= status <= 399:
                location = headers.get("Location")
                with suppress(ValueError):
                    location = location and without_query(urljoin(str(response.url), location))
                where = f" points to {location}" if location else ""
                hint = "redirects are not followed; configure the address that is the right one"
                message = f"HTTP {_status_name(status)}: {place}{where}; {hint}"
                details: dict[str, JSON] = {"status": status, "location": location}
                raise TargetError(message, kind="http", details=details)
            # The status says more than a body that breaks off, or never comes.
            with suppress(aiohttp.ClientError, TimeoutError):
                async with asyncio.timeout(_ERROR_S):
                    while len(body) < _ERROR_BYTES and (more := await response.content.readany()):
                        body += more
            raise _status_error(status, headers, body[:_ERROR_BYTES], place, self._now())

    def _failure(self, error: Exception) -> TargetError:
        """The error of a connection, the more exact kinds first."""
        place, what, later = self._place, str(error) or type(error).__name__, True
        match error:
            case aiohttp.ClientConnectorCertificateError():
                what, later = f"its certificate is not trusted: {error.certificate_error}", False
            case aiohttp.ClientHttpProxyError():
                where = f"the proxy for {place}"
                return _status_error(error.status, error.headers or {}, b"", where, self._now())
            case aiohttp.ClientResponseError():
                return protocol_error(f"{place}: the answer is not HTTP: {error.message}", b"")
            case aiohttp.ConnectionTimeoutError():
                what = f"no connection within {self._options.connect_timeout_s:g} s"
            case aiohttp.ClientConnectorError(os_error=cause):
                said = cause.strerror or str(cause) or "the other side closed the connection"
                what, later = f"can't connect: {said}", not isinstance(cause, _RefusedAddressError)
                if cause.errno == errno.ECONNREFUSED:
                    what = f"can't connect: nothing listens there ({said}); is it running?"
        return connection_error(what, place, may_succeed_later=later)


def _read_url(url: str) -> URL:
    try:
        return URL(url)
    except ValueError as error:
        raise ConfigError(f"{without_query(url)} can't be asked: {error}") from None


class Reply:
    """The answer to a request, with a status of 2xx, and its bytes as they come, or a TargetError.
    `async with` asks for it. What is not read of it closes its connection."""

    response: aiohttp.ClientResponse

    def __init__(
        self,
        request: Awaitable[aiohttp.ClientResponse],
        failure: Callable[[Exception], TargetError],
    ) -> None:
        self._request = request
        self._failure = failure

    async def __aenter__(self) -> Reply:
        try:
            self.response = await self._request
        except aiohttp.ClientError as error:
            raise self._failure(error) from None
        return self

    async def __aexit__(self, *_: object) -> None:
        self.response.release()
        await self.response.wait_for_close()

    async def next(self) -> bytes:
        """Some more bytes; none at the end."""
        try:
            return await self.response.content.readany()
        except aiohttp.ClientError as error:
            raise self._failure(error) from None

    async def finish(self) -> None:
        """Read the little that may be left, so that the connection can be used again."""
        with suppress(TimeoutError, TargetError):
            async with asyncio.timeout(_FINISH_S):
                while await self.next():
                    pass

    async def read(self, most_bytes: int) -> Output:
        """Bytes up to a bound. The rest is not waited for."""
        data = bytearray()
        while chunk := await self.next():
            data += chunk
            if len(data) > most_bytes:
                return Output(bytes(data[:most_bytes]), True)
        return Output(bytes(data), False)


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
            if not self._allow and _is_refused(address[0]):
                what = f"{host} leads to {address[0]}, a link-local or metadata address"
                raise _RefusedAddressError(f"{what}; {_ALLOW_HINT}")
            results.append(ResolveResult(
                hostname=host, host=address[0], port=port, family=each_family, proto=protocol,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            ))  # fmt: skip
        return results

    async def close(self) -> None:
        """There is nothing to close."""


# Addresses that are never asked.

_REFUSED_NETWORKS = [
    *map(ip_network, ("169.254.0.0/16", "fe80::/10", "fd00:ec2::254", "fd20:ce::254")),
    *map(ip_network, ("100.100.100.200", "168.63.129.16")),
]
"""Link-local ones; and those where Amazon, Google, Alibaba and Azure tell a machine its keys."""
_REFUSED_NAMES = frozenset({"metadata.google.internal", "metadata.goog"})
_TRANSLATED = ip_network("64:ff9b::/96")
_ALLOW_HINT = "set allow_link_local = true if you mean it"


def _check_literal(url: str) -> None:
    """Raise ConfigError if an address is written out that gives away the keys of a machine."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        # Systems accept an address as one number, or in hexadecimal.
        number = socket.inet_ntoa(socket.inet_aton(host))
    except (OSError, UnicodeError):
        number = ""
    if host in _REFUSED_NAMES or _is_refused(host) or _is_refused(number):
        what = "a link-local or metadata address, which gives away the keys of a machine"
        raise ConfigError(f"{host} is {what}; {_ALLOW_HINT}")


def _is_refused(address: str) -> bool:
    """Whether a text is such an address, also as IPv6 writes those of IPv4. Names never are."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    alike = [parsed]
    if parsed.version == 6 and parsed.ipv4_mapped is not None:
        alike.append(parsed.ipv4_mapped)
    elif parsed.version == 6 and (parsed in _TRANSLATED or int(parsed) >> 32 == 0):
        alike.append(IPv4Address(int(parsed) & 0xFFFFFFFF))
    return any(each in network for each in alike for network in _REFUSED_NETWORKS)


_TRUSTED = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def _load_trust(
    url: str, proxy: str | None, environment: Mapping[str, str]
) -> ssl.SSLContext | None:
    """The authorities of the system, and those that the environment names; None where neither the
    address nor a proxy needs any."""
    if not any(each.lower().startswith("https:") for each in (url, proxy or "")):
        return None
    context = ssl.create_default_context()
    for name in _TRUSTED:
        path = environment.get(name)
        try:
            if path:
                is_folder = os.path.isdir(path)
                context.load_verify_locations(*((None, path) if is_folder else (path,)))
        except OSError as error:
            raise ConfigError(f"{name} can't be read: {error}") from None
    return context


# Errors.


def _status_error(
    status: int, headers: Mapping[str, str], body: bytes, place: str, now_s: float
) -> TargetError:
    ids = [{"request_id": headers[name]} for name in _REQUEST_IDS if name in headers]
    details = {"status": status, "body": cut_bytes(body), **(ids[0] if ids else {})}
    said = None
    with suppress(ValueError, RecursionError):
        said = error_message(json.loads(body))
    wait_s = retry_after_s(headers, now_s)
    return TargetError(
        f"HTTP {_status_name(status)}{': ' + said if said else ''}, from {place}",
        kind="http",
        details=details,
        may_succeed_later=may_pass(status),
        retry_after_s=wait_s,
        overloaded=status in OVERLOADED or (status == 503 and wait_s is not None),
    )


def _status_name(status: int) -> str:
    phrase = responses.get(status, "overloaded" if status == 529 else "")
    return f"{status} ({phrase})" if phrase else str(status)


_NUMBER = re.compile(r"\s*\d{1,15}(?:\.\d{1,9})?\s*")


def retry_after_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """The wait that a server asks for; None where it doesn't, or says something odd."""
    for name, per_s in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        said = headers.get(name, "")
        if _NUMBER.fullmatch(said):
            return float(said) / per_s
    try:
        when = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, when.timestamp() - now_s)
    except (ValueError, OverflowError, TypeError):
        return None
