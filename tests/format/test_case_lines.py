"""The lines of cases are found however a file is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalcase.config.catalogue import Catalogue
from evalcase.format.load import CaseStream, case_spans
from evalcase.types.case import Case
from tests.for_each import for_each


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
