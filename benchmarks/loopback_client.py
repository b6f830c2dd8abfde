"""The least that a client does: `python -m benchmarks.loopback_client URL REQUESTS AT_ONCE`."""

from __future__ import annotations

import asyncio
import json
import sys
import time


async def ask(url: str, count: int, at_once: int) -> int:
    """Post so many sums, and count the answers that are right."""
    from aiohttp import ClientSession, TCPConnector

    numbers, right = iter(range(count)), 0

    async def work(session: ClientSession) -> None:
        nonlocal right
        for number in numbers:
            question = {"input": f"What is {number}+{number + 1}?"}
            async with session.post(url, json=question) as response:
                answer = json.loads(await response.read())["answer"]
            right += answer == f"{2 * number + 1}"

    async with ClientSession(connector=TCPConnector(limit=at_once)) as session:
        await asyncio.gather(*(work(session) for _ in range(at_once)))
    return right


def main() -> None:
    """Ask, and print how long it took."""
    url, count, at_once = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    started = time.perf_counter()
    right = asyncio.run(ask(url, count, at_once))
    assert right == count, right
    print(json.dumps({"wall_s": time.perf_counter() - started}))


if __name__ == "__main__":
    main()
