"""An exception as a failure: something that user code or evalcase raised in, a value to keep out.

What it says is capped, for it may say anything; it may not even be able to say what it is.
"""

from __future__ import annotations

from json import dumps
from typing import Any, Literal

from evalcase.errors import EvalcaseError, GraderError, TargetError
from evalcase.model.failure import Failure, FailureKind

_LONGEST_MESSAGE = 2000
_LARGEST_DETAILS = 200_000
_TRACEBACK_LINES = 20
_END_OF_ONE = "+--"
"""What the rule below each error of a group begins with; that above the first is `+-+--`."""


ErrorSort = Literal["any", "by hand", "timeout", "of a grader"]
"""What matters of what an error is: Ctrl-C, time that was over by the code's own word, or what a
grader raised on purpose, whose kind then holds."""


class ToldError(TargetError):
    """What is known of an error that code of the user's raised, or that was raised elsewhere, in
    plain values. To ask the error itself is to call that code, which may do anything."""

    def __init__(
        self, failure: Failure, shown: str, *, may_succeed_later: bool = False,
        retry_after_s: float | None = None, overloaded: bool = False, sort: ErrorSort = "any",
    ) -> None:  # fmt: skip
        """`shown` is the error as Python shows it."""
        super().__init__(
            failure.message, kind=failure.kind, details=failure.details,
            may_succeed_later=may_succeed_later, retry_after_s=retry_after_s, overloaded=overloaded,
        )  # fmt: skip
        self.failure = failure
        self.shown = shown
        self.sort: ErrorSort = sort

    def __repr__(self) -> str:
        return self.shown


def tell_error(error: BaseException) -> ToldError:
    """All that is ever asked of an error, for when it can't be asked any more."""
    if type(error) is ToldError:
        return error
    try:
        return _tell_error(error)
    except BaseException as raised:  # noqa: BLE001 - to ask an error is to call the user's code
        name = type(error).__name__
        what = f"{name}, which can't say what it is: that raised {type(raised).__name__}"
        return ToldError(Failure("exception", what), name)


def _tell_error(error: BaseException) -> ToldError:
    first, failure, shown = leaves_of(error)[0], failure_of(error), _show_error(error)
    own = first if isinstance(first, TargetError) else None
    return ToldError(
        failure, shown,
        may_succeed_later=own is not None and bool(own.may_succeed_later),
        retry_after_s=None if own is None else own.retry_after_s,
        overloaded=own is not None and bool(own.overloaded),
        sort=_sort_error(error, first),
    )  # fmt: skip


def _sort_error(error: BaseException, first: BaseException) -> ErrorSort:
    if isinstance(error, KeyboardInterrupt):
        return "by hand"
    if isinstance(first, TimeoutError):
        return "timeout"
    return "of a grader" if isinstance(first, GraderError) else "any"


def _show_error(error: BaseException) -> str:
    try:
        return _cap_message(repr(error))
    except Exception:  # noqa: BLE001 - as above
        return type(error).__name__


def failure_of(error: BaseException, kind: FailureKind = "exception") -> Failure:
    """What is known of an error. One that a target raised on purpose has a kind of its own, unless
    another than `exception` is asked for; anything that nobody meant to raise has a traceback."""
    if type(error) is ToldError:
        return _told_failure(error, kind)
    if isinstance(error, ExceptionGroup):
        return _failure_of_group(error, kind)
    from traceback import TracebackException  # slow to import, and most runs need none

    told = TracebackException.from_exception(error)
    message = _cap_message(str(told))
    if isinstance(error, TargetError):
        own = error.kind if kind == "exception" else kind
        return Failure(own, message, recordable_details(error.details))
    if isinstance(error, GraderError):
        return Failure(error.kind, message, recordable_details(error.details))
    if isinstance(error, EvalcaseError):
        return Failure(kind, message)
    name = type(error).__name__
    lines = "".join(told.format()).splitlines()[-_TRACEBACK_LINES:]
    details = {"traceback": [_cap_message(line) for line in lines]}
    return Failure(kind, f"{name}: {message}" if message else name, details)


def _told_failure(error: ToldError, kind: FailureKind) -> Failure:
    told = error.failure
    holds = kind == "exception" or error.sort == "of a grader"
    return told if holds else Failure(kind, told.message, told.details)


def leaves_of(error: BaseException) -> list[BaseException]:
    """What went wrong in each of several tasks, in order, for a group of errors, to any depth;
    else the error itself."""
    leaves, left = [], [error]
    while left:
        each = left.pop()
        if isinstance(each, ExceptionGroup):
            left += reversed(each.exceptions)
        else:
            leaves.append(each)
    return leaves


def _failure_of_group(group: ExceptionGroup[Exception], kind: FailureKind) -> Failure:
    """That of its first error, with the traceback of all."""
    from traceback import format_exception

    first, *more = leaves_of(group)
    failure = failure_of(first, kind)
    message = f"{failure.message} (and {len(more)} more)" if more else failure.message
    if "traceback" not in failure.details:
        return Failure(failure.kind, message, failure.details)
    lines = "".join(format_exception(group)).splitlines()
    # Whatever is cut, the traceback of the first is not.
    end = find_end_of_first(lines)
    kept = lines[max(0, end - _TRACEBACK_LINES) : end + _TRACEBACK_LINES]
    return Failure(failure.kind, message, {"traceback": [_cap_message(line) for line in kept]})


def find_end_of_first(lines: list[str]) -> int:
    """After how many lines of the traceback of a group its first error ends."""
    ends = (at for at, line in enumerate(lines) if line.lstrip().startswith(_END_OF_ONE))
    return next(ends, len(lines))


def _cap_message(text: str) -> str:
    cut = len(text) - _LONGEST_MESSAGE
    return text if cut <= 0 else f"{text[:_LONGEST_MESSAGE]} [{cut:,} more characters were cut]"


def recordable_details(details: dict[str, Any]) -> dict[str, Any]:
    """Details as they are, unless they can't be kept: then the failure itself still must be."""
    try:
        size = len(dumps(details, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        return {"dropped": f"the details can't be written as JSON: {error}"}
    if size > _LARGEST_DETAILS:
        return {"dropped": f"the details were {size:,} characters long"}
    return details
