"""Answers each sum after 50 ms. It prints its address, and runs until it is ended."""

from __future__ import annotations

import asyncio
import json
import re

from aiohttp import web

from benchmarks.serving import serve
from benchmarks.sums import SLOW_S

_SUM = re.compile(r"What is (\d+)\+(\d+)\?")


async def answer(request: web.Request) -> web.Response:
    """The sum in the body, wherever it stands there."""
    found = _SUM.search((await request.read()).decode())
    assert found is not None
    await asyncio.sleep(SLOW_S)
    return web.Response(
        text=json.dumps({"answer": str(int(found[1]) + int(found[2]))}),
        content_type="application/json",
    )


if __name__ == "__main__":
    serve(answer, "/", "/")
