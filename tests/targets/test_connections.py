"""Proxies, TLS and connections, against servers that say exact bytes."""

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import TargetError
from evalcase.targets.http import HttpTarget
from tests.targets.questions import LIMIT_S, question, target_of

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    def __init__(self, script: Script) -> None:
        self._script = script
        self.port = 0
        self.connections = 0
        self.hung_up = asyncio.Event()
        """Set when the other side has ended a connection after its script."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self._script(reader, writer)
            while await reader.read(1 << 16):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            self.hung_up.set()
            writer.close()


@asynccontextmanager
async def raw_server(
    script: Script, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[RawServer]:
    server = RawServer(script)
    listening = await asyncio.start_server(server.serve, host, 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        async with asyncio.timeout(LIMIT_S):
            yield server
    finally:
        listening.close()


async def read_request(reader: asyncio.StreamReader) -> bytes:
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


async def ask(url: str, times: int = 1, **options: Any) -> list[str]:
    target = target_of(HttpTarget, url=url, **options)
    await target.open()
    try:
        return [(await target.answer(question())).text for _ in range(times)]
    finally:
        await target.close()


@pytest.fixture
def tls(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """TLS for a server, which clients trust."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "certificate.pem"))
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(certificates / "certificate.pem", certificates / "key.pem")
    return server


def test_a_certificate_for_another_host_is_not_trusted(tls: ssl.SSLContext) -> None:
    async def run() -> None:
        async with raw_server(saying(OK), tls, "127.0.0.2") as server:
            with pytest.raises(TargetError, match="its certificate is not trusted") as caught:
                await ask(f"https://127.0.0.2:{server.port}")
            assert not caught.value.may_succeed_later

    asyncio.run(run())


@pytest.mark.parametrize("user", ["", "me:p%40ss%3A@"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_is_asked_for_a_whole_address(
    tls: ssl.SSLContext, scheme: str, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[bytes] = []

    async def run() -> None:
        certificate = tls if scheme == "https" else None
        async with raw_server(saying(OK, OK, heard=heard), certificate) as proxy:
            monkeypatch.setenv("http_proxy", f"{scheme}://{user}127.0.0.1:{proxy.port}")
            assert await ask("http://nowhere.test:81/a?b=c", 2) == ["ok", "ok"]
            assert proxy.connections == 1

    asyncio.run(run())
    start = b"POST http://nowhere.test:81/a?b=c HTTP/1.1\r\nHost: nowhere.test:81\r\n"
    assert heard[0].startswith(start)
    secret = b"Proxy-Authorization: Basic " + b64encode(b"me:p@ss:") + b"\r\n"
    assert [secret in each for each in heard] == [bool(user)] * 2


def test_behind_a_proxy_addresses_that_are_written_out_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    for host in ("169.254.169.254", "0xa9fea9fe"):
        with pytest.raises(Exception, match="link-local or metadata address"):
            asyncio.run(ask(f"http://{host}/"))


def test_a_large_body_is_sent_whole() -> None:
    heard: list[bytes] = []

    async def run() -> None:
        async with raw_server(saying(OK, heard=heard)) as server:
            body = {"prompt": "{prompt}", "more": "x" * 3_000_000}
            assert await ask(server.url, body=body) == ["ok"]

    asyncio.run(run())
    assert heard[0].endswith(b"x" * 3_000_000 + b'"}')
    assert b"\r\nContent-Disposition" not in heard[0]
