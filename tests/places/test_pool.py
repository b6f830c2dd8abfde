"""Who of the workers does what where machines are few: the pool alone, with workers that are not
there."""

from __future__ import annotations

import asyncio
from typing import Any

from evalcase.places.channel import Hearer
from evalcase.places.pool import Pool, Room


class Scripted:
    """A worker that starts when the test says so, and answers when it does."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.hearer: Hearer | None = None

    async def start(self, listener: Hearer) -> None:
        self.hearer = listener

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    def kill(self, why: str) -> None:
        self.end(why)

    async def close(self, grace_s: float) -> None:
        del grace_s

    def memory_bytes(self) -> int | None:
        return None

    def be_ready(self) -> None:
        assert self.hearer is not None
        self.hearer.take(self, {"op": "ready"})

    def answer(self) -> None:
        """Answer all that it was asked."""
        assert self.hearer is not None
        asked, self.sent = self.sent, []
        for message in asked:
            if "n" in message:
                self.hearer.take(self, {"n": message["n"]})

    def end(self, how: str) -> None:
        assert self.hearer is not None
        self.hearer.lose(self, how)

    def texts(self) -> list[str]:
        return [str(message.get("text")) for message in self.sent if "n" in message]


async def _pool(size: int, share: int) -> tuple[Pool, list[Scripted]]:
    made: list[Scripted] = []

    def make() -> Scripted:
        made.append(Scripted())
        return made[-1]

    pool = Pool(
        size, make, {"op": "greeting"}, lambda *_: None, lambda _: None, room=Room(size, share)
    )
    pool.open()
    await asyncio.sleep(0)
    return pool, made


def _ask(text: str) -> dict[str, Any]:
    return {"op": "ask", "text": text}


def test_what_is_to_be_alone_waits_for_no_machine_that_never_comes() -> None:
    """Of three workers one ends with its node, and there is no other node for it."""

    async def go() -> None:
        pool, (first, second, third) = await _pool(3, 1)
        for worker in (first, second, third):
            worker.be_ready()
        lost, kept = pool.ask(_ask("lost")), pool.ask(_ask("kept"))
        first.end("its node is gone")
        assert lost.done.done() is False
        assert "lost" in third.texts()  # it was idle, and is alone now
        third.answer()
        second.answer()
        await asyncio.gather(lost.done, kept.done)
        await pool.close(0)

    asyncio.run(go())


def test_a_worker_is_let_come_to_its_end_for_what_is_to_be_alone() -> None:
    async def go() -> None:
        pool, (first, second) = await _pool(2, 2)
        first.be_ready()
        second.be_ready()
        tasks = [pool.ask(_ask(f"{number}")) for number in range(4)]
        first.end("killed")
        more = pool.ask(_ask("later"))
        judged = pool.ask(_ask("judge"), is_within=True)
        assert second.texts() == ["1", "3", "judge"]
        second.answer()
        assert second.texts() == ["0"]
        second.answer()
        assert second.texts() == ["2"]
        second.answer()
        assert second.texts() == ["later"]
        second.answer()
        await asyncio.gather(*(each.done for each in [*tasks, more, judged]))
        await pool.close(0)

    asyncio.run(go())


def test_only_who_answers_what_nobody_asked_is_ended() -> None:
    """An answer to what was dropped meanwhile may be under way."""

    async def go() -> None:
        pool, (first, second) = await _pool(2, 1)
        first.be_ready()
        second.be_ready()
        dropped, kept = pool.ask(_ask("dropped")), pool.ask(_ask("kept"))
        pool.drop(dropped)
        pool.take(first, {"n": dropped.number})
        first.sent.clear()
        pool.ask(_ask("more"))
        assert first.texts() == ["more"]
        pool.take(second, {"n": kept.number + 1})
        assert (kept.done.done(), kept.worker) == (False, None)  # it waits to be done alone
        first.answer()
        assert first.texts() == ["kept"]
        first.answer()
        await kept.done
        await pool.close(0)

    asyncio.run(go())
