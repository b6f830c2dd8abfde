"""Streams of events: read as they come, and put together to the reply they would have been."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from evalcase.errors import TargetError
from evalcase.targets.web import error_message, protocol_error
from evalcase.types.value import JSON
from evalcase.util.json import parse_object

if TYPE_CHECKING:
    from evalcase.targets.client import Reply

_Events = list[dict[str, Any]]
_EMPTY_LINES = (b"\n\n", b"\r\n\r\n", b"\r\r")
_OVERLOADED = frozenset({"overloaded_error", "rate_limit_error", "rate_limit_exceeded"})
_PASSING = _OVERLOADED | {"server_error", "api_error", "internal_server_error", "timeout_error"}


class Event(NamedTuple):
    """A server-sent event. Its bytes are not decoded: the reader says what is wrong with them."""

    name: str
    data: bytes


def read_events(data: bytes) -> list[Event]:
    """The events in some bytes; the last one may lack the empty line at its end."""
    text = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return [event for block in text.split(b"\n\n") if (event := _read_event(block)) is not None]


def _read_event(block: bytes) -> Event | None:
    name, data = b"", []
    for line in block.split(b"\n"):
        field, _, value = line.removeprefix(BOM_UTF8).partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
    return Event(name.decode(errors="replace"), b"\n".join(data)) if data else None


# The events of a chat API.


async def read_stream(
    reply: Reply, last: Collection[str], join: Callable[[_Events], dict[str, Any] | None],
    most_bytes: int,
) -> dict[str, Any]:  # fmt: skip
    """What the events up to `[DONE]`, or up to one of the `last` types, are together: the reply in
    one piece. Raise TargetError for a stream that makes no sense, is too large or cut off, or ends
    with an error."""
    events, data, start, is_over = _Events(), bytearray(), 0, False

    def broken(why: str, **more: bool) -> TargetError:
        return protocol_error(f"the stream of the answer can't be read: {why}", bytes(data), **more)

    try:
        while not is_over and (chunk := await reply.next()):
            data += chunk
            if len(data) > most_bytes:
                raise broken("it is larger than `max_output_bytes`")
            unseen = max(start, len(data) - len(chunk) - 3)
            end = max(data.rfind(each, unseen) for each in _EMPTY_LINES)
            if end >= 0:
                is_over, start = _take(events, bytes(data[start:end]), last), end
        is_over = is_over or _take(events, bytes(data[start:]), last)
    except ValueError as error:
        raise broken(str(error)) from None
    await reply.finish()
    try:
        joined = join(events)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise broken(f"its events are not those of this API ({error!r})") from None
    if joined is None:
        # A stream that was cut is like a broken connection.
        raise broken("it ended before the answer was complete", may_succeed_later=not is_over)
    return joined


def _take(events: _Events, data: bytes, last: Collection[str]) -> bool:
    """Add the events in some bytes, up to the last one. Return whether it is there."""
    for event in read_events(data):
        if event.data.strip() == b"[DONE]":
            return True
        value = parse_object(event.data)
        kind = str(value.get("type", event.name))
        if kind == "error" or value.get("error") is not None:
            raise service_error(value.get("error", value), event.data)
        events.append({**value, "type": kind})
        if kind in last:
            return True
    return False


def join_pieces(
    pieces: Iterable[Mapping[str, JSON]], whole: Collection[str] = ()
) -> dict[str, JSON]:
    """One mapping of many: texts are joined; of anything else, and of `whole` keys, the last
    counts. Null says nothing new."""
    found: dict[str, list[JSON]] = {}
    for piece in pieces:
        for key, item in piece.items():
            known = found.setdefault(key, [])
            if not isinstance(item, str) or key in whole or not isinstance((known or [""])[0], str):
                if item is not None:
                    known[:] = [item]
            else:
                known.append(item)
    return {
        key: "".join(map(str, items)) if isinstance(items[0], str) else items[0]
        for key, items in found.items()
        if items
    }


def service_error(error: JSON, data: bytes) -> TargetError:
    """The error of a service that said 200, and then that something went wrong."""
    inner = error if isinstance(error, dict) else {}
    codes = {code for code in (inner.get("type"), inner.get("code")) if isinstance(code, str)}
    said = error_message({"error": error}) or "it says no more"
    return protocol_error(
        f"the service answered with an error: {said}",
        data,
        may_succeed_later=not codes.isdisjoint(_PASSING),
        overloaded=not codes.isdisjoint(_OVERLOADED),
    )
