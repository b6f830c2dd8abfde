"""Eval files in an editor: what is shown of a name, what is offered, and what is underlined."""

from contextlib import suppress
from pathlib import Path

import pytest

from evalcase.config.catalogue import declared_graders
from evalcase.format.fields import CASE_ALIASES, EXECUTION, SUITE_ALIASES, WrittenCase, WrittenSuite
from evalcase.format.schema import describe_fields
from tests.editors.language_server import Document
from tests.editors.project import EditedProject
from tests.for_each import for_each
from tests.format.declared import GRADERS

ROOT = Path(__file__).parent.parent.parent
CORPUS = ROOT / "tests" / "corpus"
OLDER = {*CASE_ALIASES, *SUITE_ALIASES, EXECUTION}
ABOUT = {each.kind.name: each.kind.description for each in GRADERS}

FIELDS_OF_CASES = {
    name: str(each["description"]) for name, each in describe_fields(WrittenCase).items()
}
FIELDS_OF_SUITES = {
    name: str(each["description"]) for name, each in describe_fields(WrittenSuite).items()
}

ONE_MESSAGE = "{role: user, content: Hi}"
CALLS = "{role: assistant, tool_calls: [{tool: search, input: {q: tea}}]}"


# What is shown of a name


@for_each("field", FIELDS_OF_CASES)
@for_each("value", ["", " text", f" {ONE_MESSAGE}", f" [{ONE_MESSAGE}]", " [a]"])
def test_the_sentence_of_a_field_of_a_case_is_shown_whatever_it_holds(
    yaml: EditedProject, field: str, value: str
) -> None:
    _, _, shown = (
        yaml.at(f"cases:\n  - {field[:1]}|{field[1:]}:{value}\n").hover().partition("\n\n")
    )
    assert shown.startswith(FIELDS_OF_CASES[field])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("c|ases: [{input: Hi}]", "The eval cases. Ids, if given, must be unique."),
        ("[{input: [{r|ole: user, content: Hi}]}]", "Who speaks."),
        ("[{input: Hi, expected_output: [{t|ool_calls: [{tool: a}], role: assistant}]}]",
         "The tools that this message calls, in order."),
        ("[{input: [{role: user, content: [{p|ath: a.md, type: file}]}]}]",
         "The file of a `file` or `image` part, relative to this file."),
        ("[{input: Hi, rubrics: [{t|ext: Polite}]}]", "What a good answer does."),
        ("[{input: Hi, repeat: {p|ass_rate: 1, times: 2}}]", "The share of trials that must pass"),
        ("[{input: Hi, graders: [e|xpected]}]", ABOUT["expected"]),
        ("[{input: Hi, graders: [{h|as: Lima}]}]", ABOUT["has"]),
        ("[{input: Hi, graders: [{type: h|as, value: Lima}]}]", ABOUT["has"]),
        ("[{input: Hi, graders: [{type: p|ython:a:b}]}]", ABOUT["python"]),
        ("[{input: Hi, graders: [{type: has, u|nit: words, value: a}]}]", "Where it is."),
        ("[{input: Hi, graders: [{every: [{has: {w|eight: 2, value: a}}]}]}]", "How much it"),
        ("[{i|nput_messages: Hi}]", "The old name of `input`: `evalcase migrate` renames it."),
        ("[{input: Hi, e|xecution: {target: a}}]", "An older grouping: write `target` and"),
    ],
)  # fmt: skip
def test_a_name_is_explained(yaml: EditedProject, text: str, sentence: str) -> None:
    heading, _, shown = yaml.at(text).hover().partition("\n\n")
    assert shown.startswith(sentence)
    assert "||" not in heading


# What is offered

IN_CASE = "cases:\n  - input: Hi\n"
IN_GRADERS = f"{IN_CASE}    graders:\n      - "
IN_EXPECTED = f"{IN_CASE}    expected_output:\n      - "
IN_INPUT = "cases:\n  - input:\n      - "


@pytest.mark.parametrize(
    ("text", "inserted"),
    [
        ("|", {"cases": "cases:\n  - ", "name": "name: ", "input": "input: ${1:What is 2 + 2?}"}),
        ("cases:\n  - |", {"input": "input: ${1:What is 2 + 2?}", "id": "id: ", "skip": "skip: "}),
        (f"{IN_CASE}    |", {"expected_output": "expected_output: ${1:The answer is 4}",
                             "graders": "graders:\n  - ", "metadata": "metadata:\n  "}),
        (f"{IN_CASE}    exp|", {"expected_output": "expected_output: ${1:The answer is 4}"}),
        (f"{IN_CASE}    repeat:\n      |", {"times": "times: ${1:5}"}),
        (f"{IN_GRADERS}|", {"expected": "expected", "has": "has: ", "every": "every:\n    - ",
                            "equals": "equals: ", "size": "size", "type": "type: ",
                            "some": "some:\n    count: $1\n    of:\n      -"}),
        (f"{IN_GRADERS}type: |", {"expected": "expected", "has": "has", "python": "python"}),
        (f"{IN_GRADERS}has:\n          |", {"value": "value: ", "weight": "weight: ${1:2}"}),
        (f"{IN_GRADERS}type: has\n        unit: |", {"words": "words", "lines": "lines"}),
        (f"{IN_CASE}    expected_output:\n      |", {"role": "role: "}),
        (f"{IN_EXPECTED}role: assistant\n        tool_calls:\n          - |",
         {"tool": "tool: ", "input": "input: ", "function": "function: "}),
        (f"{IN_INPUT}|", {"role": "role: ", "content": "content: "}),
        (f"{IN_INPUT}role: |", {"user": "user", "system": "system"}),
        (f"{IN_INPUT}role: user\n        content:\n          - type: |",
         {"text": "text", "file": "file", "image": "image"}),
        ("tests:\n  - |", {"input": "input: ${1:What is 2 + 2?}"}),
    ],
)  # fmt: skip
def test_names_are_offered_as_they_are_written(
    yaml: EditedProject, text: str, inserted: dict[str, str]
) -> None:
    offered = yaml.at(text).offered()
    assert {label: each.inserts for label, each in offered.items() if label in inserted} == inserted
    assert not OLDER & {*offered} - {"target", "input"}
    assert not [label for label in offered if label == "property" or "[object" in label]


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("cases:\n  - |", {*FIELDS_OF_CASES}),
        ("name: a\n|", {*FIELDS_OF_SUITES, "cases"} - {"name"}),
    ],
)
def test_every_field_is_offered_and_nothing_else(
    yaml: EditedProject, text: str, known: set[str]
) -> None:
    assert {*yaml.at(text).offered()} == known


# What is underlined

FIELDS = '"id", "input", "expected_output"'
NAMES = ", ".join(f'"{name}"' for name in ABOUT)
EITHER = " | ".join(f'"{name}"' for name in ABOUT)


MISTAKES = [
    ("[{input: Hi, expcted_output: x}]", "expcted_output", f"Valid values: {FIELDS}"),
    ("[{inputt: Hi}]", "inputt", f"Valid values: {FIELDS}"),
    ("casess: [{input: Hi}]", "casess", 'Valid values: "$schema", "name"'),
    ("[{input: 5}]", "5", "Expected one of string, object, array, null."),
    ("[{input: Hi, tags: x}]", "x", "Expected one of array, null."),
    ("[{input: Hi, threshold: 7}]", "7", "Value is above the maximum of 1."),
    ("[{input: Hi, skip: 3}]", "3", "Expected one of boolean, string, null."),
    ("[{input: Hi}, 5]", "5", 'Expected "Case".'),
    ("5", "5", "Expected one of object, array."),
    ("cases: []", "[]", "Array has too few items."),
    ("[{id: a}]", "{", 'Missing property "input".'),
    ("[{input: Hi, target: a, targets: [a]}]", "target", "Property target is not allowed."),
    ("{cases: [{input: Hi}], tests: [{input: Hi}]}", "tests", "Property tests is not allowed."),
    ("[{input: [{role: usr, content: Hi}]}]", "usr", 'Valid values: "system", "developer"'),
    ("[{input: [{role: user}]}]", "{", 'Missing property "content".'),
    ("[{input: Hi, expected_output: [{role: asistant, content: x}]}]", "asistant",
     'Valid values: "system", "developer"'),
    ("[{input: Hi, graders: [expcted]}]", "expcted", f"Value must be {EITHER}."),
    ("[{input: Hi, graders: [{hass: Lima}]}]", "hass", f"Valid values: {NAMES}."),
    ("[{input: Hi, graders: [{type: hass}]}]", "hass", f"Value must be {EITHER}."),
    ("[{input: Hi, graders: [{has: {value: a, wieght: 2}}]}]", "wieght",
     'Valid values: "value", "ignore_case", "unit", "name", "weight"'),
    ("[{input: Hi, graders: [{type: has, value: a, wieght: 2}]}]", "wieght",
     'Valid values: "type", "value", "ignore_case", "unit", "name", "weight"'),
    ("[{input: Hi, graders: [{has: {value: a, weight: two}}]}]", "two",
     "Expected one of number, null."),
    ("[{input: Hi, graders: [{has: {value: a, unit: word}}]}]", "word",
     'Valid values: "words", "lines", null.'),
    ("[{input: Hi, graders: [has]}]", "has", 'Expected "{name: argument}".'),
    ("[{input: Hi, graders: [{has: 5}]}]", "5", "Expected one of string, array, object."),
    ("[{input: Hi, graders: [{has: [5]}]}]", "5", 'Expected "string".'),
    ("[{input: Hi, graders: [5]}]", "5", "Expected one of string, object."),
    ("[{input: Hi, graders: expected}]", "expected", "Expected one of array, null."),
    ("[{input: Hi, graders: ['python:a']}]", "'python:a'", 'Value must be "expected"'),
    ("[{input: Hi, graders: [{every: [{hass: a}]}]}]", "hass", f"Valid values: {NAMES}."),
    ("[{input: Hi, graders: [{some: {of: [expected]}}]}]", "some", 'Missing property "count".'),
]  # fmt: skip


@pytest.fixture(scope="session")
def mistakes(yaml: EditedProject) -> dict[str, Document]:
    """All opened at once: the server waits a while before it looks at each."""
    return {text: yaml.open(text) for text, _, _ in MISTAKES}


@pytest.mark.parametrize(("text", "underlined", "message"), MISTAKES)
def test_one_message_at_the_place_says_what_fits(
    mistakes: dict[str, Document], text: str, underlined: str, message: str
) -> None:
    (found,) = mistakes[text].underlined()
    assert found.text == underlined
    assert message in found.message


def test_an_old_name_is_not_underlined_and_what_it_holds_is_looked_at(yaml: EditedProject) -> None:
    text = "tests:\n  - input_messages: Hi\n    outcome: Polite\n    evaluators: [expected]\n"
    assert yaml.open(text).underlined() == []
    (found,) = yaml.open(text.replace("[expected]", "[5]")).underlined()
    assert found.text == "5"


# Files that are good


NOT_READ = {
    "yaml-keys-that-are-no-text.yaml": "Map keys must be unique",
    "yaml-tags-of-the-core-schema.yaml": "Unresolved tag: tag:yaml.org,2002:float",
}
"""Good files that the parser of the language server does not take, and what it says."""


def read_all(folder: Path) -> dict[str, str]:
    """The YAML files in a folder that are UTF-8, by name."""
    found = {}
    for path in sorted(folder.rglob("*.yaml")):
        with suppress(UnicodeDecodeError):
            found[path.name] = path.read_text(encoding="utf-8")
    return found


def open_all(
    yaml: EditedProject, files: dict[str, str], kind: str = "a.eval.yaml"
) -> dict[str, Document]:
    return {
        name: yaml.open(text, "a.suite.yaml" if name.endswith(".suite.yaml") else kind)
        for name, text in files.items()
    }


def test_nothing_in_good_files_is_underlined(yaml: EditedProject) -> None:
    examples = read_all(ROOT / "examples")
    good = {name: text for name, text in examples.items() if name not in MISTAKEN}
    opened = open_all(yaml, read_all(CORPUS / "valid"))
    opened |= open_all(yaml, good, "a.installed.yaml")
    assert len(opened) > 60
    found = {name: each.underlined() for name, each in opened.items()}
    assert {name: each[0].message for name, each in found.items() if each} == NOT_READ


MISTAKEN = {"mistakes.eval.yaml", "typos.eval.yaml", "sums.eval.yaml"}
"""The examples of mistakes, and that of a package, which has to be installed first."""


EMPTY = ["file-empty.yaml", "file-only-comments.yaml"]
"""There is nothing in them to underline."""


def test_mistakes_that_a_schema_can_tell_are_underlined(yaml: EditedProject) -> None:
    files = read_all(CORPUS / "invalid")
    wrong = {name: text for name, text in files.items() if "# schema: cannot tell" not in text}
    assert len(wrong) > 100
    fine = [name for name, each in open_all(yaml, wrong).items() if not each.underlined()]
    assert fine == EMPTY


def test_every_installed_grader_is_offered_with_its_sentence_and_its_example(
    yaml: EditedProject,
) -> None:
    offered = yaml.at(f"{IN_GRADERS}|", "a.installed.yaml").offered()
    assert {each.kind.name: offered[each.kind.name].about for each in declared_graders()} == {
        each.kind.name: each.kind.description for each in declared_graders()
    }
    assert offered["python"].inserts == "python: ${1:checks:polite}"
