"""The end of a worker: messages in, each answered in its own time by a message out.

It makes targets and graders by the names that it is told, calls them, and grades where that has to
be done beside the answer. How messages travel is not its business.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from itertools import count
from typing import Any

from evalcase.config.config import Config, read_config_of
from evalcase.config.targets import make_target
from evalcase.errors import EvalcaseError, TargetError
from evalcase.places.setting import Setting
from evalcase.places.wire import MOST_HELD, attempt_object, grades_object, traits_object
from evalcase.runner.attempt import make_attempt, take_own
from evalcase.runner.dispatch import name_of_kind
from evalcase.runner.graders import Graders
from evalcase.runner.grading import grade_answer
from evalcase.runner.opening import CLOSE_S, OpenTargets
from evalcase.runner.plan import make_scrubber, watch_keys
from evalcase.types.answer import Answer, Failure
from evalcase.types.case import canonical_case
from evalcase.types.codec import decode_object
from evalcase.types.grader import Context, Usable
from evalcase.types.message import Message
from evalcase.types.question import Question
from evalcase.types.target import Surroundings, Target
from evalcase.types.value import JSON, replace
from evalcase.util.environment import Environment
from evalcase.util.imports import put_first
from evalcase.util.secrets import Scrubber
from evalcase.util.user_calls import UserCalls

Send = Callable[[dict[str, Any]], None]
_NOT_AS_IT_WAS = (
    "a secret was taken out of the answer before it left its worker, which is gone, or holds only "
    "a part of the conversation: it can't be graded as it was (`--engine in-process` can)"
)


class Service:
    """Answers messages. It belongs to one event loop, and to one run."""

    def __init__(
        self, setting: Setting, config: Config, environment: Environment, scrubber: Scrubber,
        graders: Graders, send: Send,
    ) -> None:  # fmt: skip
        self._setting = setting
        self._config = config
        self._environment = environment
        self._scrubber = scrubber
        self._graders = graders
        self._send = send
        self._stack = AsyncExitStack()
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._asked: dict[int, asyncio.Future[Answer]] = {}
        self._numbers = count(1)
        self._held: dict[int, Answer] = {}
        """Answers that a secret was taken out of, by the number of their question: they have to be
        graded as they were."""

    def scrub(self, text: str) -> str:
        """A text without the secrets that are known here."""
        return self._scrubber.text(text)

    async def open(self) -> None:
        """Take messages from now on. It says itself when it is ready to do what they ask for."""
        if not self._setting.no_exec:
            put_first(self._config.root, self._environment.import_path)
        self._calls = await self._stack.enter_async_context(UserCalls())
        opened = partial(watch_keys, self._scrubber)
        self._targets = await self._stack.enter_async_context(
            OpenTargets({}, self._make, self.warn, opened, self._calls)
        )
        self._setting_up = asyncio.create_task(self._set_up())

    async def close(self) -> None:
        """Give up what is under way, and tear down."""
        self._setting_up.cancel()
        for task in self._under_way.values():
            task.cancel()
        outcome = await self._calls.run(self._graders.close, CLOSE_S, "close")
        if outcome.is_late or outcome.error is not None:
            self.warn("tear-down of the graders failed")
        await self._stack.aclose()

    async def _set_up(self) -> None:
        for name in self._setting.opened:
            with suppress(EvalcaseError):  # whoever asks it is told
                await self._targets.find(name)
        self._send({"op": "ready"})

    def take(self, message: dict[str, Any]) -> None:
        """Begin to do what a message asks for."""
        number, what = message["n"], message["op"]
        if what == "drop":
            if (task := self._under_way.get(number)) is not None:
                task.cancel()
        elif what == "told":
            self._take_told(number, message)
        elif what == "ping":
            self._send({"n": number})
        else:
            task = asyncio.create_task(self._do(number, what, message))
            self._under_way[number] = task
            task.add_done_callback(lambda _: self._under_way.pop(number, None))

    async def _do(self, number: int, what: str, message: dict[str, Any]) -> None:
        try:
            await asyncio.wait([self._setting_up])
            told = await self._way(what)(number, message)
        except EvalcaseError as error:
            told = {"refused": self._scrubber.text(str(error)), "why": type(error).__name__}
        except asyncio.CancelledError:
            return  # it was dropped, and nobody waits for it
        except BaseException as error:  # noqa: BLE001 - the boundary: it must be told
            told = {"refused": self._scrubber.text(f"{type(error).__name__}: {error}"), "why": ""}
        self._send({"n": number, **told})

    async def _open_target(self, number: int, message: dict[str, Any]) -> dict[str, Any]:
        del number
        target = await self._targets.find(message["target"])
        sources = target.sources() if Target in type(target).__mro__ else {}
        return {"traits": traits_object(target.traits), "sources": dict(sources)}

    async def _ask(self, number: int, message: dict[str, Any]) -> dict[str, Any]:
        target = await self._targets.find(message["target"])
        question = self._question(message)
        try:
            tried = await make_attempt(target, question, message["limit_s"], self._calls)
        finally:
            if message["is_alone"] and target.traits.holds_sessions:
                await self._end_alone(message["target"], target, question.session)
        tried = take_own(tried, question, message["target"], self.warn)
        told = attempt_object(tried, self._scrubber.look())
        if tried.answer is not None and told["answer"].get("scrubbed"):
            if len(self._held) >= MOST_HELD:
                del self._held[next(iter(self._held))]
            self._held[number] = tried.answer
        return told

    async def _find_key(self, number: int, message: dict[str, Any]) -> dict[str, Any]:
        del number
        target = await self._targets.find(message["target"])
        key = target.cache_key(self._question(message))
        described = await key if asyncio.iscoroutine(key) else key
        return {"kind": name_of_kind(target), "key": described}

    async def _end_session(self, number: int, message: dict[str, Any]) -> dict[str, Any]:
        del number
        target = await self._targets.find(message["target"])
        error = await self._tear_down(target, str(message["session"]))
        return {} if error is None else {"error": error}

    async def _end_alone(self, name: str, target: Target, session: str) -> None:
        """End a session that was one question: the run doesn't know who has it."""
        error = await self._tear_down(target, session)
        if error is not None:
            self.warn(f"`{name}`: tear-down of a session failed: {error}")

    async def _tear_down(self, target: Target, session: str) -> str | None:
        """Tell a target that a session is over. What is wrong then is returned."""
        outcome = await self._calls.run(partial(target.end_session, session), CLOSE_S, session)
        if outcome.is_late:
            return f"it took more than {CLOSE_S:g} s"
        return None if outcome.error is None else self._scrubber.text(repr(outcome.error))

    async def _grade(self, number: int, message: dict[str, Any]) -> dict[str, Any]:
        case = canonical_case(message["case"])
        question = self._question(message)
        held = message.get("held")
        answer = self._held.pop(held, None) if held is not None else None
        if answer is None:
            answer = decode_object(Answer, message["answer"], "answer")
            if answer.scrubbed:
                raise TargetError(_NOT_AS_IT_WAS)
        asker = partial(self._ask_run, number)
        context = Context(
            case, question, answer, asker=asker, duration_s=message.get("duration_s"),
            turns=message.get("turns", 1),
        )  # fmt: skip
        graded = await grade_answer(
            context, self._graders.of(case), self._calls, self._config.grader_timeout_s
        )
        return grades_object(graded.grades, self._scrubber.look())

    def _question(self, message: dict[str, Any]) -> Question:
        """The question of a message, its files where they are here."""
        question = decode_object(Question, message["question"], "question")
        before, here = self._setting.shipped_from, self._config.root
        if not before or not question.files:
            return question
        files = {
            name: os.path.join(here, os.path.relpath(path, before))
            for name, path in question.files.items()
        }
        return replace(question, files=files)

    def _way(self, what: str) -> Callable[[int, dict[str, Any]], Awaitable[dict[str, Any]]]:
        ways = {
            "open": self._open_target, "ask": self._ask, "key": self._find_key,
            "grade": self._grade, "end": self._end_session,
        }  # fmt: skip
        return ways[what]

    async def _ask_run(
        self, within: int, target: str, messages: Sequence[Message], schema: JSON,
        usable: Usable | None,
    ) -> Answer:  # fmt: skip
        """What a grader asks is asked by the run: at its pace, and on its budget."""
        number = next(self._numbers)
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._asked[number] = answered
        self._send({
            "op": "ask", "n": within, "k": number, "target": target,
            "messages": [message.to_dict() for message in messages], "schema": schema,
            "keep": usable is None,
        })  # fmt: skip
        try:
            return await answered
        finally:
            del self._asked[number]

    def _take_told(self, number: int, message: dict[str, Any]) -> None:
        answered = self._asked.get(number)
        if answered is None or answered.done():
            return
        if "answer" in message:
            answered.set_result(decode_object(Answer, message["answer"], "answer"))
            return
        failure = decode_object(Failure, message["failure"], "failure")
        answered.set_exception(
            TargetError(failure.message, kind=failure.kind, details=failure.details)
        )

    def _make(self, name: str) -> Target:
        surroundings = Surroundings(
            self._config.root, self._environment.variables, self.warn, self._environment.now
        )
        return make_target(
            name, self._config, surroundings,
            no_exec=self._setting.no_exec, of_suite=name in self._setting.of_suite,
        )  # fmt: skip

    def warn(self, text: str) -> None:
        """Tell the run what a person should know."""
        warn_run(text, self._scrubber, self._send)


def make_service(setting: Setting, environment: Environment, send: Send) -> Service:
    """A service of a setting, in the project as it lies here."""
    config = replace(read_config_of(setting.root, setting.cwd), target=setting.default_target)
    # What it warns of is about values, and has none of them in it.
    scrubber = make_scrubber(
        config, environment.variables, lambda text: send({"op": "warn", "text": text})
    )
    around = Surroundings(
        config.root,
        environment.variables,
        lambda text: warn_run(text, scrubber, send),
        environment.now,
    )
    graders = Graders((), around, config=config, no_exec=setting.no_exec)
    return Service(setting, config, environment, scrubber, graders, send)


def warn_run(text: str, scrubber: Scrubber, send: Send) -> None:
    """Tell the run what a person should know."""
    send({"op": "warn", "text": scrubber.text(text)})
