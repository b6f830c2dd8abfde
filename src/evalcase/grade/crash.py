"""A grader that broke, as a failure."""

from __future__ import annotations

from traceback import TracebackException

from evalcase.errors import EvalcaseError
from evalcase.model.failure import Failure

_LONGEST_MESSAGE = 2000
_TRACEBACK_LINES = 20


def failure_of_grader(error: BaseException) -> Failure:
    """What is known about a crash. An exception may not even be able to say what it is."""
    told = TracebackException.from_exception(error)
    text = str(told)[:_LONGEST_MESSAGE]
    if isinstance(error, EvalcaseError):
        return Failure("grader", text)
    lines = "".join(told.format()).splitlines()[-_TRACEBACK_LINES:]
    name = type(error).__name__
    traceback = [line[:_LONGEST_MESSAGE] for line in lines]
    return Failure("grader", f"{name}: {text}" if text else name, {"traceback": traceback})
