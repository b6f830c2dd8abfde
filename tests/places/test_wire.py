from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from evalcase.errors import TargetError
from evalcase.places.replies import (
    Read,
    attempt_of,
    grades_of,
    key_of,
    opened_of,
    read_reply,
    session_end_of,
)
from evalcase.places.wire import attempt_object, from_line, said_by_worker, to_line
from evalcase.runner.attempt import Attempted
from evalcase.types.answer import Answer
from evalcase.types.target import Allowance, Quota
from evalcase.util.secrets import KnownSecrets, Scrubber
from tests.for_each import for_each


@for_each("secrets", [{}, {"KEY": "a-secret-of-some-length"}])
@for_each("error", [None, TargetError("429", overloaded=True, retry_after_s=2.0)])
def test_what_a_service_says_to_be_left_reaches_the_run(
    error: TargetError | None, secrets: dict[str, str]
) -> None:
    scrubber = Scrubber(secrets)
    scrubber.watch(secrets)
    known: KnownSecrets = scrubber.look()
    answer = Answer.of_text("ok") if error is None else None
    for quota in (
        None,
        Quota(),
        Quota(Allowance(1, 2.0, 60), None),
        Quota(None, Allowance(0, 9.0)),
    ):
        told = attempt_object(Attempted(answer, error, 0.5, quota), known)
        read = attempt_of(from_line(to_line(told)), 1.0)
        assert (read.answer, read.quota) == (answer, quota)


_LATE = {"took_s": 1, "late": True}
_FAILED = {"took_s": 1, "failure": {"kind": "exception", "message": "m"}}
_TRAITS: dict[str, Any] = {
    "concurrency": None, "rpm": None, "tpm": None, "stateless": True, "caching": "keyed",
    "holds_sessions": False, "key_names": [],
}  # fmt: skip
_attempt = partial(attempt_of, limit_s=1.0)


@for_each(
    ("read", "told"),
    [
        (_attempt, {**_LATE, "took_s": float("nan")}),
        (_attempt, {**_LATE, "took_s": float("inf")}),
        (_attempt, {**_LATE, "took_s": -1}),
        (_attempt, {**_LATE, "took_s": "1"}),
        (_attempt, {"took_s": 1}),
        (_attempt, {**_LATE, **_FAILED}),
        (_attempt, {"late": True}),
        (_attempt, {"took_s": 1, "late": 1}),
        (_attempt, {"took_s": 1, "answer": None}),
        (_attempt, {"took_s": 1, "answer": {"messages": [5]}}),
        (_attempt, {**_LATE, "seen": "str"}),
        (_attempt, {**_LATE, "seen": [1]}),
        (_attempt, {**_LATE, "quota": [["a", "b"], [1, 2]]}),
        (_attempt, {**_LATE, "quota": [[None, 1], None]}),
        (_attempt, {**_LATE, "quota": [[1, float("nan")], None]}),
        (_attempt, {**_LATE, "quota": [[1], None]}),
        (_attempt, {**_LATE, "quota": [None]}),
        (_attempt, {**_LATE, "quota": "ab"}),
        (_attempt, {**_FAILED, "by_hand": "yes"}),
        (_attempt, {**_FAILED, "retry_after_s": "abc"}),
        (_attempt, {**_FAILED, "overloaded": 1}),
        (_attempt, {**_LATE, "odd": 1}),
        (_attempt, {"refused": 5, "why": ""}),
        (_attempt, {"refused": "no", "why": []}),
        (grades_of, {}),
        (grades_of, {"grades": "ab"}),
        (grades_of, {"grades": [{"grader": "g", "score": float("nan"), "passed": True}]}),
        (key_of, {"kind": 1, "key": "k"}),
        (key_of, {"kind": "k"}),
        (session_end_of, {"error": 5}),
        (opened_of, {"traits": _TRAITS}),
        (opened_of, {"traits": {**_TRAITS, "concurrency": "1"}, "sources": {}}),
        (opened_of, {"traits": {**_TRAITS, "caching": "odd"}, "sources": {}}),
        (opened_of, {"traits": {**_TRAITS, "key_names": [1]}, "sources": {}}),
        (opened_of, {"traits": _TRAITS, "sources": {"a": 1}}),
    ],
)
def test_an_answer_that_makes_no_sense_is_a_value_error(read: Read, told: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must|missing|known"):
        read_reply(from_line(to_line(told)), read)


def test_what_is_nested_too_deep_is_no_message() -> None:
    with pytest.raises(ValueError, match="nested"):
        said_by_worker(b"[" * 200_000)
