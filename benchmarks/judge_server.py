"""A model that always finds what it is asked for, by OpenAI's chat API. It prints its address, and
runs until it is ended."""

from __future__ import annotations

import json

from aiohttp import web

from benchmarks.serving import serve

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


if __name__ == "__main__":
    serve(answer, "/v1/chat/completions", "/v1")
