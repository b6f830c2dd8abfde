"""Fault 52: a file of traces isn't what it should be, or tells of an agent that failed."""

import gzip
import os
from collections.abc import Callable
from typing import Any

import pytest

from tests.run.project import Project
from tests.tracing.otlp import chat, line, span, trace_of

AGENT = {"gen_ai.operation.name": "invoke_agent"}
CUT = {"gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "cont'}


def traced(case: str, number: int, *inner: dict[str, Any], **more: Any) -> str:
    """A trace of a case, with some spans within its first."""
    ids: dict[str, Any] = {"trace": f"{number:032x}"}
    root = span({"evalcase.case": case}, id="01", name=case, seconds=9, **ids, **more)
    return line(root, *[{**each, "traceId": ids["trace"]} for each in inner])


TRACES: dict[str, Callable[[int], str]] = {
    "first-failed": lambda n: traced("first-failed", n, chat("4", parent="01"), error="no"),
    "caught": lambda n: traced(
        "caught", n, span(AGENT, id="02", parent="01", seconds=5, error="quota"),
        chat("Let me see.", parent="02"),
    ),
    "model-failed": lambda n: traced(
        "model-failed", n, chat("Let me see.", parent="01"),
        span({"gen_ai.operation.name": "chat"}, parent="01", start=3, error="quota"),
    ),
    "not-whole": lambda n: line(
        chat("4", trace=f"{n:032x}", parent="01", flags=0x101,
             attributes={"evalcase.case": "not-whole"}),
    ),
    "two-in-one": lambda n: traced(
        "two-in-one", n, chat("4", id="02", parent="01"), chat("5", id="02", parent="01"),
    ),
    "circle": lambda n: traced(
        "circle", n, chat("4", id="02", parent="03"), chat("5", id="03", parent="02"),
    ),
    "cut": lambda n: traced("cut", n, chat("", parent="01", attributes=CUT)),
    "silent": lambda n: traced("silent", n, span({"gen_ai.operation.name": "chat"}, parent="01")),
    "no-time": lambda n: traced("no-time", n, {**chat("4", parent="01"), "endTimeUnixNano": "x"}),
    "not-ended": lambda n: traced(
        "not-ended", n, chat("4", parent="01"), endTimeUnixNano="0",
    ),
    "none": lambda n: trace_of("another", "4", n),
}  # fmt: skip


def test_fault_52_no_trace_of_what_failed_or_is_not_whole_passes(project: Project) -> None:
    lenient = [{"type": "contains", "value": "zebra", "not": True}]
    project.suite(*[{"id": each, "input": "?", "graders": lenient} for each in [*TRACES, "well"]])
    lines = [make(number) for number, make in enumerate(TRACES.values(), 1)]
    (project.path / "t.jsonl").write_text("".join([*lines, trace_of("well", "4", 99)]))
    done = project.run("run", "--target", "otlp:t.jsonl", "--json")
    assert done.code == 3
    assert project.verdicts() == {**dict.fromkeys(TRACES, "errored"), "well": "passed"}


def as_pipe(project: Project) -> None:
    os.mkfifo(project.path / "t.jsonl")


def as_folder(project: Project) -> None:
    (project.path / "t.jsonl").mkdir()


def compressed(project: Project) -> None:
    (project.path / "t.jsonl").write_bytes(gzip.compress(trace_of("a", "4").encode()))


def nested(project: Project) -> None:
    (project.path / "t.jsonl").write_text('{"resourceSpans":' + "[" * 100_000)


def labelled_twice(project: Project) -> None:
    (project.path / "t.jsonl").write_text(trace_of("a", "4", 1) + trace_of("b", "5", 1))


@pytest.mark.parametrize("make", [as_pipe, as_folder, compressed, nested, labelled_twice])
def test_fault_52_a_file_that_is_none_of_traces_is_refused_before_anything_runs(
    project: Project, make: Any
) -> None:
    make(project)
    project.suite({"id": "a", "input": "?", "expected_output": "4"})
    done = project.run("run", "--target", "otlp:t.jsonl")
    assert (done.code, project.runs()) == (2, [])
    assert "t.jsonl" in done.err
    harvested = project.run("harvest", "t.jsonl")
    assert harvested.code == 2
    assert "nothing was written" in harvested.err


def test_fault_52_a_file_that_is_written_to_meanwhile_was_read_already(project: Project) -> None:
    cases = [{"id": each, "input": "?", "graders": ["python:rewrite:grade"]} for each in "abc"]
    project.suite(*cases)
    path = project.path / "t.jsonl"
    path.write_text("".join(trace_of(each, f"old {each}", n) for n, each in enumerate("abc", 1)))
    (project.path / "rewrite.py").write_text(
        "from pathlib import Path\n\n\ndef grade(text):\n    Path('t.jsonl').write_text('{')\n"
        "    return text.startswith('old ')\n"
    )
    assert project.run("run", "--target", "otlp:t.jsonl", "--concurrency", "1").code == 0


def test_fault_52_traces_that_were_changed_before_a_resume_mark_the_run_as_mixed(
    project: Project,
) -> None:
    project.suite(*[{"id": each, "input": "?", "expected_output": each} for each in "ab"])
    path = project.path / "t.jsonl"
    path.write_text(trace_of("a", "a"))
    assert project.run("run", "--target", "otlp:t.jsonl").code == 3
    path.write_text(trace_of("a", "another answer") + trace_of("b", "b", 2))
    done = project.run("resume", "--retry-errored", "--json")
    assert (done.code, done.json["mixed"]) == (0, ["otlp:t.jsonl"])
