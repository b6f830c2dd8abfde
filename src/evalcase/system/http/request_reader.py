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
        self._found: list[ServedRequest] = []
        self._is_over = False
        self.is_begun = False
        """Whether some of a request is here, and not all of it."""

    def feed(self, data: bytes) -> list[ServedRequest]:
        """The requests that end with these bytes. Raise BadRequestError, after which there are no
        more."""
        if self._is_over:
            return []
        self._found = []
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._is_over = True
        except httptools.HttpParserError as error:
            self._is_over = True
            if not isinstance(error.__context__, _BodyError):
                raise BadRequestError(400, "this is not HTTP") from None
        self._size = self._size + len(data) if self.is_begun and not self._found else 0
        if self._size > _MOST_HEAD:
            self._is_over = True
            raise BadRequestError(431, "these headers are too long")
        return self._found

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
        is_last = has_body or parser.should_upgrade() or not parser.should_keep_alive()
        path, _, query = self._url.decode("latin-1").partition("?")
        self._found.append(ServedRequest(
            parser.get_method().decode(), path, query, tuple(self._pairs), has_body,
            keeps=not is_last and parser.get_http_version() == "1.1",
        ))  # fmt: skip
        self.is_begun = False
        if has_body:
            raise _BodyError


class _BodyError(Exception):
    """A body would come now."""
