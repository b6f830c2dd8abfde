"""Exceptions as failures, and the line of a program's output that says why it failed.

Messages are capped. To ask an exception for its message calls code of the user, which may raise.
"""

from __future__ import annotations

import re
from json import dumps
from traceback import TracebackException
from typing import Any, Literal, get_args

from evalcase.errors import EvalcaseError, GraderError, TargetError
from evalcase.types.answer import Failure, FailureKind
from evalcase.types.value import Value

_LONGEST_MESSAGE = 2000
_LARGEST_DETAILS = 200_000
_TRACEBACK_LINES = 20

ErrorSort = Literal["any", "by hand", "timeout", "of a grader"]
"""Ctrl-C, a timeout that the code itself raised, or an error of a grader, whose kind holds."""


class ErrorFacts(Value, frozen=True):
    """What is known of an error, in plain values."""

    failure: Failure
    sort: ErrorSort = "any"
    may_succeed_later: bool = False
    retry_after_s: float | None = None
    overloaded: bool = False


class UserCodeError(TargetError):
    """An error of user code, or of another process."""

    def __init__(self, facts: ErrorFacts) -> None:
        self.facts = facts
        failure = facts.failure
        super().__init__(
            failure.message, kind=failure.kind, details=failure.details,
            may_succeed_later=facts.may_succeed_later, retry_after_s=facts.retry_after_s,
            overloaded=facts.overloaded,
        )  # fmt: skip


def to_user_code_error(error: BaseException) -> UserCodeError:
    """What is known of an error, so that its own code is called only once."""
    if type(error) is UserCodeError:
        return error
    try:
        first, failure = leaves_of(error)[0], failure_of(error)
        sort: ErrorSort = "of a grader" if isinstance(first, GraderError) else "any"
        if isinstance(error, KeyboardInterrupt):
            sort = "by hand"
        elif isinstance(first, TimeoutError):
            sort = "timeout"
        if not isinstance(first, TargetError):
            return UserCodeError(ErrorFacts(failure, sort))
        return UserCodeError(
            ErrorFacts(
                failure, sort, bool(first.may_succeed_later), first.retry_after_s,
                bool(first.overloaded),
            )
        )  # fmt: skip
    except BaseException as raised:  # noqa: BLE001 - code of the user
        shown = type(error).__name__
        what = f"{shown}, which can't say what it is: that raised {type(raised).__name__}"
        return UserCodeError(ErrorFacts(Failure("exception", what)))


def failure_of(error: BaseException, kind: FailureKind = "exception") -> Failure:
    """The failure that an error stands for. An error that is raised on purpose has a kind of its
    own, unless `kind` is another than `exception`; any other error has a traceback."""
    if type(error) is UserCodeError:
        told = error.facts.failure
        holds = kind == "exception" or error.facts.sort == "of a grader"
        return told if holds else Failure(kind, told.message, told.details)
    if isinstance(error, ExceptionGroup):
        first, *more = leaves_of(error)
        failure = failure_of(first, kind)
        message = f"{failure.message} (and {len(more)} more)" if more else failure.message
        return Failure(failure.kind, message, failure.details)
    told_by = TracebackException.from_exception(error)
    message = _cap(str(told_by))
    if isinstance(error, TargetError | GraderError):
        own = error.kind if kind == "exception" or isinstance(error, GraderError) else kind
        known: FailureKind = own if own in get_args(FailureKind) else "exception"
        return Failure(known, message, recordable_details(error.details))
    if isinstance(error, EvalcaseError):
        return Failure(kind, message)
    name = type(error).__name__
    lines = "".join(told_by.format()).splitlines()[-_TRACEBACK_LINES:]
    details = {"traceback": [_cap(line) for line in lines]}
    return Failure(kind, f"{name}: {message}" if message else name, details)


def leaves_of(error: BaseException) -> list[BaseException]:
    """The errors of a group in order, to any depth; else the error itself."""
    if not isinstance(error, ExceptionGroup):
        return [error]
    return [leaf for each in error.exceptions for leaf in leaves_of(each)]


def _cap(text: str) -> str:
    cut = len(text) - _LONGEST_MESSAGE
    return text if cut <= 0 else f"{text[:_LONGEST_MESSAGE]} [{cut:,} more characters were cut]"


def recordable_details(details: dict[str, Any]) -> dict[str, Any]:
    """The details, or why they can't be recorded: the failure itself always can."""
    try:
        size = len(dumps(details, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        return {"dropped": f"the details can't be written as JSON: {error}"}
    if size > _LARGEST_DETAILS:
        return {"dropped": f"the details were {size:,} characters long"}
    return details


_LONGEST_LINE = 200
_REASON = (
    r"(?i)\b(?:error|fatal|panic|panicked|exception|failed|failure|cannot|can't|could not|couldn't"
    r"|unable to|not found|no such|denied|refused|invalid|missing|undefined|unknown|killed"
    r"|out of memory|timed out|exceeded)\b"
    r"|[a-z](?:Error|Exception)\b"
)


def add_complaint(what: str, stderr: str) -> str:
    """What has happened, and the line of `stderr` that says why. If no line stands out, the last is
    quoted, and not as the reason."""
    lines = stderr.strip().splitlines()
    if not lines:
        return what
    # Indented lines are quoted code.
    outer = (line for line in reversed(lines) if line[:1].strip())
    reason = next((line for line in outer if re.search(_REASON, line)), None)
    if reason is None:
        return f"{what}, after it wrote: {lines[-1].strip()[:_LONGEST_LINE]}"
    return f"{what}: {reason.strip()[:_LONGEST_LINE]}"
