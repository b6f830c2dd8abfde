"""Server-sent events: bytes in, as they come; events out, as soon as they are whole."""

from __future__ import annotations

import re
from typing import NamedTuple

_LINE_END = re.compile(rb"\r\n|\n|\r")


class Event(NamedTuple):
    name: str
    data: bytes


class EventReader:
    """Reads one stream. Bytes are not decoded: what is wrong with them is for the reader to say."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        """What came of a line that isn't whole: pieces, for a line may have very many."""
        self._name = ""
        self._data: list[bytes] = []
        self._is_first = True

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that some more bytes complete."""
        if self._rest and not self._rest[-1].endswith(b"\r") and not _LINE_END.search(chunk):
            self._rest.append(chunk)
            return []
        data = b"".join([*self._rest, chunk])
        # The line feed that belongs to a carriage return may still be on its way.
        held = data.endswith(b"\r")
        *lines, rest = _LINE_END.split(data[:-1] if held else data)
        self._rest = [rest + (b"\r" if held else b"")]
        return self._take(lines)

    def close(self) -> list[Event]:
        """What is left at the end, where a server leaves the last empty line out."""
        rest, self._rest = b"".join(self._rest).rstrip(b"\r"), []
        return self._take([rest, b""])

    def _take(self, lines: list[bytes]) -> list[Event]:
        events: list[Event] = []
        for given in lines:
            line = given.removeprefix(b"\xef\xbb\xbf") if self._is_first else given
            self._is_first = False
            if line:
                self._field(line)
                continue
            if self._data:
                events.append(Event(self._name, b"\n".join(self._data)))
            self._name, self._data = "", []
        return events

    def _field(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value.decode(errors="replace")
