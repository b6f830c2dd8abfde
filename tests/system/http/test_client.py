"""Whole exchanges with a server that says exact bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest

from evalcase.system.http.client import Client, HttpRequest
from evalcase.system.http.connection import Upload
from evalcase.system.http.errors import BrokenOffError, HttpError, NotHttpError
from tests.system.http.raw_server import (
    RawServer,
    client,
    network,
    raw_server,
    read_request,
    saying,
)

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"


def post_of(asking: Client, server: RawServer, path: str = "/") -> HttpRequest:
    return asking.prepare("POST", server.url + path, {"X-A": "b"})


async def read_answer(asking: Client, request: HttpRequest, body: bytes | Upload = b"{}") -> bytes:
    async with asking.ask(request, body) as answer:
        return await answer.read()


def test_what_is_sent_is_what_was_said() -> None:
    heard: list[bytes] = []

    async def run() -> int:
        async with raw_server(saying(OK, OK, OK, heard=heard)) as server, client() as asking:
            request = post_of(asking, server, "/a b?c=é#d")
            assert await read_answer(asking, request) == b"ok"
            async with asking.ask(request, b"", {"x-a": "c", "Trace": "t"}) as answer:
                assert await answer.read() == b"ok"
            await read_answer(asking, asking.prepare("GET", server.url, {"host": "other"}), b"")
            assert server.connections == 1
            return server.port

    port = asyncio.run(run())
    host = f"Host: 127.0.0.1:{port}\r\nAccept: */*\r\n"
    start = f"POST /a%20b?c=%C3%A9 HTTP/1.1\r\n{host}"
    assert [each.decode() for each in heard] == [
        f"{start}X-A: b\r\nContent-Length: 2\r\n\r\n{{}}",
        f"{start}x-a: c\r\nTrace: t\r\nContent-Length: 0\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: other\r\nAccept: */*\r\n\r\n",
    ]


@pytest.mark.parametrize("value", ["a\r\nb: c", "a\nb", "a\0", "\x7f"])
@pytest.mark.parametrize("place", ["always", "once"])
def test_a_header_that_cannot_be_sent_is_not_shown(value: str, place: str) -> None:
    async def run() -> None:
        async with client() as asking:
            always, once = ({"X": value}, {}) if place == "always" else ({}, {"X": value})
            with pytest.raises(ValueError, match=r"^the header 'X' can't be sent$"):
                asking.ask(asking.prepare("POST", "http://127.0.0.1:1", always), b"", once)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("first", "connections"),
    [
        (OK, 1),
        (CLOSING, 2),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 2),
        (OK + b"\r\n", 1),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 1),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, 1),
    ],
    ids=range(6),
)
def test_a_connection_is_used_again_if_an_answer_leaves_it_clean(
    first: bytes, connections: int
) -> None:
    async def run() -> None:
        async with raw_server(saying(first, OK, OK)) as server, client() as asking:
            request = post_of(asking, server)
            assert await read_answer(asking, request) == b"ok"
            assert await read_answer(asking, request) == b"ok"
            assert server.connections == connections

    asyncio.run(run())


@pytest.mark.parametrize("more", [b"more", OK])
def test_an_answer_that_more_follows_is_no_answer(more: bytes) -> None:
    async def run() -> None:
        async with raw_server(saying(OK + more), saying(OK)) as server, client() as asking:
            request = post_of(asking, server)
            with pytest.raises(NotHttpError, match="more came than"):
                await read_answer(asking, request)
            assert await read_answer(asking, request) == b"ok"
            assert server.connections == 2

    asyncio.run(run())


def test_the_connection_that_was_used_last_is_used_next() -> None:
    async def run() -> None:
        async with raw_server(saying(*[OK] * 9)) as server, client() as asking:
            request = post_of(asking, server)
            await asyncio.gather(*(read_answer(asking, request) for _ in range(3)))
            assert server.connections == 3
            for _ in range(4):
                await read_answer(asking, request)
            assert server.connections == 3

    asyncio.run(run())


@pytest.mark.parametrize("goodbye", [b"", b"HTTP/1.1 408 Too late\r\n\r\n"])
def test_an_idle_connection_that_was_ended_is_not_used(goodbye: bytes) -> None:
    async def run() -> None:
        ended = asyncio.Event()

        async def first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await saying(OK)(reader, writer)
            await asked.wait()
            writer.write(goodbye)
            writer.close()
            await writer.wait_closed()
            ended.set()

        asked = asyncio.Event()
        async with raw_server(first, saying(OK)) as server, client() as asking:
            request = post_of(asking, server)
            await read_answer(asking, request)
            idle = asking._pools[request.origin]._idle[0][0]
            asked.set()
            await ended.wait()
            await idle.lost
            assert await read_answer(asking, request) == b"ok"
            assert server.connections == 2

    asyncio.run(run())


@pytest.mark.parametrize("late", [OK.replace(b"ok", b"no"), b"\r\n", b""])
def test_what_came_meanwhile_answers_no_other_question(late: bytes) -> None:
    async def run() -> None:
        writers: list[asyncio.StreamWriter] = []

        async def first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writers.append(writer)
            await saying(OK, OK)(reader, writer)

        async with raw_server(first, saying(OK)) as server, client() as asking:
            request = post_of(asking, server)
            await read_answer(asking, request)
            # Nothing is awaited between these, so that nobody has read what has come.
            if late:
                writers[0].write(late)
            else:
                writers[0].write_eof()
            assert await read_answer(asking, request) == b"ok"
            assert server.connections == 2

    asyncio.run(run())


async def end_at_second(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server that ends a connection just as it is used again."""
    await saying(OK)(reader, writer)
    await read_request(reader)
    writer.close()


def test_only_a_question_that_changes_nothing_is_asked_again() -> None:
    async def run() -> None:
        async with raw_server(end_at_second, end_at_second) as server, client() as asking:
            get = asking.prepare("GET", server.url, {})
            assert await read_answer(asking, get, b"") == b"ok"
            assert await read_answer(asking, get, b"") == b"ok"
            assert server.connections == 2
            with pytest.raises(BrokenOffError, match="before there was an answer"):
                await read_answer(asking, post_of(asking, server))
            assert server.connections == 2

    asyncio.run(run())


def test_idle_connections_are_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalcase.system.http.pool._IDLE_S", 0.01)

    async def run() -> None:
        async with raw_server(saying(OK)) as server, client() as asking:
            await read_answer(asking, post_of(asking, server))
            await server.hung_up.wait()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (b"", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", BrokenOffError),
        (b"nonsense\r\n\r\n", NotHttpError),
    ],
)
def test_what_breaks_off_is_an_error_of_its_kind(said: bytes, kind: type[HttpError]) -> None:
    async def run() -> None:
        async with raw_server(saying(said, close=True)) as server, client() as asking:
            with pytest.raises(kind):
                await read_answer(asking, post_of(asking, server))

    asyncio.run(run())


def test_what_came_before_a_break_is_there() -> None:
    half = b"HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nhalf"

    async def run() -> None:
        async with (
            raw_server(saying(half, close=True)) as server,
            client() as asking,
            asking.ask(post_of(asking, server)) as answer,
        ):
            assert (answer.status, await anext(answer)) == (500, b"half")
            with pytest.raises(BrokenOffError, match="in the middle"):
                await anext(answer)

    asyncio.run(run())


def test_the_answer_to_head_has_no_body() -> None:
    async def run() -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
        async with raw_server(saying(head), saying(OK)) as server, client() as asking:
            async with asking.ask(asking.prepare("HEAD", server.url, {})) as answer:
                assert (answer.length, await answer.read()) == (2, b"")
            assert await read_answer(asking, post_of(asking, server)) == b"ok"

    asyncio.run(run())


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (b"Content-Type: Text/Event-Stream; charset=utf-8\r\n", "text/event-stream"),
        (b"", "application/octet-stream"),
        (b"Content-Type: nonsense\r\n", "application/octet-stream"),
    ],
)
def test_what_a_body_is_has_no_parameters(header: bytes, found: str) -> None:
    async def run() -> None:
        said = b"HTTP/1.1 204 No\r\n" + header + b"\r\n"
        async with (
            raw_server(saying(said)) as server,
            client() as asking,
            asking.ask(post_of(asking, server)) as answer,
        ):
            assert answer.content_type == found

    asyncio.run(run())


# Bodies that are large.

BLOCK = b"x" * (1 << 20)


async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 400000000\r\n\r\n")
    while not writer.is_closing():
        writer.write(BLOCK)
        await writer.drain()


def test_no_more_is_read_than_is_taken() -> None:
    async def run() -> None:
        async with raw_server(flood) as server, client() as asking:
            request = post_of(asking, server)
            async with asking.ask(request) as answer:
                for _ in range(3):
                    # Time enough for a hundred times as much, in the same loop.
                    for _ in range(200):
                        await asyncio.sleep(0)
                    assert (1 << 17) < len(await anext(answer)) < (1 << 20)
            await server.hung_up.wait()

    asyncio.run(run())


def test_an_answer_is_read_while_its_request_is_still_sent() -> None:
    """A server that says no at once, and reads nothing of what follows."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno")
        await writer.drain()
        await over.wait()

    async def endless() -> AsyncGenerator[bytes, None]:
        while True:
            yield BLOCK

    async def run() -> None:
        async with raw_server(refuse) as server, client() as asking:
            for body in (Upload(10**12, endless()), BLOCK * 64, b""):
                async with asking.ask(post_of(asking, server), body) as answer:
                    assert (answer.status, await answer.read()) == (413, b"no")
            assert server.connections == 3
            over.set()

    over = asyncio.Event()
    asyncio.run(run())


def pieces(*blocks: bytes) -> AsyncGenerator[bytes, None]:
    async def give() -> AsyncGenerator[bytes, None]:
        for block in blocks:
            yield block

    return give()


def test_a_body_that_comes_in_pieces_is_sent_whole() -> None:
    heard: list[bytes] = []

    async def run() -> None:
        async with raw_server(saying(OK, OK, heard=heard)) as server, client() as asking:
            body = Upload(3 * len(BLOCK) + 1, pieces(BLOCK, BLOCK, BLOCK, b"y"))
            await read_answer(asking, post_of(asking, server), body)
            await read_answer(asking, post_of(asking, server))
            assert server.connections == 1

    asyncio.run(run())
    assert heard[0].endswith(b"\r\nContent-Length: 3145729\r\n\r\n" + 3 * BLOCK + b"y")


def test_a_body_that_is_not_as_long_as_it_said_breaks_off() -> None:
    async def run() -> None:
        async with raw_server(saying(OK)) as server, client() as asking:
            with pytest.raises(BrokenOffError, match="has changed its size"):
                await read_answer(asking, post_of(asking, server), Upload(9, pieces(b"short")))

    asyncio.run(run())


def test_a_body_that_cannot_be_read_is_an_error() -> None:
    async def broken() -> AsyncGenerator[bytes, None]:
        yield b"x"
        raise OSError("the disk is gone")

    async def run() -> None:
        async with raw_server(saying(OK)) as server, client() as asking:
            with pytest.raises(BrokenOffError, match="the disk is gone"):
                await read_answer(asking, post_of(asking, server), Upload(9, broken()))
            await server.hung_up.wait()

    asyncio.run(run())


# Whoever gives up.


async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """No answer at all."""
    del reader, writer


async def hold_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")


@pytest.mark.parametrize("script", [hold, hold_body])
@pytest.mark.parametrize("upload", [True, False])
def test_giving_up_closes_the_connection(
    script: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], upload: bool
) -> None:
    async def run() -> None:
        begun = asyncio.Event()

        async def body() -> AsyncGenerator[bytes, None]:
            yield b"{}"

        async def ask() -> None:
            given = Upload(2, body()) if upload else b"{}"
            async with asking.ask(post_of(asking, server), given) as answer:
                begun.set()
                await answer.read()

        async def mark(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await script(reader, writer)
            if script is hold:
                begun.set()

        async with raw_server(mark) as server, client(network()) as asking:
            asked = asyncio.ensure_future(ask())
            await begun.wait()
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            await server.hung_up.wait()

    asyncio.run(run())


def test_what_is_left_over_of_an_answer_closes_its_connection() -> None:
    async def run() -> None:
        async with raw_server(hold_body) as server, client() as asking:
            async with asking.ask(post_of(asking, server)) as answer:
                assert await anext(answer) == b"half"
            await server.hung_up.wait()

    asyncio.run(run())


def test_closing_closes_what_is_idle_and_what_is_not() -> None:
    async def run() -> None:
        async with raw_server(saying(OK), hold) as server:
            async with client() as asking:
                await read_answer(asking, post_of(asking, server))
                first = asyncio.ensure_future(read_answer(asking, post_of(asking, server)))
                second = asyncio.ensure_future(read_answer(asking, post_of(asking, server)))
                while server.connections < 2:  # noqa: ASYNC110 - nothing tells of it
                    await asyncio.sleep(0)
            for each in (first, second):
                with pytest.raises(BrokenOffError):
                    await each

    asyncio.run(run())
