"""A failure at run time, as a value: it goes into the record, never up the stack."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import field

from evalcase.model.value import Value

FailureKind = Literal[
    "exception",
    "timeout",
    "exit",
    "connection",
    "http",
    "protocol",
    "grader",
    "stopped",
    "unreported",
    "unread-calls",
    "blocked",
    "judge-unparseable",
    "judge-truncated",
    "judge-refused",
    "judge-unsure",
    "judge-split",
]
"""exception: user code raised; exit: a process ended badly; protocol: the answer made no sense;
unreported: a target does not say what a grader limits; unread-calls: the answer holds calls in a
form that is not read; blocked: the provider kept the answer back;
judge-…: a judge gave no verdict that counts."""


class Failure(Value, frozen=True):
    kind: FailureKind
    message: str
    details: dict[str, Any] = field(default_factory=dict)
    """What helps to find the cause: status, body excerpt, exit code, stderr tail, traceback."""
