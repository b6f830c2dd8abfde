"""Servers that benchmarks talk to: each a module that serves one route, in a process of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from aiohttp import web

Answer = Callable[[web.Request], Awaitable[web.Response]]


def serve(answer: Answer, route: str, base: str) -> None:
    """Serve on a free port until the process is ended; print the address, with `base` after it."""
    asyncio.run(_serve(answer, route, base))


async def _serve(answer: Answer, route: str, base: str) -> None:
    application = web.Application()
    application.router.add_post(route, answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    _, port = runner.addresses[0][:2]
    print(f"http://127.0.0.1:{port}{base}", flush=True)
    await asyncio.Event().wait()


@contextmanager
def started(module: str) -> Iterator[str]:
    """A server while it runs, by its address."""
    command = [sys.executable, "-m", module]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()
