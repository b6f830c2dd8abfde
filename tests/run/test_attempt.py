from __future__ import annotations

import asyncio

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.trial import Trial
from evalcase.run.attempt import Outcome, ask
from evalcase.run.limits import Limits
from evalcase.run.pace import Pace
from evalcase.testing import HANGS, ScriptedTarget
from tests.targets.trials import trial

OK = Answer.of_text("ok")


class Patient:
    """Waits for nothing, and remembers how long it would have."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def turn(self, pace: Pace) -> float:
        return await pace.begin()


def attempt(
    target: ScriptedTarget, limits: Limits | None = None, given: Trial | None = None
) -> tuple[Outcome, list[float]]:
    patient = Patient()

    async def go() -> Outcome:
        pace = Pace(1)
        return await ask(target, given or trial(), limits or Limits(), pace, patient, lambda: 1.0)

    return asyncio.run(go()), patient.waits


def busy() -> TargetError:
    return TargetError("busy", kind="http", details={"status": 503}, may_succeed_later=True)


def test_an_answer_at_once() -> None:
    outcome, waits = attempt(ScriptedTarget([OK]))
    assert (outcome.answer, outcome.failure, outcome.attempts, waits) == (OK, None, 1, [])


def test_an_answer_after_all() -> None:
    outcome, waits = attempt(ScriptedTarget([busy(), busy(), OK]))
    assert (outcome.answer, outcome.attempts, waits) == (OK, 3, [0.5, 1.0])
    assert [failure.details for failure in outcome.retried] == [{"status": 503}] * 2


def test_the_last_failure_counts() -> None:
    outcome, _ = attempt(ScriptedTarget([busy(), TargetError("gone", details={"status": 404})]))
    assert outcome.failure is not None
    assert (outcome.failure.message, outcome.attempts) == ("gone", 2)
    assert outcome.failure.details == {"status": 404}


def test_an_exception_is_kept_with_its_traceback() -> None:
    outcome, _ = attempt(ScriptedTarget([KeyError("price")]))
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.message) == ("exception", "KeyError: 'price'")
    assert any("KeyError" in line for line in outcome.failure.details["traceback"])


def test_an_exception_without_words_has_its_name() -> None:
    outcome, _ = attempt(ScriptedTarget([ValueError()]))
    assert outcome.failure is not None
    assert outcome.failure.message == "ValueError"


def test_a_time_limit_for_each_attempt() -> None:
    limits = Limits(timeout_s=0.05, retries=1, retry_timeouts=True)
    outcome, waits = attempt(ScriptedTarget([HANGS, HANGS]), limits)
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.attempts, len(waits)) == ("timeout", 2, 1)
    assert "0.05 s" in outcome.failure.message


def test_the_limit_of_the_case_wins() -> None:
    outcome, _ = attempt(ScriptedTarget([HANGS]), Limits(timeout_s=999), trial(timeout_s=0.05))
    assert outcome.failure is not None
    assert outcome.failure.kind == "timeout"


def test_a_time_out_of_the_agents_own_is_an_exception() -> None:
    outcome, _ = attempt(ScriptedTarget([TimeoutError("the database")]))
    assert outcome.failure is not None
    assert outcome.failure.kind == "exception"
    assert "the database" in outcome.failure.message
