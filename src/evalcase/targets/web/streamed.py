"""An answer that came as a stream of events: recognised, and the texts in its events joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from evalcase.errors import TargetError
from evalcase.targets.reading.ends import find_last_reason, is_broken_off
from evalcase.targets.web.errors import one_line, protocol_error
from evalcase.targets.web.event_stream import Event, EventReader
from evalcase.types.value import JSON, describe_kind
from evalcase.util.answers import kind_of_end
from evalcase.util.calls import find_calls
from evalcase.util.json import BadJsonError, JsonPath, MissingError, parse_json
from evalcase.util.processes import Output

_TYPE = "text/event-stream"
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
_END = b"[DONE]"


class WholeReply(NamedTuple):
    """The body that a service sent back, and its content type without parameters."""

    content_type: str
    output: Output


def is_stream(reply: WholeReply) -> bool:
    """Whether a body is a stream of events. It says so; or, as many a service forgets to, it has
    nothing but the fields of such a stream, and more than one event, or one that holds JSON. Text
    that only begins with `data:` is none."""
    if reply.content_type == _TYPE:
        return True
    data = reply.output.data
    if not data.startswith(_FIELDS):
        return False
    lines = data.replace(b"\r", b"\n").split(b"\n")
    if not all(line.startswith(_FIELDS) for line in lines if line):
        return False
    events = _read_events(data)
    return len(events) > 1 or any(each.data[:1] in (b"{", b"[") for each in events)


def refuse_stream(reply: WholeReply) -> None:
    """Raise TargetError if a body is one that nobody said how to read."""
    if is_stream(reply):
        hint = 'stream = "PATH" joins the texts at a path of its events, such as delta.content'
        raise protocol_error(
            f'the answer is a stream of events: {hint}; output = "text" takes it as it is',
            reply.output.data,
        )


class Joined(NamedTuple):
    """What a stream says."""

    text: str
    end: str | None
    """How it ended; None if it doesn't say."""
    events: list[JSON]


def join_stream(output: Output, path: JsonPath) -> Joined:
    """The texts at a path of all events, up to `[DONE]`. Events that have nothing there are about
    something else. Raise TargetError if none has, or if the stream can't be read."""
    if output.truncated:
        raise _make_error("it is larger than `max_output_bytes`", output)
    pieces: list[str] = []
    values: list[JSON] = []
    is_over = False
    for event in _read_events(output.data):
        if event.data.strip() == _END:
            is_over = True
            break
        is_error = event.name == "error"
        value = None if is_error else _read_event(event, output)
        if is_error or (isinstance(value, dict) and _is_error(value)):
            # Services have no other way to say that what came so far is not all.
            said = one_line(event.data.decode(errors="replace"))
            raise _make_error(f"it ends with an error: {said}", output)
        values.append(value)
        piece = _find_piece(path, value) if _may_say(value) else None
        if isinstance(piece, str):
            pieces.append(piece)
        elif piece is not None:
            what = f"at `{path.text}` there is {describe_kind(piece)}, and no text"
            raise _make_error(what, output)
    end = find_last_reason(values)
    if not is_over and is_broken_off(values):
        error = _make_error("it breaks off before its end", output)
        error.may_succeed_later = True
        raise error
    if not pieces and kind_of_end(end) is None and not any(find_calls(values)):
        raise _make_error(f"no event has a text at `{path.text}`", output)
    return Joined("".join(pieces), end, values)


def _read_events(data: bytes) -> list[Event]:
    reader = EventReader()
    return [*reader.feed(data), *reader.close()]


def _read_event(event: Event, output: Output) -> JSON:
    try:
        return parse_json(event.data)
    except BadJsonError as error:
        raise _make_error(f"an event is not JSON: {error}", output) from None


def _is_error(event: Mapping[str, JSON]) -> bool:
    return bool(event.get("error")) or event.get("type") in ("error", "RUN_ERROR")


def _may_say(event: JSON) -> bool:
    """Whether an event is of text: OpenAI's Responses API has a `delta` of many other things."""
    kind = event.get("type") if isinstance(event, dict) else None
    if not isinstance(kind, str) or not kind.startswith("response."):
        return True
    return not kind.endswith(".delta") or kind.split(".")[1] in ("output_text", "refusal")


def _find_piece(path: JsonPath, value: JSON) -> JSON:
    try:
        return path.find(value)
    except MissingError:
        return None


def _make_error(why: str, output: Output) -> TargetError:
    return protocol_error(f"`stream`: {why}", output.data)
