"""Who is answered at all: a browser of this machine that was given the address, and nobody whom
another page sent. Whatever is answered can't be framed, kept or read by another origin."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from hmac import compare_digest

from evalcase.model.value import Value
from evalcase.system.http.served import ServedAnswer, ServedRequest

Handler = Callable[[ServedRequest], Awaitable[ServedAnswer]]

_FOREIGN = frozenset({"cross-site", "same-site"})
NO_SCRIPT = "default-src 'none'"
"""The policy of what is no page."""


class RefusedError(Exception):
    """A question that has no other answer than a few words."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Guard(Value, frozen=True):
    """Stands before every answer."""

    token: str
    port: Callable[[], int]

    async def answer(self, request: ServedRequest, handler: Handler) -> ServedAnswer:
        """What the handler says, if it is asked at all."""
        refused = self.refuse(request)
        if refused is not None:
            return refused
        try:
            return await handler(request)
        except RefusedError as error:
            return answer_in_words(error.status, str(error))

    def refuse(self, request: ServedRequest) -> ServedAnswer | None:
        """An answer for whom there is no other; None for everybody else."""
        if request.all("host") not in self._hosts():
            return answer_in_words(400, "this address is not that of evalcase view")
        if request.method not in ("GET", "HEAD"):
            return answer_in_words(405, "nothing can be changed here")
        if self._is_foreign(request):
            return answer_in_words(403, "another page may not ask for this")
        # As it was sent: an escaped slash is no slash.
        _, _, path = request.path.partition("/")
        given = path.partition("/")[0]
        if not compare_digest(given.encode("utf-8", "replace"), self.token.encode()):
            return answer_in_words(403, "open the address in your terminal")
        if request.has_body:
            return answer_in_words(413, "nothing can be sent here")
        return None

    def _hosts(self) -> list[list[str]]:
        return [[f"{name}:{self.port()}"] for name in ("127.0.0.1", "localhost")]

    def _is_foreign(self, request: ServedRequest) -> bool:
        origin = request.get("origin")
        if origin is not None and [origin.removeprefix("http://")] not in self._hosts():
            return True
        if request.get("sec-fetch-site") not in _FOREIGN:
            return False
        # A person who follows a link in a mail or a chat opens a page, and nothing reads it.
        asked = (request.get("sec-fetch-mode"), request.get("sec-fetch-dest"))
        return asked != ("navigate", "document")


def answer_in_words(status: int, text: str) -> ServedAnswer:
    """A few words."""
    headers = {"Content-Type": "text/plain; charset=utf-8", **headers_of(NO_SCRIPT)}
    return ServedAnswer(status, headers, f"{text}\n".encode())


def headers_of(policy: str) -> dict[str, str]:
    """Those of every answer."""
    return {
        "Content-Security-Policy": f"{policy}; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
