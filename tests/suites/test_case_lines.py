"""The lines of all cases of a file are those that are found for each of them."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.errors import ConfigError
from evalcase.read.jsonl import number_lines, read_lines
from evalcase.suites.case_lines import find_lines, stream_lines
from evalcase.suites.collection import Suites
from evalcase.suites.load import load_file
from evalcase.suites.placing import place_cases
from tests.for_each import for_each
from tests.random_suites import layouts, often, suites


def check_lines(path: Path) -> list[int | None]:
    loaded = load_file(str(path))
    numbers = list(range(max(1, loaded.cases)))
    spans = place_cases(str(path), numbers)
    lines = find_lines(str(path), numbers)
    assert lines == [None if span is None else span.line for span in spans]
    for number in numbers:
        assert find_lines(str(path), [number]) == [lines[number]]
    return lines


@often
@given(data=st.data(), suite=suites(old=True))
def test_they_are_the_same_in_every_layout(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, suite: Any
) -> None:
    path = tmp_path_factory.mktemp("lines") / "s.eval.yaml"
    path.write_bytes(data.draw(layouts(suite)).encode())
    check_lines(path)


WRITTEN: dict[str, tuple[str, list[int | None]]] = {
    "a list": ("- input: a\n\n# between\n- input: b\n", [1, 4]),
    "under `cases`": ("name: x\ncases:\n- input: a\n-\n  input: b\n", [3, 5]),
    "under an old name": ("tests:\n  - {input: a}\n  - {input: b}\n", [2, 3]),
    "in one line": ("cases: [{input: a}, {input: b}]\n", [1, 1]),
    "one case": ("# one\ninput: a\nexpected_output: b\n", [2]),
    "with anchors": ("- &one\n  input: a\n- *one\n- <<: *one\n  id: c\n", [1, 3, 4]),
    "a list by an alias": ("x-all: &all\n- input: a\n- input: b\ncases: *all\n", [2, 3]),
    "a list by a merge": ("x-all: &all\n  cases:\n  - input: a\n<<: *all\n", [3]),
    "with a byte order mark": ("\ufeff- input: a\n- input: b\n", [1, 2]),
    "with lists inside": ("- input:\n  - {role: user, content: a}\n- input: b\n", [1, 3]),
    "with unusual breaks": ("- input: 'a\u2028b\x85c'\n- input: b\n", [1, 2]),
}  # fmt: skip


@for_each("name", WRITTEN)
def test_they_are_found_however_a_suite_is_written(tmp_path: Path, name: str) -> None:
    text, expected = WRITTEN[name]
    path = tmp_path / "s.eval.yaml"
    path.write_text(text, encoding="utf-8")
    assert check_lines(path) == expected


def test_json_has_lines_too(tmp_path: Path) -> None:
    path = tmp_path / "s.eval.json"
    path.write_text('{"cases": [\n{"input": "a"},\n\n{"input": "b"}]}')
    assert check_lines(path) == [2, 4]


def test_blank_lines_of_jsonl_count_and_one_line_may_make_several_cases(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(
        '{"id": "a", "input": "x"}\n\n \t\r\n'
        '{"id": "b", "input": "{{n}}", "matrix": {"n": ["1", "2"]}}\n{"id": "c", "input": "y"}'
    )
    found = list(stream_lines(str(path), lambda _: True))
    assert found == [("a", 1), ("b:n=1", 4), ("b:n=2", 4), ("c", 5)]
    assert list(stream_lines(str(path), lambda case: case.id == "c")) == [("c", 5)]


@often
@given(st.lists(st.sampled_from(["{}", "  {}", "", " ", "\t", "\r", "\ufeff{}", "[1]"])))
def test_lines_are_numbered_as_they_are_read(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    read = [each[0] for each in read_lines(BytesIO(data), "s.jsonl") if isinstance(each, tuple)]
    numbered = list(number_lines(BytesIO(data)))
    assert set(read) <= set(numbered)
    whole = [line for line in lines if line.strip(" \t\r")]
    assert len(numbered) == len(whole)


@for_each("text", ["", "- a: [", "[}", "\ufeff\ufeff- a", "text", "- {input: a}", "*x", "\0"])
def test_a_file_that_is_another_by_now_has_other_lines_or_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.eval.yaml"
    path.write_text(text, encoding="utf-8")
    assert find_lines(str(path), [5]) == [None]


@for_each("name", ["s.eval.yaml", "s.eval.json", "s.eval.jsonl"])
@for_each("text", ["", "{", '{"input": "x"}\n' * 9])
def test_lines_of_a_file_that_was_edited_are_refused(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    written = '{"id": "a", "input": "x"}'
    path.write_text(written if name.endswith("l") else f"[{written}]")
    suites = Suites((str(path),), str(tmp_path))
    assert [case.id for _, case in suites.check()] == ["a"]
    suites.hashes()
    assert [found[1:] for found in suites.lines(lambda *_: True)] == [("a", 1)]
    path.write_text(text)
    with pytest.raises(ConfigError, match="changed while it was run"):
        list(suites.lines(lambda *_: True))
