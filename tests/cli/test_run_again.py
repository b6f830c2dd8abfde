from __future__ import annotations

from typing import Any

from evalcase.report.conclusion import stays_errored
from evalcase.types.answer import Failure, FailureKind
from evalcase.types.question import TrialKey
from evalcase.types.result import Result
from tests.for_each import for_each


def errored(kind: FailureKind, message: str = "no", **details: Any) -> Result:
    failure = Failure(kind, message, details)
    return Result(TrialKey("s", "c", "t", 1), "", "errored", failure=failure)


@for_each(
    ("result", "stays"),
    [
        (errored("exception", "KeyError: 'x'"), True),
        (errored("exception", "APIConnectionError: refused"), False),
        (errored("exception", "RateLimitError: 429"), False),
        (errored("exception", "TimeoutError: "), False),
        (errored("exit"), True),
        (errored("protocol"), True),
        (errored("http", status=422), True),
        (errored("http", status=429), False),
        (errored("http", status=503), False),
        (errored("connection"), False),
        (errored("timeout"), False),
        (errored("judge-unparseable"), False),
        (Result(TrialKey("s", "c", "t", 1), "", "errored"), False),
    ],
)
def test_what_can_not_succeed_later_is_told_from_what_may(result: Result, stays: bool) -> None:
    assert stays_errored(result) is stays
