"""Questions of a target that answers in batches: all are sent before the first trial, and waited
for. The record knows of a batch before the service does, so that none is paid for twice."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from functools import partial
from itertools import chain
from typing import TypeVar

from evalcase.errors import TargetError
from evalcase.runner.plan import Plan
from evalcase.runner.resume import Pending
from evalcase.runner.schedule import Engine
from evalcase.runner.trials import Trials
from evalcase.store.journal import RunWriter
from evalcase.targets.batch import BatchedQuestion, ChatBatches, DraftFile
from evalcase.types.result import Trial
from evalcase.types.target import SentBatch
from evalcase.types.value import replace
from evalcase.util.environment import stamp

T = TypeVar("T")
_MOST_FAILURES = 10
"""How often in a row a service may fail to say how far a batch is."""
_GONE = (404, 410)
_AT_ONCE = 50
"""Questions that are written before others get their turn."""


async def send_batches(
    plan: Plan, run: str, work: Pending, writer: RunWriter, trials: Trials, engine: Engine
) -> None:
    """Send all questions that are left to targets that answer in batches, and wait for answers."""
    batches = _Batches(plan, run, writer, trials, engine)
    for name, target in plan.targets.items():
        batching = target.traits.batching
        if batching is not None and not engine.stopping:
            left = work.left_to_ask(name, engine)
            await engine.before(batches.run(name, batching, work.find_batches(name), left))


class _Batches:
    """Sends what is left to ask, and waits until all of it is answered."""

    def __init__(
        self, plan: Plan, run: str, recording: RunWriter, trials: Trials, engine: Engine
    ) -> None:
        self._plan = plan
        self._run = run
        self._recording = recording
        self._trials = trials
        self._engine = engine
        self._left: list[str] = []
        """Batches under way."""

    async def run(
        self, name: str, batching: ChatBatches, sent: list[SentBatch], trials: Iterator[Trial]
    ) -> None:
        """Do all of it for one target. What a service refuses stops the run, which can be gone on
        with."""
        batching.begin(self._run)
        self._left.clear()
        try:
            first = next((trial for trial in trials if not trial.case.skip), None)
            if first is None:
                return
            if self._plan.options.max_cost_usd is not None:
                self._plan.warn(f"`{name}`: the spending cap can't stop a batch that was sent")
            for each in sent:
                await self._pick_up(name, batching, each)
            async with aclosing(self._drafts(batching, first, trials)) as drafts:
                async for draft in drafts:
                    await self._send(name, batching, draft)
            for id in [*self._left]:
                await self._collect(name, batching, id)
        except TargetError as error:
            self._engine.stop(f"`{name}`: {error}")
        finally:
            for id in self._left:
                self._plan.warn(
                    f"`{name}`: batch {id} goes on without evalcase: `evalcase resume {self._run}` "
                    "picks it up, and nothing is paid for twice"
                )

    async def _drafts(
        self, batching: ChatBatches, first: Trial, rest: Iterator[Trial]
    ) -> AsyncGenerator[DraftFile, None]:
        """The questions that no batch has answered yet, so many at once as a service takes."""
        draft = DraftFile(batching.form)
        try:
            async for question in self._questions(batching, first, rest):
                if not draft.add(question):
                    yield draft
                    draft.close()
                    draft = DraftFile(batching.form)
                    draft.add(question)
            if draft.count:
                yield draft
        finally:
            draft.close()

    async def _questions(
        self, batching: ChatBatches, first: Trial, rest: Iterator[Trial]
    ) -> AsyncIterator[BatchedQuestion]:
        for number, trial in enumerate(chain([first], rest)):
            if not number % _AT_ONCE:
                await asyncio.sleep(0)
            question = self._trials.question(trial)
            if question is None or await self._trials.is_cached(trial.target, question):
                continue
            try:
                written = await batching.write(question)
            except TargetError:
                continue  # its trial says so
            if not batching.has_answer(written.id):
                yield written

    async def _send(self, name: str, batching: ChatBatches, draft: DraftFile) -> None:
        tag = f"{self._run}-{os.urandom(6).hex()}"
        sent = SentBatch(name, tag, draft.count, stamp())
        await self._recording.write(sent)
        id, failures = None, 0
        while id is None:
            try:
                id = await batching.send(draft, tag)
            except TargetError as error:
                failures += 1
                await self._rest(error, failures, batching)
                # The service may have it, although its reply was lost.
                if await self._pick_up(name, batching, sent):
                    return
        await self._recording.write(replace(sent, id=id))
        self._left.append(id)
        count = "1 question is" if draft.count == 1 else f"{draft.count:,} questions are"
        self._plan.note(f"`{name}`: {count} sent as batch {id}; answers may take a day")

    async def _pick_up(self, name: str, batching: ChatBatches, sent: SentBatch) -> bool:
        """Have the answers of a batch that was sent before, if it is there."""
        async with aclosing(_find_ids(batching, sent)) as ids:
            async for id in ids:
                known = "is picked up again" if sent.id else "may be the one that was sent before"
                self._plan.note(f"`{name}`: batch {id} {known}")
                try:
                    if not await self._collect(name, batching, id):
                        continue  # it belongs to another run, or was refused as a whole
                except TargetError as error:
                    if error.details.get("status") not in _GONE:
                        raise
                    self._plan.warn(
                        f"`{name}`: batch {id} no longer exists, and is sent again: {error}"
                    )
                    self._left.remove(id)
                    continue
                if sent.id is None:
                    await self._recording.write(replace(sent, id=id))
                return True
        return False

    async def _collect(self, name: str, batching: ChatBatches, id: str) -> int:
        """Wait for a batch, say now and then how far it is, and get its answers. Return how many
        there are."""
        if id not in self._left:
            self._left.append(id)
        told = -1
        while True:
            look = await self._persist(batching, partial(batching.look, id))
            tenth = 10 * look.answered // look.questions if look.questions else 0
            if tenth > told or look.is_over:
                told = tenth
                how = f"{look.answered:,} of {look.questions:,} answered, {look.status}"
                self._plan.note(f"`{name}`: batch {id}: {how}")
            if look.is_over:
                break
            await self._engine.sleep(batching.poll_s)
        count = await self._persist(batching, partial(batching.fetch, id))
        self._left.remove(id)
        return count

    async def _persist(self, batching: ChatBatches, do: Callable[[], Awaitable[T]]) -> T:
        """Repeat a request that may succeed later, and changes nothing."""
        failures = 0
        while True:
            try:
                return await do()
            except TargetError as error:
                failures += 1
                await self._rest(error, failures, batching)

    async def _rest(self, error: TargetError, failures: int, batching: ChatBatches) -> None:
        """Wait until something may be tried again. Raise the error if it may not."""
        if not error.may_succeed_later or failures >= _MOST_FAILURES:
            raise error
        wait_s = batching.poll_s if error.retry_after_s is None else error.retry_after_s
        await self._engine.sleep(wait_s)


async def _find_ids(batching: ChatBatches, sent: SentBatch) -> AsyncGenerator[str, None]:
    """The id of a batch at its service; the ids that it may have, where the reply was lost."""
    if sent.id is not None:
        yield sent.id
        return
    async for id in batching.find(sent):
        yield id
