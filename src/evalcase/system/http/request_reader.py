"""Bytes to requests, wherever they are cut, by the letter of the standard. It knows no sockets."""

from __future__ import annotations

import httptools

from evalcase.system.http.served import ServedRequest

_MOST_HEAD = 1 << 16


class BadRequestError(Exception):
    """What came is no request, or too much of one."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status = status


class RequestReader:
    """Reads one request after the other, up to the first that has a body."""

    def __init__(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._url = b""
        self._pairs: list[tuple[str, str]] = []
        self._size = 0
        self._found: list[ServedRequest | BadRequestError] = []
        self._is_over = False
        self.is_begun = False
        """Whether some of a request is here, and not all of it."""

    def feed(self, data: bytes) -> list[ServedRequest | BadRequestError]:
        """The requests that end with these bytes. An error, or one that isn't kept, is the last."""
        if self._is_over:
            return []
        self._found = []
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._is_over = True
            if not self._ends_with_last():
                self._found.append(BadRequestError(400, "this is not HTTP"))
        self._is_over = self._is_over or self._ends_with_last()
        self._size = self._size + len(data) if self.is_begun and not self._found else 0
        if self._size > _MOST_HEAD:
            self._is_over = True
            self._found.append(BadRequestError(431, "these headers are too long"))
        return self._found

    def _ends_with_last(self) -> bool:
        last = self._found[-1] if self._found else None
        return isinstance(last, ServedRequest) and not last.keeps

    # What the parser calls.

    def on_message_begin(self) -> None:
        self._url, self._pairs, self.is_begun = b"", [], True

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._pairs.append((name.decode("latin-1").lower(), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        parser, names = self._parser, dict(self._pairs)
        has_body = names.get("content-length", "0") != "0" or "transfer-encoding" in names
        may_go_on = parser.should_keep_alive() and parser.get_http_version() == "1.1"
        is_last = has_body or parser.should_upgrade() or not may_go_on
        path, _, query = self._url.decode("latin-1").partition("?")
        self._found.append(ServedRequest(
            parser.get_method().decode(), path, query, tuple(self._pairs), has_body,
            keeps=not is_last,
        ))  # fmt: skip
        self.is_begun = False
        if is_last:
            raise _LastError


class _LastError(Exception):
    """Whatever follows is not read."""
