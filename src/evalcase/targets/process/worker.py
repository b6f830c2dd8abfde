"""A program that is started once and answers many questions: for those that are slow to start.

It is given one JSON object per line on stdin, the same that a command is given, and answers each
with one line on stdout, before it is given the next:

    {"id": "x17", "case": "greeting", "input": [{"role": "user", "content": "Hi"}], …}
    {"id": "x17", "answer": "Hello!", "usage": {…}, "cost_usd": 0.001}

`id` is new for every question, whatever its suite, case, repeat and attempt, and comes back with
the reply. `session` is new for every trial, and `turn` counts the questions of a conversation; with
`stateless = false` all of one session go to the same process. With `trace = true` there is a
`traceparent`, of which the spans of this question are to be a part. `answer` is read by the rule of
`answers`, with the `tool_calls` beside a text; `usage` and `cost_usd` may be left out. `{"id": …,
"error": "…"}` says that there is no answer, and the worker goes on. A worker that ends, or writes
anything else, or is over its time, costs the trial it was at; the next is given to a new process.
So does one that wrote a line before it was asked, or a second line for a question before: that is
never another trial's answer, and where no question follows, it is warned of. Stderr is free for
anything. At the end of stdin it has a second to end by itself.
"""

from __future__ import annotations

import asyncio

from evalcase.errors import TargetError
from evalcase.targets.asking.shown import describe_question
from evalcase.targets.process.program import Program
from evalcase.targets.reading.replies import note_unread, put_together
from evalcase.targets.reading.shaped import read_json, with_extras
from evalcase.tracing.context import HEADER, TraceContext
from evalcase.types.answer import Answer
from evalcase.types.question import Question
from evalcase.types.target import Warn
from evalcase.types.value import JSON
from evalcase.util.calls import CALLS
from evalcase.util.processes import LineWorkers, Process

_READ = frozenset({
    "id", "case", "answer", "usage", "token_usage", "cost_usd", "duration_ms", *CALLS,
})  # fmt: skip


class Workers:
    """Up to so many processes, started when they are needed; each at one question at a time."""

    def __init__(self, program: Program, most: int, warn: Warn) -> None:
        self._program = program
        self._warn = warn
        self._free = asyncio.Semaphore(most)
        self._workers = LineWorkers(self._make, _object_to_reply, warn)

    async def answer(
        self, question: Question, session: str | None, trace: TraceContext | None = None
    ) -> Answer:
        """The answer of any process; or, where there is a session, of the one that has it."""
        asked = describe_question(question)
        if trace is not None:
            asked[HEADER] = trace.traceparent
        async with self._free:
            reply = await self._workers.exchange(asked, session)
        return _read_reply(reply, self._warn)

    def end_session(self, session: str) -> None:
        self._workers.release(session)

    async def close(self) -> None:
        await self._workers.close()

    def _make(self) -> Process:
        program = self._program
        argv = program.template.fill_texts({})
        if program.shell:
            argv = ["/bin/sh", "-c", *argv]
        return Process(argv, program.cwd, program.variables(), program.max_output_bytes)


def _object_to_reply(reply: dict[str, JSON]) -> str | None:
    is_one = ("answer" in reply) != ("error" in reply)
    return None if is_one else "must have either `answer` or `error`"


def _read_reply(reply: dict[str, JSON], warn: Warn) -> Answer:
    if "error" in reply:
        text = str(reply["error"]).encode(errors="backslashreplace").decode()
        raise TargetError(f"the worker says: {text}")
    if reply["answer"] is None:
        raise TargetError("the worker's answer is null", kind="protocol")
    for name in reply.keys() - _READ:
        warn(f"{name!r} in a worker's reply is not read")
    answer = read_json(put_together(reply["answer"], reply), warn)
    beside = with_extras(answer.messages, reply, warn)
    dropped = {name: item for name, item in reply.items() if name != "answer"}
    return Answer(
        note_unread(answer.messages, dropped), answer.usage or beside.usage,
        beside.cost_usd if answer.cost_usd is None else answer.cost_usd, answer.truncated,
    )  # fmt: skip
