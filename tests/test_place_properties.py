"""Places of random values in texts of any layout."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import evalcase
from evalcase import SuiteError
from evalcase.format.document import parse_document
from evalcase.types.problem import Span
from tests.for_each import for_each
from tests.random_suites import (
    OLD_NAMES,
    Path_,
    as_json,
    at,
    damaged,
    exact,
    layouts,
    offsets,
    often,
    suites,
    values,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("properties")


def paths_in(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    yield path
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield from paths_in(item, (*path, key))


def source(text: str, span: Span) -> str:
    start, end = offsets(text, span)
    return text[start:end]


def trimmed(value: Any) -> Any:
    """Without the white space at the end of texts, which the span of a block doesn't reach."""
    if isinstance(value, dict):
        return {key: trimmed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [trimmed(item) for item in value]
    return value.rstrip() if isinstance(value, str) else value


def read_alone(text: str, column: int) -> Any:
    """The value of a piece of YAML that stood at a column."""
    document = parse_document(" " * (column - 1) + text + "\n", "yaml", "")
    assert document.readable, document.problems
    assert document.faults == []
    return document.value


def key_alone(text: str) -> Any:
    document = parse_document(f"? {text}\n: 0\n", "yaml", "")
    assert document.readable, document.problems
    assert isinstance(document.value, dict)
    return next(iter(document.value))


@often
@given(data=st.data(), value=values, indent=st.sampled_from([None, 0, 3]))
def test_every_path_of_json_has_a_place_whose_text_is_its_value(
    data: st.DataObject, value: Any, indent: int | None
) -> None:
    """And every key one whose text is the key."""
    text = json.dumps(value, indent=indent, ensure_ascii=data.draw(st.booleans()))
    document = parse_document(text, "json", "")
    paths = list(paths_in(value))
    for path in paths:
        found = source(text, document.positions.span(path, "value"))
        assert exact(json.loads(found)) == exact(at(value, path))
        if path and isinstance(path[-1], str):
            assert json.loads(source(text, document.positions.span(path, "key"))) == path[-1]


@often
@given(data=st.data(), value=values)
def test_every_path_of_yaml_has_a_place_whose_text_is_its_value(
    data: st.DataObject, value: Any
) -> None:
    """In every layout; a block scalar alone is looked at apart, for its text needs its context."""
    text = data.draw(layouts(value))
    document = parse_document(text, "yaml", "")
    assume(not document.faults)
    paths = list(paths_in(document.value))
    for path in paths:
        span = document.positions.span(path, "value")
        found, expected = source(text, span), at(document.value, path)
        if found[:1] in ("|", ">") and isinstance(expected, str):
            lines = [line.strip() for line in found.splitlines()[1:] if line.strip()]
            assert lines == [line.strip() for line in expected.splitlines() if line.strip()]
        else:
            assert exact(trimmed(read_alone(found, span.column))) == exact(trimmed(expected))
            assert found == found.strip(" \r\n")
        if path and isinstance(path[-1], str):
            assert key_alone(source(text, document.positions.span(path, "key"))) == path[-1]


MERGES = [
    "a: &a {x: 1, y: [1, 2]}\nb: {<<: *a, y: 3}\nc:\n  z: 4\n  <<: [*a, {x: 5, w: {v: 6}}]\n",
    "a: &a\n  b: &b {x: &x [1, {y: 2}]}\nc: {<<: *a, d: *x}\ne: {<<: [*b, *a]}\n",
    "- &a {k: v}\n- &b {<<: *a, l: *a}\n- {<<: *b, m: {<<: *b}}\n- [*a, *b, *a]\n",
    "&k a: &v {n: 1}\nb: {*k : 5, c: *v}\n",
    "a: &a {<<: {x: 1, y: {z: 2}}, w: 3}\nb: {<<: *a}\n? &q c\n: *a\nd: *q\n",
    "a: &a {'<<': 1, x: 2}\nb: {<<: *a, \"<<\": 3}\n",
]


@for_each("text", MERGES)
def test_place_of_what_is_merged_is_where_it_is_written(text: str) -> None:
    """Through aliases and merges, the text at the place is still the value."""
    document = parse_document(text, "yaml", "")
    for path in paths_in(document.value):
        span = document.positions.span(path, "value")
        found = source(text, span)
        if "*" not in found:
            assert exact(read_alone(found, span.column)) == exact(at(document.value, path))


@often
@given(data=st.data(), suite=suites(old=True).flatmap(damaged))
def test_places_of_problems_lie_in_the_text(data: st.DataObject, suite: Any) -> None:
    """Every problem points at something, and the excerpt is the line it points at."""
    text = data.draw(layouts(suite))
    try:
        problems = evalcase.loads(text).warnings
    except SuiteError as error:
        problems = error.problems
    lines = re.split(r"\r\n|\r|\n", text)
    for problem in problems:
        assert problem.span is not None
        line, column, end_line, end_column = problem.span
        assert (line, column) <= (end_line, end_column)
        assert end_line <= len(lines)
        assert column <= len(lines[line - 1]) + 1
        assert end_column <= len(lines[end_line - 1]) + 1
        assert problem.excerpt is not None
        assert problem.excerpt.text in lines[line - 1]
        if problem.code in ("deprecated-name", "ignored-alias"):
            old = [*OLD_NAMES, "execution", "target"]  # the last within `execution`
            assert source(text, problem.span).strip("\"'") in old


def test_recursion_limit_is_not_touched() -> None:
    """Reading, writing and placing need no more stack than Python gives."""
    limit = sys.getrecursionlimit()
    text = "input: {v: " + "[" * 97 + "]" * 97 + "}\noops: 1\n"
    with pytest.raises(SuiteError, match="unknown-field"):
        evalcase.loads(text)
    assert sys.getrecursionlimit() == limit


@often
@given(suite=suites(old=True))
def test_what_write_suite_writes_loads_as_the_same_suite(folder: Path, suite: Any) -> None:
    """Exactly: its name, the order of keys and the types of numbers, too."""
    path = folder / "written.eval.yaml"
    given_suite = evalcase.loads(as_json(suite), "json")
    evalcase.write_suite(given_suite, path, overwrite=True)
    assert exact(evalcase.load(path).to_dict()) == exact(given_suite.to_dict())
