from textwrap import dedent
from typing import Any

import pytest

from evalcase.errors import ConfigError, EvalcaseError, TargetError
from evalcase.types.answer import Failure
from evalcase.util.errors import add_complaint, failure_of
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
    assert "test_errors.py" in lines[1]
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


NODE = """
/app/agent.js:3
  throw new Error("no such model: gpt-9")
  ^

Error: no such model: gpt-9
    at main (/app/agent.js:3:9)
    at Object.<anonymous> (/app/agent.js:6:1)
    at Module._compile (node:internal/modules/cjs/loader:1364:14)
    at node:internal/main/run_main_module:28:49

Node.js v20.20.2
"""

PYTHON = """
Loading…
Traceback (most recent call last):
  File "agent.py", line 1, in <module>
    main()
  File "agent.py", line 9, in main
    raise ValueError("the key is wrong")
ValueError: the key is wrong
please see https://example.com/help
"""

JAVA = """
Exception in thread "main" java.lang.IllegalStateException: no key
	at com.example.Agent.main(Agent.java:7)
Caused by: java.io.IOException: connection reset
	at com.example.Agent.ask(Agent.java:9)
	... 1 more
"""

RUST = """
thread 'main' panicked at src/main.rs:4:5:
no key
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""


@for_each(
    ("stderr", "line"),
    [
        (NODE, "Error: no such model: gpt-9"),
        (PYTHON, "ValueError: the key is wrong"),
        (JAVA, "Caused by: java.io.IOException: connection reset"),
        (RUST, "thread 'main' panicked at src/main.rs:4:5:"),
        ("panic: no key\n\ngoroutine 1 [running]:\nmain.main()\nexit status 2", "panic: no key"),
        ("fatal: not a git repository\nrun git init", "fatal: not a git repository"),
        ("/bin/sh: 1: agnt: not found\n", "/bin/sh: 1: agnt: not found"),
        ("usage: agent\nagent: unknown option -x\nTry agent --help", "agent: unknown option -x"),
        ("cat: x: No such file or directory\nbye", "cat: x: No such file or directory"),
    ],
)  # fmt: skip
def test_the_line_that_says_why(stderr: str, line: str) -> None:
    assert add_complaint("it ended", dedent(stderr)) == f"it ended: {line}"


@pytest.mark.parametrize(("stderr", "last"), [("one\ntwo\n\n", "two"), ("   indented", "indented")])
def test_a_line_that_says_no_reason_is_not_offered_as_one(stderr: str, last: str) -> None:
    assert add_complaint("it ended", stderr) == f"it ended, after it wrote: {last}"
