"""A question as targets use it: as text, as a JSON object, with its files, and as a cache key."""

from __future__ import annotations

import os
import sys
from base64 import b64encode
from collections.abc import Iterator
from json import dumps
from typing import Any, NamedTuple, TypeAlias

from evalcase.errors import TargetError
from evalcase.types.message import named_files, text_of
from evalcase.types.problem import Finding
from evalcase.types.target import Question, Warn
from evalcase.types.value import JSON, copy_value
from evalcase.util.files import digest_file, is_inside, read_file

_MOST_FILE_BYTES = 20_000_000
_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)

OVERLOADED = (429, 529)
"""The HTTP statuses of a service that has too much to do."""


def may_pass(status: int) -> bool:
    """Whether a service that says this HTTP status may answer later."""
    return status in (408, 429) or 500 <= status <= 599


def list_faults(*rows: tuple[str, object, str]) -> Iterator[Finding]:
    """A finding for each option that is wrong: its name, whether it is, and what to say."""
    return (Finding((name,), f"`{name}` {what}") for name, is_wrong, what in rows if is_wrong)


def last_user_content(question: Question) -> JSON:
    """The content of the last user message. Raise TargetError if there is none."""
    message = question.last_user
    if message is None:
        why = "has no user message, and this target is given the last one only"
        raise TargetError(f"case `{question.case}` {why}", kind="protocol")
    return message.get("content")


def copy_content(question: Question) -> JSON:
    """The same as a copy: of content parts their joined text, and data as it is."""
    content = last_user_content(question)
    text = text_of(content)
    return text if text is not None else copy_value(content)


def write_content(content: JSON) -> str:
    """Content as text: parts as their joined text, other data as JSON."""
    if content is None:
        return ""
    text = text_of(content)
    return text if text is not None else dumps(content, ensure_ascii=False)


def describe_question(question: Question) -> dict[str, Any]:
    """The JSON object that programs and services are given: always these keys. `id` comes back
    with an answer; where there is one question at a time, it is the case."""
    return {
        "id": question.case,
        "suite": question.suite,
        "case": question.case,
        "input": [message.to_dict() for message in question.messages],
        "metadata": question.metadata,
        "conversation_id": question.conversation_id,
        "repeat": question.repeat,
        "attempt": question.attempt,
        "session": question.session,
        "turn": question.turn,
        "files": question.files,
        "workspace": None if question.workspace is None else question.workspace.path,
    }


def key_of_question(question: Question, *, whole: bool = False) -> dict[str, Any]:
    """The part of a cache key that is the question: what most targets see of it, with hashes of
    its files; if `whole`, all of it."""
    key = describe_question(question)
    # A session is new each time, a turn follows from the rest, and any attempt may be answered.
    for name in ("suite", "session", "turn", "attempt", "workspace"):
        del key[name]
    key["files"] = {name: digest_file(path) for name, path in question.files.items()}
    if whole:
        key |= {"suite": question.suite, "turn": question.turn, "schema": question.schema}
    return key


def warn_of_hidden(warn: Warn, question: Question, sees: str, hint: str) -> None:
    """Say what is hidden from a target that is given the last user message only."""
    if len(question.messages) > 1:
        warn(f"{sees} only, and cases have several messages; {hint}")


def project_sources(root: str) -> dict[str, str]:
    """The hashes of the modules of a project that are imported by now."""
    inside = os.path.join(os.path.realpath(root), "")
    folders: dict[str, str] = {}
    sources = {}
    for module in list(sys.modules.values()):
        folder, name = os.path.split(getattr(module, "__file__", None) or os.devnull)
        if folder not in folders:  # thousands of modules lie in few folders
            folders[folder] = os.path.realpath(folder)
        path = os.path.join(folders[folder], name)
        path = os.path.realpath(path) if os.path.islink(path) else path
        if path.startswith(inside) and "site-packages" not in path:
            sources[path.removeprefix(inside)] = digest_file(path)
    return sources


# Parts of what others wrote.


def part_of(value: object, *keys: str) -> dict[str, Any]:
    """The object under some keys; an empty one where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def objects_of(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def count_of(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


# Files that messages name.


class ContentFile(NamedTuple):
    name: str
    media_type: str
    data: str
    """The text of a text file; anything else in base64."""


Files: TypeAlias = dict[str, ContentFile]


def load_files(question: Question, root: str, *, any_kind: bool = False) -> Files:
    """The files of a question. The media type comes from the bytes: a PNG, JPEG, GIF or WebP image,
    a PDF, or UTF-8 text; other files only if `any_kind`. Raise TargetError."""
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
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for mark, kind in _STARTS if start.startswith(mark)), None)


def _load_file(name: str, question: Question, root: str, any_kind: bool) -> ContentFile:
    if name not in question.files:
        raise TargetError(f"`{name:.200}` is not among the files of case `{question.case}`")
    path = question.files[name]
    # The project of its suite may be another, and was checked when the suite was loaded.
    inside = root if is_inside(path, os.path.realpath(root)) else os.path.dirname(path)
    try:
        data = read_file(path, _MOST_FILE_BYTES, inside)
    except OSError as error:
        raise TargetError(f"`{name}` can't be read: {error.strerror}") from None
    kind = "application/pdf" if data.startswith(b"%PDF-") else image_type(data[:16])
    if kind is None:
        try:
            return ContentFile(name, "text/plain", data.decode())
        except UnicodeDecodeError:
            kind = "application/octet-stream"
        if not any_kind:
            kinds = "text (UTF-8), a PDF, or a PNG, JPEG, GIF or WebP image"
            raise TargetError(f"`{name}` can't be sent to a model: it is not {kinds}")
    return ContentFile(name, kind, b64encode(data).decode())
