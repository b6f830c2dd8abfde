from __future__ import annotations

from evalcase.config.catalogue import declared_graders
from evalcase.editor.lookup import explain_cursor
from evalcase.editor.schema import walk_of
from evalcase.format.fields import WrittenCase
from evalcase.format.schema import describe_fields
from tests.editor.at_cursor import cursor_in
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
