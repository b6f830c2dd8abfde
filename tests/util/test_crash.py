from __future__ import annotations

from typing import Any

import pytest

from evalcase.errors import ConfigError, EvalcaseError, TargetError
from evalcase.types.answer import Failure
from evalcase.util.errors import failure_of
from tests.for_each import for_each


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("I don't know myself")


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001 - any is wanted
        return caught


def test_what_nobody_meant_to_raise_has_its_name_and_its_traceback() -> None:
    failure = failure_of(raised(KeyError("k")))
    assert (failure.kind, failure.message) == ("exception", "KeyError: 'k'")
    lines = failure.details["traceback"]
    assert lines[0] == "Traceback (most recent call last):"
    assert "test_crash.py" in lines[1]
    assert lines[-1] == "KeyError: 'k'"
    assert failure_of(SystemExit()).message == "SystemExit"


def test_a_target_says_what_kind_it_is_unless_it_was_asked_by_a_grader() -> None:
    error = TargetError("busy", kind="http", details={"status": 529})
    assert failure_of(error) == Failure("http", "busy", {"status": 529})
    assert failure_of(error, "grader") == Failure("grader", "busy", {"status": 529})


@pytest.mark.parametrize("error", [EvalcaseError("no"), ConfigError("no")])
def test_what_evalcase_raised_says_all_by_its_message(error: EvalcaseError) -> None:
    assert failure_of(raised(error), "grader") == Failure("grader", "no")


def test_an_exception_that_can_not_say_what_it_is() -> None:
    failure = failure_of(raised(MuteError()), "grader")
    assert (failure.kind, failure.message[:9]) == ("grader", "MuteError")


def test_what_it_says_is_capped() -> None:
    failure = failure_of(raised(ValueError("x" * 10_000)))
    assert len(failure.message) < 2100
    assert "8,000 more characters were cut" in failure.message
    assert all(len(line) < 2100 for line in failure.details["traceback"])

    def deeper(levels: int) -> None:
        if levels:
            deeper(levels - 1)
        raise ValueError("deep")

    with pytest.raises(ValueError, match="deep") as caught:
        deeper(200)
    assert len(failure_of(caught.value).details["traceback"]) <= 20


@for_each("details", [{"a": object()}, {"a": float("nan")}, {"a": "x" * 300_000}])
def test_details_that_can_not_be_kept_do_not_take_the_failure_with_them(
    details: dict[str, Any],
) -> None:
    failure = failure_of(TargetError("broke", details=details))
    assert failure.message == "broke"
    assert list(failure.details) == ["dropped"]


def group_of(*errors: Exception) -> ExceptionGroup[Exception]:
    return ExceptionGroup("unhandled errors in a TaskGroup", errors)


def test_a_group_says_what_its_first_error_says() -> None:
    first = raised(ConnectionError("the database is down"))
    assert isinstance(first, Exception)
    alone = failure_of(raised(group_of(first)))
    assert (alone.kind, alone.message) == ("exception", "ConnectionError: the database is down")
    nested = failure_of(raised(group_of(group_of(first, KeyError("k")), OSError())), "grader")
    assert nested.kind == "grader"
    assert nested.message == "ConnectionError: the database is down (and 2 more)"
    assert nested.details["traceback"][-1] == "ConnectionError: the database is down"


def test_a_group_keeps_what_a_target_says_of_its_error() -> None:
    busy = TargetError("busy", kind="http", details={"status": 529})
    failure = failure_of(raised(group_of(busy, ValueError())))
    assert failure == Failure("http", "busy (and 1 more)", {"status": 529})
