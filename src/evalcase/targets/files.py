"""Files that content refers to, as models are sent them: read from disk, within bounds.

What a file is, its bytes say: a PNG, JPEG, GIF or WebP image, a PDF, or UTF-8 text. Models can be
sent no other.
"""

from __future__ import annotations

import os
from base64 import b64encode
from typing import NamedTuple

from evalcase.errors import TargetError
from evalcase.model.finding import Unfit
from evalcase.model.json_value import JSON
from evalcase.model.message import named_files
from evalcase.model.trial import Trial
from evalcase.system.attachments import Attachments, attachments_in
from evalcase.system.files import IrregularError, OversizeError, read_file

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
    return list(dict.fromkeys(file.name for file in named_files(trial.case.input)))


def load_files(trial: Trial, *, any_kind: bool = False) -> Files:
    """Every file of a case. Raise TargetError for one that can't be sent."""
    names = file_names(trial)
    if not names:
        return {}
    attachments = attachments_in(os.path.dirname(trial.suite))
    return {name: _load(name, attachments, any_kind) for name in names}


def sent_files(trial: Trial) -> JSON:
    """The files of a case for a service that can't read them from this disk."""
    files = load_files(trial, any_kind=True).values()
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


def _load(name: str, attachments: Attachments, any_kind: bool) -> ContentFile:
    data = _read(name, attachments)
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


def _read(name: str, attachments: Attachments) -> bytes:
    path = attachments.find(name)
    if isinstance(path, Unfit):
        raise TargetError(path.message)
    try:
        return read_file(path, MAX_BYTES, inside=attachments.root)
    except IrregularError:
        raise TargetError(f"`{name}` is not a regular file") from None
    except OversizeError:
        text = f"`{name}` is larger than {MAX_BYTES:,} bytes, so it is not sent"
        raise TargetError(text) from None
    except OSError as error:
        raise TargetError(f"`{name}` can't be read: {error.strerror}") from None
