"""Who is answered at all: a browser of this machine that was given the address, and nobody whom
another page sent. Whatever is answered can't be framed, kept or read by another origin."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from hmac import compare_digest

from aiohttp import web

from evalcase.model.quick_dataclass import dataclass

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_FOREIGN = frozenset({"cross-site", "same-site"})
NO_SCRIPT = "default-src 'none'"
"""The policy of what is no page."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Stands before every answer."""

    token: str
    port: Callable[[], int]

    async def __call__(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        refused = self.refuse(request)
        if refused is not None:
            return refused
        try:
            return await handler(request)
        except web.HTTPException as error:
            return answer_in_words(error.status, error.reason)

    def refuse(self, request: web.Request) -> web.Response | None:
        """An answer for whom there is no other; None for everybody else."""
        if request.headers.getall("Host", []) not in self._hosts():
            return answer_in_words(400, "this address is not that of evalcase view")
        if request.method not in ("GET", "HEAD"):
            return answer_in_words(405, "nothing can be changed here")
        if self._is_foreign(request):
            return answer_in_words(403, "another page may not ask for this")
        # As it was sent: an escaped slash is no slash.
        given = request.rel_url.raw_path.split("/", 2)[1]
        if not compare_digest(given.encode("utf-8", "replace"), self.token.encode()):
            return answer_in_words(403, "open the address in your terminal")
        return None

    def _hosts(self) -> list[list[str]]:
        return [[f"{name}:{self.port()}"] for name in ("127.0.0.1", "localhost")]

    def _is_foreign(self, request: web.Request) -> bool:
        origin = request.headers.get("Origin")
        if origin is not None and [origin.removeprefix("http://")] not in self._hosts():
            return True
        if request.headers.get("Sec-Fetch-Site") not in _FOREIGN:
            return False
        # A person who follows a link in a mail or a chat opens a page, and nothing reads it.
        asked = (request.headers.get("Sec-Fetch-Mode"), request.headers.get("Sec-Fetch-Dest"))
        return asked != ("navigate", "document")


def answer_in_words(status: int, text: str) -> web.Response:
    """A few words."""
    return web.Response(status=status, text=text + "\n", headers=headers_of(NO_SCRIPT))


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
