"""A server on loopback that says exact bytes, in the loop of the test, and a client for it."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from evalcase.system.http.address import HttpAddress
from evalcase.system.http.client import Client
from evalcase.system.http.connecting import SocketAddress
from evalcase.system.http.routing import Network

LIMIT_S = 30.0

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    """Each connection is handled by the next script, the last one again and again."""

    def __init__(self, *scripts: Script) -> None:
        self._scripts = list(scripts)
        self.port = 0
        self.connections = 0
        self.hung_up = asyncio.Event()
        """Set when the other side has ended a connection after its script."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
        try:
            await script(reader, writer)
            while await reader.read(1 << 16):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.hung_up.set()
            writer.close()


@asynccontextmanager
async def raw_server(
    *scripts: Script, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[RawServer]:
    server = RawServer(*scripts)
    listening = await asyncio.start_server(server.serve, host, 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        async with asyncio.timeout(LIMIT_S):
            yield server
    finally:
        listening.close()


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """A request with its body, as it came."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return head + await reader.readexactly(length)


def saying(*answers: bytes, close: bool = False, heard: list[bytes] | None = None) -> Script:
    """One answer for each request. With `close`, the connection ends after the last."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            request = await read_request(reader)
            if heard is not None:
                heard.append(request)
            writer.write(answer)
            await writer.drain()
        if close:
            writer.close()

    return script


class Names:
    """A resolver that knows some names; all others are addresses."""

    def __init__(self, known: dict[str, list[str]] | None = None) -> None:
        self.known = known or {}
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> Sequence[SocketAddress]:
        self.asked.append(host)
        return [place_of(each, port) for each in self.known.get(host, [host])]


def place_of(address: str, port: int) -> SocketAddress:
    if ":" in address:
        return SocketAddress(socket.AF_INET6, (address, port, 0, 0))
    return SocketAddress(socket.AF_INET, (address, port))


def network(
    names: Names | None = None, *, tls: ssl.SSLContext | None = None,
    proxy: HttpAddress | None = None, limit_s: float = LIMIT_S,
) -> Network:  # fmt: skip
    return Network(names or Names(), tls, proxy, limit_s, "tester")


@asynccontextmanager
async def client(of: Network | None = None) -> AsyncIterator[Client]:
    made = Client(of or network())
    try:
        yield made
    finally:
        await made.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def make_certificate(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """TLS for a server at 127.0.0.1 or `host.test`, and for a client that trusts it."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl to make a certificate with")
    subprocess.run(
        [
            openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1,DNS:host.test",
            "-keyout", folder / "key.pem", "-out", folder / "certificate.pem",
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return server, ssl.create_default_context(cafile=folder / "certificate.pem")
