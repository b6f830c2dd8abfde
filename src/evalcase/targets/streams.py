"""Streams of events: read as they come, and put together to the reply they would have been."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from io import IncrementalNewlineDecoder
from typing import TYPE_CHECKING, Any, NamedTuple

from evalcase.errors import TargetError
from evalcase.targets.web import error_message, protocol_error
from evalcase.types.value import JSON
from evalcase.util.json import parse_object

if TYPE_CHECKING:
    from evalcase.targets.client import Reply

_Events = list[dict[str, Any]]
_BYTE_ORDER_MARK = b"\xef\xbb\xbf".decode("latin-1")
_OVERLOADED = frozenset({"overloaded_error", "rate_limit_error", "rate_limit_exceeded"})
_PASSING = _OVERLOADED | {"server_error", "api_error", "internal_server_error", "timeout_error"}


class Event(NamedTuple):
    """A server-sent event. Its bytes are not decoded: the reader says what is wrong with them."""

    name: str
    data: bytes


class EventReader:
    """Reads one stream: bytes in, as they come; events out, as soon as they are whole."""

    def __init__(self) -> None:
        # Latin-1 is bytes as text, for the one reader of line ends that takes pieces.
        self._line_ends = IncrementalNewlineDecoder(None, translate=True)
        self._rest: list[str] = []
        """The pieces of an event that isn't whole: there may be very many."""

    def feed(self, chunk: bytes, *, is_last: bool = False) -> list[Event]:
        text = self._line_ends.decode(chunk.decode("latin-1"), is_last)
        self._rest.append(f"{text}\n\n" if is_last else text)
        if "\n" not in self._rest[-1]:
            return []
        *blocks, rest = "".join(self._rest).split("\n\n")
        self._rest = [rest]
        return [event for block in blocks if (event := _read_event(block)) is not None]

    def close(self) -> list[Event]:
        """The last event, if a server leaves out the empty line at the end."""
        return self.feed(b"", is_last=True)


def _read_event(block: str) -> Event | None:
    name, data = "", []
    for line in block.split("\n"):
        field, _, value = line.removeprefix(_BYTE_ORDER_MARK).partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
        elif field == "event":
            name = value.removeprefix(" ").encode("latin-1").decode(errors="replace")
    return Event(name, "\n".join(data).encode("latin-1")) if data else None


def read_events(data: bytes) -> list[Event]:
    reader = EventReader()
    return [*reader.feed(data), *reader.close()]


# The events of a chat API.


async def read_stream(
    reply: Reply, last: Collection[str], join: Callable[[_Events], dict[str, Any] | None],
    most_bytes: int,
) -> dict[str, Any]:  # fmt: skip
    """What the events up to `[DONE]`, or up to one of the `last` types, are together: the reply in
    one piece. Raise TargetError for a stream that makes no sense, is too large or cut off, or ends
    with an error."""
    reader, events, data, is_over = EventReader(), _Events(), bytearray(), False

    def broken(why: str, **more: bool) -> TargetError:
        return protocol_error(f"the stream of the answer can't be read: {why}", bytes(data), **more)

    try:
        while not is_over and (chunk := await reply.next()):
            data += chunk
            if len(data) > most_bytes:
                raise broken("it is larger than `max_output_bytes`")
            is_over = _take(events, reader.feed(chunk), last)
        is_over = is_over or _take(events, reader.close(), last)
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


def _take(events: _Events, found: list[Event], last: Collection[str]) -> bool:
    """Add what was found, up to the last event. Return whether it is there."""
    for event in found:
        if event.data.strip() == b"[DONE]":
            return True
        events.append(_read_object(event))
        if events[-1]["type"] in last:
            return True
    return False


def _read_object(event: Event) -> dict[str, Any]:
    value = parse_object(event.data)
    kind = str(value.get("type", event.name))
    if kind == "error" or value.get("error") is not None:
        raise service_error(value.get("error", value), event.data)
    return {**value, "type": kind}


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
