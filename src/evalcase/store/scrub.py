"""Secrets are taken out of rows before they are written.

Only what users and targets wrote is searched: ids, paths, names, verdicts, hashes and times never
change, because resume depends on them. An answer or a case that lost a secret is marked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from evalcase.store.rows import encode_struct
from evalcase.types.value import decode_hook
from evalcase.util.json import parse_body, seal_line
from evalcase.util.secrets import KnownSecrets

S = TypeVar("S", bound=msgspec.Struct)

ScrubPart = Callable[[Any, KnownSecrets], Any]

MARK = "scrubbed"
_CUT = ("steps", "stderr")
"""Parts of an answer that may have been cut in the middle of a secret."""

_OF_CASE = (
    "description", "input", "expected_output", "criteria", "rubrics", "metadata", "skip",
    "workspace",
)  # fmt: skip
_OF_USER = ("goal", "persona", "facts", "first")
_NAMES = ("type", "name")


def encode_clean(row: S, known: KnownSecrets) -> tuple[bytes, S]:
    """The line of a row without secrets, and the row as it is then. Raise ValueError for what
    can't be written as JSON."""
    body = encode_struct(row)
    if known.values:
        clean = scrub_struct(row, known, body)
        if clean is not row:
            return seal_line(encode_struct(clean)), clean
    return seal_line(body), row


def scrub_struct(row: S, known: KnownSecrets, body: bytes | None = None) -> S:
    """The row itself if it has no secrets in it, or else a copy without them. `body` is its
    JSON, if it was encoded before."""
    if not known.values:
        return row
    data = parse_body(body or encode_struct(row))
    parts = _PARTS.get(data["type"], {})
    clean = {name: scrub(data[name], known) for name, scrub in parts.items() if name in data}
    if all(data[name] == value for name, value in clean.items()):
        return row
    if data["type"] == "case":
        clean[MARK] = True
    return msgspec.convert({**data, **clean}, type(row), dec_hook=decode_hook)


def _scrub_answer(answer: dict[str, Any], known: KnownSecrets) -> dict[str, Any]:
    scrub = known.told if answer.get("truncated") else known.data
    clean = {name: _scrub_typed(value, known.data) for name, value in answer.items()}
    clean["messages"] = []
    for message in answer["messages"]:
        content = message.get("content")
        is_divided = isinstance(content, list) and len(content) > 1  # a secret may be, too
        clean["messages"].append((known.told if is_divided else scrub)(message))
    clean |= {name: _scrub_typed(answer[name], known.told) for name in _CUT if name in answer}
    # Standard error is not graded.
    is_same = clean | {"stderr": None} == answer | {"stderr": None}
    return clean if is_same else {**clean, MARK: True}


def _scrub_typed(value: Any, scrub: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - fields of any type
    """Values whose types are declared: a number that is a secret becomes null."""
    if isinstance(value, dict):
        return {name: _scrub_typed(item, scrub) for name, item in value.items()}
    if isinstance(value, list):
        return [_scrub_typed(item, scrub) for item in value]
    clean = scrub(value)
    return None if isinstance(clean, str) and not isinstance(value, str) else clean


def _scrub_case(data: dict[str, Any], known: KnownSecrets) -> dict[str, Any]:
    clean = {name: known.data(data[name]) for name in _OF_CASE if name in data}
    if "graders" in data:
        clean["graders"] = [
            {name: value if name in _NAMES else known.data(value) for name, value in each.items()}
            for each in data["graders"]
        ]
    if "turns" in data:
        clean["turns"] = [_scrub_case(turn, known) for turn in data["turns"]]
    if "user" in data:
        user = data["user"]
        said = {name: known.data(user[name]) for name in _OF_USER if name in user}
        clean["user"] = {**user, **said}
    return {**data, **clean}


def _scrub_grade(grade: dict[str, Any], known: KnownSecrets) -> dict[str, Any]:
    clean: dict[str, Any] = _told_fields("reason", "details")(grade, known)
    if "failure" in grade:
        clean["failure"] = _scrub_failure(grade["failure"], known)
    return clean


def _told_fields(*names: str) -> ScrubPart:
    """A function that takes secrets, and pieces of them, out of some fields."""
    return lambda data, known: {
        **data, **{name: known.told(data[name]) for name in names if name in data}
    }  # fmt: skip


def _scrub_each(part: ScrubPart) -> ScrubPart:
    return lambda items, known: [part(item, known) for item in items]


_scrub_failure = _told_fields("message", "details")
_GRADED: dict[str, ScrubPart] = {"grades": _scrub_each(_scrub_grade)}
_PARTS: dict[str, dict[str, ScrubPart]] = {
    "case": {"data": _scrub_case},
    "result": {
        **_GRADED,
        "answer": _scrub_answer,
        "failure": _scrub_failure,
        "retried": _scrub_each(_scrub_failure),
        "workspace": _told_fields("changed", "diff"),
    },
    "answer": {"answer": _scrub_answer},
    "regraded": _GRADED,
    "attempt": {  # of a worker
        "answer": _scrub_answer,
        "error": lambda facts, known: {**facts, "failure": _scrub_failure(facts["failure"], known)},
        "seen": lambda seen, known: known.told(seen),
    },
    "graded": _GRADED,
    "grading": {"graders": lambda graders, known: known.data(graders)},
    "end": {"notice": lambda notice, known: known.told_text(notice)},
}
"""The parts that are searched, by the type of the row."""
