"""A program that is started once and answers many questions: for those that are slow to start.

It is given one JSON object per line on stdin, the same that a command is given, and answers each
with one line on stdout, before it is given the next:

    {"id": "x17", "case": "greeting", "input": [{"role": "user", "content": "Hi"}], …}
    {"id": "x17", "answer": "Hello!", "usage": {…}, "cost_usd": 0.001}

`id` is new for every question, whatever its suite, case, repeat and attempt, and comes back with
the reply. `answer` is read by the rule of `answers`; `usage` and `cost_usd` may be left out.
`{"id": …, "error": "…"}` says that there is no answer, and the worker goes on. A worker that ends,
or writes anything else, or is over its time, costs the trial it was at; the next is given to a new
process. So does one that wrote a line before it was asked, or a second line for a question before:
that is never another trial's answer. Stderr is free for anything. At the end of stdin it has a
second to end by itself.
"""

from __future__ import annotations

import asyncio
import json
from itertools import count

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.model.question import Question
from evalcase.model.target import Warn
from evalcase.system.processes.process import Process
from evalcase.targets.asking.shown import describe_question
from evalcase.targets.process.program import Program
from evalcase.targets.reading.answers import read_json, with_extras
from evalcase.targets.reading.outputs import excerpt
from evalcase.text.strict_json import BadJsonError, parse_json

_CLOSE_S = 1.0
_SHOWN_CHARACTERS = 200
_READ = frozenset({"id", "case", "answer", "usage", "token_usage", "cost_usd", "duration_ms"})


class Workers:
    """Up to so many processes, started when they are needed; each at one question at a time."""

    def __init__(self, program: Program, most: int, warn: Warn) -> None:
        self._program = program
        self._warn = warn
        self._free = asyncio.Semaphore(most)
        self._idle: list[Process] = []
        self._numbers = count(1)

    async def answer(self, question: Question) -> Answer:
        async with self._free:
            process = await self._take()
            try:
                id = f"x{next(self._numbers)}"
                reply = await _exchange(process, {**describe_question(question), "id": id}, id)
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
        program = self._program
        argv = program.template.fill_texts({})
        if program.shell:
            argv = ["/bin/sh", "-c", *argv]
        process = Process(argv, program.cwd, program.variables(), program.max_output_bytes)
        await process.start(with_stdin=True)
        return process


async def _exchange(process: Process, given: dict[str, object], id: str) -> dict[str, JSON]:
    if process.unread:
        raise _odd(process, "the worker wrote a line before it was asked", process.unread)
    process.write(json.dumps(given).encode() + b"\n")
    data, truncated = await process.read_line()
    if truncated and not data.endswith(b"\n"):
        raise _odd(process, f"the worker's reply is longer than {len(data)} bytes", data)
    if not data.endswith(b"\n"):
        await process.wait()
        raise process.failure("the worker ended without an answer: it", data)
    try:
        reply = parse_json(data)
    except BadJsonError as error:
        why = f"the worker's reply is not JSON ({error}); logs go to stderr"
        raise _odd(process, why, data) from None
    if not isinstance(reply, dict) or ("answer" in reply) == ("error" in reply):
        raise _odd(process, "the worker's reply has not one of `answer` and `error`", data)
    if reply.get("id") != id:
        why = f"the worker's reply has the id {reply.get('id')!r:.80}, not {id!r}"
        raise _odd(process, why, data)
    return reply


def _odd(process: Process, what: str, data: bytes) -> TargetError:
    line = excerpt(data.split(b"\n", 1)[0]).strip()
    shown = line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}…"
    details = {**process.details(), "output": excerpt(data)}
    return TargetError(f"{what}: {shown}", kind="protocol", details=details)


def _read_reply(reply: dict[str, JSON], warn: Warn) -> Answer:
    if "error" in reply:
        text = str(reply["error"]).encode(errors="backslashreplace").decode()
        raise TargetError(f"the worker says: {text}")
    if reply["answer"] is None:
        raise TargetError("the worker's answer is null, which is none", kind="protocol")
    for name in reply.keys() - _READ:
        warn(f"{name!r} in a worker's reply is not read")
    answer = read_json(reply["answer"], warn)
    beside = with_extras(answer.messages, reply, warn)
    return Answer(
        answer.messages, answer.usage or beside.usage,
        beside.cost_usd if answer.cost_usd is None else answer.cost_usd, answer.truncated,
    )  # fmt: skip
