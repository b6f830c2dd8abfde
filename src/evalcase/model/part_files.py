"""Files that content parts name, and where the picture of an image part is to be had.

`check`, `run` and the targets read a part here, so that what one of them takes for a file is one
for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from evalcase.model.json_value import JSON
from evalcase.model.message import parts_of

_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= \r\n\t")
_PICTURES = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR")
"""How PNG, JPEG, GIF and WebP begin in base64."""
_LONGEST_NAME = 255
_START = 4096
"""So much of a value says whether it is base64: a picture may have many megabytes."""


class PictureSource(NamedTuple):
    """Where the picture of an image part is."""

    key: str
    """The key of the part that says it."""
    text: str
    kind: Literal["file", "address", "base64"]


def find_picture(part: Mapping[str, JSON]) -> PictureSource | None:
    """What an image part says of its picture; None for one in the shape of some provider."""
    for key in ("path", "url", "data", "value"):
        text = part.get(key)
        if not isinstance(text, str) or not text:
            continue
        if key == "path":
            return PictureSource(key, text, "file")
        if is_address(text):
            return PictureSource(key, text, "address")
        if key == "data" or (key == "value" and _is_base64(text)):
            return PictureSource(key, text, "base64")
        if key == "value":
            return PictureSource(key, text, "file")
    return None


def named_files(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The files that content parts name, in order, the same perhaps several times."""
    for message in messages:
        for part in parts_of(message.get("content")):
            found = named_file(part)
            if found is not None:
                yield found


def named_file(part: Mapping[str, JSON]) -> str | None:
    """The file that a part names, if it names one."""
    if part.get("type") == "file":
        name = part.get("path", part.get("value"))
        return name if isinstance(name, str) and name else None
    found = find_picture(part) if part.get("type") == "image" else None
    return found.text if found is not None and found.kind == "file" else None


def is_address(text: str) -> bool:
    """Whether a text says where an image is on the web, or holds the image itself."""
    return text[:8].lower().startswith(("http://", "https://", "data:"))


def _is_base64(value: str) -> bool:
    """Whether a value is a picture and no file name: short names look like base64, too, whatever
    type of picture is said beside them."""
    start = value[:_START]
    if not _BASE64.issuperset(start):
        return False
    return len(start) > _LONGEST_NAME or start.lstrip().startswith(_PICTURES)
