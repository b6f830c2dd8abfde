"""Whoever is asked elsewhere is told of a trace: programs, workers, services."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from evalcase.targets.command import CommandTarget
from evalcase.targets.http import HttpTarget
from tests.targets.questions import ask, target_of
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
