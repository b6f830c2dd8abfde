import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.otlp import OtlpTarget
from evalcase.types.answer import Answer, Earlier, Usage
from tests.for_each import for_each
from tests.targets.questions import answer_all, ask, of_value, question, target_of
from tests.tracing.otlp import chat, export, line, span, trace_of


def otlp(tmp_path: Path, *lines: str, warned: list[str] | None = None) -> OtlpTarget:
    (tmp_path / "traces.jsonl").write_text("".join(lines))
    warn = None if warned is None else warned.append
    return target_of(OtlpTarget, path="traces.jsonl", root=str(tmp_path), warn=warn)


def texts(found: list[Answer | BaseException]) -> list[str]:
    return [each.text if isinstance(each, Answer) else str(each) for each in found]


def test_a_trace_is_an_answer_with_what_it_took(tmp_path: Path) -> None:
    answer = ask(otlp(tmp_path, trace_of("one", "4")))
    assert answer.text == "4"
    assert (answer.usage, answer.cost_usd) == (Usage(10, 2), 0.0)
    assert answer.earlier == Earlier(2.5)


@for_each("indent", [None, 2])
@for_each("wrap", [lambda each: each, lambda each: [each, export()]])
def test_a_whole_file_may_be_one_export_or_a_list(tmp_path: Path, indent: Any, wrap: Any) -> None:
    value = wrap(json.loads(trace_of("one", "4")))
    assert ask(otlp(tmp_path, json.dumps(value, indent=indent))).text == "4"


def test_several_traces_of_a_case_are_its_repeats_and_the_newest_is_the_first(
    tmp_path: Path,
) -> None:
    target = otlp(tmp_path, trace_of("one", "old", 3), trace_of("one", "new", 9))
    found = asyncio.run(answer_all(target, [question(repeat=each) for each in (1, 2, 3)]))
    assert texts(found)[:2] == ["new", "old"]
    assert "case `one` has no trace of repeat 3" in texts(found)[2]


def test_repeats_may_be_numbered(tmp_path: Path) -> None:
    lines = [trace_of("one", "b", 1, repeat=2), trace_of("one", "a", 2, repeat=1)]
    asked = [question(repeat=each) for each in (1, 2, 3)]
    found = texts(asyncio.run(answer_all(otlp(tmp_path, *lines), asked)))
    assert found[:2] == ["a", "b"]
    assert "no trace of repeat 3" in found[2]
    lines = [trace_of("one", "b", 1, repeat=2), trace_of("one", "a", 2)]
    found = texts(asyncio.run(answer_all(otlp(tmp_path, *lines), asked)))
    assert "some traces with `evalcase.repeat`, and some without" in found[0]


def test_traces_that_were_not_graded_are_told(tmp_path: Path) -> None:
    warned: list[str] = []
    lines = [trace_of("one", each, number, repeat=1) for number, each in enumerate("abc", 1)]
    assert ask(otlp(tmp_path, *lines, warned=warned)).text == "c"
    ask(otlp(tmp_path, trace_of("one", "a", 1), trace_of("one", "b", 2), warned=warned))
    assert "has 3 traces of case `one`, and not all were graded" in warned[0]
    assert "--repeat 2 grades more" in warned[1]
    other = trace_of("one", "of another", 4, repeat=1, target="b")
    with pytest.raises(TargetError, match="has traces of repeat 1 of several targets"):
        ask(otlp(tmp_path, *lines, other))


def test_suites_and_turns_are_told_apart(tmp_path: Path) -> None:
    lines = [
        trace_of("one", "of a", 1, suite="a.yaml"), trace_of("one", "of b", 2, suite="b.yaml"),
        trace_of("two", "elsewhere", 3, suite="a.yaml"),
        trace_of("three", "first", 4, talk="c"), trace_of("three", "second", 5, turn=2, talk="c"),
    ]  # fmt: skip
    asked = [
        question(suite="b.yaml"), question(suite="c.yaml"), question(id="two", suite="c.yaml"),
        question(id="three", turn=2), question(id="three", turn=3),
    ]  # fmt: skip
    found = texts(asyncio.run(answer_all(otlp(tmp_path, *lines), asked)))
    assert found[0] == "of b"
    assert "traces of several suites, and none of this one" in found[1]
    assert found[2:4] == ["elsewhere", "second"]
    assert "no trace of turn 3" in found[4]


def talks(*turns: str) -> list[str]:
    """Traces in the order of time, each a turn of a conversation that its name may tell."""
    return [
        trace_of("one", each, number, turn=int(each[1]), **({"talk": each[0]} if named else {}))
        for number, (each, named) in enumerate(((each[:2], "!" in each) for each in turns), 1)
    ]


def test_the_turns_of_a_trial_are_of_one_conversation_where_they_name_it(tmp_path: Path) -> None:
    asked = [question(turn=turn, repeat=repeat) for repeat in (1, 2) for turn in (1, 2)]
    lines = talks("A1!", "B1!", "B2!", "A2!")
    assert texts(asyncio.run(answer_all(otlp(tmp_path, *lines), asked))) == ["B1", "B2", "A1", "A2"]
    found = texts(asyncio.run(answer_all(otlp(tmp_path, *talks("A1!", "B1!", "A2!")), asked)))
    assert (found[0], *found[2:]) == ("B1", "A1", "A2")
    assert "no trace of turn 2 of the newest conversation" in found[1]


@for_each("turns", [("A1", "A2"), ("A1!", "A2!", "A2!")])
def test_turns_whose_conversation_is_not_clear_are_errors(
    tmp_path: Path, turns: tuple[str, ...]
) -> None:
    with pytest.raises(TargetError, match="name each by `gen_ai"):
        ask(otlp(tmp_path, *talks(*turns)))


def test_a_resource_may_name_the_case(tmp_path: Path) -> None:
    resource = {"evalcase.case": "one", "evalcase.repeat": "1"}
    assert ask(otlp(tmp_path, line(chat("4"), resource=resource))).text == "4"


def test_a_case_without_a_trace_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="case `one` has no trace, and the first span"):
        ask(otlp(tmp_path, trace_of("two", "4")))


def test_a_trace_that_failed_is_an_error(tmp_path: Path) -> None:
    root = span({"evalcase.case": "one"}, name="agent", error="no such city")
    with pytest.raises(TargetError, match="`agent` failed: no such city"):
        ask(otlp(tmp_path, line(root)))


AGENT = {"gen_ai.operation.name": "invoke_agent"}
NAMED = {"evalcase.case": "one"}


@pytest.mark.parametrize(
    "inner",
    [
        [span(AGENT, id="0b", parent="0a", name="agent", seconds=5, error="quota"),
         chat("Let me see.", parent="0b", start=1)],
        [chat("Let me see.", parent="0a"),
         span({"gen_ai.operation.name": "chat"}, parent="0a", name="chat", start=4, error="quota")],
    ],
)  # fmt: skip
def test_an_agent_that_failed_is_an_error_though_whoever_asked_it_caught_that(
    tmp_path: Path, inner: list[dict[str, Any]]
) -> None:
    with pytest.raises(TargetError, match="failed: quota"):
        ask(otlp(tmp_path, line(span(NAMED, id="0a", seconds=9), *inner)))


def test_a_trace_whose_first_span_is_missing_is_an_error_unless_that_is_elsewhere(
    tmp_path: Path,
) -> None:
    near, far = [chat("4", parent="0a", flags=flags, attributes=NAMED) for flags in (0x101, 0x301)]
    with pytest.raises(TargetError, match="its first span is missing"):
        ask(otlp(tmp_path, line(near)))
    assert ask(otlp(tmp_path, line(far))).text == "4"
    filtered = [span(NAMED, id="0c"), near]  # some span between them is not exported
    assert ask(otlp(tmp_path, line(*filtered))).text == "4"


def test_a_trace_that_has_not_ended_is_an_error(tmp_path: Path) -> None:
    root, said = span(NAMED, id="0a", name="agent"), chat("4", parent="0a")
    for spans in ([{**root, "endTimeUnixNano": "0"}, said], [root, {**said, "endTimeUnixNano": 0}]):
        with pytest.raises(TargetError, match="has not ended"):
            ask(otlp(tmp_path, line(*spans)))


def test_two_spans_of_one_id_that_differ_are_an_error(tmp_path: Path) -> None:
    root = span(NAMED, id="0a")
    begun = {**chat("", id="0B", parent="0A"), "endTimeUnixNano": "0"}
    ended = chat("4", id="0b", parent="0a", start=1)
    for several in ([begun, ended], [ended, begun], [ended, ended]):
        assert ask(otlp(tmp_path, line(root, *several))).text == "4"
    with pytest.raises(TargetError, match="two of its spans have the id 0b, and differ"):
        ask(otlp(tmp_path, line(root, ended, chat("5", id="0b", parent="0a"))))


def test_a_trace_that_does_not_say_what_was_answered_is_an_error(tmp_path: Path) -> None:
    silent = span({"evalcase.case": "one", "gen_ai.operation.name": "chat"})
    with pytest.raises(TargetError, match=r"has no answer: .*capture content"):
        ask(otlp(tmp_path, line(silent)))


def test_an_answer_that_was_cut_is_an_error(tmp_path: Path) -> None:
    cut = chat("", attributes={"evalcase.case": "one", "gen_ai.output.messages": '[{"role":'})
    with pytest.raises(TargetError, match="OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"):
        ask(otlp(tmp_path, line(cut)))


@for_each(
    ("text", "said"),
    [
        ("", "traces.jsonl: it is empty"),
        ('{"resourceSpans": []', "traces.jsonl:1: it is not JSON"),
        ('{"resourceSpans": [\n}', "traces.jsonl: it is not JSON"),
        ('{"a": 1, "a": 1}', 'has the key "a" twice'),
        ("[1]", "an export is an object with `resourceSpans`, not a number"),
        (
            '{"name": "x", "context": {}, "start_time": 1}',
            "the console exporter prints another form",
        ),
        ('{"spans": []}', "and this has `spans`"),
        ('{"resourceSpans": {}}', None),
        ('{"resourceSpans": {"a": 1}}', "`resourceSpans` is a list of objects"),
        ('{"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}', "a span has no `traceId`"),
        (trace_of("one", "x", repeat=0), "`evalcase.repeat` is a whole number from 1, not 0"),
        (line(span({"evalcase.case": 1})), "`evalcase.case` and `evalcase.suite` are texts"),
        (line(span({"evalcase.case": "a"}), span({"evalcase.case": "b"})), "of `a` and of `b`"),
        ("[" * 300 + "]" * 300, "nested more than"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_at_once(
    tmp_path: Path, text: str, said: str | None
) -> None:
    with pytest.raises((ConfigError, TargetError)) as caught:
        ask(otlp(tmp_path, text))
    assert (said or "has no trace") in str(caught.value)


def test_parents_that_go_round_in_a_circle_are_an_error(tmp_path: Path) -> None:
    spans = [span(id="a", parent="b"), span({"evalcase.case": "one"}, id="b", parent="a")]
    with pytest.raises(TargetError, match="go round in a circle"):
        ask(otlp(tmp_path, line(*spans)))


def test_a_file_that_is_missing_or_no_file_is_refused(tmp_path: Path) -> None:
    for path in ("nowhere.jsonl", "."):
        with pytest.raises(ConfigError, match="otlp target: "):
            ask(of_value(OtlpTarget, path, root=str(tmp_path)))
