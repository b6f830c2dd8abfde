"""A real HTTP server on loopback for tests: it keeps what it is sent, and says what it is told."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Request:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes
    method: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """What to send back. `cut` closes the connection after so many bytes of the body."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    raw: bytes | None = None
    """In place of everything else."""
    hold: bool = False
    """Send no more, and wait until the other side closes the connection."""

    @classmethod
    def of(cls, value: Any, status: int = 200, **headers: str) -> Reply:
        names = {name.replace("_", "-"): text for name, text in headers.items()}
        return cls(
            json.dumps(value).encode(), status, {"Content-Type": "application/json", **names}
        )

    @classmethod
    def stream(cls, *events: Any, cut: int | None = None, done: bool = False) -> Reply:
        """Events without names, as OpenAI sends them."""
        lines = [f"data: {json.dumps(event)}\n\n" for event in events]
        body = "".join([*lines, "data: [DONE]\n\n"] if done else lines).encode()
        return cls(body, 200, {"Content-Type": "text/event-stream"}, cut)

    @classmethod
    def events(cls, *events: dict[str, Any], cut: int | None = None) -> Reply:
        """Events that are named by their type, as Anthropic sends them."""
        lines = [f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events]
        return cls("".join(lines).encode(), 200, {"Content-Type": "text/event-stream"}, cut)


class Server:
    """Answers each request by the replies in turn; the last one again and again."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.requests: list[Request] = []
        self.connections = 0
        self.asked = threading.Event()
        self.hung_up = threading.Event()
        """Set when the other side has closed a connection that was held."""
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def request(self) -> Request:
        """The only request."""
        (request,) = self.requests
        return request

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._serve_one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = [line.split(": ", 1) for line in head[1:] if line]
        headers = {name.lower(): value for name, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        method, path, _ = head[0].split(" ")
        self.requests.append(Request(path, headers, body, method))
        self.asked.set()
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        writer.write(_written(reply))
        await writer.drain()
        if reply.hold:
            await reader.read()
            self.hung_up.set()
        return reply.cut is None and reply.raw is None and not reply.hold


def _written(reply: Reply) -> bytes:
    if reply.raw is not None:
        return reply.raw
    headers = {"Content-Length": str(len(reply.body)), **reply.headers}
    lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
    head = f"HTTP/1.1 {reply.status} Reason\r\n{''.join(lines)}\r\n".encode()
    return head + (reply.body if reply.cut is None else reply.body[: reply.cut])


@contextmanager
def serving(*replies: Reply | Any, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server in a thread of its own. Replies that are none are JSON to be sent."""
    server = Server(*(each if isinstance(each, Reply) else Reply.of(each) for each in replies))
    started = threading.Event()
    stop: list[Callable[[], object]] = []

    async def run() -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        stop.append(lambda: loop.call_soon_threadsafe(stopped.set))
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
        server.port = listening.sockets[0].getsockname()[1]
        started.set()
        await stopped.wait()
        listening.close()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    started.wait()
    try:
        yield server
    finally:
        stop[0]()
        thread.join()
