"""The way to a server: straight, or by a proxy; plain, or with TLS, or both, one in the other."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode

from evalcase.model.value import Value
from evalcase.system.http.address import HttpAddress, HttpOrigin
from evalcase.system.http.connecting import Resolver, open_socket
from evalcase.system.http.connection import Connection
from evalcase.system.http.errors import (
    CantConnectError,
    CertificateError,
    ConnectTimeoutError,
    ProxyRefusedError,
)
from evalcase.system.http.headers import write_lines

_SHUTDOWN_S = 1.0


class Network(Value, frozen=True):
    """How connections are made."""

    resolver: Resolver
    tls: ssl.SSLContext | None
    """Whom to trust; None where nothing is to be secret."""
    proxy: HttpAddress | None
    limit_s: float
    """How long it may take to look a name up, to connect, to ask a proxy and to agree on keys."""
    agent: str
    """What a proxy is told of who asks."""

    async def connect(self, origin: HttpOrigin) -> Connection:
        """Raise HttpError."""
        try:
            async with asyncio.timeout(self.limit_s):
                return await self._connect(origin)
        except TimeoutError:
            raise ConnectTimeoutError(f"no connection within {self.limit_s:g} s") from None

    async def _connect(self, origin: HttpOrigin) -> Connection:
        proxy = self.proxy
        first = origin if proxy is None else proxy.origin
        made = await open_socket(self.resolver, first.host, first.port)
        connection = Connection()
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: connection, sock=made)
            if first.is_secure:
                await self._secure(connection, first)
            if proxy is not None and origin.is_secure:
                await self._pass_on(connection, origin, proxy)
                await self._secure(connection, origin)
        except BaseException:
            connection.abort()
            raise
        return connection

    async def _secure(self, connection: Connection, origin: HttpOrigin) -> None:
        assert self.tls is not None, "nobody said whom to trust"
        loop = asyncio.get_running_loop()
        try:
            secured = await loop.start_tls(
                connection.transport, connection, self.tls,
                server_hostname=origin.name, ssl_handshake_timeout=self.limit_s,
                ssl_shutdown_timeout=_SHUTDOWN_S,
            )  # fmt: skip
        except ssl.SSLCertVerificationError as error:
            raise CertificateError(error) from None
        except OSError as error:
            raise CantConnectError(error) from None
        if secured is None:
            raise CantConnectError(ConnectionResetError())
        connection.transport = secured

    async def _pass_on(
        self, connection: Connection, origin: HttpOrigin, proxy: HttpAddress
    ) -> None:
        """Have a proxy pass a connection on. Raise ProxyRefusedError."""
        where = origin.authority
        headers = {"Host": where, "User-Agent": self.agent, **authorize(proxy)}
        head = f"CONNECT {where} HTTP/1.1\r\n".encode() + write_lines(headers) + b"\r\n"
        answer = await connection.ask(head, has_body=False)
        if not 200 <= answer.status <= 299:
            raise ProxyRefusedError(answer.status, answer.headers)
        connection.rest()


def authorize(proxy: HttpAddress) -> dict[str, str]:
    """What lets a proxy know who asks."""
    if proxy.user is None:
        return {}
    pair = b64encode(f"{proxy.user}:{proxy.password}".encode()).decode()
    return {"Proxy-Authorization": f"Basic {pair}"}
