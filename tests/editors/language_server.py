"""A language server that somebody else wrote, as a process of its own, spoken to as editors do."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

LIMIT_S = 60.0
"""Answers take milliseconds, more on a busy machine."""

Message = dict[str, Any]

CAPABILITIES: Message = {
    "workspace": {"configuration": True, "workspaceFolders": True, "didChangeConfiguration": {}},
    "textDocument": {
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "completion": {
            "completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}
        },
        "publishDiagnostics": {"tagSupport": {"valueSet": [1, 2]}},
    },
}


class Underlined(NamedTuple):
    """What an editor underlines, and the message that it shows there."""

    text: str
    line: int
    message: str


class Offered(NamedTuple):
    """What an editor offers: what is inserted, and what is said of it."""

    inserts: str
    about: str


class LanguageServer:
    """Speaks JSON-RPC over pipes. `settings` is what the user has configured, by section."""

    def __init__(
        self, command: Sequence[str | Path], root: Path, settings: Mapping[str, Message]
    ) -> None:
        self.settings = settings
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.heard: queue.Queue[Message | None] = queue.Queue()
        self.listener = threading.Thread(target=self._listen)
        self.listener.start()
        self.asked = 0
        self.underlined: dict[str, list[Message]] = {}
        workspace = {"uri": root.as_uri(), "name": root.name}
        self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "workspaceFolders": [workspace],
                "capabilities": CAPABILITIES,
            },
        )
        self._tell("initialized", {})

    def open(self, path: Path, text: str, language: str) -> Document:
        """Open a file, which need not exist."""
        document = {"uri": path.as_uri(), "languageId": language, "version": 1, "text": text}
        self._tell("textDocument/didOpen", {"textDocument": document})
        return Document(self, path.as_uri(), text)

    def ask(self, method: str, params: Message) -> Any:
        """The answer to a request; what else the server says in the meantime is attended to."""
        self.asked += 1
        number = self.asked
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self.hear()
            if "method" not in message and message["id"] == number:
                assert "error" not in message, message["error"]
                return message["result"]

    def hear(self) -> Message:
        """The next thing that the server says; its own questions are answered first."""
        message = self.heard.get(timeout=LIMIT_S)
        assert message is not None, "the language server ended"
        method, params = message.get("method"), message.get("params")
        if method == "textDocument/publishDiagnostics" and params is not None:
            self.underlined[params["uri"]] = params["diagnostics"]
        elif method is not None and "id" in message:
            self._send({"id": message["id"], "result": self._answer(method, params)})
        return message

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.listener.join()
        assert self.process.stdin is not None
        self.process.stdin.close()

    def _answer(self, method: str, params: Any) -> Any:
        if method == "workspace/configuration":
            return [self.settings.get(each.get("section", "")) for each in params["items"]]
        return None

    def _tell(self, method: str, params: Message) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            while (message := _read_message(stream)) is not None:
                self.heard.put(message)
        self.heard.put(None)


def _read_message(stream: IO[bytes]) -> Message | None:
    length = 0
    for line in iter(stream.readline, b"\r\n"):
        if not line:
            return None
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    message: Message = json.loads(stream.read(length))
    return message


class Document:
    """A file that is open in the editor."""

    def __init__(self, server: LanguageServer, uri: str, text: str) -> None:
        self.server = server
        self.uri = uri
        self.lines = text.split("\n")
        self.cursor = 0, 0
        """Line and column, from 0."""

    def underlined(self) -> list[Underlined]:
        """What the editor underlines, in the order of the text."""
        while self.uri not in self.server.underlined:
            self.server.hear()
        found = [self._underlined(each) for each in self.server.underlined[self.uri]]
        return sorted(found, key=lambda each: each.line)

    def hover(self) -> str:
        """What is shown when the mouse rests at the cursor, as plain text."""
        found = self._ask("hover")
        return "" if found is None else re.sub(r"\\([\W_])", r"\1", found["contents"]["value"])

    def offered(self) -> dict[str, Offered]:
        """What is offered at the cursor by its label, in the order in which it is shown."""
        found = self._ask("completion")
        items = found["items"] if isinstance(found, dict) else found or []
        items = sorted(items, key=lambda each: each.get("sortText") or each["label"])
        return {each["label"]: _offered(each) for each in items}

    def _ask(self, what: str) -> Any:
        line, column = self.cursor
        position = {"line": line, "character": column}
        params = {"textDocument": {"uri": self.uri}, "position": position}
        return self.server.ask(f"textDocument/{what}", params)

    def _underlined(self, diagnostic: Message) -> Underlined:
        start, end = diagnostic["range"]["start"], diagnostic["range"]["end"]
        rows = self.lines[start["line"] : end["line"] + 1]
        rows[-1] = rows[-1][: end["character"]]
        rows[0] = rows[0][start["character"] :]
        return Underlined("\n".join(rows), start["line"], diagnostic["message"])


def _offered(item: Message) -> Offered:
    about = item.get("documentation") or ""
    about = about["value"] if isinstance(about, dict) else about
    inserts = item.get("textEdit", {}).get("newText") or item.get("insertText") or item["label"]
    return Offered(inserts, about)
