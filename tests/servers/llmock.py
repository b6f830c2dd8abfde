"""llmock: takes orders over HTTP, and judges how a client coped with what it did."""

from typing import Any

from tests.servers.server import INSTALLED, Server, request

COMMAND = (INSTALLED / "bin" / "python", "-m", "llmock.cli", "serve", "--port", "0")


class Llmock:
    """It answers anything; orders are taken by the next requests, first come, first served."""

    def __init__(self) -> None:
        self.server = Server(COMMAND)
        self.url = self.server.await_address()

    def base(self, protocol: str) -> str:
        """What to configure as the address of an API."""
        return self.url + {"openai": "/v1", "anthropic": "/anthropic"}[protocol]

    def order(self, *behaviours: dict[str, Any]) -> None:
        reply = request("POST", f"{self.url}/_llmock/scenario", {"behaviors": behaviours})
        assert reply.status == 201, reply.body

    def say(self, text: str) -> None:
        """Answer everything with this text."""
        self.order({"type": "reply", "text": text, "times": None})

    def fail(self, status: int, times: int | None = 1, **fields: Any) -> None:
        self.order({"type": "fail", "status": status, "times": times, **fields})

    def break_stream(self, kind: str, **fields: Any) -> None:
        """Do something to the next stream, after its first two pieces."""
        self.order({"type": "stream_fault", "kind": kind, "after_chunks": 2, **fields})

    def requests(self) -> list[dict[str, Any]]:
        """What was asked so far, oldest first. Waits for what is under way."""
        asked: list[dict[str, Any]] = self._get("requests")["requests"]
        return asked

    def statuses(self) -> list[int]:
        return [asked["status"] for asked in self.requests()]

    def verdict(self) -> dict[str, Any]:
        return self._get("verdict")

    def findings(self) -> list[str]:
        """What it has to complain of, warnings included; the gate is that there is nothing."""
        return [f"{each['code']}: {each['title']}" for each in self.verdict()["findings"]]

    def reset(self) -> None:
        assert request("POST", f"{self.url}/_llmock/reset").status == 200

    def _get(self, name: str) -> dict[str, Any]:
        data: dict[str, Any] = request("GET", f"{self.url}/_llmock/{name}").json
        return data
