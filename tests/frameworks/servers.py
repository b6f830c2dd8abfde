"""A loopback service that sends recorded bytes, one reply for each request in turn."""

import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from zlib import crc32

HERE = Path(__file__).parent
ANSWERS = HERE.parent / "answers"
TYPES = {
    ".sse": "text/event-stream",
    ".json": "application/json",
    ".events": "application/vnd.amazon.eventstream",
}


class Service:
    """What it has been asked, and what it answers next. The last reply is sent again and again."""

    def __init__(self, files: list[str]) -> None:
        self.url = ""
        self.bodies: list[object] = []
        self._replies = [_read(file) for file in files]
        self._lock = Lock()

    def answer(self, body: bytes) -> tuple[str, bytes]:
        with self._lock:
            self.bodies.append(json.loads(body or b"null"))
            return self._replies[min(len(self.bodies), len(self._replies)) - 1]


@contextmanager
def serving(*files: str) -> Iterator[Service]:
    """A service that sends these files of `tests/answers`."""
    service = Service(list(files))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self._send(200, *service.answer(body))

        def do_GET(self) -> None:
            """What programs look up before they ask: there is none of it."""
            self._send(404, TYPES[".json"], b"{}")

        def do_HEAD(self) -> None:
            self.do_GET()

        def _send(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _read(file: str) -> tuple[str, bytes]:
    data = ((HERE if file.startswith("wire/") else ANSWERS) / file).read_bytes()
    if file.endswith(".events.json"):
        return TYPES[".events"], b"".join(map(_write_event, json.loads(data)))
    return TYPES[Path(file).suffix], data


def _write_event(event: dict[str, object]) -> bytes:
    """A message of Amazon's event stream encoding: lengths, headers, JSON, checksums."""
    ((name, value),) = event.items()
    headers = b"".join(
        bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(text)) + text.encode()
        for key, text in (
            (":event-type", name),
            (":content-type", TYPES[".json"]),
            (":message-type", "event"),
        )
    )
    payload = json.dumps(value).encode()
    prelude = struct.pack(">II", len(headers) + len(payload) + 16, len(headers))
    start = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return start + struct.pack(">I", crc32(start))
