"""Whoever is asked elsewhere is told of a trace: programs, workers, services."""

import asyncio
import re
import sys
from pathlib import Path

from evalcase.runner.calls import Attempted, make_attempt
from evalcase.targets.command import CommandTarget
from evalcase.targets.http import HttpTarget
from evalcase.types.target import Question, Target
from evalcase.util.user_calls import UserCalls
from tests.targets.questions import ask, question, target_of
from tests.targets.server import Reply, serving

FORM = re.compile(r"00-([0-9a-f]{32})-[0-9a-f]{16}-01")
WORKER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], "answer": asked.get("traceparent", "none")}), flush=True)
"""


def test_a_program_has_it_in_its_environment(tmp_path: Path) -> None:
    show = [sys.executable, "-S", "-c", "import os; print(os.environ.get('TRACEPARENT'))"]
    target = target_of(CommandTarget, command=show, root=str(tmp_path), trace=True)
    first, second = ask(target), ask(target)
    found = FORM.fullmatch(first.text)
    assert found is not None
    assert first.trace == found[1]
    assert second.trace != first.trace
    plain = ask(target_of(CommandTarget, command=show, root=str(tmp_path)))
    assert (plain.text, plain.trace) == ("None", None)


def test_a_worker_is_given_it_with_each_question(tmp_path: Path) -> None:
    (tmp_path / "worker.py").write_text(WORKER)
    argv = [sys.executable, "-S", "worker.py"]
    answer = ask(
        target_of(CommandTarget, command=argv, mode="worker", root=str(tmp_path), trace=True)
    )
    found = FORM.fullmatch(answer.text)
    assert found is not None
    assert answer.trace == found[1]


def test_a_service_is_sent_it_as_a_header() -> None:
    with serving(Reply.of("hello")) as server:
        answer = ask(target_of(HttpTarget, url=server.url, trace=True))
        ask(target_of(HttpTarget, url=server.url))
    traced, plain = server.requests
    found = FORM.fullmatch(traced.headers["traceparent"])
    assert found is not None
    assert answer.trace == found[1]
    assert "traceparent" not in plain.headers


def tried(target: Target, given: Question) -> Attempted:
    async def go() -> Attempted:
        await target.open()
        try:
            async with UserCalls() as calls:
                return await make_attempt("it", target, given, 60, calls, print)
        finally:
            await target.close()

    return asyncio.run(go())


def test_the_trace_of_a_call_that_failed_is_told_once_with_its_error(tmp_path: Path) -> None:
    argv = [sys.executable, "-S", "-c", "raise SystemExit(3)"]
    program = target_of(CommandTarget, command=argv, root=str(tmp_path), trace=True)
    with serving(Reply.of("no", status=500)) as server:
        service = target_of(HttpTarget, url=server.url, trace=True)
        for target in (program, service):
            failed = tried(target, question())
            assert failed.error is not None
            trace = str((failed.seen or {})["trace"])
            assert len(trace) == 32
    assert trace in server.request.headers["traceparent"]
