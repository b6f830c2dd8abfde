"""Files that content refers to, as models and services are sent them: read from disk, in bounds.

What a file is, its bytes say: a PNG, JPEG, GIF or WebP image, a PDF, or UTF-8 text. Models can be
sent no other.
"""

from __future__ import annotations

import os
from base64 import b64encode
from typing import NamedTuple, TypeAlias

from evalcase.errors import TargetError
from evalcase.types.message import named_files
from evalcase.types.question import Question
from evalcase.types.value import JSON
from evalcase.util.files import IrregularError, OutsideError, OversizeError, is_inside, read_file

MAX_SENT_BYTES = 20_000_000
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


Files: TypeAlias = dict[str, ContentFile]


def has_files(question: Question) -> bool:
    """Whether some content of a question names a file."""
    return any(True for _ in named_files(question.messages))


def load_files(question: Question, root: str, *, any_kind: bool = False) -> Files:
    """Every file of a question. Raise TargetError for one that can't be sent."""
    names = dict.fromkeys(named_files(question.messages))
    return {name: _load_file(name, question, root, any_kind) for name in names}


def describe_files(question: Question, root: str) -> JSON:
    """The files of a question for a service that can't read them from this disk."""
    return {
        file.name: {
            "media_type": file.media_type,
            "text" if file.media_type == "text/plain" else "base64": file.data,
        }
        for file in load_files(question, root, any_kind=True).values()
    }


def image_type(start: bytes) -> str | None:
    """What kind of image some bytes begin."""
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    found = next((kind for mark, kind in _STARTS if start.startswith(mark)), None)
    return found if found != "application/pdf" else None


def _load_file(name: str, question: Question, root: str, any_kind: bool) -> ContentFile:
    if name not in question.files:
        why = f"it is not among the files of case `{question.case}`"
        raise TargetError(f"`{name:.200}` can't be read: {why}")
    data = _read_bytes(name, question.files[name], root)
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


def _read_bytes(name: str, path: str, root: str) -> bytes:
    # It lay in the project of its suite, which may be another, when it was looked for.
    inside = root if is_inside(path, os.path.realpath(root)) else os.path.dirname(path)
    try:
        return read_file(path, MAX_SENT_BYTES, inside)
    except IrregularError:
        raise TargetError(f"`{name}` is not a regular file") from None
    except OutsideError:
        raise TargetError(f"`{name}` is outside the project, so it is not sent") from None
    except OversizeError:
        text = f"`{name}` is larger than {MAX_SENT_BYTES:,} bytes, so it is not sent"
        raise TargetError(text) from None
    except OSError as error:
        raise TargetError(f"`{name}` can't be read: {error.strerror}") from None
