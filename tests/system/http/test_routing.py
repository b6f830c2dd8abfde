"""Proxies and TLS, alone and one in the other."""

from __future__ import annotations

import asyncio
import socket
import ssl
from base64 import b64encode

import pytest

from evalcase.system.http.address import HttpAddress, split_address
from evalcase.system.http.errors import (
    BrokenOffError,
    CantConnectError,
    CertificateError,
    ConnectTimeoutError,
    NotHttpError,
    ProxyRefusedError,
)
from evalcase.system.http.routing import Network
from tests.system.http.raw_server import (
    Names,
    Script,
    client,
    make_certificate,
    network,
    raw_server,
    saying,
)

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


Certificate = tuple[ssl.SSLContext, ssl.SSLContext]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


async def ask(of: Network, url: str, times: int = 1) -> list[bytes]:
    answers = []
    async with client(of) as asking:
        request = asking.prepare("POST", url, {})
        for _ in range(times):
            async with asking.ask(request) as answer:
                answers.append(await answer.read())
    return answers


def tunnel(heard: list[bytes], said: bytes = b"HTTP/1.1 200 Go on\r\n\r\n") -> Script:
    """A proxy that passes a connection on."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(said)
        if b" 200 " not in said:
            return
        port = int(heard[-1].split(b" ")[1].rpartition(b":")[2])
        ends = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, ends[1]), pump(ends[0], writer))

    return script


def proxy_of(port: int, scheme: str = "http", user: str = "") -> HttpAddress:
    return split_address(f"{scheme}://{user}127.0.0.1:{port}")


@pytest.mark.parametrize("host", ["127.0.0.1", "host.test"])
def test_tls_is_agreed_on_once_for_several_questions(certificate: Certificate, host: str) -> None:
    async def run() -> None:
        names = Names({"host.test": ["127.0.0.1"]})
        async with raw_server(saying(OK, OK), tls=certificate[0]) as server:
            of = network(names, tls=certificate[1])
            assert await ask(of, f"https://{host}:{server.port}", 2) == [b"ok", b"ok"]
            assert server.connections == 1

    asyncio.run(run())


@pytest.mark.parametrize("is_said", [True, False])
def test_only_a_server_ends_an_answer_without_a_length(
    certificate: Certificate, is_said: bool
) -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await saying(b"HTTP/1.1 200 OK\r\n\r\nhalf of")(reader, writer)
        if is_said:
            writer.close()
        else:
            writer.get_extra_info("socket").shutdown(socket.SHUT_WR)

    async def run() -> None:
        async with raw_server(script, tls=certificate[0]) as server:
            asked = ask(network(tls=certificate[1]), f"https://127.0.0.1:{server.port}")
            if is_said:
                assert await asked == [b"half of"]
            else:
                with pytest.raises(BrokenOffError, match="it may be cut"):
                    await asked

    asyncio.run(run())


def test_a_certificate_of_somebody_else_is_not_trusted(certificate: Certificate) -> None:
    async def run() -> None:
        names = Names({"other.test": ["127.0.0.1"]})
        async with raw_server(saying(OK), tls=certificate[0]) as server:
            with pytest.raises(CertificateError, match=r"not valid for 'other\.test'"):
                await ask(network(names, tls=certificate[1]), f"https://other.test:{server.port}")
            of = network(tls=ssl.create_default_context())
            with pytest.raises(CertificateError, match="certificate verify failed"):
                await ask(of, f"https://127.0.0.1:{server.port}")

    asyncio.run(run())


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 400 This is plain\r\n\r\n"])
def test_a_server_that_speaks_no_tls_is_no_connection(
    certificate: Certificate, said: bytes
) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(said)
        writer.close()

    async def run() -> None:
        async with raw_server(plain) as server:
            with pytest.raises(CantConnectError, match=r"."):
                await ask(network(tls=certificate[1]), f"https://127.0.0.1:{server.port}")

    asyncio.run(run())


def test_agreeing_on_keys_is_part_of_the_limit(certificate: Certificate) -> None:
    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """No answer at all."""

    async def run() -> None:
        async with raw_server(hold) as server:
            of = network(tls=certificate[1], limit_s=0.05)
            with pytest.raises(ConnectTimeoutError):
                await ask(of, f"https://127.0.0.1:{server.port}")
            await server.hung_up.wait()

    asyncio.run(run())


@pytest.mark.parametrize("phase", ["tls", "connect", "tls behind a proxy"])
def test_giving_up_closes_the_connection(certificate: Certificate, phase: str) -> None:
    async def run() -> None:
        begun = asyncio.Event()

        async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            if phase == "tls behind a proxy":
                await reader.readuntil(b"\r\n\r\n")
                writer.write(b"HTTP/1.1 200 Go on\r\n\r\n")
                await reader.read(1)
            begun.set()

        async with raw_server(hold) as server:
            proxy = None if phase == "tls" else proxy_of(server.port)
            of = network(tls=certificate[1], proxy=proxy)
            asked = asyncio.ensure_future(ask(of, f"https://127.0.0.1:{server.port}"))
            await begun.wait()
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            await server.hung_up.wait()

    asyncio.run(run())


@pytest.mark.parametrize("user", ["", "me:p%40ss%3A@"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_is_asked_for_a_whole_address(
    certificate: Certificate, scheme: str, user: str
) -> None:
    heard: list[bytes] = []

    async def run() -> None:
        tls = certificate[0] if scheme == "https" else None
        async with raw_server(saying(OK, OK, heard=heard), tls=tls) as server:
            of = network(tls=certificate[1], proxy=proxy_of(server.port, scheme, user))
            assert await ask(of, "http://nowhere.test:81/a?b", 2) == [b"ok", b"ok"]
            assert server.connections == 1

    asyncio.run(run())
    start = b"POST http://nowhere.test:81/a?b HTTP/1.1\r\nHost: nowhere.test:81\r\n"
    assert heard[0].startswith(start)
    secret = b"Proxy-Authorization: Basic " + b64encode(b"me:p@ss:") + b"\r\n"
    assert [secret in each for each in heard] == [bool(user)] * 2


@pytest.mark.parametrize("user", ["", "me:p%40ss%3A@"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_passes_on_what_it_cannot_read(
    certificate: Certificate, scheme: str, user: str
) -> None:
    heard: list[bytes] = []
    asked: list[bytes] = []

    async def run() -> int:
        tls = certificate[0] if scheme == "https" else None
        async with (
            raw_server(saying(OK, OK, heard=asked), tls=certificate[0]) as server,
            raw_server(tunnel(heard), tls=tls) as proxy,
        ):
            of = network(tls=certificate[1], proxy=proxy_of(proxy.port, scheme, user))
            assert await ask(of, f"https://host.test:{server.port}/a", 2) == [b"ok", b"ok"]
            assert (server.connections, proxy.connections) == (1, 1)
            return server.port

    port = asyncio.run(run())
    secret = "" if not user else f"Proxy-Authorization: Basic {b64encode(b'me:p@ss:').decode()}\r\n"
    where = f"host.test:{port}"
    assert [each.decode() for each in heard] == [
        f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\nUser-Agent: tester\r\n{secret}\r\n"
    ]
    assert asked[0].startswith(f"POST /a HTTP/1.1\r\nHost: {where}\r\n".encode())
    assert b"Proxy-" not in asked[0]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (b"HTTP/1.1 407 Who\r\nRetry-After: 3\r\nContent-Length: 2\r\n\r\nno", ProxyRefusedError),
        (b"HTTP/1.1 302 Elsewhere\r\nLocation: /\r\n\r\n", ProxyRefusedError),
        (b"nonsense\r\n\r\n", NotHttpError),
    ],
)
def test_a_proxy_may_say_no(certificate: Certificate, said: bytes, kind: type[Exception]) -> None:
    async def run() -> None:
        async with raw_server(tunnel([], said)) as proxy:
            of = network(tls=certificate[1], proxy=proxy_of(proxy.port))
            with pytest.raises(kind) as caught:
                await ask(of, "https://host.test/")
            await proxy.hung_up.wait()
            if isinstance(caught.value, ProxyRefusedError) and caught.value.status == 407:
                assert caught.value.headers["retry-after"] == "3"

    asyncio.run(run())


def test_a_proxy_that_hangs_up_is_a_connection_that_broke(certificate: Certificate) -> None:
    async def run() -> None:
        async with raw_server(saying(b"", close=True)) as proxy:
            of = network(tls=certificate[1], proxy=proxy_of(proxy.port))
            with pytest.raises(BrokenOffError):
                await ask(of, "https://host.test/")

    asyncio.run(run())


def test_a_connection_that_is_reset_is_said() -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        linger = b"\1\0\0\0\0\0\0\0"
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    async def run() -> None:
        async with raw_server(reset) as server:
            with pytest.raises(BrokenOffError, match=r"."):
                await ask(network(), f"http://127.0.0.1:{server.port}")

    asyncio.run(run())
