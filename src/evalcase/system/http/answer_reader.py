"""Bytes to one answer, wherever they are cut. It knows no sockets.

It takes what servers send rather than what the standard says where that can't be misunderstood:
lines without CR, folded headers, spaces after the size of a chunk, an empty line after the end.
Whatever leaves open where an answer ends is refused.
"""

from __future__ import annotations

import httptools

from evalcase.system.http.errors import BrokenOffError, NotHttpError
from evalcase.system.http.headers import HttpHeaders

MOST_BESIDE = 1 << 18
"""How many bytes that are no body may come one after the other: headers, or those at the end."""
_LENIENT = {
    "lenient_headers": True,
    "lenient_optional_cr_before_lf": True,
    "lenient_spaces_after_chunk_size": True,
}
_BARE = (204, 304)


class AnswerReader:
    """One answer, as far as it has come."""

    __slots__ = (
        "_beside", "_ends_with_connection", "_has_body", "_pairs", "_parser", "chunks", "headers",
        "is_begun", "is_reusable", "is_whole", "size", "status",
    )  # fmt: skip

    def __init__(self, *, has_body: bool = True) -> None:
        """An answer to HEAD, or to CONNECT, has no body whatever its headers say."""
        self._has_body = has_body
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(**_LENIENT)
        self._pairs: list[tuple[bytes, bytes]] = []
        self._beside = 0
        self._ends_with_connection = False
        self.status = 0
        self.headers = _NONE
        self.chunks: list[bytes] = []
        """Of the body; whoever takes them clears the list."""
        self.size = 0
        """That of all chunks that have come since they were taken."""
        self.is_begun = False
        """Whether its headers are here."""
        self.is_whole = False
        self.is_reusable = False
        """Whether its connection can be asked again once it is whole."""

    def feed(self, data: bytes) -> None:
        """Raise NotHttpError for what is no answer, BrokenOffError for what ceases to be one."""
        parser, size = self._parser, self.size
        if parser is None:
            if data.strip(b"\r\n"):
                self._refuse_more()
            return
        try:
            parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._take_error(error)
        if self.is_whole:
            self._parser = None  # each has the other
        elif self.size > size:
            self._beside = 0
        else:
            self._beside += len(data)
            if self._beside > MOST_BESIDE:
                raise NotHttpError(f"its headers are larger than {MOST_BESIDE:,} bytes")

    def feed_eof(self, *, is_said: bool = True) -> None:
        """The connection has ended, as its server said or not. Raise BrokenOffError if the answer
        has not."""
        self._parser, self.is_reusable = None, False
        if self.is_whole or (self.is_begun and self._ends_with_connection and is_said):
            self.is_whole = True
        elif self.is_begun and self._ends_with_connection:
            what = "no header says how long the answer is, and TLS not that it has ended"
            raise BrokenOffError(f"{what}: it may be cut")
        elif self.is_begun:
            raise BrokenOffError("it ended in the middle of the answer")
        else:
            raise BrokenOffError("it ended before there was an answer")

    def take(self) -> bytes:
        """What has come of the body since the last time."""
        chunks = self.chunks
        data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        self.chunks, self.size = [], 0
        return data

    def close(self) -> None:
        """Let go of the parser."""
        self._parser = None

    def _take_error(self, error: Exception) -> None:
        cause = error.__context__
        if self.is_whole:
            self._refuse_more()
        elif isinstance(cause, NotHttpError):
            raise cause from None
        elif self.status == 101:
            raise NotHttpError("it changes to another protocol") from None
        elif self.is_begun:
            raise BrokenOffError(f"the answer can't be read to its end: {error}") from None
        else:
            raise NotHttpError(str(error)) from None

    def _refuse_more(self) -> None:
        """An answer that more follows is longer than it says, or not the one that was asked for."""
        self.is_reusable = False
        if self._has_body:
            self.is_whole = False
            raise NotHttpError("more came than the answer has by its headers") from None

    # What the parser calls.

    def on_message_begin(self) -> None:
        if self.is_whole:
            raise _SecondAnswerError

    def on_header(self, name: bytes, value: bytes) -> None:
        if b"\0" in value or b"\r" in value:
            raise NotHttpError("it has a header that there can't be")
        if not self.is_begun:  # those after a body say nothing that is needed
            # Some put a space before the colon, and the parser goes by what they mean.
            self._pairs.append((name.rstrip(), value))

    def on_headers_complete(self) -> None:
        parser = self._parser
        assert parser is not None
        self.status = parser.get_status_code()
        if 100 <= self.status <= 199:
            self._pairs = []
            return
        self.headers = headers = HttpHeaders(self._pairs)
        self.is_begun = True
        is_chunked = _read_coding(headers)
        self.is_reusable = parser.should_keep_alive()
        if not self._has_body or self.status in _BARE:
            self.is_whole = True
            self.is_reusable &= self._has_body
        self._ends_with_connection = not is_chunked and "content-length" not in headers

    def on_body(self, data: bytes) -> None:
        if self.is_whole or not self.is_begun:
            self.is_reusable = False
            return
        self.chunks.append(data)
        self.size += len(data)

    def on_message_complete(self) -> None:
        self.is_whole = self.is_begun


class _SecondAnswerError(Exception):
    """An answer came that nobody asked for."""


def _read_coding(headers: HttpHeaders) -> bool:
    """Whether a body comes in chunks. Raise NotHttpError if it comes in another way, too."""
    coding = headers.get("transfer-encoding")
    if coding is None:
        return False
    if "content-length" in headers:
        raise NotHttpError("it has both a Content-Length and a Transfer-Encoding")
    # Some say it twice, and mean it once.
    names = {name.strip().lower() for name in coding.split(",")}
    if names not in ({"chunked"}, {"identity"}):
        raise NotHttpError(f"its Transfer-Encoding is `{coding:.40}`, which was not asked for")
    return names == {"chunked"}


_NONE = HttpHeaders(())
