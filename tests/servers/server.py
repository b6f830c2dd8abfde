"""A server that somebody else wrote, as a process of its own on a free port of this machine."""

import json
import os
import queue
import re
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple

INSTALLED = Path(__file__).parent.parent.parent / ".venv-servers"
LIMIT_S = 60.0
"""Starting takes a second or two, more on a busy machine."""


class Reply(NamedTuple):
    status: int
    headers: Message
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """Started with port 0: it says itself which one it got."""

    def __init__(self, command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> None:
        assert (INSTALLED / ".servers").exists(), "run `make .venv-servers/.servers` first"
        self.process = subprocess.Popen(
            command, env={**os.environ, "NO_COLOR": "1", **(env or {})}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        )  # fmt: skip
        self.said: queue.Queue[str | None] = queue.Queue()
        self.listener = threading.Thread(target=self._listen)
        self.listener.start()

    def _listen(self) -> None:
        """Take all it says: a pipe that nobody empties would stop it."""
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self.said.put(line)
        self.said.put(None)

    def await_address(self) -> str:
        """Wait until it says where it is."""
        lines: list[str] = []
        try:
            while (line := self.said.get(timeout=LIMIT_S)) is not None:
                lines.append(line)
                if match := re.search(r"http://127\.0\.0\.1:[1-9]\d*", line):
                    return match[0]
        except queue.Empty:
            self.stop()
        raise AssertionError(f"it gave no address: {''.join(lines)}")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.listener.join()


def request(method: str, url: str, body: Any = None, headers: Mapping[str, str] = {}) -> Reply:
    """As plain as can be: what the server says, whatever its status, asked once."""
    sent = urllib.request.Request(
        url, None if body is None else json.dumps(body).encode(),
        {"Content-Type": "application/json", **headers}, method=method,
    )  # fmt: skip
    try:
        with urllib.request.urlopen(sent, timeout=LIMIT_S) as reply:
            return Reply(reply.status, reply.headers, reply.read())
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, error.headers, error.read())
