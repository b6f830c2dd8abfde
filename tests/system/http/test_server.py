"""What anybody may send to a server, and what comes back, byte by byte."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import BinaryIO

import pytest

from evalcase.system.http.request_reader import RequestReader
from evalcase.system.http.served import ServedAnswer, ServedRequest
from evalcase.system.http.server import HttpServer
from tests.system.http.raw_server import LIMIT_S

LOGGER = logging.getLogger("evalcase.test")


def refuse(status: int, words: str) -> ServedAnswer:
    return ServedAnswer(status, {"X-Refused": "yes"}, words.encode())


async def echo(request: ServedRequest) -> ServedAnswer:
    text = f"{request.method} {request.path} {request.query} {request.has_body}"
    return ServedAnswer(200, {"X-A": "b"}, text.encode())


class Running:
    def __init__(self, server: HttpServer, port: int) -> None:
        self.server = server
        self.port = port

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def say(self, data: bytes) -> bytes:
        """All that is answered until the connection ends, which the client does after a word that
        ends it."""
        reader, writer = await self.open()
        writer.write(data)
        said = await reader.read()
        writer.close()
        return said


@asynccontextmanager
async def running(answer: object = echo) -> AsyncIterator[Running]:
    assert callable(answer)
    server = HttpServer(answer, refuse, LOGGER)
    try:
        async with asyncio.timeout(LIMIT_S):
            yield Running(server, await server.listen("127.0.0.1", 0))
    finally:
        await server.close(0.5)


def body_of(answer: bytes) -> bytes:
    return answer.partition(b"\r\n\r\n")[2]


LAST = b"GET /last HTTP/1.1\r\nConnection: close\r\n\r\n"


def test_questions_are_answered_one_after_the_other() -> None:
    async def run() -> bytes:
        async with running() as server:
            asked = b"GET /a?b=c HTTP/1.1\r\n\r\nHEAD /d HTTP/1.1\r\n\r\n\r\n" + LAST
            return await server.say(asked)

    first, second, third = asyncio.run(run()).split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert body_of(first) == b"GET /a b=c False"
    assert (body_of(second), b"Content-Length: 14\r\n" in second) == (b"", True)
    assert body_of(third) == b"GET /last  False"
    assert [b"Connection: close" in each for each in (first, second, third)] == [False, False, True]
    assert all(b"X-A: b\r\n" in each and b"\r\nDate: " in each for each in (first, second, third))


@pytest.mark.parametrize("cut", [1, 3, 40])
def test_a_request_is_read_wherever_it_is_cut(cut: int) -> None:
    data = b"GET /a?b=c HTTP/1.1\r\nHost: x\r\nhost: y\r\nX: " + b"z" * 99 + b"\r\n\r\n"
    reader = RequestReader()
    read = [each for at in range(0, len(data), cut) for each in reader.feed(data[at : at + cut])]
    found = [each for each in read if isinstance(each, ServedRequest)]
    assert [(each.path, each.query, each.all("host")) for each in found] == [
        ("/a", "b=c", ["x", "y"])
    ]
    assert (found[0].get("x"), found[0].get("y")) == ("z" * 99, None)
    assert (found[0].keeps, reader.is_begun) == (True, False)


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\nHost: x\n\n",
        b"GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused_in_words(
    data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> bytes:
        async with running() as server:
            return await server.say(data)

    said = asyncio.run(run())
    assert said.startswith(b"HTTP/1.1 400 Bad Request\r\nX-Refused: yes\r\n")
    assert body_of(said) == b"this is not HTTP"
    assert caplog.records == []


@pytest.mark.parametrize("start", [b"GET /", b"GET / HTTP/1.1\r\nX: ", b"GET / HTTP/1.1\r\n"])
def test_headers_without_an_end_are_refused(start: bytes) -> None:
    async def run() -> bytes:
        async with running() as server:
            more = b"X: y\r\n" * 20_000 if start.endswith(b"1\r\n") else b"y" * 100_000
            return await server.say(start + more)

    assert b" 431 " in asyncio.run(run()).partition(b"\r\n")[0]


@pytest.mark.parametrize(
    "data",
    [
        b"POST /a HTTP/1.1\r\nContent-Length: 900000\r\n\r\n" + b"x" * 900_000,
        b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + LAST,
        b"POST /a HTTP/1.1\r\nContent-Length: 999\r\n\r\n" + LAST,
    ],
)
def test_what_a_request_carries_is_not_read(data: bytes) -> None:
    async def run() -> bytes:
        async with running() as server:
            return await server.say(data)

    said = asyncio.run(run())
    assert said.count(b"HTTP/1.1 ") == 1
    assert b"\r\nConnection: close\r\n" in said
    assert body_of(said) == b"POST /a  True"


@pytest.mark.parametrize(
    "data",
    [
        b"GET /a HTTP/1.0\r\n\r\n",
        b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        b"GET /a HTTP/1.1\r\nConnection: close\r\n\r\n" + LAST,
        b"GET /a HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x80",
    ],
)
def test_some_questions_are_the_last(data: bytes) -> None:
    async def run() -> bytes:
        async with running() as server:
            return await server.say(data)

    said = asyncio.run(run())
    assert said.count(b"HTTP/1.1 200") == 1
    assert body_of(said) == b"GET /a  False"


def test_what_was_asked_before_nonsense_is_answered() -> None:
    async def run() -> bytes:
        async with running() as server:
            return await server.say(b"GET /a HTTP/1.1\r\n\r\nnonsense\r\n\r\n")

    said = asyncio.run(run())
    assert (said.count(b"HTTP/1.1 200"), said.count(b"HTTP/1.1 400")) == (1, 1)


def test_who_says_no_more_is_still_answered() -> None:
    async def run() -> bytes:
        async with running() as server:
            reader, writer = await server.open()
            writer.write(b"GET /a HTTP/1.1\r\n\r\n")
            writer.write_eof()
            said = await reader.read()
            writer.close()
            return said

    assert body_of(asyncio.run(run())) == b"GET /a  False"


def test_what_raises_is_said_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(request: ServedRequest) -> ServedAnswer:
        raise KeyError(request.path)

    async def run() -> bytes:
        async with running(broken) as server:
            return await server.say(LAST)

    said = asyncio.run(run())
    assert said.startswith(b"HTTP/1.1 500 ")
    assert b"last" not in said
    assert "KeyError: '/last'" in caplog.text


class Counted:
    """An answer of many blocks, and how much of it was read."""

    def __init__(self) -> None:
        self.file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - whoever sends it closes it
        self.file.truncate(200_000_000)

    async def answer(self, request: ServedRequest) -> ServedAnswer:
        del request
        return ServedAnswer(200, {}, self.file)


def test_a_file_is_sent_as_fast_as_it_is_read_and_closed() -> None:
    async def run() -> None:
        counted = Counted()
        async with running(counted.answer) as server:
            reader, writer = await server.open()
            writer.write(LAST)
            assert b"Content-Length: 200000000\r\n" in await reader.readuntil(b"\r\n\r\n")
            for _ in range(200):
                await asyncio.sleep(0)
            assert counted.file.tell() < 20_000_000
            while await reader.read(1 << 20):
                pass
            assert counted.file.closed
            writer.close()

    asyncio.run(run())


def test_who_leaves_in_the_middle_leaves_nothing() -> None:
    async def run() -> None:
        counted = Counted()
        async with running(counted.answer) as server:
            reader, writer = await server.open()
            writer.write(LAST)
            await reader.readuntil(b"\r\n\r\n")
            (connection,) = server.server._connections
            writer.transport.abort()
            await connection.task
            assert counted.file.closed

    asyncio.run(run())


@pytest.mark.parametrize("sent", [b"", b"GET / HTT"])
def test_who_asks_nothing_is_not_waited_for(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "_HEAD_S" if sent else "_IDLE_S"
    monkeypatch.setattr(f"evalcase.system.http.server_connection.{name}", 0.01)

    async def run() -> None:
        async with running() as server:
            assert await server.say(sent) == b""

    asyncio.run(run())


def test_closing_waits_for_nobody() -> None:
    """Not for one that is idle, one in the middle of its request, one that reads nothing, and one
    whose answer never comes."""

    async def run() -> None:
        begun, never = asyncio.Event(), asyncio.Event()
        counted = Counted()

        async def answer(request: ServedRequest) -> ServedAnswer:
            if request.path == "/file":
                return await counted.answer(request)
            begun.set()
            await never.wait()
            return refuse(200, "")

        async with running(answer) as server:
            opened = [await server.open() for _ in range(4)]
            for (_, writer), data in zip(
                opened,
                [b"", b"GET", b"GET /file HTTP/1.1\r\n\r\n", b"GET /never HTTP/1.1\r\n\r\n"],
                strict=True,
            ):
                writer.write(data)
            await begun.wait()
            while counted.file.tell() == 0:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0)
        assert counted.file.closed
        assert server.server._connections == set()
        for reader, writer in opened:
            await reader.read()
            writer.close()

    asyncio.run(run())
