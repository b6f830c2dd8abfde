from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.system.http.answer_reader import MOST_BESIDE, AnswerReader
from evalcase.system.http.errors import BrokenOffError, NotHttpError
from evalcase.system.http.headers import HttpHeaders

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

WHOLE = {
    "length": (OK + b"Content-Length: 5\r\n\r\nhello", b"hello", True),
    "empty": (OK + b"Content-Length: 0\r\n\r\n", b"", True),
    "chunks": (CHUNKED + b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", b"hello", True),
    "chunk extension": (CHUNKED + b'5;a="b";c\r\nhello\r\n0\r\n\r\n', b"hello", True),
    "trailers": (CHUNKED + b"5\r\nhello\r\n0\r\nX: y\r\nDigest: z\r\n\r\n", b"hello", True),
    "spaces after a size": (CHUNKED + b"5  \r\nhello\r\n0\r\n\r\n", b"hello", True),
    "lines without CR": (b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", b"hello", True),
    "folded header": (OK + b"X: a\r\n b\r\nContent-Length: 5\r\n\r\nhello", b"hello", True),
    "no reason": (b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", b"hello", True),
    "continue": (
        b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\na",
        b"a",
        True,
    ),
    "early hints": (b"HTTP/1.1 103 E\r\n\r\n" * 3 + OK + b"Content-Length: 1\r\n\r\na", b"a", True),
    "chunks said twice": (
        OK + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n5\r\nhello\r\n0\r\n\r\n",
        b"hello",
        True,
    ),
    "no content": (b"HTTP/1.1 204 No\r\n\r\n", b"", True),
    "not modified": (b"HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n", b"", True),
    "close": (OK + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello", b"hello", False),
    "1.0": (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", b"hello", False),
    "1.0 that is kept": (
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello",
        b"hello",
        True,
    ),
    "upgrade that is offered": (
        OK + b"Upgrade: h2c\r\nConnection: upgrade\r\nContent-Length: 5\r\n\r\nhello",
        b"hello",
        True,
    ),
}  # fmt: skip


def read(data: bytes, cuts: list[int], *, has_body: bool = True) -> AnswerReader:
    reader = AnswerReader(has_body=has_body)
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        if end > start:
            reader.feed(data[start:end])
    return reader


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("step", [1, 2, 7, 10_000])
def test_an_answer_is_read_wherever_it_is_cut(name: str, step: int) -> None:
    data, body, is_reusable = WHOLE[name]
    reader = read(data, list(range(step, len(data), step)))
    assert (reader.is_whole, reader.take(), reader.is_reusable) == (True, body, is_reusable)


NAMES = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=12).map(
    lambda name: f"x-{name}"
)
VALUES = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30)
BODIES = st.lists(st.binary(min_size=1, max_size=60), max_size=6)


@st.composite
def answers(draw: st.DrawFn) -> tuple[bytes, dict[str, str], bytes, list[int]]:
    """An answer, its headers, its body, and where it is cut."""
    headers = draw(st.dictionaries(NAMES, VALUES, max_size=5))
    pieces = draw(BODIES)
    lines = b"".join(f"{name}: {value}\r\n".encode() for name, value in headers.items())
    body = b"".join(pieces)
    if draw(st.booleans()):
        framed = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in pieces) + b"0\r\n\r\n"
        data = OK + lines + b"Transfer-Encoding: chunked\r\n\r\n" + framed
    else:
        data = OK + lines + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    cuts = draw(st.lists(st.integers(0, len(data)), max_size=12))
    return data, headers, body, sorted(cuts)


@given(answers())
def test_any_cut_of_any_answer_reads_the_same(
    made: tuple[bytes, dict[str, str], bytes, list[int]],
) -> None:
    data, headers, body, cuts = made
    reader = read(data, cuts)
    assert (reader.is_whole, reader.is_reusable, reader.status) == (True, True, 200)
    assert {name: reader.headers[name] for name in headers} == headers
    assert reader.take() == body


@given(st.binary(max_size=200), st.integers(1, 50))
def test_whatever_comes_is_an_answer_or_a_named_error(data: bytes, step: int) -> None:
    for start in (b"", OK, CHUNKED):
        reader = AnswerReader()
        try:
            for at in range(0, len(start + data), step):
                reader.feed((start + data)[at : at + step])
            reader.feed_eof()
        except (NotHttpError, BrokenOffError):
            continue
        assert reader.is_whole


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"garbage HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
        OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nab",
        OK + b"Content-Length: 2, 3\r\n\r\nabc",
        OK + b"Content-Length: -1\r\n\r\n",
        OK + b"Content-Length: 99999999999999999999999\r\n\r\n",
        OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding : gzip\r\n\r\nhello",
        OK + b"X: a\0b\r\n\r\n",
        OK + b"X: a\rb\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\nother",
        OK + b"Name with spaces: x\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: other\r\nConnection: upgrade\r\n\r\nother",
    ],
    ids=range(20),
)
@pytest.mark.parametrize("step", [1, 10_000])
def test_what_is_no_answer_is_refused(data: bytes, step: int) -> None:
    with pytest.raises(NotHttpError):
        read(data, list(range(step, len(data), step)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"HTTP/1.1 2",
        OK + b"Content-Le",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        OK + b"Content-Length: 5\r\n\r\nhell",
        CHUNKED,
        CHUNKED + b"5\r\nhel",
        CHUNKED + b"5\r\nhello\r\n",
        CHUNKED + b"5\r\nhello\r\n0\r\n",
        OK + b"Content-Length : 5\r\n\r\nhell",
        OK + b"Transfer-Encoding : chunked\r\n\r\n5\r\nhel",
    ],
)
def test_what_ends_in_the_middle_is_broken_off(data: bytes) -> None:
    reader = read(data, [])
    with pytest.raises(BrokenOffError):
        reader.feed_eof()
    assert not reader.is_whole


def test_a_chunk_that_makes_no_sense_breaks_an_answer_off() -> None:
    reader = AnswerReader()
    reader.feed(CHUNKED + b"2\r\nhe\r\n")
    with pytest.raises(BrokenOffError, match="can't be read to its end"):
        reader.feed(b"zz\r\n")
    assert reader.take() == b"he"


@pytest.mark.parametrize("said", [b"", b"Transfer-Encoding: identity\r\n"])
def test_without_a_length_a_body_ends_with_its_connection(said: bytes) -> None:
    reader = read(OK + said + b"\r\nhello", [])
    assert not reader.is_whole
    reader.feed_eof()
    assert (reader.is_whole, reader.is_reusable, reader.take()) == (True, False, b"hello")


@pytest.mark.parametrize(
    "more",
    [
        OK + b"Content-Length: 1\r\n\r\nb",
        OK + b"Content-Length: 0\r\n\r\n",
        b"garbage",
        b"\0",
    ],
)
@pytest.mark.parametrize("is_cut", [True, False])
@pytest.mark.parametrize("start", [OK + b"Content-Length: 1\r\n\r\na", b"HTTP/1.1 204 No\r\n\r\n"])
def test_an_answer_that_more_follows_is_refused(start: bytes, more: bytes, is_cut: bool) -> None:
    reader = read(start, []) if is_cut else AnswerReader()
    with pytest.raises(NotHttpError, match="more came than the answer has by its headers"):
        reader.feed(more if is_cut else start + more)
    assert (reader.is_whole, reader.is_reusable) == (False, False)


@pytest.mark.parametrize("is_cut", [True, False])
def test_an_empty_line_may_follow_an_answer(is_cut: bool) -> None:
    data = OK + b"Content-Length: 1\r\n\r\na"
    reader = read(data + b"\r\n", [len(data)] if is_cut else [])
    assert (reader.is_whole, reader.is_reusable, reader.take()) == (True, True, b"a")


def test_the_answer_to_head_has_no_body() -> None:
    reader = read(OK + b"Content-Length: 5\r\n\r\nhello", [], has_body=False)
    assert (reader.is_whole, reader.take(), reader.headers["content-length"]) == (True, b"", "5")


def test_headers_are_found_in_any_case_and_joined() -> None:
    data = OK + "X-A: 1\r\nx-a: 2\r\nX-B: é\r\nX-C: ".encode() + b"\xff\r\nX-D:\r\n\r\n"
    headers = read(data, []).headers
    assert (headers["X-a"], headers.get("x-B"), headers["x-d"]) == ("1, 2", "é", "")
    assert headers["x-c"].encode("utf-8", "surrogateescape") == b"\xff"
    assert ("X-A" in headers, "x-e" in headers, headers.get("x-e", "-")) == (True, False, "-")
    assert (list(headers), len(headers)) == (["x-a", "x-b", "x-c", "x-d"], 4)


def test_a_header_that_comes_very_often_is_joined_once() -> None:
    """Joined one by one, these would take minutes."""
    headers = HttpHeaders([(b"X", b"y" * 2000)] * 20_000)
    assert len(headers["x"]) == 2002 * 20_000 - 2


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (OK + b"X: ", b"y" * 6000),
        (OK, b"X: y\r\n" * 1000),
        (b"HTTP/1.1 200 ", b"y" * 6000),
        (CHUNKED + b"1\r\na\r\n0\r\nX: ", b"y" * 6000),
        (b"\r\n", b"\r\n" * 3000),
    ],
)
def test_headers_without_an_end_have_one(start: bytes, more: bytes) -> None:
    reader = AnswerReader()
    reader.feed(start)
    for _ in range(MOST_BESIDE // len(more)):
        reader.feed(more)
    with pytest.raises(NotHttpError, match="headers are larger than"):
        reader.feed(more)


def test_headers_may_be_long() -> None:
    reader = read(OK + b"X: " + b"y" * 100_000 + b"\r\nContent-Length: 0\r\n\r\n", [5000, 70_000])
    assert len(reader.headers["x"]) == 100_000
