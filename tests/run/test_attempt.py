from __future__ import annotations

import asyncio
from collections.abc import Callable

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.trial import Trial
from evalcase.run.attempt import Outcome, ask
from evalcase.run.limits import Limits
from tests.targets.trials import trial

OK = Answer.of_text("ok")


class Scripted:
    """A target that does what its list says, one item for each call."""

    def __init__(self, *script: Answer | BaseException | None) -> None:
        self.script = list(script)
        self.calls = 0

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def answer(self, trial: Trial) -> Answer:
        del trial
        step = self.script[self.calls]
        self.calls += 1
        if step is None:
            await asyncio.Event().wait()
        if isinstance(step, BaseException):
            raise step
        assert isinstance(step, Answer)
        return step


def attempt(
    target: Scripted, limits: Limits | None = None, given: Trial | None = None
) -> tuple[Outcome, list[float]]:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    draw: Callable[[], float] = lambda: 1.0  # noqa: E731
    outcome = asyncio.run(ask(target, given or trial(), limits or Limits(), sleep, draw))
    return outcome, waits


def busy() -> TargetError:
    return TargetError("busy", kind="http", details={"status": 503}, may_succeed_later=True)


def test_an_answer_at_once() -> None:
    outcome, waits = attempt(Scripted(OK))
    assert (outcome.answer, outcome.failure, outcome.attempts, waits) == (OK, None, 1, [])


def test_an_answer_after_all() -> None:
    outcome, waits = attempt(Scripted(busy(), busy(), OK))
    assert (outcome.answer, outcome.attempts, waits) == (OK, 3, [0.5, 1.0])


def test_the_last_failure_counts() -> None:
    outcome, _ = attempt(Scripted(busy(), TargetError("gone", details={"status": 404})))
    assert outcome.failure is not None
    assert (outcome.failure.message, outcome.attempts) == ("gone", 2)
    assert outcome.failure.details == {"status": 404}


def test_an_exception_is_kept_with_its_traceback() -> None:
    outcome, _ = attempt(Scripted(KeyError("price")))
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.message) == ("exception", "KeyError: 'price'")
    assert any("KeyError" in line for line in outcome.failure.details["traceback"])


def test_an_exception_without_words_has_its_name() -> None:
    outcome, _ = attempt(Scripted(ValueError()))
    assert outcome.failure is not None
    assert outcome.failure.message == "ValueError"


def test_a_time_limit_for_each_attempt() -> None:
    limits = Limits(timeout_s=0.05, retries=1, retry_timeouts=True)
    outcome, waits = attempt(Scripted(None, None), limits)
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.attempts, len(waits)) == ("timeout", 2, 1)
    assert "0.05 s" in outcome.failure.message


def test_the_limit_of_the_case_wins() -> None:
    outcome, _ = attempt(Scripted(None), Limits(timeout_s=999), trial(timeout_s=0.05))
    assert outcome.failure is not None
    assert outcome.failure.kind == "timeout"


def test_a_time_out_of_the_agents_own_is_an_exception() -> None:
    outcome, _ = attempt(Scripted(TimeoutError("the database")))
    assert outcome.failure is not None
    assert outcome.failure.kind == "exception"
    assert "the database" in outcome.failure.message
