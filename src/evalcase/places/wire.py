"""Attempts and grades as JSON objects and back: what goes between a run and its workers.

A worker takes secrets out of what it sends; the run may not know them.
"""

from __future__ import annotations

import json
from typing import Any

from evalcase.errors import ConfigError, EvalcaseError, TargetError
from evalcase.model.answer import Answer
from evalcase.model.codec import decode, encode
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.quota import Allowance, Quota
from evalcase.model.target import Traits
from evalcase.record.scrub import scrub_row
from evalcase.run.attempt import Attempted, OverTimeError
from evalcase.text.crash import failure_of
from evalcase.text.secret_search import KnownSecrets

MOST_HELD = 10_000
"""How many answers that a secret was taken out of are kept as they were, to be graded so."""
_TOLD = ("concurrency", "rpm", "tpm", "stateless", "caching", "holds_sessions")


class ToldError(TargetError):
    """What went wrong elsewhere, as it was told: it is recorded as it would have been there."""

    def __init__(self, failure: Failure, told: dict[str, Any]) -> None:
        super().__init__(
            failure.message, kind=failure.kind, details=failure.details,
            may_succeed_later=bool(told.get("may_succeed_later")),
            retry_after_s=told.get("retry_after_s"), overloaded=bool(told.get("overloaded")),
        )  # fmt: skip


class Interrupted(KeyboardInterrupt):
    """Code that answers raised what Ctrl-C raises."""


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
        told["answer"] = encode(tried.answer)
    elif isinstance(tried.error, OverTimeError):
        told["late"] = True
    else:
        told["failure"] = encode(failure_of(tried.error))
        told["by_hand"] = isinstance(tried.error, KeyboardInterrupt)
        if isinstance(tried.error, TargetError):
            told["may_succeed_later"] = tried.error.may_succeed_later
            told["retry_after_s"] = tried.error.retry_after_s
            told["overloaded"] = tried.error.overloaded
    if tried.seen:
        told["seen"] = known.told(dict(tried.seen))
    return _without_secrets(told, known)


def attempt_of(told: dict[str, Any], limit_s: float) -> Attempted:
    """The attempt that was sent. Raise ValueError if it makes no sense."""
    try:
        return _attempt_of(told, limit_s)
    except (KeyError, TypeError) as error:
        raise ValueError(f"what a worker answered makes no sense: {error!r:.200}") from None


def _attempt_of(told: dict[str, Any], limit_s: float) -> Attempted:
    took_s, quota = float(told["took_s"]), _quota_of(told.get("quota"))
    if "answer" in told:
        return Attempted(decode(Answer, told["answer"], "answer"), None, took_s, quota)
    seen = told.get("seen")
    if told.get("late"):
        return Attempted(None, OverTimeError(limit_s), took_s, quota, seen)
    failure = decode(Failure, told["failure"], "failure")
    if told.get("by_hand"):
        return Attempted(None, Interrupted(failure.message), took_s, quota, seen)
    return Attempted(None, ToldError(failure, told), took_s, quota, seen)


def _quota_of(told: Any) -> Quota | None:  # noqa: ANN401 - as it came
    """What was left of requests and of tokens: a list of two lists, or of nulls."""
    return Quota(*(each and Allowance(*each) for each in told)) if told else None


def grades_object(grades: tuple[Grade, ...], known: KnownSecrets) -> dict[str, Any]:
    """Grades as they are sent, without secrets."""
    return _without_secrets({"grades": [encode(grade) for grade in grades]}, known)


def grades_of(told: dict[str, Any]) -> tuple[Grade, ...]:
    """The grades that were sent. Raise ValueError if they make no sense."""
    grades = told.get("grades")
    if not isinstance(grades, list):
        raise ValueError("`grades` must be a list")
    return tuple([decode(Grade, each, f"grades.{n}") for n, each in enumerate(grades)])


def traits_object(traits: Traits) -> dict[str, Any]:
    """The traits of a target that a worker has opened, as they are sent."""
    told = {name: getattr(traits, name) for name in _TOLD}
    return {**told, "key_names": list(traits.key_names)}


def traits_of(told: dict[str, Any]) -> Traits:
    """The same, as they were sent."""
    return Traits(key_names=tuple(told["key_names"]), **{name: told[name] for name in _TOLD})


def describe_failure(error: BaseException) -> dict[str, Any]:
    """An error as it is told to a grader that has asked."""
    return {"failure": encode(failure_of(error))}


def refusal_of(told: dict[str, Any]) -> EvalcaseError:
    """Why a worker can't do something, as an error of the same kind."""
    kind = ConfigError if told.get("why") == "ConfigError" else TargetError
    return kind(told["refused"])


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
    message = json.loads(line)
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
