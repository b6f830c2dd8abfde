import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evalcase.config.catalogue import Catalogue
from evalcase.format.document import parse_document
from evalcase.format.load import CaseStream, case_spans
from evalcase.types.case import Case
from evalcase.types.problem import At, Finding, KeyPath, Span
from tests.for_each import for_each

BREAK = re.compile(r"\r\n|\r|\n")


def source(text: str, span: Span) -> str:
    """The text between the two ends of a span, counted by hand."""
    starts = [0, *(found.end() for found in BREAK.finditer(text))]
    return text[
        starts[span.line - 1] + span.column - 1 : starts[span.end_line - 1] + span.end_column - 1
    ]


def at(text: str, path: KeyPath, what: At = "value", format: Any = "yaml") -> str:
    document = parse_document(text, format, "x")
    assert document.readable, document.faults
    return source(text, document.positions.span(path, what))


def test_block_scalars_end_with_their_text() -> None:
    for style in ("|", "|-", "|+", ">", ">-", ">+", "|2", "| # comment"):
        text = f"a: {style}\n  text\n  more\n\n\n# comment\nb: 1\n"
        assert at(text, ("a",)) == f"{style}\n  text\n  more"
    assert at("a: |\n\n\nb: 1", ("a",)) == "|"
    assert at("- |\n x\n- y", (0,)) == "|\n x"
    assert at("a:\n  - |\n    x", ("a", 0)) == "|\n    x"
    assert at("a: |\n  text ", ("a",)).rstrip() == "|\n  text"


def test_a_path_that_leads_nowhere_ends_at_its_parent() -> None:
    assert at("a: {b: 1}", ("a", "c")) == "{b: 1}"
    assert at("a: {b: 1}", ("a", "c", "d", 0)) == "{b: 1}"
    assert at("a: [1]", ("a", 5), "key") == "a"
    assert at("x", ("a",)) == "x"
    assert at('{"a": {"b": 1}}', ("a", "c"), format="json") == '{"b": 1}'


# Anchors, aliases, merges


ANCHORS = """\
x: &one
  a: 1
  b: [2, &two 3]
y: *one
z:
- *two
- {<<: *one, c: 4}
- <<: [{p: 5}, *one]
  a: 6
*two : 7
&key k: *key
m: {<<: {q: 8}}
"""


def test_a_place_inside_an_alias_names_the_alias() -> None:
    document = parse_document(ANCHORS, "yaml", "x")
    _, through = document.positions.find(("y", "b", 0))
    assert through is not None
    assert source(ANCHORS, through) == "*one"
    (problem,) = document.place([Finding(("y", "b", 0), "wrong", code="wrong-type")])
    assert problem.message == "wrong (used through the alias at line 4, column 4)"
    assert (problem.line, problem.column) == (3, 7)


def test_a_place_inside_a_merge_names_the_alias() -> None:
    document = parse_document(ANCHORS, "yaml", "x")
    for path, line, column in [(("z", 1, "a"), 7, 8), (("z", 2, "b", 0), 8, 16)]:
        (problem,) = document.place([Finding(path, "wrong", code="wrong-type")])
        assert problem.message == f"wrong (used through the alias at line {line}, column {column})"


def test_an_alias_itself_is_pointed_at_where_it_stands() -> None:
    document = parse_document(ANCHORS, "yaml", "x")
    (problem,) = document.place([Finding(("y",), "wrong", code="wrong-type")])
    assert (problem.message, problem.line, problem.column) == ("wrong", 4, 4)


def test_an_anchor_given_anew_and_one_of_a_key() -> None:
    text = "a: &k one\nb: [&k {x: 1}, *k]\n&c c: 2\nd: *c\n"
    value = {"a": "one", "b": [{"x": 1}, {"x": 1}], "c": 2, "d": "c"}
    assert parse_document(text, "yaml", "x").value == value
    assert at(text, ("b", 1, "x")) == "1"
    assert at(text, ("d",)) == "*c"


# Findings


def test_a_finding_with_a_second_place_names_it() -> None:
    document = parse_document("- id: a\n- id: a\n", "yaml", "x")
    finding = Finding((1, "id"), "taken", code="duplicate-id", also=(0, "id"))
    (problem,) = document.place([finding])
    assert problem.message == "taken; the first is at line 1, column 7"
    assert (problem.line, problem.column) == (2, 7)


# The lines of cases are found however a file is written


def lines_of(path: Path, numbers: Sequence[int] = range(9)) -> list[int | None]:
    return [None if span is None else span.line for span in case_spans(str(path), numbers)]


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
    assert lines_of(path, range(len(expected))) == expected


def test_blank_lines_of_jsonl_count_and_one_line_may_make_several_cases(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(
        '{"id": "a", "input": "x"}\n\n \t\r\n'
        '{"id": "b", "input": "{{n}}", "matrix": {"n": ["1", "2"]}}\n{"id": "c", "input": "y"}'
    )
    stream = CaseStream(str(path), Catalogue())
    found = [(case.id, stream.line) for case in stream if isinstance(case, Case)]
    assert found == [("a", 1), ("b:n=1", 4), ("b:n=2", 4), ("c", 5)]
    assert lines_of(path, [2, 0, 3]) == [5, 1, None]


@for_each("text", ["", "- a: [", "[}", "\ufeff\ufeff- a", "text", "- {input: a}", "*x", "\0"])
def test_a_file_that_is_another_by_now_has_other_lines_or_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.eval.yaml"
    path.write_text(text, encoding="utf-8")
    assert lines_of(path, [5]) == [None]
