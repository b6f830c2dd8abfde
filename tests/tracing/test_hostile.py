"""Whatever a file of traces holds, it is read or refused: nothing else, and in time that grows with
its size alone."""

import json
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.errors import TargetError
from evalcase.importers.harvest import HarvestOptions, draft_case, even_question, question_text
from evalcase.targets.otlp import answer_of
from evalcase.tracing.context import TraceLabels
from evalcase.tracing.otlp import MAX_SPANS, BadTraceError, TraceStore, read_pieces
from evalcase.tracing.trace import read_transcript
from evalcase.util.secrets import PERSONAL, Redactor
from tests.effort import count_steps
from tests.tracing.otlp import chat, export, span

RECORDED = Path(__file__).parent / "recorded"
EXPORTS = [
    json.loads(line)
    for path in sorted(RECORDED.glob("*.jsonl"))
    for line in path.read_text().splitlines()
]
ODD: list[Any] = [
    None, True, -1, 1.5, 10**30, "", "x", "9" * 5000, "[1]", "{", "\ud800", [], [[]], [None], {},
    {"a": {}}, {"stringValue": {}}, {"intValue": "x"}, {"arrayValue": {"values": [{}]}},
    {"kvlistValue": {"values": [{"key": "role", "value": {"stringValue": "tool"}}]}},
    '[{"role": 5}]', '[{"role": "tool", "parts": [{"type": "tool_call"}]}]', "[[]]", "null",
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = [path] if path else []
    if isinstance(value, dict | list):
        for key, each in inner:
            found += places(each, (*path, key)) if isinstance(each, dict | list) else [(*path, key)]
    return found


def spoil(export: Any, random: Random) -> Any:
    """The same with a few things in it that nobody expects."""
    value = json.loads(json.dumps(export))
    known = places(value)
    for path in random.sample(known, min(len(known), random.choice([1, 2, 5]))):
        here = value
        try:
            for key in path[:-1]:
                here = here[key]
            here[path[-1]] = deepcopy(random.choice(ODD))
        except (KeyError, IndexError, TypeError):
            continue  # what was above it is gone already
    return value


def read_whole(value: Any) -> None:
    """All that is ever done to a trace."""
    labels = TraceLabels()
    with closing(TraceStore()) as store:
        try:
            store.fill(labels.note(read_pieces(value)))
        except BadTraceError:
            return
        for trace in store:
            try:
                told = read_transcript(store.read(trace))
                drafted = draft_case(told, trace, None, HarvestOptions("", criteria=True))
                assert drafted.fields["input"] is not None
                even_question(question_text(told))
                answer_of(told, trace)
            except (BadTraceError, TargetError):
                continue


@given(st.integers(0, 10**9))
def test_a_spoilt_trace_is_read_or_refused(seed: int) -> None:
    random = Random(seed)
    for _ in range(20):
        read_whole(spoil(random.choice(EXPORTS), random))


def test_a_trace_of_too_many_spans_is_refused() -> None:
    one = span(name="x")
    pieces = (piece for _ in range(MAX_SPANS + 1) for piece in read_pieces(export(one)))
    with closing(TraceStore()) as store, pytest.raises(BadTraceError, match="more than 20,000"):
        store.fill(pieces)


def deep(count: int) -> Any:
    return export(*[span(id=f"{n:x}", parent=f"{n - 1:x}") for n in range(1, count)])


def wide(count: int) -> Any:
    called = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}
    return export(*[span(called, start=n) for n in range(count)])


def talkative(count: int) -> Any:
    said = [{"role": "user", "parts": [{"type": "text", "content": "x"}]}] * count
    return export(chat("x", attributes={"gen_ai.input.messages": json.dumps(said)}))


@pytest.mark.parametrize("make", [deep, wide, talkative])
def test_a_trace_takes_steps_in_proportion_to_its_size(make: Any) -> None:
    small, large = make(200), make(800)
    assert count_steps(lambda: read_whole(large)) < 6 * count_steps(lambda: read_whole(small))


@pytest.mark.parametrize("piece", ["a@", "a.", "1 ", "+1", "sk-", "eyJa.", "AA00 ", "://a:", "-"])
def test_no_text_takes_the_usual_patterns_long(piece: str) -> None:
    assert Redactor(PERSONAL).text(piece * 20_000)
