"""Any program as a grader: it is given a trial as JSON on stdin, and replies with a score.

What it is given, with the keys of users untouched:

    case, suite, repeat      which trial it is
    question, input          the last text of the user; all messages
    criteria                 what a good answer does, or null
    expected_output          messages, or null
    answer, messages         the answer as text; all messages of it
    tool_calls               {tool, input, …}, of all messages
    unread_calls             what else in the answer looks like a call, in words
    usage, cost_usd, duration_s, metadata, config
    workspace, changes       where a coding agent worked, and what it changed; or null
    results                  the grades of the graders in `of`, by name

Programs that were written for AgentV find the names that its releases had: `candidate_answer`,
`input_messages`, `actual_output`, `output` and others.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, ValidationError, convert, field

from evalcase.errors import ConfigError, GraderError, TargetError
from evalcase.graders.base import Context, Grader, Graders, NamedGrader
from evalcase.graders.differences import expected_content
from evalcase.graders.tool_calls import failed_calls
from evalcase.types.grade import Grade, Score
from evalcase.types.options import Argv, Count, TargetName, Text, about
from evalcase.types.problem import Finding
from evalcase.types.target import Surroundings
from evalcase.types.value import JSON, encode_object
from evalcase.util.calls import list_unread_calls
from evalcase.util.code import program_sources
from evalcase.util.json import BadJsonError, parse_json
from evalcase.util.processes import LineWorkers, Process
from evalcase.util.project import find_program
from evalcase.util.text import content_text, shorten_text
from evalcase.util.user_calls import close_all

_MOST_BYTES = 10_000_000
_SHOWN = 200
_MOST_CALLS = 50


class ScriptGrader(Grader):
    name = "script"
    description = "Graded by a program, which reads the trial from stdin and prints a score."
    argument = "value"
    runs_code = True
    workspace = "files"
    example = "- script: [python3, evals/polite.py]"

    value: Annotated[
        Argv,
        about(
            "The program and its arguments. It runs in the project folder, without a shell.",
            elsewhere=("command", "cmd"),
        ),
    ]
    mode: Annotated[
        Literal["once", "worker"],
        about("Started for each answer, or a `worker` that reads lines."),
    ] = "once"
    cwd: Annotated[Text | None, about("The folder to run it in, from the project folder.")] = None
    memory_mb: Annotated[Count | None, about("The memory limit of each process.")] = None
    config: Annotated[
        dict[str, JSON] | None, about("Further data for the program.", words="a mapping")
    ] = None
    target: Annotated[
        TargetName | None, about("A target it may ask; with `max_calls`, that of [judge].")
    ] = None
    max_calls: Annotated[Count | None, about("How often it may ask; 50 by default.")] = None
    of: Annotated[
        Graders | None, about("Graders whose grades it is given.", elsewhere=("graders",))
    ] = None

    surroundings: Surroundings | None = None
    workers: LineWorkers | None = None

    def conflicts(self) -> Iterator[Finding]:
        if not self.value[0]:
            yield Finding(("value", 0), "the program has no name")
        if self.mode == "worker" and (self.target is not None or self.max_calls is not None):
            what = "a worker can't ask a target: each answer has an address of its own"
            yield Finding(("mode",), what, "use `mode: once`")
        if self.cwd is not None and (os.path.isabs(self.cwd) or ".." in self.cwd.split("/")):
            yield Finding(("cwd",), "`cwd` leads out of the project")

    def inner(self) -> tuple[NamedGrader, ...]:
        return self.of or ()

    def asks(self) -> tuple[str, ...]:
        return (*([self.target] if self.target is not None else ()), *super().asks())

    def load(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings
        name = self.value[0]
        if find_program(name, self._folder(), surroundings.environment) is None:
            raise ConfigError(f"grader `script`: there is no program `{name}` to run")
        if self.max_calls is not None and self.target is None:
            what = "`max_calls` needs a `target`, or a [judge] table in evalcase.toml"
            raise ConfigError(f"grader `script`: {what}")
        for each in self.inner():
            each.grader.load(surroundings)

    def sources(self) -> dict[str, str]:
        """The files of the project that it names, and what those in Python import."""
        place = self._place()
        path = place.environment.get("PYTHONPATH", "")
        return program_sources(self.value, self._folder(), place.root, path)

    async def grade(self, context: Context) -> Score:
        given = _describe_trial(context, self.config)
        if self.of is not None:
            grades = await context.grade_with(self.of)
            for each in grades:
                if each.failure is not None:
                    raise GraderError(each.failure.kind, f"`{each.grader}`: {each.reason}")
            given["results"] = {each.grader: _describe_result(each) for each in grades}
        if self.target is not None:
            most = self.max_calls or _MOST_CALLS
            async with _serve_target(self.target, most, context) as variables:
                return await self._run(given, variables)
        if self.mode == "once":
            return await self._run(given, {})
        if self.workers is None:
            self.workers = LineWorkers(self._make, _object_to, self._place().warn)
        return read_script_reply(await self.workers.exchange(given))

    async def close(self) -> None:
        try:
            if self.workers is not None:
                await self.workers.close()
            await close_all(each.grader.close for each in self.inner())
        finally:
            self.workers = None

    async def _run(self, given: Mapping[str, object], variables: Mapping[str, str]) -> Score:
        async with self._make(variables) as process:
            code, stdout = await process.run(json.dumps(given).encode())
            if code != 0:
                raise process.failure("the script", stdout.data)
            try:
                return read_script_reply(parse_json(stdout.data))
            except BadJsonError as error:
                what = f"what the script printed is not JSON ({error}); logs go to stderr"
            except BadScriptReplyError as error:
                what = f"the reply {error}"
            text = stdout.data.decode(errors="backslashreplace")
            shown = shorten_text(text.strip().partition("\n")[0], _SHOWN)
            details = {**process.details(), "output": text[:4000]}
            raise GraderError("grader", f"{what}: {shown}" if shown else what, details)

    def _make(self, variables: Mapping[str, str] | None = None) -> Process:
        argv = list(self.value)
        if self.memory_mb is not None and os.name == "posix":
            limit = f'ulimit -v {self.memory_mb * 1024} && exec "$@"'
            argv = ["/bin/sh", "-c", limit, "sh", *argv]
        environment = {**self._place().environment, **(variables or {})}
        return Process(argv, self._folder(), environment, _MOST_BYTES)

    def _place(self) -> Surroundings:
        assert self.surroundings is not None, "load() comes first"
        return self.surroundings

    def _folder(self) -> str:
        return os.path.normpath(os.path.join(self._place().root, self.cwd or "."))


# A target that the program may ask


@asynccontextmanager
async def _serve_target(
    target: str, max_calls: int, context: Context
) -> AsyncIterator[dict[str, str]]:
    """An address on this machine, by which a program asks a target as often as it may, by the
    protocol that AgentV's scripts speak. It ends with the program, and gives the variables that
    name it."""
    from aiohttp import web  # few scripts ask a target

    token, calls = token_urlsafe(24), 0

    async def ask(asked: Mapping[str, Any]) -> dict[str, JSON]:
        nonlocal calls
        if calls >= max_calls:
            raise ValueError(f"the target was asked {max_calls} times, as `max_calls` says")
        calls += 1
        said = [("system", asked.get("systemPrompt")), ("user", str(asked.get("question", "")))]
        messages = [{"role": role, "content": text} for role, text in said if text]
        answer = await context.ask(target, messages)
        output: list[JSON] = [message.to_dict() for message in answer.messages]
        return {"outputMessages": output, "rawText": answer.text}

    async def reply(path: str, body: bytes) -> dict[str, Any]:
        if path == "/info":
            return {
                "targetName": target, "maxCalls": max_calls, "callCount": calls,
                "availableTargets": [target],
            }  # fmt: skip
        asked = json.loads(body)
        if path == "/invoke":
            return await ask(asked)
        if path != "/invokeBatch":
            raise ValueError(f"there is no {path}, only /info, /invoke and /invokeBatch")
        return {"responses": await asyncio.gather(*map(ask, asked.get("requests", [])))}

    async def handle(request: web.BaseRequest) -> web.Response:
        given = request.headers.get("Authorization", "")
        if not compare_digest(given.encode(), f"Bearer {token}".encode()):
            return web.json_response({"error": "unauthorized"}, status=401)
        try:
            return web.json_response(await reply(request.path, await request.read()))
        except (ValueError, TargetError) as error:
            status = 429 if calls >= max_calls else 502
            return web.json_response({"error": str(error)}, status=status)

    runner = web.ServerRunner(web.Server(handle, access_log=None))
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        named = {"URL": f"http://{host}:{port}", "TOKEN": token}
        prefixes = ("EVALCASE_TARGET", "AGENTV_TARGET_PROXY")
        yield {f"{each}_{name}": value for each in prefixes for name, value in named.items()}
    finally:
        await runner.cleanup()


# What a program is given


def _describe_trial(context: Context, config: Mapping[str, JSON] | None) -> dict[str, object]:
    case, question, answer = context.case, context.question, context.answer
    expected, calls, usage = list(case.expected_output), answer.tool_calls, answer.usage
    space = context.workspace and context.workspace.path
    counts = None if usage is None else {
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
    }  # fmt: skip
    given: dict[str, object] = {
        "case": case.id, "suite": question.suite, "repeat": question.repeat,
        "question": question.text, "input": list(case.input), "criteria": case.criteria,
        "expected_output": expected or None, "answer": answer.text,
        "messages": list(answer.messages), "tool_calls": calls,
        "unread_calls": list_unread_calls(answer, calls), "usage": counts,
        "cost_usd": answer.cost_usd, "duration_s": context.duration_s,
        "metadata": case.metadata, "config": None if config is None else dict(config),
        "workspace": space, "changes": context.changes and encode_object(context.changes),
    }  # fmt: skip
    # The names that AgentV's releases had.
    reference, names = expected_content(case), Counter(call.name for call in calls)
    figures = {
        "token_usage": counts and {name.removesuffix("_tokens"): number
                                   for name, number in counts.items() if number is not None},
        "duration_ms": None if context.duration_s is None else context.duration_s * 1000,
    }  # fmt: skip
    beside = {"cost_usd": answer.cost_usd, **figures}
    return {
        **given, **figures, "expected_outcome": case.criteria, "input_messages": list(case.input),
        "expected_messages": expected, "reference_answer": content_text(reference),
        "workspace_path": space, "file_changes": context.changes and context.changes.diff,
        "candidate_answer": answer.text, "actual_output": answer.text, "output": answer.text,
        "output_messages": list(answer.messages), "guideline_files": [],
        "input_files": list(question.files.values()),
        "trace_summary": {
            "event_count": names.total(), "tool_names": sorted(names),
            "tool_calls_by_name": dict(names), "tool_calls": dict(names),
            "error_count": len(failed_calls(answer)),
            **{name: value for name, value in beside.items() if value is not None},
        },
    }  # fmt: skip


def _describe_result(grade: Grade) -> dict[str, JSON]:
    """A grade, also by the names that AgentV's aggregators read."""
    hits, misses = ([grade.reason], []) if grade.passed else ([], [grade.reason])
    return {
        "score": grade.score, "passed": grade.passed, "reason": grade.reason,
        "verdict": "pass" if grade.passed else "fail", "reasoning": grade.reason,
        "hits": list(hits), "misses": list(misses),
    }  # fmt: skip


# What a program replied. A reply without a clear meaning is an error, never a 0.


class _Check(Struct):
    """One of the `assertions` or `checks` of a reply, of which only the result counts."""

    text: str = ""
    passed: bool | None = None
    passes: bool | None = field(name="pass", default=None)

    @property
    def is_met(self) -> bool | None:
        return self.passes if self.passed is None else self.passed


class _Reply(_Check):
    score: Annotated[float, Meta(ge=0, le=1)] | None = None
    reason: str | None = None
    reasoning: str | None = None
    details: dict[str, Any] | None = None
    assertions: list[_Check] | None = None
    checks: list[_Check] | None = None
    misses: Any = None
    error: Any = None


_READ = ("id", "score", "passed", "pass", "reason", "reasoning", "details")


class BadScriptReplyError(ValueError):
    """A reply that is no score. The message goes on after `the reply `."""


def _object_to(reply: JSON) -> str | None:
    """Why a reply of a worker is no score, or None."""
    try:
        read_script_reply(reply)
    except BadScriptReplyError as error:
        return str(error)
    return None


def read_script_reply(reply: JSON) -> Score:
    """The score of `{"score": 0.5, "passed": false, "reason": "…", "details": {…}}`, where `score`
    or `passed` is needed.

    Replies for AgentV are read, too: `reasoning`, `misses`, `pass`, and lists of `assertions` or
    `checks`, whose share that passed is the score where there is none. Other keys join the details.
    Raise BadScriptReplyError for a reply that says two things, such as a pass with a score of 0.
    """
    if not isinstance(reply, dict):
        raise BadScriptReplyError("is not an object")
    try:
        said = convert(reply, _Reply)
    except ValidationError as error:
        raise BadScriptReplyError(f"is no score: {error}") from None
    if said.error not in (None, False, ""):
        raise BadScriptReplyError(f"says {said.error!r:.200} as its `error`")
    passed, score = said.is_met, said.score
    if said.passes not in (None, passed):
        raise BadScriptReplyError("has `passed` and `pass`, and they differ")
    checks = [*(said.assertions or ()), *(said.checks or ())]
    met = [each.is_met for each in checks]
    if None in met:
        raise BadScriptReplyError("has a check that says not whether it `passed`")
    if score is None and passed is None and not checks:
        raise BadScriptReplyError("has no `score`")
    if score is None:
        score = met.count(True) / len(met) if passed is None else float(passed)
    if passed is not None and score == 1.0 - passed:
        told = "passed" if passed else "did not pass"
        raise BadScriptReplyError(f"says that it {told}, with a score of {score:g}")
    failed = [each.text for each in checks if not each.is_met]
    if failed and score == 1.0:
        raise BadScriptReplyError(f"has a score of 1, and a check that failed: {failed[0]:.80}")
    missed = [*map(str, said.misses)] if isinstance(said.misses, list) else []
    kept = {key: item for key, item in reply.items() if key not in _READ and item is not None}
    told = said.reason or said.reasoning or "; ".join([*missed, *filter(None, failed)])
    return Score(score, told, {**(said.details or {}), **kept}, passed)
