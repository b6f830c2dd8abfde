"""What goes between a run and its workers: lines, each a JSON object; and attempts, grades and
traits as such objects. `replies` reads them.

A worker takes secrets out of what it sends; the run may not know them.
"""

from __future__ import annotations

import json
from typing import Any

from evalcase.runner.attempt import Attempted, OverTimeError
from evalcase.store.scrub import scrub_row
from evalcase.types.codec import encode_object
from evalcase.types.grade import Grade
from evalcase.types.target import Traits
from evalcase.util.errors import failure_of, tell_error
from evalcase.util.secrets import KnownSecrets

MOST_HELD = 10_000
"""How many answers that a secret was taken out of are kept as they were, to be graded so."""
_TOLD = ("concurrency", "rpm", "tpm", "stateless", "caching", "holds_sessions")


_SAID: dict[str, dict[str, type]] = {
    "": {"n": int},
    "ask": {"n": int, "k": int, "target": str, "messages": list, "keep": bool},
    "warn": {"text": str},
    "failed": {"why": str},
    "ready": {},
    "closed": {},
}
"""What a worker says, by its `op`, with the parts that it has to have."""


def attempt_object(tried: Attempted, known: KnownSecrets) -> dict[str, Any]:
    """An attempt as it is sent, without secrets."""
    told: dict[str, Any] = {"took_s": tried.duration_s}
    if tried.quota is not None:
        told["quota"] = [each and list(each) for each in tried.quota]
    if tried.error is None:
        assert tried.answer is not None
        told["answer"] = encode_object(tried.answer)
    elif isinstance(tried.error, OverTimeError):
        told["late"] = True
    else:
        error = tell_error(tried.error)
        told["failure"] = encode_object(error.failure)
        told["by_hand"] = error.sort == "by hand"
        told["is_timeout"] = error.sort == "timeout"
        told["may_succeed_later"] = error.may_succeed_later
        told["retry_after_s"] = error.retry_after_s
        told["overloaded"] = error.overloaded
    if tried.seen:
        told["seen"] = known.told(dict(tried.seen))
    return _without_secrets(told, known)


def grades_object(grades: tuple[Grade, ...], known: KnownSecrets) -> dict[str, Any]:
    """Grades as they are sent, without secrets."""
    return _without_secrets({"grades": [encode_object(grade) for grade in grades]}, known)


def traits_object(traits: Traits) -> dict[str, Any]:
    """The traits of a target that a worker has opened, as they are sent."""
    told = {name: getattr(traits, name) for name in _TOLD}
    return {**told, "key_names": list(traits.key_names)}


def describe_failure(error: BaseException) -> dict[str, Any]:
    """An error as it is told to a grader that has asked."""
    return {"failure": encode_object(failure_of(error))}


def _without_secrets(told: dict[str, Any], known: KnownSecrets) -> dict[str, Any]:
    if not known.values:
        return told
    row = scrub_row({"type": "result", **told}, known)
    del row["type"]
    return row


def to_line(message: dict[str, Any]) -> bytes:
    """A message as one line. Lone surrogates, which an answer may have, stay what they are."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def from_line(line: bytes) -> dict[str, Any]:
    """The message of a line. Raise ValueError if it is none."""
    try:
        message = json.loads(line)
    except RecursionError:
        raise ValueError("a message must not be nested so deep") from None
    if not isinstance(message, dict):
        raise ValueError("a message must be a mapping")
    return message


def said_by_worker(line: bytes) -> dict[str, Any]:
    """The message of a line that a worker wrote: an answer by its number, or one of a few of its
    own. Raise ValueError if it is none."""
    message = from_line(line)
    wanted = _SAID.get(str(message.get("op", "")))
    if wanted is None or any(type(message.get(name)) is not kind for name, kind in wanted.items()):
        raise ValueError("no worker says so")
    return message
