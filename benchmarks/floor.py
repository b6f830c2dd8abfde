"""The least that a durable run of sums has to do: `python floor.py FOLDER`.

Read and check every case, ask a function, compare, keep each case and each result in a file with a
checksum and a shared fsync, count. What evalcase takes beyond this is what it adds.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from hashlib import sha256
from importlib import import_module
from queue import SimpleQueue
from typing import Any

AT_ONCE, MOST_AHEAD = 10, 90
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


class Floor:
    """One run: a writer in a thread, workers in an event loop."""

    def __init__(self, ask: Callable[[str], Awaitable[str]]) -> None:
        self.ask = ask
        self.lines: SimpleQueue[bytes | None] = SimpleQueue()
        self.file = os.open("floor.jsonl", os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_WRONLY)
        self.ahead = 0
        self.passed = 0
        self.waiting: list[asyncio.Future[None]] = []

    async def run(self) -> int:
        """Everything, until the last line is on disk."""
        self.loop = asyncio.get_running_loop()
        writer = threading.Thread(target=self.write)
        writer.start()
        stream = read_cases()
        await asyncio.gather(*(self.work(stream) for _ in range(AT_ONCE)))
        self.lines.put(None)
        writer.join()
        return self.passed

    def write(self) -> None:
        """Take all lines that wait, write them at once, sync once."""
        more = True
        while more:
            group = [self.lines.get()]
            while not self.lines.empty():
                group.append(self.lines.get())
            more = group[-1] is not None
            lines = [line for line in group if line is not None]
            if lines:
                os.write(self.file, b"".join(lines))
                os.fsync(self.file)
                self.loop.call_soon_threadsafe(self.deliver, len(lines))

    def deliver(self, count: int) -> None:
        """So many results are on disk."""
        self.ahead -= count
        while self.waiting:
            waiting = self.waiting.pop()
            if not waiting.done():
                waiting.set_result(None)

    async def work(self, stream: Iterator[dict[str, Any]]) -> None:
        """Trials one after the other."""
        for case in stream:
            started, clock = time.time(), time.perf_counter()
            async with asyncio.timeout(120):
                answer = await self.ask(case["input"])
            equal = answer == case["expected_output"]
            self.passed += equal
            self.lines.put(signed({"type": "case", "data": case}) + signed({
                "type": "result", "suite": "sums", "case": case["id"], "target": "t", "repeat": 1,
                "hashes": [short_hash(case["input"]), short_hash(case["expected_output"])],
                "verdict": "passed" if equal else "failed",
                "answer": {"messages": [{"role": "assistant", "content": answer}]},
                "grades": [{"grader": "expected", "score": float(equal), "passed": equal}],
                "started_at": started, "duration_s": round(time.perf_counter() - clock, 6),
            }))  # fmt: skip
            self.ahead += 1
            await asyncio.sleep(0)
            while self.ahead > MOST_AHEAD:
                self.waiting.append(self.loop.create_future())
                await self.waiting[-1]


def read_cases() -> Iterator[dict[str, Any]]:
    """The cases of the file; an id that is there twice is refused."""
    seen: set[str] = set()
    with open("sums.eval.jsonl", "rb") as file:  # noqa: PTH123 - as little as can be
        for line in file:
            case = json.loads(line)
            if case["id"] in seen:
                raise ValueError(case["id"])
            seen.add(case["id"])
            yield case


def signed(row: dict[str, Any]) -> bytes:
    """A row as a line that can be verified."""
    body = _to_json(row).encode()[:-1]
    return b'%b,"sum":"%b"}\n' % (body, sha256(body).hexdigest()[:16].encode())


def short_hash(text: str) -> str:
    """A name for a text."""
    return sha256(text.encode()).hexdigest()[:16]


def main() -> None:
    """Check every case first, then run them."""
    os.chdir(sys.argv[1])
    sys.path.insert(0, ".")
    ask = import_module("adding").add
    for _ in read_cases():
        pass
    print(asyncio.run(Floor(ask).run()))


if __name__ == "__main__":
    main()
