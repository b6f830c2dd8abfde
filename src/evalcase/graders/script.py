"""TODO."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from evalcase.errors import ConfigError, GraderError
from evalcase.graders.base import Context, Grader
from evalcase.graders.differences import expected_content
from evalcase.graders.tool_calls import failed_calls
from evalcase.types.answer import Answer, Usage
from evalcase.types.grade import Score
from evalcase.types.options import Argv, Count, OptionFault, about
from evalcase.types.target import Surroundings
from evalcase.types.value import JSON, describe_kind
from evalcase.util.calls import list_unread_calls
from evalcase.util.json import BadJsonError, parse_json
from evalcase.util.process_tree import close_guard, open_guard
from evalcase.util.processes import LineWorkers, Process
from evalcase.util.project import find_program
from evalcase.util.sources import program_sources
from evalcase.util.text import as_json

# ===== script


_MOST_BYTES = 10_000_000
_SHOWN = 200


class ScriptGrader(Grader):
    """Runs a program for each answer, or keeps it and hands it one after the other."""

    name = "script"
    description = "Graded by a program, which reads the trial from stdin and prints a score."
    argument = "value"
    runs_code = True
    example = "- script: [python3, evals/polite.py]"

    value: Annotated[
        Argv,
        about(
            "The program and its arguments. It runs in the project folder, without a shell.",
            example=["python3", "evals/polite.py"],
            elsewhere=("command", "script", "cmd", "argv"),
        ),
    ]
    mode: Annotated[
        Literal["once", "worker"],
        about(
            "`once` starts it for each answer; a `worker` keeps running, and reads "
            "and writes one line per answer."
        ),
    ] = "once"
    memory_mb: Annotated[
        Count | None,
        about("The memory limit of each process, where the system supports it.", example=500),
    ] = None
    config: Annotated[
        dict[str, JSON] | None,
        about("Further data for the program, passed as `config`.", words="a mapping"),
    ] = None
    surroundings: Surroundings | None = None
    workers: LineWorkers | None = None
    has_adopted: bool = False

    def conflicts(self) -> Iterator[OptionFault]:
        if not self.value[0]:
            yield OptionFault(("value", 0), "the program has no name")

    def load(self, surroundings: Surroundings) -> None:
        """Raise ConfigError if there is no such program."""
        self.surroundings = surroundings
        name = self.value[0]
        if find_program(name, surroundings.root, surroundings.environment) is None:
            raise ConfigError(f"grader `script`: there is no program `{name}` to run")

    def sources(self) -> dict[str, str]:
        """The files of the project that it names, and what those in Python import."""
        place = self._place()
        path = place.environment.get("PYTHONPATH", "")
        return program_sources(self.value, place.root, place.root, path)

    async def grade(self, context: Context) -> Score:
        if not self.has_adopted:
            self.has_adopted = True
            open_guard()
        given = describe_trial(context, self.config)
        if self.mode == "once":
            return await self._run(given)
        if self.workers is None:
            self.workers = LineWorkers(self._make, _object_to, self._place().warn)
        return read_script_reply(await self.workers.exchange(given))

    async def close(self) -> None:
        try:
            if self.workers is not None:
                await self.workers.close()
        finally:
            self.workers = None
            if self.has_adopted:
                self.has_adopted = False
                close_guard()

    async def _run(self, given: Mapping[str, object]) -> Score:
        async with self._make() as process:
            code, stdout = await process.run(json.dumps(given).encode())
            if code != 0:
                raise process.failure("the script", stdout.data)
            try:
                reply = parse_json(stdout.data)
                if not isinstance(reply, dict):
                    raise BadScriptReplyError("is not an object")
                return read_script_reply(reply)
            except BadJsonError as error:
                why = f"what the script printed is not JSON ({error}); logs go to stderr"
                raise _make_odd_error(process, why, stdout.data) from None
            except BadScriptReplyError as error:
                raise _make_odd_error(process, f"the reply {error}", stdout.data) from None

    def _make(self) -> Process:
        place = self._place()
        argv = list(self.value)
        if self.memory_mb is not None and os.name == "posix":
            limit = f'ulimit -v {self.memory_mb * 1024} && exec "$@"'
            argv = ["/bin/sh", "-c", limit, "sh", *argv]
        return Process(argv, place.root, place.environment, _MOST_BYTES)

    def _place(self) -> Surroundings:
        assert self.surroundings is not None, "load() comes first"
        return self.surroundings


def _object_to(reply: dict[str, JSON]) -> str | None:
    """Why a reply of a worker is no score, or None."""
    try:
        read_script_reply(reply)
    except BadScriptReplyError as error:
        return str(error)
    return None


def _make_odd_error(process: Process, what: str, printed: bytes) -> GraderError:
    text = printed.decode(errors="backslashreplace")
    line = text.strip().partition("\n")[0]
    shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
    details = {**process.details(), "output": text[:4000]}
    return GraderError("grader", f"{what}: {shown}" if shown else what, details)


# ===== script_protocol/given


def describe_trial(context: Context, config: Mapping[str, JSON] | None) -> dict[str, object]:
    """The object for one trial."""
    case, question, answer = context.case, context.question, context.answer
    expected, calls = list(case.expected_output) or None, answer.tool_calls
    given: dict[str, object] = {
        "case": case.id, "suite": question.suite, "repeat": question.repeat,
        "question": question.text, "input": list(case.input), "criteria": case.criteria,
        "expected_output": expected, "answer": answer.text, "messages": list(answer.messages),
        "tool_calls": calls, "unread_calls": list_unread_calls(answer, calls),
        "usage": _write_usage(answer.usage), "cost_usd": answer.cost_usd,
        "duration_s": context.duration_s,
        "metadata": case.metadata, "config": None if config is None else dict(config),
    }  # fmt: skip
    return given | _for_agentv(context, expected)


def _for_agentv(context: Context, expected: object) -> dict[str, object]:
    case, answer = context.case, context.answer
    took_ms = None if context.duration_s is None else context.duration_s * 1000
    return {
        "expected_outcome": case.criteria, "input_messages": list(case.input),
        "expected_messages": expected or [], "reference_answer": _write_reference(context),
        "candidate_answer": answer.text, "actual_output": answer.text, "output": answer.text,
        "output_messages": list(answer.messages), "guideline_files": [],
        "input_files": list(context.question.files.values()),
        "trace_summary": _write_summary(answer, took_ms),
        "token_usage": _agentv_usage(answer.usage),
        "duration_ms": took_ms,
    }  # fmt: skip


def _write_reference(context: Context) -> str:
    content = expected_content(context.case)
    if content is None:
        return ""
    return content if isinstance(content, str) else as_json(content, indent=2)


def _write_usage(usage: Usage | None) -> dict[str, int | None] | None:
    if usage is None:
        return None
    return {
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
    }  # fmt: skip


def _agentv_usage(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    counts = (("input", usage.input_tokens), ("output", usage.output_tokens),
              ("cached", usage.cached_tokens))  # fmt: skip
    return {name: number for name, number in counts if number is not None}


def _write_summary(answer: Answer, took_ms: float | None) -> dict[str, object]:
    calls = answer.tool_calls
    names = Counter(call.name for call in calls)
    summary: dict[str, object] = {
        "event_count": len(calls), "tool_names": sorted(names),
        "tool_calls_by_name": dict(names), "tool_calls": dict(names),
        "error_count": sum(1 for _ in failed_calls(answer)),
    }  # fmt: skip
    known = {
        "token_usage": _agentv_usage(answer.usage), "cost_usd": answer.cost_usd,
        "duration_ms": took_ms,
    }  # fmt: skip
    return summary | {name: value for name, value in known.items() if value is not None}


# ===== script_protocol/reply


_READ = ("id", "score", "passed", "pass", "reason", "reasoning", "details", "assertions", "checks")


class BadScriptReplyError(ValueError):
    """A reply that is no score. The message goes on after `the reply `."""


def read_script_reply(reply: dict[str, JSON]) -> Score:
    """The score of a reply. Raise BadReplyError."""
    if reply.get("error") not in (None, False, ""):
        raise BadScriptReplyError(f"says {reply['error']!r:.200} as its `error`")
    passed = _read_passed(reply)
    checks = _read_checks(reply)
    value = _read_score(reply, passed, checks)
    _refuse_contradiction(value, passed, checks)
    details = reply.get("details")
    if details is not None and not isinstance(details, dict):
        raise BadScriptReplyError(f"has {describe_kind(details)} as `details`, which is a mapping")
    others = {key: item for key, item in reply.items() if key not in _READ and item is not None}
    listed = {key: item for key, item in reply.items() if key in ("assertions", "checks")}
    return Score(
        value, _read_reason(reply, checks), {**(details or {}), **listed, **others}, passed
    )


def _read_passed(reply: dict[str, JSON]) -> bool | None:
    said = [reply[name] for name in ("passed", "pass") if reply.get(name) is not None]
    for each in said:
        if not isinstance(each, bool):
            raise BadScriptReplyError(f"has {each!r:.40} as `passed`, which is true or false")
    if len(said) == 2 and said[0] is not said[1]:
        raise BadScriptReplyError("has `passed` and `pass`, and they differ")
    return bool(said[0]) if said else None


def _refuse_contradiction(
    value: float, passed: bool | None, checks: list[tuple[str, bool]]
) -> None:
    if passed is not None and value == 1.0 - passed:
        told = "passed" if passed else "did not pass"
        raise BadScriptReplyError(f"says that it {told}, with a score of {value:g}")
    failed = [text for text, is_met in checks if not is_met]
    if failed and value == 1.0:
        raise BadScriptReplyError(f"has a score of 1, and a check that failed: {failed[0]:.80}")


def _read_score(
    reply: dict[str, JSON], passed: bool | None, checks: list[tuple[str, bool]]
) -> float:
    score = reply.get("score")
    if score is None and passed is not None:
        return float(passed)
    if score is None and checks:
        return sum(is_met for _, is_met in checks) / len(checks)
    if score is None:
        raise BadScriptReplyError("has no `score`")
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        raise BadScriptReplyError(f"has the score {score!r:.40}, which is not a number from 0 to 1")
    return float(score)


def _read_checks(reply: dict[str, JSON]) -> list[tuple[str, bool]]:
    listed: list[JSON] = []
    for name in ("assertions", "checks"):
        some = reply.get(name) or []
        if not isinstance(some, list):
            raise BadScriptReplyError(f"has {describe_kind(some)} as its checks, which are a list")
        listed += some
    found = []
    for each in listed:
        is_met = each.get("passed", each.get("pass")) if isinstance(each, dict) else None
        if not isinstance(each, dict) or not isinstance(is_met, bool):
            raise BadScriptReplyError("has a check that says not whether it `passed`")
        found.append((str(each.get("text", "")), is_met))
    return found


def _read_reason(reply: dict[str, JSON], checks: list[tuple[str, bool]]) -> str:
    reason = reply.get("reason", reply.get("reasoning"))
    if reason is not None and not isinstance(reason, str):
        raise BadScriptReplyError(f"has {describe_kind(reason)} as its reason, which is text")
    if reason:
        return reason
    misses = reply.get("misses")
    missed = [str(each) for each in misses] if isinstance(misses, list) else []
    missed += [text for text, is_met in checks if not is_met and text]
    return "; ".join(missed)
