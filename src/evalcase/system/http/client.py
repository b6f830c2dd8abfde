"""Requests in, answers out. Redirects are not followed, cookies not kept, and nothing is sent again
but a question that changes nothing, on a connection that had been closed meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import TracebackType

from evalcase.model.value import Value
from evalcase.system.http.address import HttpOrigin, split_address
from evalcase.system.http.answer import HttpAnswer
from evalcase.system.http.connection import Connection, Upload
from evalcase.system.http.errors import BrokenOffError
from evalcase.system.http.headers import merge_headers, write_lines
from evalcase.system.http.pool import ConnectionPool
from evalcase.system.http.routing import Network, authorize

_BODILESS = ("GET", "HEAD")


class HttpRequest(Value, frozen=True):
    """A question as far as it is the same each time."""

    method: str
    origin: HttpOrigin
    start: bytes
    """Its first line."""
    headers: dict[str, str]
    lines: bytes
    """The headers as they are sent."""

    def write_head(self, headers: Mapping[str, str] | None, size: int) -> bytes:
        """All that comes before the body. Raise ValueError if a header can't be sent."""
        lines = self.lines if not headers else write_lines(merge_headers(self.headers, headers))
        if self.method in _BODILESS and not size:
            return self.start + lines + b"\r\n"
        return b"%b%bContent-Length: %d\r\n\r\n" % (self.start, lines, size)

    def __repr__(self) -> str:
        return f"HttpRequest({self.method} to {self.origin.named})"  # nothing that may be secret


class Client:
    """Speaks to servers by one network."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._pools: dict[HttpOrigin, ConnectionPool] = {}

    def prepare(self, method: str, url: str, headers: Mapping[str, str]) -> HttpRequest:
        """A question that is asked again and again. Raise ValueError if it can't be sent."""
        address, proxy = split_address(url), self._network.proxy
        target, own = address.target, {"Host": address.origin.named, "Accept": "*/*"}
        if proxy is not None and not address.origin.is_secure:
            target, own = address.whole, own | authorize(proxy)
        merged = merge_headers(own, headers)
        start = f"{method} {target} HTTP/1.1\r\n".encode("ascii")
        return HttpRequest(method, address.origin, start, merged, write_lines(merged))

    def ask(
        self,
        request: HttpRequest,
        body: bytes | Upload = b"",
        headers: Mapping[str, str] | None = None,
    ) -> HttpExchange:
        """The answer, for as long as it is read: what is left over closes its connection."""
        size = len(body) if isinstance(body, bytes) else body.size
        pool = self._pools.get(request.origin)
        if pool is None:
            pool = ConnectionPool(partial(self._network.connect, request.origin))
            self._pools[request.origin] = pool
        return HttpExchange(pool, request.method, request.write_head(headers, size), body)

    async def close(self) -> None:
        """Close every connection."""
        for pool in self._pools.values():
            await pool.close()


class HttpExchange:
    """A request that is sent as its context begins. Raise HttpError."""

    __slots__ = ("_body", "_connection", "_head", "_method", "_pool")

    def __init__(
        self, pool: ConnectionPool, method: str, head: bytes, body: bytes | Upload
    ) -> None:
        self._pool = pool
        self._method = method
        self._head = head
        self._body = body
        self._connection: Connection | None = None

    async def __aenter__(self) -> HttpAnswer:
        idle = self._pool.take_idle()
        if idle is None:
            return await self._send(await self._pool.make())
        try:
            return await self._send(idle)
        except BrokenOffError:
            # A server may close a connection just as it is used again. Whether it has read the
            # question is not known, so only one that changes nothing is asked again.
            if self._method not in _BODILESS or self._body:
                raise
        return await self._send(await self._pool.make())

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        assert self._connection is not None
        self._pool.release(self._connection)

    async def _send(self, connection: Connection) -> HttpAnswer:
        has_body = self._method != "HEAD"
        try:
            reader = await connection.ask(self._head, self._body, has_body=has_body)
        except BaseException:
            connection.abort()
            raise
        self._connection = connection
        return HttpAnswer(reader, connection)
