"""aimock: answers by fixtures, lets in only who has the key, and keeps a journal."""

from pathlib import Path
from typing import Any

from tests.servers.server import INSTALLED, Reply, Server, request

PROGRAM = INSTALLED / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
KEY = "sk-fake-4f0c8be2a91d"


class Aimock:
    """What matches no fixture gets a 404, so a request that drifts is noticed."""

    def __init__(self, folder: Path) -> None:
        fixtures = folder / "fixtures.json"
        fixtures.write_text('{"fixtures": []}')
        self.server = Server(
            (INSTALLED / "bin" / "node", PROGRAM, "--port", "0", "--fixtures", fixtures),
            {"AIMOCK_API_KEYS": KEY},
        )
        self.url = self.server.await_address()

    def base(self, protocol: str) -> str:
        """What to configure as the address of an API."""
        return self.url + {"openai": "/v1", "anthropic": ""}[protocol]

    def when(self, text: str, response: dict[str, Any], **fields: Any) -> None:
        """How to answer a message that contains this text; the first that matches counts."""
        match = {"userMessage": text, **fields.pop("match", {})}
        fixture = {"match": match, "response": response, **fields}
        assert self._call("POST", "fixtures", {"fixtures": [fixture]}).status == 200

    def in_turn(self, text: str, *responses: dict[str, Any]) -> None:
        """How to answer this text the first time, the second time and so on."""
        for index, response in enumerate(responses):
            self.when(text, response, match={"sequenceIndex": index})

    def chaos(self, **rates: float) -> None:
        """How often to do something bad instead of answering; nothing: never."""
        assert self._call("POST", "chaos", rates).status == 200

    def journal(self) -> list[dict[str, Any]]:
        """What was asked so far, oldest first."""
        entries: list[dict[str, Any]] = self._call("GET", "journal").json
        return entries

    def statuses(self) -> list[int]:
        """0 where the connection was cut."""
        return [entry["response"]["status"] for entry in self.journal()]

    def reset(self) -> None:
        assert self._call("POST", "reset").status == 200
        self.chaos()

    def _call(self, method: str, name: str, body: Any = None) -> Reply:
        return request(method, f"{self.url}/__aimock/{name}", body, {"x-api-key": KEY})


def error(status: int, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "test_error"}, "status": status}
