from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Sequence

import pytest

from evalcase.system.http.connecting import SocketAddress, open_socket
from evalcase.system.http.errors import CantConnectError, ConnectTimeoutError, HttpError
from evalcase.system.http.routing import Network
from tests.system.http.raw_server import Names, client, free_port, network, raw_server, saying

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def count_files() -> int:
    return len(os.listdir("/dev/fd"))  # noqa: PTH208 - a count of names


async def ask(of: Network, url: str) -> bytes:
    async with client(of) as asking, asking.ask(asking.prepare("POST", url, {})) as answer:
        return await answer.read()


def test_a_name_with_several_addresses_has_one_that_answers() -> None:
    """Nobody listens at the other addresses of loopback."""

    async def run() -> None:
        names = Names({"host.test": ["127.0.0.2", "::1", "127.0.0.3", "127.0.0.1"]})
        async with raw_server(saying(OK)) as server:
            assert await ask(network(names), f"http://host.test:{server.port}") == b"ok"
            assert names.asked == ["host.test"]

    asyncio.run(run())


def test_if_no_address_answers_the_first_is_named() -> None:
    async def run() -> None:
        names = Names({"host.test": ["127.0.0.2", "127.0.0.3"]})
        with pytest.raises(CantConnectError, match=r"nothing listens at 127\.0\.0\.2:"):
            await ask(network(names), f"http://host.test:{free_port()}")

    before = count_files()
    asyncio.run(run())
    assert count_files() == before


def test_an_address_of_six_parts_is_told_in_brackets() -> None:
    async def run() -> None:
        names = Names({"host.test": ["::1"]})
        with pytest.raises(CantConnectError, match=r"nothing listens at \[::1\]:\d+; is"):
            await ask(network(names), f"http://host.test:{free_port()}")

    asyncio.run(run())


def test_names_are_looked_up_for_each_connection() -> None:
    async def run() -> None:
        names = Names({"host.test": ["127.0.0.1"]})
        closing = OK.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        async with raw_server(saying(closing)) as server, client(network(names)) as asking:
            request = asking.prepare("POST", f"http://host.test:{server.port}", {})
            for _ in range(3):
                async with asking.ask(request) as answer:
                    await answer.read()
        assert names.asked == ["host.test"] * 3

    asyncio.run(run())


def test_the_other_family_is_tried_while_the_first_is_silent() -> None:
    """A full queue of connections: the kernel answers none of those that follow."""

    async def run() -> None:
        before = count_files()
        with socket.socket(socket.AF_INET6) as silent:
            silent.bind(("::1", 0))
            silent.listen(0)
            port = silent.getsockname()[1]
            fill = [socket.socket(socket.AF_INET6) for _ in range(4)]
            for each in fill:
                each.setblocking(False)
                each.connect_ex(("::1", port))
            with socket.create_server(("127.0.0.1", port)):
                names = Names({"host.test": ["::1", "127.0.0.1"]})
                made = await open_socket(names, "host.test", port)
                assert made.getpeername()[0] == "127.0.0.1"
            for each in (made, *fill):
                each.close()
        await asyncio.sleep(0)
        assert count_files() == before

    if not has_ipv6():
        pytest.skip("this machine has no IPv6")
    asyncio.run(run())


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_a_server_may_have_an_address_of_ipv6() -> None:
    heard: list[bytes] = []

    async def run() -> None:
        async with raw_server(saying(OK, heard=heard), host="::1") as server:
            assert await ask(network(), f"http://[::1]:{server.port}") == b"ok"
            assert f"\r\nHost: [::1]:{server.port}\r\n".encode() in heard[0]

    if not has_ipv6():
        pytest.skip("this machine has no IPv6")
    asyncio.run(run())


class Blocked(Names):
    """Never says where a name leads."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked = asyncio.Event()

    async def resolve(self, host: str, port: int) -> Sequence[SocketAddress]:
        del host, port
        self.is_asked.set()
        await asyncio.Event().wait()
        return []


def test_looking_up_a_name_is_part_of_the_limit() -> None:
    async def run() -> None:
        with pytest.raises(ConnectTimeoutError, match=r"no connection within 0\.01 s"):
            await ask(network(Blocked(), limit_s=0.01), "http://host.test")

    asyncio.run(run())


def test_giving_up_while_a_name_is_looked_up_leaves_nothing() -> None:
    async def run() -> None:
        names = Blocked()
        asked = asyncio.ensure_future(ask(network(names), "http://host.test"))
        await names.is_asked.wait()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    before = count_files()
    asyncio.run(run())
    assert count_files() == before


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["127.0.0.1", "127.0.0.1"]])
def test_giving_up_while_connecting_leaves_no_socket(addresses: list[str]) -> None:
    async def run() -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=0) as silent:
            port = silent.getsockname()[1]
            fill = [socket.socket() for _ in range(4)]
            for each in fill:
                each.setblocking(False)
                each.connect_ex(("127.0.0.1", port))
            names = Names({"host.test": addresses})
            asked = asyncio.ensure_future(ask(network(names), f"http://host.test:{port}"))
            while not names.asked:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            for each in fill:
                each.close()

    before = count_files()
    asyncio.run(run())
    assert count_files() == before


@pytest.mark.parametrize("addresses", [[], ["no address"]])
def test_a_name_that_leads_nowhere_is_said(addresses: list[str]) -> None:
    async def run() -> None:
        with pytest.raises(HttpError):
            await ask(network(Names({"host.test": addresses})), "http://host.test:1")

    asyncio.run(run())
