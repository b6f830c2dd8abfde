import asyncio
from contextlib import suppress
from typing import Any

from evalcase.errors import ConfigError, TargetError
from evalcase.runner.dispatch import Asked, Dispatcher
from evalcase.runner.pacing import Budget, Limits
from evalcase.runner.schedule import Engine
from evalcase.testing import HANGS, ScriptedTarget
from evalcase.types.answer import Answer
from evalcase.types.target import Question, Target, Traits
from evalcase.types.value import replace
from evalcase.util.user_calls import QueueTime, UserCalls
from tests.targets.questions import question
from tests.virtual_time import run_in_virtual_time

OK = Answer.of_text("ok")


class Patient(Engine):
    """Has room for as many trials as there are."""

    def __init__(self) -> None:
        super().__init__(Limits())


def attempt(
    target: ScriptedTarget, limits: Limits | None = None, timeout_s: float | None = None
) -> tuple[Asked, float]:
    """What came of it, and how long it took."""
    limits = limits or Limits()

    async def go() -> tuple[Asked, float]:
        asked = await dispatcher_of(target, limits, Patient()).ask("it", question(), timeout_s)
        return asked, asyncio.get_running_loop().time()

    return run_in_virtual_time(go())


def dispatcher_of(target: Target, limits: Limits, patience: Patient, **more: Any) -> Dispatcher:
    budget = more.pop("budget", None) or Budget(None, 0.0)
    targets: Any = Held({"it": target})
    warn = more.pop("warn", print)
    return Dispatcher(
        targets, limits, patience, budget, UserCalls(), lambda: 1.0, warn=warn, **more
    )


class Held:
    """Targets that are open."""

    def __init__(self, by_name: dict[str, Target]) -> None:
        self.by_name = by_name

    async def find(self, name: str) -> Target:
        if name in self.by_name:
            return self.by_name[name]
        raise ConfigError(f"there is no target `{name}`")


def busy() -> TargetError:
    return TargetError("busy", kind="http", details={"status": 503}, may_succeed_later=True)


def test_an_answer_after_all() -> None:
    outcome, took_s = attempt(ScriptedTarget([busy(), busy(), OK]))
    assert (outcome.answer, outcome.attempts, took_s) == (OK, 3, 0.5 + 1.0)
    assert [failure.details for failure in outcome.retried] == [{"status": 503}] * 2


def test_the_limit_of_the_case_wins() -> None:
    outcome, _ = attempt(ScriptedTarget([HANGS]), Limits(timeout_s=999), 0.05)
    assert outcome.failure is not None
    assert outcome.failure.kind == "timeout"


def test_an_attempt_over_its_time_is_a_time_out_whatever_it_says_when_cancelled() -> None:
    class Stubborn(ScriptedTarget):
        async def answer(self, question: Question) -> Answer:
            try:
                return await super().answer(question)
            except asyncio.CancelledError:
                raise ConnectionError("cancelled") from None

    outcome, _ = attempt(Stubborn([HANGS]), Limits(timeout_s=0.02))
    assert outcome.failure is not None
    assert outcome.failure.kind == "timeout"


def test_a_limit_that_a_person_typed_counts_more_than_that_of_a_case() -> None:
    limits = Limits(timeout_s=0.02, timeout_wins=True)
    outcome, _ = attempt(ScriptedTarget([HANGS]), limits, 999)
    assert outcome.failure is not None
    assert outcome.failure.kind == "timeout"


class Kept:
    """A cache in memory."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}

    def find(self, key: str) -> Answer | None:
        return self.answers.get(key)

    def store(self, key: str, answer: Answer) -> None:
        self.answers[key] = answer


class Keyed(ScriptedTarget):
    traits = Traits(caching="keyed")

    def cache_key(self, question: Question) -> Any:
        return question.text


def test_what_is_known_is_not_asked_again_and_costs_nothing() -> None:
    target, patient = Keyed([replace(OK, cost_usd=0.3)]), list[Patient]()

    async def go() -> list[Asked]:
        patient.append(Patient())
        budget = Budget(0.5, 0.0)
        dispatcher = dispatcher_of(target, Limits(), patient[0], budget=budget, cache=Kept())
        return [await dispatcher.ask("it", question()) for _ in range(3)]

    first, *others = asyncio.run(go())
    assert first.answer is not None
    assert not first.answer.cached
    for asked in others:
        assert asked.answer is not None
        assert (asked.answer.cached, asked.answer.cost_usd) == (True, 0.0)
    assert (len(target.asked), patient[0].stopping) == (1, False)


class Unkeyed(Keyed):
    """Can't say what decides an answer."""

    def __init__(self, error: Exception) -> None:
        super().__init__([OK])
        self.error = error

    def cache_key(self, question: Question) -> Any:
        del question
        raise self.error


def test_a_key_that_a_target_fails_to_give_is_told_and_the_question_is_asked() -> None:
    target, warned = Unkeyed(AttributeError("no `client`")), list[str]()

    async def go() -> tuple[Asked, bool]:
        dispatcher = dispatcher_of(target, Limits(), Patient(), cache=Kept(), warn=warned.append)
        return await dispatcher.ask("it", question()), await dispatcher.is_cached("it", question())

    asked, is_known = asyncio.run(go())
    assert (asked.answer, is_known, len(target.asked)) == (OK, False, 1)
    what = "answers of `it` are not kept in the cache: its `cache_key`: AttributeError: no `client`"
    assert warned == [what] * 2


def test_an_answer_of_no_use_to_a_grader_is_never_known() -> None:
    good = Answer.of_text("a verdict")
    target = Keyed([OK, good, OK])

    async def go() -> list[str]:
        dispatcher = dispatcher_of(target, Limits(), Patient(), cache=Kept())

        async def ask(text: str) -> str:
            answer = await dispatcher.ask_for_grader(
                "it", question().messages, None, lambda answer: answer.text == text, question()
            )
            return answer.text

        # Neither kept, nor taken from what another had use for.
        return [await ask(text) for text in ("a verdict", "a verdict", "a verdict", "ok")]

    assert asyncio.run(go()) == ["ok", "a verdict", "a verdict", "ok"]
    assert len(target.asked) == 3


class Remembering(ScriptedTarget):
    """Holds something for each session until it is told that it is over."""

    def __init__(self, script: list[Any]) -> None:
        super().__init__(script)
        self.traits = Traits(stateless=False, holds_sessions=True)
        self.held: set[str] = set()
        self.most = 0

    async def answer(self, question: Question) -> Answer:
        assert question.session not in self.held
        self.held.add(question.session)
        self.most = max(self.most, len(self.held))
        return await super().answer(question)

    async def end_session(self, session: str) -> None:
        self.held.remove(session)
        if session.endswith("-3"):
            raise OSError("it is stuck")


def test_each_question_of_a_grader_is_a_session_that_is_over_with_its_answer() -> None:
    warned: list[str] = []
    target = Remembering([OK, ValueError("no words"), OK])

    async def go() -> None:
        dispatcher = dispatcher_of(target, Limits(), Patient(), warn=warned.append)
        for text in ("one", "two", "three"):
            asked = question(text)
            with suppress(TargetError):
                await dispatcher.ask_for_grader("it", asked.messages, None, None, question())

    asyncio.run(go())
    assert (len(target.asked), target.most, target.held) == (3, 1, set())
    assert warned == ["`it`: tear-down of a session failed: OSError: it is stuck"]


def test_a_grader_that_waits_for_its_turn_is_not_at_work() -> None:
    target = ScriptedTarget([HANGS, OK])

    async def go() -> float:
        queue = QueueTime()
        dispatcher = dispatcher_of(target, Limits(1), Patient())
        other = asyncio.create_task(dispatcher.ask("it", question()))
        with queue.counting():
            asked = asyncio.create_task(
                dispatcher.ask_for_grader("it", question().messages, None, None, question())
            )
        for _ in range(10):
            await asyncio.sleep(0)
        assert queue.seconds() > 0
        other.cancel()
        await asked
        return queue.seconds()

    assert asyncio.run(go()) > 0
