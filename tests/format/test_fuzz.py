"""The invariants of the fuzz targets on generated texts: a few seconds of `make fuzz`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalcase.config.catalogue import Catalogue
from evalcase.format.load import load_file
from fuzz.invariants import SEEDS, check_migration, check_problem, check_text, split_lines, text_of

often = settings(
    max_examples=2 * settings().max_examples,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

FRAGMENTS = [
    *"[]{},:-?&*!|>'\"%@`#~ \t\n\r\\",
    "\r\n", "\n\n", "\n  ", "\n    ", "\n- ", "\n  - ", ": ", "- ", "? ", "--- ", "\n---\n",
    "\n...\n", "%YAML 1.2\n", "|\n  ", ">-\n  ", "|+\n", "|2\n   ", "&a ", "*a", "*a : ", "&b [",
    "<<: ", "<<: *a", "<<: [*a, *b]", "!!str ", "!!int ", "!!float ", "!x ", "! ",
    "!!python/object:x ", "\x00", "\x07", "\x1b", "\x7f", "\x85", "\u2028", "\u2029", "\ufeff",
    "\ufffe", "\ud800", "\udfff", "\U000f0000", "日本", "😀", "é", "e\u0301", "\\ud83d\\ude00",
    "\\ud800", "\\u0007", "\\x00",
    "0", "1", "-1", "0x1F", "0o14", "1e3", "1e999", ".inf", ".nan", "NaN", "-Infinity", "9" * 4301,
    "null", "true", "no", "text", "a", '""', "''", "[]", "{}", "{?a: b}", "{{ x }}", "&an:chor ",
    "cases", "cases:\n- ", "cases: [", "tests:\n- ", "evalcases: ", "id: ", "id: a", "input: ",
    "input: hi", "input_messages: ", "expected_output: ", "expected_messages: ", "criteria: x",
    "outcome: ", "expected_outcome: ", "evaluators: ", "graders: [", "execution: ", "target: ",
    "metadata: ", "tags: ", "rubrics: ", "repeat: ", "vars: ", "x-a: ", "name: ", "dataset: ",
    "role: user", "role: usr", "content: ", "tool_calls: ", "{type: file, path: x}", "type: text",
    '{"input": ', '"expected_output": "x"}', '{"id": "a", ', '"input_messages": "x"', "\\", "\\n",
]  # fmt: skip

DOCUMENTS = [
    path.read_bytes()
    for folder in SEEDS
    for path in sorted(folder.iterdir())
    if path.suffix in (".yaml", ".json", ".jsonl") and path.stat().st_size < 2_000
]

fragments = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A document of the corpus with a few accidents: something cut, doubled or put in between."""
    text = text_of(draw(st.sampled_from(DOCUMENTS)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        piece = draw(st.sampled_from(["", text[start:end] * 2, *FRAGMENTS]))
        text = text[:start] + piece + text[end:]
    return text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@often
@given(text=fragments)
def test_yaml_from_fragments(text: str) -> None:
    check_text(text, "yaml")


@often
@given(text=mutated())
def test_yaml_from_accidents(text: str) -> None:
    check_text(text, "yaml")


@often
@given(text=fragments | mutated() | st.text(max_size=60))
def test_json_and_jsonl(text: str) -> None:
    check_text(text, "json")
    check_text(text, "jsonl")


@often
@given(value=json_values, expected=json_values)
def test_whatever_json_holds_reaches_the_case_untouched(value: Any, expected: Any) -> None:
    case = {"id": "a", "input": "hi", "criteria": "x", "metadata": {"v": value, "w": expected}}
    text = json.dumps(case, ensure_ascii=False)
    for format in ("json", "jsonl"):
        loaded = check_text(text, format)
        assert loaded.suite is not None
        metadata = loaded.suite.cases[0].to_dict()["metadata"]
        assert json.dumps(metadata) == json.dumps(case["metadata"])


@often
@given(data=st.binary(max_size=80) | mutated().map(lambda text: text.encode("utf-8", "replace")))
def test_migration(data: bytes) -> None:
    check_migration(data, "yaml")
    check_migration(data, "json")
    check_migration(data, "jsonl")


@pytest.fixture(scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, bytes], Path]:
    folder = tmp_path_factory.mktemp("fuzz")

    def write_file(name: str, data: bytes) -> Path:
        path = folder / name
        path.write_bytes(data)
        return path

    return write_file


@often
@given(data=st.binary(max_size=120), mark=st.sampled_from([b"", b"\xef\xbb\xbf", b"\xff\xfe"]))
def test_files_of_any_bytes(write: Callable[[str, bytes], Path], data: bytes, mark: bytes) -> None:
    for name in ("x.yaml", "x.json", "x.jsonl"):
        path = write(name, mark + data)
        loaded = load_file(str(path), Catalogue())
        text = (mark + data).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        lines = split_lines(text, "jsonl" if name == "x.jsonl" else "yaml")
        for problem in loaded.problems:
            check_problem(problem, lines)
