"""A program that is started once and answers many cases: for those that are slow to start.

It is given one JSON object per line on stdin, the same that a command is given, and answers each
with one line on stdout, before it is given the next:

    {"id": "greeting", "input": [{"role": "user", "content": "Hi"}], …}
    {"id": "greeting", "answer": "Hello!", "usage": {…}, "cost_usd": 0.001}

`answer` is read by the rule of `answers`; `usage` and `cost_usd` may be left out. `{"id": …,
"error": "…"}` says that there is no answer, and the worker goes on. A worker that ends, or writes
anything else, or is over its time, costs the trial it was at; the next is given to a new process.
Stderr is free for anything. At the end of stdin it has a second to end by itself.
"""

from __future__ import annotations

import asyncio
import json
import os

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.model.trial import Trial
from evalcase.system.processes.process import Process
from evalcase.targets import Warn
from evalcase.targets.process.command_options import CommandOptions
from evalcase.targets.reading.answers import read_json, with_extras
from evalcase.targets.reading.outputs import excerpt
from evalcase.targets.shown import request
from evalcase.text.strict_json import BadJsonError, parse_json

_CLOSE_S = 1.0


class Workers:
    """Up to so many processes, started when they are needed; each at one trial at a time."""

    def __init__(self, options: CommandOptions, warn: Warn) -> None:
        assert options.workers is not None
        self._options = options
        self._warn = warn
        self._free = asyncio.Semaphore(options.workers)
        self._idle: list[Process] = []

    async def answer(self, trial: Trial) -> Answer:
        async with self._free:
            process = await self._take()
            try:
                reply = await _ask(process, request(trial))
            except BaseException:
                await process.end()
                raise
            self._idle.append(process)
        return _read_reply(reply, self._warn)

    async def close(self) -> None:
        idle, self._idle = self._idle, []
        try:
            for process in idle:
                process.close_stdin()
            async with asyncio.timeout(_CLOSE_S):
                for process in idle:
                    await process.wait()
        except TimeoutError:
            return  # ended below
        finally:
            await asyncio.gather(*(process.end() for process in idle))

    async def _take(self) -> Process:
        while self._idle:
            process = self._idle.pop()
            if not process.has_ended:
                return process
            await process.end()
        argv = self._options.template.fill_texts({})
        if self._options.shell:
            argv = ["/bin/sh", "-c", *argv]
        env = {**os.environ, **self._options.env}
        process = Process(argv, self._options.cwd, env, self._options.max_output_bytes)
        await process.start(with_stdin=True)
        return process


async def _ask(process: Process, question: dict[str, object]) -> dict[str, JSON]:
    process.write(json.dumps(question).encode() + b"\n")
    data, truncated = await process.read_line()
    if truncated and not data.endswith(b"\n"):
        raise _odd(process, f"is longer than {len(data)} bytes", data)
    if not data.endswith(b"\n"):
        await process.wait()
        raise process.failure("the worker ended without an answer: it", data)
    try:
        reply = parse_json(data)
    except BadJsonError as error:
        raise _odd(process, f"is not JSON ({error}); logs go to stderr", data) from None
    if not isinstance(reply, dict) or ("answer" in reply) == ("error" in reply):
        raise _odd(process, "has not one of `answer` and `error`", data)
    if reply.get("id") != question["id"]:
        raise _odd(process, f"has the id {reply.get('id')!r}, not {question['id']!r}", data)
    return reply


def _odd(process: Process, what: str, data: bytes) -> TargetError:
    details = {**process.details(), "output": excerpt(data)}
    return TargetError(f"the worker's reply {what}", kind="protocol", details=details)


def _read_reply(reply: dict[str, JSON], warn: Warn) -> Answer:
    if "error" in reply:
        text = str(reply["error"]).encode(errors="backslashreplace").decode()
        raise TargetError(f"the worker says: {text}")
    if reply["answer"] is None:
        raise TargetError("the worker's answer is null, which is none", kind="protocol")
    for name in reply.keys() - {"id", "answer", "usage", "token_usage", "cost_usd", "duration_ms"}:
        warn(f"{name!r} in a worker's reply is not read")
    answer = read_json(reply["answer"], warn)
    beside = with_extras(answer.messages, reply, warn)
    return Answer(
        answer.messages, answer.usage or beside.usage,
        beside.cost_usd if answer.cost_usd is None else answer.cost_usd, answer.truncated,
    )  # fmt: skip
