"""Files that content refers to, as models are sent them: read from disk, within bounds.

What a file is, its bytes say: a PNG, JPEG, GIF or WebP image, a PDF, or UTF-8 text. Models can be
sent no other.
"""

from __future__ import annotations

import os
import stat
from base64 import b64encode
from collections.abc import Iterator
from typing import NamedTuple

from evalcase.errors import TargetError
from evalcase.model.json_value import JSON
from evalcase.model.message import is_part
from evalcase.model.trial import Trial
from evalcase.targets.shown import find_file

MAX_BYTES = 20_000_000
_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
)


class ContentFile(NamedTuple):
    name: str
    """As the case has it."""
    media_type: str
    data: str
    """The text of a text file; anything else in base64."""


Files = dict[str, ContentFile]


def file_names(trial: Trial) -> list[str]:
    """The files that messages of a case refer to."""
    names = (_name(part) for part in _parts(trial))
    return list(dict.fromkeys(name for name in names if name is not None))


def load_files(trial: Trial, root: str, *, any_kind: bool = False) -> Files:
    """Every file of a case. Raise TargetError for one that can't be sent."""
    return {name: _load(name, trial, root, any_kind) for name in file_names(trial)}


def sent_files(trial: Trial, root: str) -> JSON:
    """The files of a case for a service that can't read them from this disk."""
    files = load_files(trial, root, any_kind=True).values()
    return {
        file.name: {
            "media_type": file.media_type,
            "text" if file.media_type == "text/plain" else "base64": file.data,
        }
        for file in files
    }


def image_type(start: bytes) -> str | None:
    """What kind of image some bytes begin."""
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    found = next((kind for mark, kind in _STARTS if start.startswith(mark)), None)
    return found if found != "application/pdf" else None


def is_address(text: str) -> bool:
    return text.startswith(("http://", "https://", "data:"))


def _parts(trial: Trial) -> Iterator[dict[str, JSON]]:
    for message in trial.case.input:
        content = message.content
        if isinstance(content, list) and all(map(is_part, content)):
            yield from (part for part in content if isinstance(part, dict))


def _name(part: dict[str, JSON]) -> str | None:
    if part["type"] not in ("file", "image"):
        return None
    name = part.get("path", part.get("value"))
    if not isinstance(name, str) or not name:
        return None
    return None if part["type"] == "image" and is_address(name) else name


def _load(name: str, trial: Trial, root: str, any_kind: bool) -> ContentFile:
    folder = os.path.dirname(os.path.realpath(trial.suite))
    path = os.path.realpath(find_file(name, folder))
    # The loader looks after the paths of files, but not after those of images.
    if not any(_contains(each, path) for each in (folder, os.path.realpath(root))):
        raise TargetError(f"`{name}` lies outside the project, so it is not sent")
    data = _read(name, path)
    kind = image_type(data[:16])
    if kind is None and data.startswith(b"%PDF-"):
        kind = "application/pdf"
    if kind is not None:
        return ContentFile(name, kind, b64encode(data).decode())
    try:
        return ContentFile(name, "text/plain", data.decode())
    except UnicodeDecodeError:
        if any_kind:
            return ContentFile(name, "application/octet-stream", b64encode(data).decode())
        what = "it is neither text (UTF-8) nor PDF nor a PNG, JPEG, GIF or WebP image"
        raise TargetError(f"`{name}` can't be sent to a model: {what}") from None


def _contains(folder: str, path: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def _read(name: str, path: str) -> bytes:
    try:
        # Without blocking: a pipe in its place could be waited for without end.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise TargetError(f"`{name}` is not a regular file")
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise TargetError(f"`{name}` can't be read: {error.strerror}") from None
    if len(data) > MAX_BYTES:
        raise TargetError(f"`{name}` is larger than {MAX_BYTES:,} bytes, so it is not sent")
    return data
