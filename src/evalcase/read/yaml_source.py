"""Text made ready for libyaml, which reads a few things as YAML 1.1 did.

libyaml breaks lines at U+0085, U+2028 and U+2029, which YAML 1.2 doesn't, and cuts a block scalar
short that ends in blanks without a line break. Both are mended here without moving a single
character, so every position stays true.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

from yaml.events import ScalarEvent

from evalcase.model.problem import Span
from evalcase.read.fault import FatalFaultError, Fault

_BREAKS = "\x85\u2028\u2029"
_BREAK_BYTES = tuple(char.encode() for char in _BREAKS)
_PRIVATE = range(0xF0000, 0x10FFFE)


class Prepared(NamedTuple):
    """UTF-8 for libyaml, and how to get the original characters back."""

    data: bytes
    restore: dict[int, str] | None

    def events(self, parser: Any) -> Callable[[], Any]:
        """The parser's next-event function, with the original characters in its values."""
        get_event: Callable[[], Any] = parser.get_event
        restore = self.restore
        if restore is None:
            return get_event

        def next_event() -> Any:
            event = get_event()
            if type(event) is ScalarEvent:
                event.value = event.value.translate(restore)
            return event

        return next_event


def prepare_source(source: str | bytes) -> Prepared:
    data = source.encode() if isinstance(source, str) else source
    if data.startswith(_BYTE_ORDER_MARK):
        message = "there is a second byte order mark here"
        raise FatalFaultError(Fault("control-character", message, Span(1, 1, 1, 2), "remove it"))
    last_line = data[max(data.rfind(b"\n"), data.rfind(b"\r")) + 1 :]
    if last_line and not last_line.strip(b" \t"):
        data += b"\n"
    if not any(each in data for each in _BREAK_BYTES):
        return Prepared(data, None)
    text = data.decode()
    found = [char for char in _BREAKS if char in text]
    stand_ins = _find_unused(text, len(found))
    swap = {ord(char): stand_in for char, stand_in in zip(found, stand_ins, strict=True)}
    restore = {ord(stand_in): char for char, stand_in in zip(found, stand_ins, strict=True)}
    return Prepared(text.translate(swap).encode(), restore)


_BYTE_ORDER_MARK = "\ufeff".encode()


def _find_unused(text: str, count: int) -> list[str]:
    """Private-use characters that the text has neither raw nor as an escape."""
    used = {ord(char) for char in set(text)}
    used |= {int(digits, 16) for digits in re.findall(r"\\U([0-9a-fA-F]{8})", text)}
    free = list(islice((chr(code) for code in _PRIVATE if code not in used), count))
    if len(free) < count:
        message = "the text uses every private-use character, beside an unusual line separator"
        raise FatalFaultError(Fault("syntax", message, Span(1, 1, 1, 1)))
    return free
