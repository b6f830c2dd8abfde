"""Spans of code in this process: whose they are, and what becomes of them."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from evalcase.errors import ConfigError
from evalcase.runner.calls import Attempted, make_attempt
from evalcase.targets.python import PythonTarget
from evalcase.tracing.trace import MAX_STEPS
from evalcase.types.answer import Answer, Usage
from evalcase.types.message import Step
from evalcase.util.user_calls import UserCalls
from tests.targets.questions import ask, question, target_of

TRACER = trace.get_tracer("agent")
CHAT: dict[str, str | int] = {
    "gen_ai.operation.name": "chat", "gen_ai.request.model": "small",
    "gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 2,
}  # fmt: skip
TOOL = {
    "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find",
    "gen_ai.tool.call.arguments": '{"q": 1}',
}  # fmt: skip


def plain(text: str) -> str:
    with TRACER.start_as_current_span("agent"):
        with TRACER.start_as_current_span("chat small", attributes=CHAT):
            pass
        try:
            with TRACER.start_as_current_span("execute_tool find", attributes=TOOL):
                raise LookupError("nothing")
        except LookupError:
            pass
    return text


async def waiting(text: str) -> str:
    await asyncio.sleep(0)
    return plain(text)


def silent(text: str) -> str:
    return text


def busy(text: str) -> str:
    for number in range(MAX_STEPS + 3):
        TRACER.start_span(f"step {number}").end()
    return text


def traced(function: Callable[..., Any], **options: Any) -> PythonTarget:
    name = f"{function.__module__}:{function.__name__}"
    target = target_of(PythonTarget, function=name, **{"trace": True, **options})
    target._given = function
    return target


def bare(steps: tuple[Step, ...]) -> list[tuple[str, str, int, str | None]]:
    return [(step.name, step.kind, step.depth, step.error) for step in steps]


STEPS = [
    ("agent", "other", 0, None), ("chat small", "model", 1, None),
    ("execute_tool find", "tool", 1, "LookupError: nothing"),
]  # fmt: skip


@pytest.mark.parametrize("function", [plain, waiting])
def test_the_steps_of_a_function_come_with_its_answer(function: Callable[..., Any]) -> None:
    answer = ask(traced(function))
    assert bare(answer.steps) == STEPS
    _, model, tool = answer.steps
    assert (model.model, model.input_tokens, model.output_tokens) == ("small", 5, 2)
    assert (tool.tool, tool.input) == ("find", {"q": 1})
    assert all(step.duration_s is not None for step in answer.steps)
    assert answer.usage == Usage(5, 2)
    assert len(answer.trace or "") == 32


def test_each_trial_has_a_trace_of_its_own_also_where_many_run_at_once() -> None:
    target = traced(waiting)

    async def ask_all() -> list[Answer]:
        await target.open()
        try:
            several = [target.answer(question(repeat=each)) for each in range(1, 9)]
            return await asyncio.gather(*several)
        finally:
            await target.close()

    answers = asyncio.run(ask_all())
    assert len({answer.trace for answer in answers}) == 8
    assert all(bare(answer.steps) == STEPS for answer in answers)


def test_more_steps_than_are_kept_are_counted() -> None:
    answer = ask(traced(busy))
    assert (len(answer.steps), answer.steps_cut) == (MAX_STEPS, 3)


def breaking(text: str) -> str:
    plain(text)
    raise LookupError(text)


async def hanging(text: str) -> str:
    plain(text)
    await asyncio.Event().wait()
    return text


@pytest.mark.parametrize(("function", "limit_s"), [(breaking, 60), (hanging, 0.05)])
def test_what_was_done_before_an_error_is_told_with_it_once(
    function: Callable[..., Any], limit_s: float
) -> None:
    target = traced(function)

    async def try_it() -> Attempted:
        await target.open()
        try:
            async with UserCalls() as calls:
                return await make_attempt("it", target, question(), limit_s, calls, print)
        finally:
            await target.close()

    tried = asyncio.run(try_it())
    assert tried.seen is not None
    seen: Any = tried.seen["steps"]
    assert [each.split(",")[0] for each in seen] == ["agent", "  chat small", "  execute_tool find"]
    assert seen[2].endswith("failed: LookupError: nothing")


def test_without_opentelemetry_the_option_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.delitem(sys.modules, "evalcase.targets.spans", raising=False)
    said = "needs the extra `otel`: pip install"
    with pytest.raises(ConfigError, match=said):
        ask(traced(silent))


def test_what_can_not_be_listened_to_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "get_tracer_provider", trace.NoOpTracerProvider)
    with pytest.raises(ConfigError, match=r"can't listen to opentelemetry\.trace\.NoOp"):
        ask(traced(silent))
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    monkeypatch.setattr(trace, "get_tracer_provider", TracerProvider)
    with pytest.raises(ConfigError, match="OTEL_SDK_DISABLED switches"):
        ask(traced(silent))


def test_the_provider_of_an_agent_goes_on_exporting(monkeypatch: pytest.MonkeyPatch) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    tracer = provider.get_tracer("agent")

    def agent(text: str) -> str:
        with tracer.start_as_current_span("agent"):
            return text

    answer = ask(traced(agent), question(id="bergen"))
    assert [step.name for step in answer.steps] == ["agent"]
    inner, outer = exporter.get_finished_spans()
    assert (inner.name, outer.name) == ("agent", "trial")
    assert outer.attributes is not None
    assert outer.attributes["evalcase.case"] == "bergen"
