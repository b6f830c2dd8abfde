"""A schema in a file of the project."""

import json
from pathlib import Path
from time import time
from typing import Any

import pytest

import evalcase
from evalcase import Case
from evalcase.config.graders import make_grader
from evalcase.errors import ConfigError
from evalcase.types.target import Surroundings
from tests.for_each import for_each


def surroundings(root: Path) -> Surroundings:
    return Surroundings(str(root), {}, print, time)


def write(path: Path, schema: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(schema if isinstance(schema, str) else json.dumps(schema))


def test_a_file_is_read_from_the_root_of_the_project(tmp_path: Path) -> None:
    write(tmp_path / "schemas" / "a.json", {"type": "object", "required": ["a"]})
    grader = {"type": "json_schema", "file": "schemas/a.json"}
    verdicts = [
        evalcase.evaluate([Case(input=text, graders=[grader])], "echo", root=tmp_path).results[0]
        for text in ('{"a": 1}', "{}")
    ]
    assert [result.verdict for result in verdicts] == ["passed", "failed"]


@for_each(
    ("file", "content", "message"),
    [
        ("none.json", None, "none.json: No such file or directory"),
        ("../out.json", {}, "it lies outside the project"),
        ("bad.json", "{", "bad.json is not JSON"),
        ("odd.json", {"properties": {"a": {"typ": 1}}},
         "odd.json: properties.a.typ: the keyword `typ` of the schema is not known"),
    ],
)  # fmt: skip
def test_a_file_that_has_no_schema_is_told_before_the_run(
    tmp_path: Path, file: str, content: Any, message: str
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    if content is not None:
        write(root / file, content)
    named = make_grader({"type": "json_schema", "file": file})
    with pytest.raises(ConfigError) as caught:
        named.grader.load(surroundings(root))
    assert message in str(caught.value)


def test_check_finds_a_file_that_is_not_there_at_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "evals"
    write(tmp_path / "evalcase.toml", "")
    write(tmp_path / "schemas" / "a.json", {})
    write(
        folder / "a.eval.yaml",
        """cases:
  - input: hi
    graders:
      - {type: json_schema, file: schemas/a.json}
      - {type: json_schema, file: schemas/b.json}
      - all: [{type: json_schema, file: ../outside.json}]
""",
    )
    found = evalcase.check(folder / "a.eval.yaml")
    assert [(problem.code, problem.span and problem.span.line) for problem in found] == [
        ("missing-file", 5),
        ("file-outside-project", 6),
    ]
