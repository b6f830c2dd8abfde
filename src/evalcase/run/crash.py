"""An attempt that failed, as a failure for the record."""

from __future__ import annotations

from json import dumps
from traceback import TracebackException
from typing import Any

from evalcase.errors import TargetError
from evalcase.model.failure import Failure
from evalcase.run.attempt import OverTimeError

_LONGEST_MESSAGE = 2000
_LARGEST_DETAILS = 200_000
_TRACEBACK_LINES = 20


def failure_of(error: Exception) -> Failure:
    """What is known about an attempt. An exception may not even be able to say what it is."""
    if isinstance(error, OverTimeError):
        return Failure("timeout", str(error))
    told = TracebackException.from_exception(error)
    message = _capped(str(told))
    if isinstance(error, TargetError):
        return Failure(error.kind, message, _recordable(error.details))
    lines = "".join(told.format()).splitlines()[-_TRACEBACK_LINES:]
    name = type(error).__name__
    traceback = [_capped(line) for line in lines]
    return Failure("exception", f"{name}: {message}" if message else name, {"traceback": traceback})


def _capped(text: str) -> str:
    cut = len(text) - _LONGEST_MESSAGE
    return text if cut <= 0 else f"{text[:_LONGEST_MESSAGE]} [{cut:,} more characters were cut]"


def _recordable(details: dict[str, Any]) -> dict[str, Any]:
    """Details as they are, unless they can't be kept: then the failure itself still must be."""
    try:
        size = len(dumps(details, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        return {"dropped": f"the details can't be written as JSON: {error}"}
    if size > _LARGEST_DETAILS:
        return {"dropped": f"the details were {size:,} characters long"}
    return details
