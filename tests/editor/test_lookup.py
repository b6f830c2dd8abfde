from pathlib import Path

import pytest

from evalcase.config.catalogue import declared_graders
from evalcase.config.config import read_config
from evalcase.editor.fixes import find_fixes, fix_all
from evalcase.editor.lookup import explain_cursor, locate_definition
from evalcase.editor.schema import walk_of
from evalcase.format.fields import WrittenCase
from evalcase.format.positions import apply_edits
from evalcase.format.schema import describe_fields
from tests.editor.at_cursor import cursor_in
from tests.editor.test_reading import read
from tests.for_each import for_each

ABOUT = {each.kind.name: each.kind.description for each in declared_graders()}
CASE = "cases:\n  - id: a\n    input: Hi\n"


def explained(text: str) -> str:
    found = explain_cursor(cursor_in(text), walk_of("suite", is_line=False))
    return "" if found is None else found[0]


@for_each("field", describe_fields(WrittenCase))
def test_every_field_of_a_case_by_its_own_sentence(field: str) -> None:
    text = f"cases:\n  - {field[0]}|{field[1:]}: x\n"
    assert explained(text) == describe_fields(WrittenCase)[field]["description"]


@for_each("grader", ABOUT)
@for_each("spelling", ["- {}: x", "- type: {}", "- {{type: {}}}", "- all: [{}]"])
def test_every_grader_by_its_own_sentence(grader: str, spelling: str) -> None:
    marked = f"{grader[0]}|{grader[1:]}"
    assert explained(f"{CASE}    graders:\n      {spelling.format(marked)}\n") == ABOUT[grader]


@for_each(("text", "about"), [
    (f"{CASE}    graders:\n      - type: length\n        u|nit: words", "What to count."),
    (f"{CASE}    graders:\n      - length: {{u|nit: words}}", "What to count."),
    (f"{CASE}    graders:\n      - python:a|:b: {{weight: 2}}", ABOUT["python"]),
    ("cases:\n  - input: [{r|ole: user, content: x}]", "Who speaks."),
    ("cases:\n  - input: [{role: us|er, content: x}]", "Who speaks."),
    ("te|sts: []", "The old name of `cases`: `evalcase migrate` renames it."),
    (f"{CASE}    metadata:\n      what|ever: 1", ""),
    (f"{CASE}    unkn|own: 1", ""),
    (f"{CASE}|", ""),
])  # fmt: skip
def test_the_sentence_of_a_name_or_a_value(text: str, about: str) -> None:
    assert explained(text) == about


# Definition


CODE = """\
raise SystemExit("nobody runs this")

def answer(text):
    return text

class Judge:
    async def grade(self): ...

polite = answer
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "a.md").write_text("")
    (tmp_path / "schema.json").write_text("{}")
    (tmp_path / "agent.py").write_text(CODE)
    (tmp_path / "evalcase.toml").write_text(
        '[targets.bot]\nkind = "echo"\n\n'
        '[targets.agent]\nkind = "python"\nfunction = "agent:answer"\n'
    )
    return tmp_path


def found_at(
    project: Path, text: str, name: str = "evals/a.eval.yaml"
) -> tuple[str, int, int] | None:
    config = read_config(str(project))
    found = locate_definition(cursor_in(text), str(project / name), config)
    return found and (str(Path(found.path).relative_to(project)), found.line, found.column)


@pytest.mark.parametrize(("text", "found"), [
    ("- input: [{role: user, content: [{type: file, path: a|.md}]}]", ("evals/a.md", 0, 0)),
    ("- input:\n    - role: user\n      content:\n        - type: file\n          path: a.|md",
     ("evals/a.md", 0, 0)),
    ("- graders: [{type: json_schema, file: sche|ma.json}]", ("schema.json", 0, 0)),
    ("- target: python:agent:an|swer", ("agent.py", 2, 0)),
    ("- target: agent|", ("agent.py", 2, 0)),
    ("- target: b|ot", ("evalcase.toml", 0, 9)),
    ("- targets: [echo, bo|t]", ("evalcase.toml", 0, 9)),
    ("- graders:\n    - python: agent:pol|ite", ("agent.py", 8, 0)),
    ("- graders:\n    - python:agent:Judge.gr|ade:\n        weight: 2", ("agent.py", 6, 4)),
    ("- graders: ['python:./agent.py:Jud|ge']", ("agent.py", 5, 0)),
    ("- target: python:agent:noth|ing", None),
    ("- input: ../../etc/pass|wd", None),
    ("- input: Hel|lo", None),
    ("- input: >\n    a.m|d", None),
])  # fmt: skip
def test_where_a_name_leads(project: Path, text: str, found: tuple[str, int, int] | None) -> None:
    assert found_at(project, text) == found


# Quick fixes: each makes what it says, and what is left is what was wrong before without it


@for_each(("text", "title", "after"), [
    ("- inptu: x\n  expected_output: x\n", "Write `input` for `inptu`",
     "- input: x\n  expected_output: x\n"),
    ("- input: 5\n  expected_output: x\n", 'Write `"5"` for `5`',
     '- input: "5"\n  expected_output: x\n'),
    ("- input: [{role: usr, content: 😀}]\n  expected_output: x\n", "Write `user` for `usr`",
     "- input: [{role: user, content: 😀}]\n  expected_output: x\n"),
    ("- input: x\n  evaluators: [expected]\n  expected_output: x\n",
     "Rename `evaluators` to `graders`",
     "- input: x\n  graders: [expected]\n  expected_output: x\n"),
    ("tests:\n  - input: x\n    expected_output: x\n", "Rename `tests` to `cases`",
     "cases:\n  - input: x\n    expected_output: x\n"),
])  # fmt: skip
def test_a_quick_fix_cures_what_it_stands_at(
    tmp_path: Path, text: str, title: str, after: str
) -> None:
    reading, _ = read(tmp_path, text)
    (found,) = find_fixes(reading, 1, 3)
    assert found.title == title
    assert found.problem in reading.problems
    assert apply_edits(text, found.edits, "yaml") == after
    assert read(tmp_path, after)[0].problems == []


def test_all_deprecated_names_at_once(tmp_path: Path) -> None:
    text = "tests:\n  - input_messages: x\n    expected_messages: 😀\n"
    reading, _ = read(tmp_path, text)
    *_, found = find_fixes(reading, 1, 1)
    assert found.title == "Rename all 3 deprecated names of this file"
    after = apply_edits(text, found.edits, "yaml")
    assert after == "cases:\n  - input: x\n    expected_output: 😀\n"


def test_all_that_check_would_fix_as_one_edit(tmp_path: Path) -> None:
    text = "cases:\n  - inptu: x\n    expected_output: 5\n    tags: a\n  - id: b\n    input: 7\n"
    reading, known = read(tmp_path, text)
    found = fix_all(reading, known)
    assert found is not None
    after = apply_edits(text, found.edits, "yaml")
    assert "input: x" in after
    assert 'input: "7"' in after
    assert [each for each in read(tmp_path, after)[0].problems if each.fix is not None] == []
    assert fix_all(*read(tmp_path, "- input: x\n  expected_output: x\n")) is None
