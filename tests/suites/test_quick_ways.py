"""What is read and resolved quickly is exactly what the careful way makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from evalcase.model.case import Case
from evalcase.plugins.known import Installed
from evalcase.read import jsonl
from evalcase.read.document import Document
from evalcase.read.json import JsonReader
from evalcase.resolve import case, messages, suite
from evalcase.suites import load, stream
from evalcase.suites.load import Loaded, load_file, load_text
from tests.for_each import for_each
from tests.read.test_fuzz import mutated
from tests.resolve.test_corpus import documents

PLAIN = '{"id": "%s", "input": "What is 1+2?", "expected_output": "3"}'


@contextmanager
def careful() -> Iterator[None]:
    """Everything is looked at as closely as can be."""
    with (
        patch.object(jsonl, "_LONG", 0),
        patch.object(JsonReader, "read_line", lambda self, line: self.read(line[:-1])),
        patch.object(stream, "resolve_plain", lambda *_: None),
        patch.object(suite, "resolve_plain", lambda *_: None),
        patch.object(load, "OLD_NAMES", frozenset()),
        patch.object(case, "are_plain", lambda _: False),
        patch.object(messages, "are_plain", lambda _: False),
    ):
        yield


def streamed(data: bytes) -> list[Any]:
    """Every case and every problem of a JSONL file."""
    items = stream.open_stream("<text>", BytesIO(data), Installed())
    return [list(each.data.items()) if isinstance(each, Case) else each for each in items]


def told(found: Loaded) -> object:
    cases = found.suite.cases if found.suite is not None else ()
    return [list(each.data.items()) for each in cases], found.problems, found.cases


def check_lines(data: bytes) -> None:
    quick = streamed(data)
    with careful():
        assert quick == streamed(data)


@for_each("path", [*documents("valid"), *documents("invalid")])
def test_the_corpus_is_read_the_same_in_both_ways(path: Path) -> None:
    quick = told(load_file(str(path)))
    with careful():
        assert quick == told(load_file(str(path)))


KEYS = [
    '"id"', '"input"', '"expected_output"', '"i\\u0064"', '"tags"', '""', '"input_messages"',
    '"metadata"',
]  # fmt: skip
VALUES = [
    '"a"', '"b"', '"a\\n"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\u00e9"', '"é"', '"日本"', '"😀"',
    '""', '" "', '"\u3000"', '"x: \\":"', '":"', '"[{"', '"\x00"', '"\ufeff"', '"\x85\u2028"',
    "0", "1.0", "3.10", "1e999", "NaN", "null", "true", "12345678901234567.5", "9" * 4301,
    "[]", "{}", '{"a": 1, "a": 2}', '{"a":1,"a" :2}', "[" * 95 + "]" * 95, "[" * 101 + "]" * 101,
    '{"role": "user", "content": "hi"}', '[{"role": "user", "content": "hi"}]',
    '[{"role": "assistant", "tool_calls": [{"tool": "Open", "input": {"n": 1}}]}]',
    '[{"role": "assistant", "tool_calls": [{"tool": ""}], "content": "x"}]',
    '[{"role": "assistant", "tool_calls": []}]', '[{"role": "usr", "content": "hi"}]',
    '[{"role": "user", "content": {"type": "file", "path": "gone.txt"}}]',
]  # fmt: skip
BETWEEN = [":", ": ", " :", "\t: ", "\r:"]


@st.composite
def lines(draw: st.DrawFn) -> str:
    """An object with any of these, mostly with what a case has, and one accident at times."""
    keys = draw(st.permutations(KEYS[:3])) + draw(st.lists(st.sampled_from(KEYS), max_size=2))
    texts = st.one_of(st.sampled_from(VALUES[:2]), st.sampled_from(VALUES))
    pairs = [f"{key}{draw(st.sampled_from(BETWEEN))}{draw(texts)}" for key in keys]
    inside = draw(st.sampled_from([",", ", ", " , "])).join(pairs)
    before = draw(st.sampled_from(["", "", "", " ", "\ufeff"]))
    return before + "{" + inside + "}" + draw(st.sampled_from(["", "", "", "\r", " ", "x", ","]))


@given(st.lists(lines(), min_size=1, max_size=3).map("\n".join))
@example('{"id":0,"id":"a","input":"b","expected_output":"c"}')
@example('{"id":"a","input":"b","expected_output":"c","id":"a"}\r')
@example('{"id":"a","input":"b","expected_output":"\\ud800"}')
@example('{"id":"a","input":"b","expected_output":"c"}x')
@example("\ufeff" + PLAIN % "a" + "\r\n\n" + PLAIN % "a" + "\r\n" + PLAIN % "b")
@example('[\n{"id": "a"}\n]')
@example("\n \n" + '{"id": "a",\n"input": "b"}')
def test_lines_are_read_the_same_in_both_ways(text: str) -> None:
    check_lines(text.encode())


def test_bytes_that_are_no_text_are_told_of_in_both_ways() -> None:
    plain = (PLAIN % "a").encode()
    for data in (b"\xff\xfe" + plain, plain + b"\n\xff\n" + plain, b'"\xe9"\n[\n', b"\xef\xbb\xbf"):
        check_lines(data)


def test_a_plain_line_is_read_quickly() -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("it was looked at closely")

    text = "\n".join(PLAIN % each for each in ("a", "b", "日本", "\u3000c"))
    with (
        patch.object(JsonReader, "read_line", refuse),
        patch.object(stream, "resolve_case", refuse),
    ):
        for end in ("\n", "\r\n", ""):
            assert len(streamed(text.encode() + end.encode())) == 4


def test_every_length_of_a_key_that_stands_twice_is_seen() -> None:
    pairs = ['"id":"a"', '"input":"b"', '"expected_output":"c"']
    for twice in ('"id":0', '"id":""', '"input":1', '"id":"a"', '"expected_output":null'):
        for at in range(4):
            line = "{" + ",".join([*pairs[:at], twice, *pairs[at:]]) + "}"
            *problems, nothing = streamed(line.encode())
            assert nothing is None
            assert "duplicate-key" in [problem.code for problem in problems], line


OLD = [
    "tests: [{input_messages: a, expected_messages: b}]",
    "evalcases:\n- &a {id: a, input_messages: x, outcome: y}\n- <<: *a\n  id: b\n- *a\n",
    "dataset: d\ncases:\n- input_messages: a\n  'expected_messages': b\n  input_messages: c\n",
    "- ? input_messages\n  : a\n  ? |-\n    expected_messages\n  : b\n",
    "- !!str input_messages: a\n  &x expected_messages: b\n- *x : c\n  input: d\n",
    "tests:\n- input_messages: a\ntests:\n- input_messages: b\n",
    "cases:\n- id: a\n  turns: [{input_messages: a}]\n  execution: {target: t, evaluators: []}\n",
    "cases:\n- [{input_messages: a}]\n- {? {input_messages: a} : b, input_messages: c}\n",
    "cases:\n- id: a\n  input_messages: \u2028a\n  outcome: b\u0085c\n- id: a\n  outcome: x\n",
    "cases:\n- <<: {input_messages: a}\n  outcome: b\n  criteria: c\n  input: d\n  assert: []\n",
]


@given(st.one_of(st.sampled_from(OLD), mutated()))
def test_old_names_are_pointed_at_in_both_ways(text: str) -> None:
    quick = told(load_text(text, "yaml"))
    with careful():
        assert quick == told(load_text(text, "yaml"))


@for_each("text", OLD)
def test_each_use_of_old_names_has_the_place_that_a_second_reading_finds(text: str) -> None:
    quick = told(load_text(text, "yaml"))
    with careful():
        assert quick == told(load_text(text, "yaml"))


def test_old_names_need_no_second_reading() -> None:
    with patch.object(Document, "places", side_effect=AssertionError("it was read again")):
        found = load_text("dataset: d\ntests:\n- input_messages: a\n  outcome: b\n", "yaml")
    places = [(each.code, each.line, each.column, each.end_column) for each in found.problems]
    assert places == [
        ("deprecated-name", 1, 1, 8),
        ("deprecated-name", 2, 1, 6),
        ("deprecated-name", 3, 3, 17),
        ("deprecated-name", 4, 3, 10),
    ]
