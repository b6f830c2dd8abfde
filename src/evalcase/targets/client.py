"""Requests over HTTP, by aiohttp: a body in, the bytes of an answer out, every failure a
TargetError that says whether to try again.

Each target has one pool of connections. Redirects are not followed, so that a key goes nowhere but
to the configured address. Cookies are not kept, and `.netrc` is not read.
"""

from __future__ import annotations

import asyncio
import errno
import io
import json
import os
import re
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import responses
from typing import Any, BinaryIO
from urllib.parse import urljoin

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from multidict import CIMultiDict
from yarl import URL

from evalcase import __version__
from evalcase.errors import ConfigError, TargetError
from evalcase.targets.web import (
    ALLOW_HINT,
    Endpoint,
    check_literal,
    error_message,
    find_proxy,
    is_refused,
    load_trust,
    one_line,
    protocol_error,
    without_query,
)
from evalcase.types.target import Surroundings
from evalcase.types.value import JSON
from evalcase.util.environment import has_spare_descriptors
from evalcase.util.processes import Output
from evalcase.util.text import cut_bytes
from evalcase.util.user_calls import run_in_thread

_ERROR_BYTES, _ERROR_S = 100_000, 5.0
"""How much of the body of an error is read, and how long that may take."""
_LONGEST_HEADER = 1 << 16
_LARGE_BODY = 1 << 20
_PARTIAL = 206
"""Only a part of an answer, which was never asked for."""
_AGENT = f"evalcase/{__version__}"
_REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid", "cf-ray")
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class HttpClient:
    """Asks one endpoint."""

    def __init__(self, endpoint: Endpoint, surroundings: Surroundings) -> None:
        self._endpoint = endpoint
        self._surroundings = surroundings
        self._session: aiohttp.ClientSession | None = None
        self._url: URL | str = endpoint.url
        self._headers: CIMultiDict[str] = CIMultiDict()
        self._how: dict[str, Any] = {}
        """Arguments of every request: proxy, authorities, no redirects."""

    async def open(self) -> None:
        """Raise ConfigError where a key is missing, or the address may not be asked."""
        endpoint, environment = self._endpoint, self._surroundings.environment
        kind, url, options = endpoint.kind, endpoint.url, endpoint.options
        # They are no default of the session: aiohttp would send those to a proxy, too.
        # aiohttp takes half of a gzip file for a whole answer, so none is asked for.
        own = {"User-Agent": _AGENT, "Accept-Encoding": "identity"}
        self._headers = CIMultiDict({**own, **endpoint.sent_headers(environment)})
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

    async def ask(
        self, body: JSON, headers: Mapping[str, str] | None = None, query: str = ""
    ) -> tuple[str, Output]:
        """The content type and the whole answer, cut where it is larger than is kept."""
        async with await self.reply(body, headers, query) as reply:
            return reply.content_type, await reply.read(self._endpoint.options.max_output_bytes)

    async def reply(
        self, body: JSON, headers: Mapping[str, str] | None = None, query: str = ""
    ) -> Reply:
        """An answer with a status of 2xx, whose bytes come one by one. Headers and an encoded query
        are for this request only."""
        data = _to_json(body).encode() if self._endpoint.has_body else b""
        # aiohttp writes a file in pieces, and warns of bytes as large as this.
        sent = data if len(data) < _LARGE_BODY else io.BytesIO(data)
        url = self._read_url(self._endpoint.with_query(query)) if query else self._url
        return await self.send(self._endpoint.method, url, sent, headers)

    async def send(
        self, method: str, url: URL | str, data: bytes | BinaryIO = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:  # fmt: skip
        """Ask anything of the host. The reply has to be closed."""
        assert self._session is not None, "open() comes first"
        sent = self._headers
        if headers:
            sent = sent.copy()
            sent.update(headers)
        try:
            response = await self._session.request(
                method, self._read_url(url), data=data or None, headers=sent, **self._how
            )
        except aiohttp.ClientError as error:
            raise self._failure(error) from None
        reply = Reply(response, self._failure)
        try:
            await self._check_status(response, reply)
        except BaseException:
            await reply.close()
            raise
        return reply

    def _read_url(self, url: URL | str) -> URL:
        try:
            return URL(url)
        except ValueError as error:
            kind, place = self._endpoint.kind, without_query(str(url))
            raise ConfigError(f"{kind} target: {place} can't be asked: {error}") from None

    async def _check_status(self, response: aiohttp.ClientResponse, reply: Reply) -> None:
        headers, now_s, status = response.headers, self._surroundings.now(), response.status
        if 200 <= status <= 299 and status != _PARTIAL:
            encoding = headers.get("Content-Encoding", "identity").strip().lower()
            if encoding not in ("", "identity"):
                what = f"its Content-Encoding is `{encoding:.40}`, and none was asked for"
                raise protocol_error(f"{self._endpoint.place}: {what}", b"")
            return
        place = self._endpoint.place
        if status == HTTPStatus.UNAUTHORIZED and not self._endpoint.key_names:
            place += "; no key was sent: `key_env` in the configuration names the variable of one"
        if 300 <= status <= 399:
            raise _redirect_error(response, place)
        body = b""
        # The status says more than a body that breaks off, or never comes.
        with suppress(TargetError, TimeoutError):
            async with asyncio.timeout(_ERROR_S):
                body = (await reply.read(_ERROR_BYTES)).data
        raise _status_error(status, headers, body, place, now_s)

    def _failure(self, error: Exception) -> TargetError:
        """The error of a connection, the more exact kinds first."""
        place, what, later = self._endpoint.place, str(error) or type(error).__name__, True
        match error:
            case aiohttp.ClientConnectorCertificateError():
                what, later = f"its certificate is not trusted: {error.certificate_error}", False
            case aiohttp.ClientHttpProxyError():
                where, now_s = f"the proxy for {place}", self._surroundings.now()
                return _status_error(error.status, error.headers or {}, b"", where, now_s)
            case aiohttp.ClientResponseError():
                return protocol_error(f"{place}: the answer is not HTTP: {error.message}", b"")
            case aiohttp.ConnectionTimeoutError():
                what = f"no connection within {self._endpoint.options.connect_timeout_s:g} s"
            case aiohttp.ClientConnectorError(os_error=OSError(errno=errno.ECONNREFUSED)):
                host = f"[{error.host}]" if ":" in str(error.host) else error.host
                what = f"can't connect: nothing listens at {host}:{error.port}; is it running?"
            case aiohttp.ClientConnectorError(os_error=cause):
                said = cause.strerror or str(cause) or "the other side closed the connection"
                what, later = f"can't connect: {said}", not isinstance(cause, _RefusedAddressError)
            case aiohttp.ClientPayloadError():
                what = f"the answer is not whole: {error}"
        return connection_error(what, place, may_succeed_later=later)


class Reply:
    """The beginning of an answer, and its bytes as they come, or a TargetError. What is not read
    of it closes its connection."""

    def __init__(
        self, response: aiohttp.ClientResponse, failure: Callable[[Exception], TargetError]
    ) -> None:
        self.content_type = response.content_type
        self._response = response
        self._failure = failure

    async def __aenter__(self) -> Reply:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        self._response.release()
        await self._response.wait_for_close()

    async def next(self) -> bytes:
        """Some more bytes; none at the end."""
        try:
            return await self._response.content.readany()
        except aiohttp.ClientError as error:
            raise self._failure(error) from None

    async def read(self, most_bytes: int) -> Output:
        """Bytes up to a bound. The rest is not waited for."""
        data = bytearray()
        while chunk := await self.next():
            data += chunk
            if len(data) > most_bytes:
                return Output(bytes(data[:most_bytes]), True)
        return Output(bytes(data), False)


def _make_socket(address: tuple[Any, ...]) -> socket.socket:
    """A socket, if others can be opened beside it: the record needs files, too."""
    family, kind, protocol, *_ = address
    made = socket.socket(family, kind, protocol)
    if not has_spare_descriptors(made.fileno()):
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
        """There is nothing to close."""


# Errors.


def connection_error(what: str, place: str, *, may_succeed_later: bool = True) -> TargetError:
    message = f"{place}: {one_line(what)}"
    return TargetError(message, kind="connection", may_succeed_later=may_succeed_later)


def _status_error(
    status: int, headers: Mapping[str, str], body: bytes, place: str, now_s: float
) -> TargetError:
    """The error of a status other than 2xx."""
    details: dict[str, Any] = {"status": status, "body": cut_bytes(body)}
    ids = [headers[name] for name in _REQUEST_IDS if name in headers]
    if ids:
        details["request_id"] = ids[0]
    said = None
    with suppress(ValueError, RecursionError):
        said = error_message(json.loads(body))
    wait_s = retry_after_s(headers, now_s)
    return TargetError(
        f"HTTP {_status_name(status)}{': ' + said if said else ''}, from {place}",
        kind="http",
        details=details,
        may_succeed_later=status in (408, 429) or 500 <= status <= 599,
        retry_after_s=wait_s,
        overloaded=status in (429, 529) or (status == 503 and wait_s is not None),
    )


def _redirect_error(response: aiohttp.ClientResponse, place: str) -> TargetError:
    status, location = response.status, response.headers.get("Location")
    with suppress(ValueError):
        location = location and without_query(urljoin(str(response.url), location))
    where = f" points to {location}" if location else ""
    hint = "redirects are not followed; configure the address that is the right one"
    message = f"HTTP {_status_name(status)}: {place}{where}; {hint}"
    return TargetError(message, kind="http", details={"status": status, "location": location})


def _status_name(status: int) -> str:
    phrase = responses.get(status, "overloaded" if status == 529 else "")
    return f"{status} ({phrase})" if phrase else str(status)


_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")


def retry_after_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """The wait that a server asks for; None where it doesn't, or says something odd."""
    for name, per_s in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        number = _read_number(headers.get(name, ""))
        if number is not None:
            return number / per_s
    try:
        when = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, when.timestamp() - now_s)
    except (ValueError, OverflowError, TypeError):
        return None


def _read_number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text.strip()) else None
