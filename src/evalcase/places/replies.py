"""What workers answer, as it is read. It trusts nobody, as code in a worker may write in its place:
what makes no sense is a ValueError that names it."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite
from typing import Any, Literal, NamedTuple

from evalcase.errors import ConfigError, EvalcaseError, TargetError
from evalcase.runner.attempt import Attempted, OverTimeError
from evalcase.types.answer import Answer, Failure
from evalcase.types.codec import decode_object
from evalcase.types.grade import Grade
from evalcase.types.target import Allowance, Quota, Traits
from evalcase.types.value import JSON, Value
from evalcase.util.errors import ToldError

Read = Callable[[dict[str, Any]], Any]
_OF_QUOTA = 2
_OF_ALLOWANCE = (2, 3)


class _ToldAttempt(Value, frozen=True):
    """An attempt, of which one of `answer`, `failure` and `late` is there."""

    took_s: float
    answer: Answer | None = None
    failure: Failure | None = None
    late: bool = False
    by_hand: bool = False
    is_timeout: bool = False
    may_succeed_later: bool = False
    retry_after_s: float | None = None
    overloaded: bool = False
    seen: dict[str, Any] | None = None
    quota: tuple[tuple[float | None, ...] | None, ...] | None = None


class _ToldTraits(Value, frozen=True):
    """What a run has to know of a target."""

    concurrency: int | None
    rpm: int | None
    tpm: int | None
    stateless: bool
    caching: Literal["refused", "useless", "keyed"]
    holds_sessions: bool
    key_names: tuple[str, ...]


class _ToldOpening(Value, frozen=True):
    traits: _ToldTraits
    sources: dict[str, Any]


class _ToldGrades(Value, frozen=True):
    grades: tuple[Grade, ...]


class _ToldKey(Value, frozen=True):
    kind: str
    key: JSON


class _ToldEnd(Value, frozen=True):
    error: str | None = None


class _Refusal(Value, frozen=True):
    refused: str
    why: str


class Opened(NamedTuple):
    """A target that a worker has opened."""

    traits: Traits
    sources: dict[str, str]


def read_reply(told: dict[str, Any], read: Read) -> Any:  # noqa: ANN401 - whatever it reads
    """What is answered; or, as a value, the error that says why a worker can't."""
    return _refusal_of(told) if "refused" in told else read(told)


def attempt_of(told: dict[str, Any], limit_s: float) -> Attempted:
    """The attempt that was sent."""
    tried = decode_object(_ToldAttempt, told)
    if not 0 <= tried.took_s < inf:
        raise ValueError("`took_s` must be a number of 0 or more")
    if (tried.answer is not None) + (tried.failure is not None) + tried.late != 1:
        raise ValueError("it must have one of `answer`, `failure` and `late`")
    error = _error_of(tried, limit_s)
    return Attempted(tried.answer, error, tried.took_s, _quota_of(tried.quota), tried.seen)


def _error_of(tried: _ToldAttempt, limit_s: float) -> BaseException | None:
    if tried.late:
        return OverTimeError(limit_s)
    failure = tried.failure
    if failure is None:
        return None
    return ToldError(
        failure, failure.message, may_succeed_later=tried.may_succeed_later,
        retry_after_s=tried.retry_after_s, overloaded=tried.overloaded,
        sort="by hand" if tried.by_hand else "timeout" if tried.is_timeout else "any",
    )  # fmt: skip


def _quota_of(told: tuple[tuple[float | None, ...] | None, ...] | None) -> Quota | None:
    """What was left of requests and of tokens: a list of two lists, or of nulls."""
    if told is None:
        return None
    if len(told) != _OF_QUOTA:
        raise ValueError("`quota` must be of requests and of tokens")
    return Quota(*map(_allowance_of, told))


def _allowance_of(told: tuple[float | None, ...] | None) -> Allowance | None:
    if told is None:
        return None
    numbers = [each for each in told if each is not None]
    if len(told) not in _OF_ALLOWANCE or None in told[:2] or not all(map(isfinite, numbers)):
        raise ValueError("`quota` must say what is left, and until when")
    return Allowance(*told)  # type: ignore[arg-type]


def grades_of(told: dict[str, Any]) -> tuple[Grade, ...]:
    """The grades that were sent."""
    return decode_object(_ToldGrades, told).grades


def opened_of(told: dict[str, Any]) -> Opened:
    """The target that was opened."""
    opening = decode_object(_ToldOpening, told)
    if not all(isinstance(each, str) for each in opening.sources.values()):
        raise ValueError("`sources` must have texts")
    traits = opening.traits
    return Opened(
        Traits(
            concurrency=traits.concurrency, rpm=traits.rpm, tpm=traits.tpm,
            stateless=traits.stateless, caching=traits.caching,
            holds_sessions=traits.holds_sessions, key_names=traits.key_names,
        ),
        opening.sources,
    )  # fmt: skip


def key_of(told: dict[str, Any]) -> tuple[str, JSON]:
    """The kind of a target, and what decides its answer."""
    key = decode_object(_ToldKey, told)
    return key.kind, key.key


def session_end_of(told: dict[str, Any]) -> str | None:
    """Why a session did not end well, if it did not."""
    return decode_object(_ToldEnd, told).error


def _refusal_of(told: dict[str, Any]) -> EvalcaseError:
    """Why a worker can't do something, as an error of the same kind."""
    refusal = decode_object(_Refusal, told)
    return (ConfigError if refusal.why == "ConfigError" else TargetError)(refusal.refused)
