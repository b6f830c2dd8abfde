"""A model that always finds what it is asked for, by OpenAI's chat API. It prints its address, and
runs until it is ended."""

from __future__ import annotations

import asyncio
import json

from aiohttp import web

VERDICT = json.dumps({"c1": {"reason": "It says so.", "verdict": "met"}})
REPLY = json.dumps({
    "model": "always", "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": VERDICT}}
    ],
    "usage": {"prompt_tokens": 500, "completion_tokens": 20, "total_tokens": 520},
})  # fmt: skip


async def answer(request: web.Request) -> web.Response:
    await request.read()
    return web.Response(text=REPLY, content_type="application/json")


async def main() -> None:
    """Serve on a free port."""
    application = web.Application()
    application.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    _, port = runner.addresses[0][:2]
    print(f"http://127.0.0.1:{port}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
