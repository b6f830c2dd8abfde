from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalcase.config.catalogue import Catalogue
from evalcase.format.load import find_case_span

YAML = """\
cases:
  - id: a
    input: "{{x}}"
    matrix: {x: [p, q]}
  - id: z
    input: z
"""
LINES = [{"id": "a", "input": "{{x}}", "matrix": {"x": ["p", "q"]}}, {"id": "z", "input": "z"}]


@pytest.fixture(params=["yaml", "jsonl"])
def suite(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"s.eval.{request.param}"
    lines = "".join(json.dumps(line) + "\n" for line in LINES)
    path.write_text(YAML if request.param == "yaml" else lines)
    return path


@pytest.mark.parametrize(("id", "line"), [("a:x=p", (2, 1)), ("a:x=q", (2, 1)), ("z", (5, 2))])
def test_a_case_is_placed_where_it_is_written_however_many_come_before_it(
    suite: Path, id: str, line: tuple[int, int]
) -> None:
    span = find_case_span(str(suite), id, Catalogue())
    assert span is not None
    assert (span.line, span.column) == ((line[0], 5) if suite.suffix == ".yaml" else (line[1], 1))


def test_a_case_that_is_not_there_has_no_place(suite: Path) -> None:
    assert find_case_span(str(suite), "b", Catalogue()) is None
    suite.unlink()
    assert find_case_span(str(suite), "z", Catalogue()) is None
