"""Services on loopback with the batch endpoints of OpenAI and of Anthropic, written from their
descriptions. They answer each question with its last text, and do what a test tells them."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

USAGE = {"prompt_tokens": 1_000_000, "completion_tokens": 1_000_000}


class BatchService:
    """What both have in common: batches by id, and what becomes of them."""

    def __init__(self) -> None:
        self.batches: dict[str, dict[str, Any]] = {}
        self.ends = threading.Event()
        """Until it is set, batches are in progress."""
        self.ends.set()
        self.looked = threading.Event()
        """Set once somebody has looked at a batch that was in progress."""
        self.hold = threading.Event()
        """Until it is set, one request is not answered."""
        self.hold.set()
        self.spoilt: dict[str, str] = {}
        """What becomes of a question, by its text: `errored`, `expired` or `missing`."""
        self.refuse: list[tuple[int, dict[str, Any]]] = []
        """Statuses and bodies of what is refused next."""
        self.hold_at: int | None = None
        """The request, by its number, that is carried out and not answered while `hold` is not
        set."""
        self.held = threading.Event()
        """Set once there was such a request."""
        self.headers: list[dict[str, str]] = []
        self.url = ""

    def questions(self) -> list[str]:
        """Every text that was paid for, in order."""
        return [_text(each) for batch in self.batches.values() for each in batch["requests"]]

    def make(self, requests: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        id = f"batch_{len(self.batches) + 1}"
        self.batches[id] = {"id": id, "requests": requests, "spoilt": self.spoilt, **more}
        return self.show(self.batches[id])

    def look(self, batch: dict[str, Any]) -> dict[str, Any]:
        """What somebody sees who asks for a batch by its id."""
        if not self.ends.is_set():
            self.looked.set()
        return self.show(batch)

    def show(self, batch: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def get(self, path: str) -> Any:
        raise NotImplementedError

    def post(self, path: str, body: bytes) -> Any:
        raise NotImplementedError


def _text(request: dict[str, Any]) -> str:
    body = request.get("body") or request["params"]
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else content[-1]["text"]


class OpenAIService(BatchService):
    """Files, and batches of them."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, bytes] = {}
        self.fails: str | None = None
        """Why a batch is refused as a whole."""

    def post(self, path: str, body: bytes) -> Any:
        if path == "/v1/files":
            id = f"file-{len(self.files) + 1}"
            assert b'name="purpose"\r\n\r\nbatch\r\n' in body
            start = body.index(b"\r\n\r\n", body.index(b'name="file"')) + 4
            self.files[id] = body[start : body.rindex(b"\r\n--")]
            return {"id": id, "object": "file", "purpose": "batch"}
        asked = json.loads(body)
        assert (path, asked["completion_window"]) == ("/v1/batches", "24h")
        lines = self.files[asked["input_file_id"]].splitlines()
        return self.make([json.loads(line) for line in lines], metadata=asked["metadata"])

    def get(self, path: str) -> Any:
        if path == "/v1/batches":
            return {"data": [self.show(each) for each in [*self.batches.values()][::-1]]}
        _, _, kind, id, *_ = path.split("/")
        if kind == "batches":
            return self.look(self.batches[id])
        which, of = id.split("-", 1)
        batch = self.batches[of]
        rows = [self._row(each, batch["spoilt"]) for each in batch["requests"]]
        wanted = [row for row in rows if row and (row["error"] is None) == (which == "output")]
        return [json.dumps(row) for row in wanted[::-1]]

    def _row(self, request: dict[str, Any], spoilt: dict[str, str]) -> dict[str, Any] | None:
        text, row = _text(request), {"custom_id": request["custom_id"], "error": None}
        match spoilt.get(text):
            case "missing":
                return None
            case "expired":
                error = {"code": "batch_expired", "message": "it took too long"}
                return {**row, "response": None, "error": error}
            case "errored":
                wrong = {"error": {"message": "no such model"}}
                return {**row, "response": {"status_code": 400, "body": wrong}, "error": {}}
        message = {"role": "assistant", "content": text}
        body = {"choices": [{"index": 0, "message": message}], "usage": USAGE, "model": "m"}
        return {**row, "response": {"status_code": 200, "body": body}}

    def show(self, batch: dict[str, Any]) -> dict[str, Any]:
        total = len(batch["requests"])
        shown = {key: batch[key] for key in ("id", "metadata")}
        if not self.ends.is_set():
            counts = {"total": total, "completed": 1, "failed": 0}
            return {**shown, "status": "in_progress", "request_counts": counts}
        if self.fails is not None:
            errors = {"data": [{"code": "invalid", "message": self.fails}]}
            return {**shown, "status": "failed", "errors": errors, "request_counts": None}
        counts = {"total": total, "completed": total, "failed": 0}
        files = {"output_file_id": f"output-{batch['id']}", "error_file_id": f"error-{batch['id']}"}
        return {**shown, "status": "completed", "request_counts": counts, **files}


class AnthropicService(BatchService):
    """Batches of messages."""

    path = "/v1/messages/batches"

    def post(self, path: str, body: bytes) -> Any:
        assert path == self.path
        return self.make(json.loads(body)["requests"], created_at=datetime.now(UTC).isoformat())

    def get(self, path: str) -> Any:
        if path == self.path:
            shown = [self.show(each) for each in [*self.batches.values()][::-1]]
            return {"data": shown, "has_more": False}
        id, *results = path.removeprefix(self.path + "/").split("/")
        if not results:
            return self.look(self.batches[id])
        batch = self.batches[id]
        rows = [self._row(each, batch["spoilt"]) for each in batch["requests"]]
        return [json.dumps(row) for row in rows[::-1] if row]

    def _row(self, request: dict[str, Any], spoilt: dict[str, str]) -> dict[str, Any] | None:
        text = _text(request)
        usage = {"input_tokens": 1_000_000, "output_tokens": 1_000_000}
        message = {"role": "assistant", "content": [{"type": "text", "text": text}], "usage": usage}
        result: dict[str, Any] = {"type": "succeeded", "message": message}
        match spoilt.get(text):
            case "missing":
                return None
            case "expired":
                result = {"type": "expired"}
            case "errored":
                inner = {"type": "invalid_request_error", "message": "no such model"}
                result = {"type": "errored", "error": {"type": "error", "error": inner}}
        return {"custom_id": request["custom_id"], "result": result}

    def show(self, batch: dict[str, Any]) -> dict[str, Any]:
        over, total = self.ends.is_set(), len(batch["requests"])
        counts = {"processing": 0 if over else total - 1, "succeeded": total if over else 1}
        return {
            "id": batch["id"], "created_at": batch["created_at"], "request_counts": counts,
            "processing_status": "ended" if over else "in_progress",
            "results_url": "http://127.0.0.1:1/elsewhere",
        }  # fmt: skip


@contextmanager
def serving_batches(service: BatchService) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Be silent."""

        def do_GET(self) -> None:
            self._reply(lambda: service.get(urlsplit(self.path).path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self._reply(lambda: service.post(self.path, body))

        def _reply(self, make: Callable[[], Any]) -> None:
            service.headers.append({key.lower(): value for key, value in self.headers.items()})
            value: Any
            status, value = service.refuse.pop(0) if service.refuse else (200, None)
            if status == 200:
                try:
                    value = make()
                except KeyError:
                    status, value = 404, {"error": {"message": "there is no such thing"}}
            if len(service.headers) == service.hold_at:
                service.held.set()
                service.hold.wait(60)
            lines = value if isinstance(value, list) else [json.dumps(value)]
            data = "".join(f"{line}\n" for line in lines).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Who was killed hangs up."""

    server = Quiet(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        service.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()
