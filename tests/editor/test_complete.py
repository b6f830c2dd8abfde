"""What is offered at a cursor, and how it is written there."""

from typing import Any

from evalcase.config.catalogue import declared_graders
from evalcase.editor.complete import Completion, find_completions, find_tags
from evalcase.editor.schema import walk_of
from evalcase.format.fields import WrittenCase, WrittenSuite
from evalcase.format.positions import Format
from evalcase.format.schema import describe_fields
from evalcase.types.message import ROLES
from tests.editor.at_cursor import cursor_in, place
from tests.for_each import for_each

TARGETS = {"bot": "echo: It says what was said.", "python:": "A function."}
CASE = "cases:\n  - id: a\n"
GRADERS = f"{CASE}    graders:\n"
GRADER_NAMES = [each.kind.name for each in declared_graders()]


def offered(text: str, format: Format = "yaml", schema: str = "suite") -> dict[str, Completion]:
    lines, line, _ = place(text)
    walk, cursor = walk_of(schema, is_line=schema == "case"), cursor_in(text, format)
    found = find_completions(cursor, format, lines[line], walk, TARGETS, ["smoke", "a: b"])
    assert len({each.label for each in found}) == len(found), "each is offered once"
    return {each.label: each for each in found}


def accepted(text: str, label: str, format: Format = "yaml") -> str:
    """The text once an offer is accepted."""
    lines, line, _ = place(text)
    found = offered(text, format)[label]
    before = lines[line]
    lines[line] = before[: found.start] + found.insert + before[found.end :]
    return "\n".join(lines)


def test_fields_of_a_case_that_are_not_there_yet_with_their_sentences() -> None:
    found = offered(f"{CASE}    |\n    input: x\n")
    expected = {
        name: each
        for name, each in describe_fields(WrittenCase).items()
        if name not in ("id", "input")
    }
    assert {name: each.about for name, each in found.items()} == {
        name: each["description"] for name, each in expected.items()
    }


def test_a_new_file_may_become_a_suite_or_a_case() -> None:
    assert {*describe_fields(WrittenSuite), "cases", *describe_fields(WrittenCase)} == {
        *offered("|")
    }
    assert {*describe_fields(WrittenSuite)} - {"name"} == {*offered("name: a\ncases: []\n|")}
    assert "cases" not in offered("|", schema="sidecar")


def test_a_name_that_is_being_written_is_offered_too() -> None:
    assert offered(f"{CASE}    in|put: x\n")["input"].insert == "input"


@for_each("text", [
    f"{CASE}    input:\n      - role: |\n", f"{CASE}    input: {{role: |}}\n",
    f"{CASE}    input: [{{content: a, role: |\n", f"{CASE}    expected_output:\n      role: us|\n",
])  # fmt: skip
def test_roles(text: str) -> None:
    assert [*offered(text)] == list(ROLES)


def test_graders_are_offered_as_they_are_written() -> None:
    found = offered(f"{GRADERS}      - |")
    assert {*found} == {*GRADER_NAMES, "type"}
    assert found["contains"].insert == "contains: "
    assert found["all"].insert == "all:"
    assert found["expected"].insert == "expected"
    assert [*offered(f"{GRADERS}      - type: |")] == GRADER_NAMES


@for_each("text", [
    f"{GRADERS}      - type: length\n        |", f"{GRADERS}      - length:\n          |",
    f"{GRADERS}      - {{type: length, |}}", f"{GRADERS}      - {{|, type: length}}",
])  # fmt: skip
def test_options_of_a_grader(text: str) -> None:
    found = offered(text)
    assert {"min", "max", "unit", "weight", "not"} <= {*found}
    assert found["unit"].about == "What to count."
    assert "order" not in found


@for_each(("text", "values"), [
    (f"{GRADERS}      - trajectory:\n          order: |", ["exact", "in_order", "any_order"]),
    (f"{CASE}    suite_graders: |", ["true", "false"]),
    (f"{CASE}    threshold: |", ["0.8"]), (f"{CASE}    workspace: |", ["false"]),
])  # fmt: skip
def test_values_that_are_listed(text: str, values: list[str]) -> None:
    assert [*offered(text)] == values


@for_each(("text", "names"), [
    ("workspace:\n  |", {"template", "hidden", "solution"}),
    (f"{CASE}    workspace:\n      setup:\n        - {{|", {"sh"}),
    (f"{GRADERS}      - files: {{a.txt: {{|", {"contains", "json"}),
])  # fmt: skip
def test_fields_of_workspaces(text: str, names: set[str]) -> None:
    assert {*offered(text)} >= names


@for_each("text", [
    f"{CASE}    target: |", f"{CASE}    targets: [|]", f"{CASE}    targets:\n      - |",
    "target: |\ncases: []", f"{GRADERS}      - judge:\n          target: |",
    f"{CASE}    user:\n      goal: x\n      target: |",
])  # fmt: skip
def test_targets(text: str) -> None:
    found = offered(text)
    assert [*found][:2] == ["bot", "python:"]
    assert found["bot"].about == "echo: It says what was said."


def test_targets_are_no_matter_in_data_of_ones_own() -> None:
    assert offered(f"{CASE}    metadata:\n      target: |") == {}


def test_tags_in_use_are_written_so_that_they_are_tags() -> None:
    assert accepted(f"{CASE}    tags: [|]", "smoke").endswith("tags: [smoke]")
    assert accepted(f"{CASE}    tags:\n      - |", "a: b").endswith('- "a: b"')


def test_text_is_left_alone() -> None:
    assert offered(f"{CASE}    input: >\n      Hello |") == {}
    assert offered(f"{CASE}    input: x # |") == {}


@for_each(("text", "label", "result"), [
    ("na|", "name", "name: "),
    ("target:|", "bot", "target: bot"),
    ("target: bo|", "bot", "target: bot"),
    ('target: "bo|"', "bot", 'target: "bot"'),
    (f"{CASE}    gra|", "graders", f"{CASE}    graders:"),
    (f"{CASE}    in|put: x", "input", f"{CASE}    input: x"),
    ("- {inp|}", "input", "- {input: }"),
    ("- {graders: |", "graders", None),
])  # fmt: skip
def test_how_it_is_written_in_yaml(text: str, label: str, result: str | None) -> None:
    if result is None:
        assert label not in offered(text)
    else:
        assert accepted(text, label) == result


def test_how_it_is_written_in_json() -> None:
    assert accepted('{"cases": [{"inp|', "input", "json") == '{"cases": [{"input": '
    assert accepted('{"cases": [{"inp|": 1}]}', "input", "json") == '{"cases": [{"input": 1}]}'
    assert accepted('{"target": "|"}', "bot", "json") == '{"target": "bot"}'


def test_a_line_of_jsonl_is_a_case() -> None:
    assert {*offered('{"id": "a", "|": 1}', "jsonl", "case")} == {*describe_fields(WrittenCase)} - {
        "id"
    }


def test_a_text_that_can_not_be_read_is_no_hindrance() -> None:
    broken = f"{CASE}    input: [a, b\n  - id: 'x\n    tags: ]\n  - id: c\n    exp|\n  - {{"
    assert "expected_output" in offered(broken)


def test_tags_of_suites_and_cases_the_most_frequent_first() -> None:
    suite: Any = {"tags": ["all"], "cases": [{"input": "x", "tags": ["b", "a"]}, {"tags": ["a"]}]}
    odd: Any = [{"tags": ["a", 5, {"a": "b"}], "metadata": {"tags": ["m"]}}]
    assert find_tags([suite, odd])[0] == "a"
    assert {*find_tags([suite, odd])} == {"a", "all", "b"}
