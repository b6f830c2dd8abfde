"""`{{name}}` without variables and `file://…` are text, and every way of reading a file says so."""

from __future__ import annotations

import json
from pathlib import Path

import evalcase
from evalcase.importers.convert import import_suite
from evalcase.importers.draft import Choices
from tests.for_each import for_each

ASKED = "Hello {{name}}"
FILE = "file://answer.txt"


def warn_of(path: Path) -> list[tuple[str, int | None, str]]:
    return sorted((each.code, each.line, each.message) for each in evalcase.check([path]))


def write_lines(*cases: dict[str, object]) -> str:
    return "".join(json.dumps(case) + "\n" for case in cases)


@for_each(
    ("name", "text"),
    [
        ("plain.eval.yaml", f'- id: a\n  input: "{ASKED}"\n  expected_output: {FILE}\n'),
        ("block.eval.yaml", f"- id: a\n  input: >-\n    {ASKED}\n  expected_output: {FILE}\n"),
        ("one.jsonl", write_lines({"id": "a", "input": ASKED, "expected_output": FILE})),
        ("more.jsonl", write_lines({"input": ASKED, "expected_output": FILE, "tags": ["x"]})),
        ("doc.json", json.dumps([{"id": "a", "input": ASKED, "expected_output": FILE}])),
        ("slash.jsonl", write_lines({"input": ASKED, "expected_output": FILE}).replace("/", "\\/")),
    ],
)
def test_every_way_of_reading_gives_the_same_warnings(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    tag, file = sorted(warn_of(path), reverse=True)
    assert tag[0] == "no-variables"
    assert "{{name}}" in tag[2]
    assert file[0] == "file-as-text"
    assert FILE in file[2]


def test_what_a_suite_says_for_all_is_warned_of_where_a_case_has_no_variables(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.eval.yaml"
    suite = "input: [{role: system, content: 'You are {{role}}.'}]\ncases:\n"
    with_variables = "- {id: a, vars: {role: kind}, input: hi, expected_output: x}\n"
    path.write_text(suite + with_variables)
    assert warn_of(path) == []
    path.write_text(suite + with_variables + "- {id: b, input: hi, expected_output: x}\n")
    ((code, line, message),) = warn_of(path)
    assert (code, line) == ("no-variables", 1)
    assert message == "{{role}} stays as it is: there are cases without `vars`"


def test_a_suite_that_is_imported_says_that_its_texts_are_meant(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(
        write_lines(
            {"input": "what is {{name}} in jinja?", "expected_output": "a tag"},
            {"input": "file:///etc/hosts", "expected_output": "a file"},
        )
    )
    source = str(tmp_path / "rows.jsonl")
    imported = import_suite(source, "rows", Choices({}), str(tmp_path))
    path = tmp_path / "imported.eval.yaml"
    path.write_text(imported.text)
    assert warn_of(path) == []
    first, second = evalcase.load(path)
    assert first.input[0].content == "what is {{name}} in jinja?"
    assert second.input[0].content == "file:///etc/hosts"
