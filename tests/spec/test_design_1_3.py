"""The format, part 1.3: the suite file, and YAML. One test for each thing it says."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import evalcase
from evalcase import SuiteError
from evalcase.cli.app import run
from evalcase.read.document import Format
from tests.for_each import for_each
from tests.spec.found import Place, only_problem, places, problems_of


def value_of(yaml: str) -> Any:
    """The value of a piece of YAML, read as the expected output of a case."""
    text = f"input: hi\nexpected_output:\n  v: {yaml}\n"
    (case,) = evalcase.loads(text)
    content: Any = case.expected_output[0].content
    return content["v"]


def fault_of(yaml: str) -> Place:
    """The only fault of a piece of YAML that starts in column 1 of line 1."""
    (place,) = places(f"{{input: hi, expected_output: {{v:\n{yaml}\n}}}}\n")
    code, line, column, end_line, end_column = place
    return code, line - 1, column, end_line - 1, end_column


def cases_of(text: str, format: Format = "yaml") -> list[dict[str, Any]]:
    return [case.to_dict() for case in evalcase.loads(text, format)]


def inputs_of(text: str) -> list[list[str]]:
    """The texts of the messages of each case."""
    return [[message["content"] for message in case["input"]] for case in cases_of(text)]


# The shapes of a file.


def test_file_may_be_a_mapping_with_cases() -> None:
    """The usual shape: suite fields, and the cases among them."""
    assert inputs_of("name: x\ncases:\n  - input: a\n  - input: b\n") == [["a"], ["b"]]
    assert problems_of("cases: [{input: a}]") == []


@pytest.mark.parametrize("name", ["evalcases", "eval_cases", "tests"])
def test_cases_has_aliases_that_are_accepted_and_warned(name: str) -> None:
    """Older names of the list of cases work, with a warning at the name."""
    text = f"name: x\n{name}: [{{input: a}}]\n"
    assert inputs_of(text) == [["a"]]
    assert places(text) == [("deprecated-name", 2, 1, 2, 1 + len(name))]


def test_null_cases_beside_an_alias_let_the_alias_in() -> None:
    """A null counts as absent here too."""
    assert inputs_of("cases: null\ntests: [{input: a}]\n") == [["a"]]


def test_file_may_be_a_list_of_cases() -> None:
    """Without any suite fields."""
    assert inputs_of("- input: a\n- input: b\n") == [["a"], ["b"]]
    assert problems_of("- input: a\n") == []


@pytest.mark.parametrize("name", ["input", "input_messages"])
def test_file_may_be_one_case(name: str) -> None:
    """A mapping with an input, and without cases, is a case."""
    assert inputs_of(f"id: x\n{name}: a\n") == [["a"]]


def test_mapping_with_input_and_cases_is_a_suite() -> None:
    """There `input` is what all cases start with."""
    assert inputs_of("input: a\ncases: [{input: b}]\n") == [["a", "b"]]


def test_file_may_be_jsonl_with_one_case_per_line(tmp_path: Path) -> None:
    """Each line is a case, in order; blank lines are none."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"input": "a"}\n\n  \n{"input": {"k": 1}}\r\n{"input": "c"}')
    assert [case.input[0].content for case in evalcase.load(path)] == ["a", {"k": 1}, "c"]


@pytest.mark.parametrize("line", ["5", '"hi"', '[{"input": "a"}]', "null"])
def test_line_of_jsonl_that_is_no_case_is_an_error(line: str) -> None:
    """A line is one case: not a list of them, not a value."""
    text = f'{{"input": "a"}}\n{line}\n'
    assert places(text, "jsonl") == [("wrong-type", 2, 1, 2, 1 + len(line))]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", ("no-cases", 1, 1, 1, 1)),
        ("# nothing\n", ("no-cases", 1, 1, 1, 1)),
        ("[]", ("no-cases", 1, 1, 1, 3)),
        ("hello", ("no-cases", 1, 1, 1, 6)),
        ("cases: []", ("no-cases", 1, 8, 1, 10)),
        ("name: x", ("no-cases", 1, 1, 1, 8)),
        ("cases: 5", ("wrong-type", 1, 8, 1, 9)),
        ("cases: {a: {input: b}}", ("wrong-type", 1, 8, 1, 23)),
        ("- input: a\n- 5\n", ("wrong-type", 2, 3, 2, 4)),
    ],
)
def test_file_of_any_other_shape_is_an_error(text: str, place: Place) -> None:
    """A file without cases is never a suite that passes."""
    assert places(text) == [place]


# The file beside a JSONL file.


def jsonl_suite(folder: Path, sidecar: str, *, name: str = "big") -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text('{"id": "one", "input": "a", "tags": ["own"]}\n{"id": "two", "input": "b"}\n')
    (folder / f"{name}.suite.yaml").write_text(dedent(sidecar))
    return path


def test_jsonl_takes_its_suite_fields_from_the_file_beside_it(tmp_path: Path) -> None:
    """What stands there holds for every line."""
    path = jsonl_suite(
        tmp_path,
        """\
        name: large
        description: All of them
        metadata: {owner: me}
        input: [{role: system, content: Be brief}]
        graders: [exact]
        tags: [slow]
        target: t
        threshold: 0.5
        repeat: 2
        timeout_s: 9
        x-note: 1
        """,
    )
    suite = evalcase.load(path)
    assert suite.to_dict() == {
        "name": "large",
        "description": "All of them",
        "metadata": {"owner": "me"},
        "cases": [
            {
                "id": id,
                "input": [
                    {"role": "system", "content": "Be brief"},
                    {"role": "user", "content": text},
                ],
                "tags": tags,
                "graders": [{"type": "exact"}],
                "targets": ["t"],
                "repeat": {"times": 2},
                "threshold": 0.5,
                "timeout_s": 9,
            }
            for id, text, tags in (("one", "a", ["slow", "own"]), ("two", "b", ["slow"]))
        ],
    }
    assert [case.to_dict() for case in evalcase.iter_cases(path)] == suite.to_dict()["cases"]


def test_file_beside_jsonl_is_optional(tmp_path: Path) -> None:
    """Another file's fields are not taken."""
    path = jsonl_suite(tmp_path, "name: x")
    other = tmp_path / "other.jsonl"
    other.write_bytes(path.read_bytes())
    assert (evalcase.load(path).name, evalcase.load(other).name) == ("x", "other")


@pytest.mark.parametrize("container", ["cases", "evalcases", "eval_cases", "tests"])
def test_cases_in_the_file_beside_jsonl_are_an_error(tmp_path: Path, container: str) -> None:
    """The cases are in the other file; these would be lost."""
    path = jsonl_suite(tmp_path, f"name: x\n{container}: [{{input: c}}]\n")
    errors = [each for each in evalcase.check([path]) if each.severity == "error"]
    assert [(each.code, each.path, each.span) for each in errors] == [
        ("conflicting-fields", str(tmp_path / "big.suite.yaml"), (2, 1, 2, 1 + len(container)))
    ]


def test_mistakes_in_the_file_beside_jsonl_are_pointed_at_in_that_file(tmp_path: Path) -> None:
    """And they keep the suite from being loaded."""
    path = jsonl_suite(tmp_path, "nmae: x\ntags: 5\n")
    with pytest.raises(SuiteError) as error:
        evalcase.load(path)
    found = [(each.code, each.path, each.span) for each in error.value.problems]
    sidecar = str(tmp_path / "big.suite.yaml")
    assert ("unknown-field", sidecar, (1, 1, 1, 5)) in found
    assert ("wrong-type", sidecar, (2, 7, 2, 8)) in found
    with pytest.raises(SuiteError):
        list(evalcase.iter_cases(path))


def test_search_never_takes_the_file_beside_jsonl_for_a_suite(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of the two only the one with the cases is found."""
    path = jsonl_suite(tmp_path, "name: x\n", name="big.eval")
    assert run(["show", "--format", "json", str(tmp_path)]) == 0
    (suite,) = json.loads(capfd.readouterr().out)
    assert suite["name"] == "x"
    assert {problem.path for problem in evalcase.check([tmp_path])} <= {str(path)}


# The fields of a suite.


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("math.eval.yaml", "math"),
        ("math.eval.yml", "math"),
        ("math.eval.json", "math"),
        ("math.eval.jsonl", "math"),
        ("math.yaml", "math"),
        ("math.jsonl", "math"),
        ("a.b.eval.yaml", "a.b"),
        ("v1.2.json", "v1.2"),
    ],
)
def test_name_is_by_default_the_file_name_without_its_endings(
    tmp_path: Path, file: str, name: str
) -> None:
    """Whatever the format."""
    path = tmp_path / file
    path.write_text('{"input": "a"}')
    assert evalcase.load(path).name == name


def test_name_in_the_file_wins_over_the_name_of_the_file(tmp_path: Path) -> None:
    """It is a text like any other."""
    path = tmp_path / "math.eval.yaml"
    path.write_text("name: Sums & more\ncases: [{input: a}]\n")
    assert evalcase.load(path).name == "Sums & more"


def test_name_has_the_alias_dataset() -> None:
    """With a warning at the name."""
    text = "dataset: x\ncases: [{input: a}]\n"
    assert evalcase.loads(text).name == "x"
    assert places(text) == [("deprecated-name", 1, 1, 1, 8)]


def test_description_and_metadata_are_fields_of_the_suite_itself() -> None:
    """They are kept there and not handed to the cases."""
    metadata = {"riskLevel": 1, "b": [None], "a": {"input": 5}}
    text = f"description: d\nmetadata: {json.dumps(metadata)}\ncases: [{{input: a, id: a}}]\n"
    suite = evalcase.loads(text)
    assert (suite.description, suite.metadata) == ("d", metadata)
    assert json.dumps(suite.to_dict()) == json.dumps(
        {
            "name": suite.name,
            "description": "d",
            "metadata": metadata,
            "cases": [{"id": "a", "input": [{"role": "user", "content": "a"}]}],
        }
    )


@pytest.mark.parametrize(
    ("value", "before"),
    [
        ("Hello", [{"role": "user", "content": "Hello"}]),
        ("{role: system, content: Be brief}", [{"role": "system", "content": "Be brief"}]),
        ("{k: 1}", [{"role": "user", "content": {"k": 1}}]),
        (
            "[{role: system, content: a}, {role: user, content: b}]",
            [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}],
        ),
    ],
)
def test_input_of_a_suite_is_put_before_that_of_each_case(
    value: str, before: list[dict[str, Any]]
) -> None:
    """In every short form, and before every form of a case's own."""
    text = f"input: {value}\ncases:\n  - input: x\n  - input: [{{role: user, content: y}}]\n"
    assert [case["input"] for case in cases_of(text)] == [
        [*before, {"role": "user", "content": "x"}],
        [*before, {"role": "user", "content": "y"}],
    ]


def test_input_of_a_suite_has_the_alias_input_messages() -> None:
    """With a warning at the name."""
    text = "input_messages: a\ncases: [{input: b}]\n"
    assert inputs_of(text) == [["a", "b"]]
    assert places(text) == [("deprecated-name", 1, 1, 1, 15)]


def test_input_of_a_suite_does_not_stand_in_for_that_of_a_case() -> None:
    """Each case says what it is about."""
    assert places("input: a\ncases:\n  - id: x\n") == [("missing-input", 3, 5, 3, 10)]


def test_input_of_a_suite_is_checked_like_that_of_a_case() -> None:
    """Once, where it stands, and not once for each case."""
    text = "input: 5\ncases: [{input: b}, {input: c}]\n"
    assert places(text) == [("wrong-type", 1, 8, 1, 9)]


def test_canonical_form_has_no_input_of_the_suite() -> None:
    """It is part of each case already, so loading it again adds nothing."""
    suite = evalcase.loads("name: s\ninput: a\ncases: [{input: b}]\n")
    assert list(suite.to_dict()) == ["name", "cases"]
    again = evalcase.loads(json.dumps(suite.to_dict()), "json")
    assert again.to_dict() == suite.to_dict()


def test_graders_of_a_suite_come_before_those_of_each_case() -> None:
    """They are added, not replaced."""
    text = "graders: [a, {b: 1}]\ncases:\n  - {input: x, graders: [c]}\n  - {input: y}\n"
    suite = [{"type": "a"}, {"type": "b", "value": 1}]
    assert [case["graders"] for case in cases_of(text)] == [[*suite, {"type": "c"}], suite]


def test_graders_of_a_suite_have_the_alias_evaluators() -> None:
    """With a warning at the name."""
    text = "evaluators: [a]\ncases: [{input: x}]\n"
    assert [case["graders"] for case in cases_of(text)] == [[{"type": "a"}]]
    assert places(text) == [("deprecated-name", 1, 1, 1, 11)]


def test_suite_graders_false_leaves_the_graders_of_the_suite_out() -> None:
    """For that case only, and it leaves no trace in the canonical form."""
    text = dedent("""\
        graders: [a]
        cases:
          - {id: x, input: x, suite_graders: false, graders: [c]}
          - {id: y, input: y, suite_graders: false}
          - {id: z, input: z, suite_graders: true}
        """)
    x, y, z = cases_of(text)
    assert x["graders"] == [{"type": "c"}]
    assert list(y) == ["id", "input"]
    assert z["graders"] == [{"type": "a"}]
    assert "suite_graders" not in json.dumps([x, y, z])


def test_suite_graders_is_true_or_false() -> None:
    """And it is a field of cases, not of suites."""
    assert places("- {input: x, suite_graders: no}") == [("wrong-type", 1, 29, 1, 31)]
    text = "suite_graders: false\ncases: [{input: x}]\n"
    assert places(text) == [("unknown-field", 1, 1, 1, 14)]


def test_targets_repeat_threshold_and_timeout_of_a_suite_hold_for_every_case() -> None:
    """They are resolved into each case."""
    text = "target: t\nthreshold: 0.5\nrepeat: 3\ntimeout_s: 2\ncases: [{input: a}, {input: b}]\n"
    for case in evalcase.loads(text):
        assert (case.targets, case.threshold, case.repeat, case.timeout_s) == (("t",), 0.5, 3, 2)
    for case in evalcase.loads("targets: [t, u]\ncases: [{input: a}]\n"):
        assert case.targets == ("t", "u")


def test_tags_of_a_suite_are_joined_with_those_of_each_case() -> None:
    """The suite's first, none twice."""
    text = "tags: [a, b]\ncases: [{input: x, tags: [c, a]}, {input: y}]\n"
    assert [case["tags"] for case in cases_of(text)] == [["a", "b", "c"], ["a", "b"]]


def test_schema_may_be_named_and_leaves_no_trace() -> None:
    """It is for the editor, in a suite and in a case that is a file of its own."""
    for text in ("$schema: a.json\ncases: [{input: x}]\n", "$schema: a.json\ninput: x\n"):
        assert problems_of(text) == []
        assert "$schema" not in json.dumps(evalcase.loads(text).to_dict())
    assert places("- {$schema: a.json, input: x}") == [("unknown-field", 1, 4, 1, 11)]


def test_x_fields_of_a_suite_are_ignored() -> None:
    """Any name, any value."""
    text = "x-a: [1]\nx-: {role: 5}\ncases: [{input: x}]\n"
    assert problems_of(text) == []
    assert list(evalcase.loads(text).to_dict()) == ["name", "cases"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("nmae", "did you mean `name`?"),
        ("treshold", "did you mean `threshold`?"),
        ("gradres", "did you mean `graders`?"),
        ("expected_output", "it belongs to a case, one level below"),
    ],
)
def test_any_other_field_of_a_suite_is_an_error(name: str, hint: str) -> None:
    """With a suggestion."""
    problem = only_problem(f"{name}: x\ncases: [{{input: x}}]\n")
    assert problem.code == "unknown-field"
    assert problem.span == (1, 1, 1, 1 + len(name))
    assert problem.hint == hint


@pytest.mark.parametrize(
    ("field", "place"),
    [
        ("name: 5", ("wrong-type", 7, 8)),
        ("name: ''", ("bad-value", 7, 9)),
        ("description: []", ("wrong-type", 14, 16)),
        ("tags: x", ("wrong-type", 7, 8)),
        ("metadata: x", ("wrong-type", 11, 12)),
        ("graders: x", ("wrong-type", 10, 11)),
        ("target: 5", ("wrong-type", 9, 10)),
        ("targets: []", ("empty-list", 10, 12)),
        ("threshold: 2", ("bad-value", 12, 13)),
        ("repeat: 0", ("bad-value", 9, 10)),
        ("timeout_s: -1", ("bad-value", 12, 14)),
        ("$schema: 5", ("wrong-type", 10, 11)),
        ("input: []", ("empty-list", 8, 10)),
    ],
)
def test_fields_of_a_suite_are_checked(field: str, place: tuple[str, int, int]) -> None:
    """Once, where they stand."""
    code, column, end_column = place
    text = f"{field}\ncases: [{{input: x}}, {{input: y}}]\n"
    assert places(text) == [(code, 1, column, 1, end_column)]


def test_yaml_json_and_jsonl_that_say_the_same_give_identical_cases(tmp_path: Path) -> None:
    """To the last key and its place."""
    yaml = dedent("""\
        - id: sum
          input: &q "What is 2+2? \N{GRINNING FACE}"
          expected_output: {answer: 4, exact: true, ratio: 1.0, none: null}
          tags: [a, b]
          metadata: {riskLevel: High, "1": [~, {}]}
        - input:
            - role: system
              content: |
                Be brief.
                Be kind.
            - {role: user, content: *q}
          graders: [expected, python: m:f]
          rubrics: [polite]
          repeat: 2
        - {input: {k: 0x10}, criteria: c}
        """)
    cases = [
        {
            "id": "sum",
            "input": "What is 2+2? \N{GRINNING FACE}",
            "expected_output": {"answer": 4, "exact": True, "ratio": 1.0, "none": None},
            "tags": ["a", "b"],
            "metadata": {"riskLevel": "High", "1": [None, {}]},
        },
        {
            "input": [
                {"role": "system", "content": "Be brief.\nBe kind.\n"},
                {"role": "user", "content": "What is 2+2? \N{GRINNING FACE}"},
            ],
            "graders": ["expected", {"python": "m:f"}],
            "rubrics": ["polite"],
            "repeat": 2,
        },
        {"input": {"k": 16}, "criteria": "c"},
    ]
    texts = {
        "yaml": yaml,
        "yml": f"cases:\n{yaml}",
        "json": json.dumps(cases),
        "jsonl": "\n".join(map(json.dumps, cases)),
    }
    found = []
    (tmp_path / "evalcase.toml").write_text('[judge]\ntarget = "echo"\n')
    for format, text in texts.items():
        path = tmp_path / f"same.eval.{format}"
        path.write_text(text, "utf-8")
        assert evalcase.check([path], root=tmp_path) == []
        found.append(evalcase.load(path))
    assert len({json.dumps(suite.to_dict()) for suite in found}) == 1
    assert all(suite.cases == found[0].cases for suite in found)


# Search.


def test_folders_are_searched_for_four_patterns(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Only names with `.eval` before the ending are found, at any depth."""
    found = ["a.eval.yaml", "b.eval.yml", "c.eval.json", "d.eval.jsonl", "sub/deep/e.eval.yaml"]
    others = ["f.yaml", "g.jsonl", "eval.yaml", "h.eval.txt", "i.eval.yaml.bak", "j.suite.yaml"]
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    for name in (*found, *others):
        (tmp_path / name).write_text(json.dumps({"id": name, "input": "x"}))
    assert run(["show", "--format", "jsonl", str(tmp_path)]) == 0
    shown = [json.loads(line)["id"] for line in capfd.readouterr().out.splitlines()]
    assert shown == found
    assert {problem.case for problem in evalcase.check([tmp_path])} == set(found)


def test_file_named_outright_is_read_whatever_its_stem(tmp_path: Path) -> None:
    """The ending tells the format, and that is all that is needed."""
    for name in ("a.yaml", "b.yml", "c.json", "d.jsonl", "x.eval.backup.yaml", "e.suite.yaml"):
        path = tmp_path / name
        path.write_text('{"input": "x", "expected_output": "c"}')
        assert evalcase.check([path]) == []
        assert len(evalcase.load(path)) == 1


def test_folder_without_eval_files_is_an_error(tmp_path: Path) -> None:
    """A check that looked at nothing has not passed."""
    (tmp_path / "a.yaml").write_text("input: x")
    (problem,) = evalcase.check([tmp_path])
    assert (problem.code, problem.severity) == ("no-suites", "error")
    assert run(["check", str(tmp_path)]) == 2


# YAML 1.2, core schema.


@for_each(
    "text",
    ["no", "No", "on", "off", "yes", "y", "n", "12:30:00", "1:20", "2024-01-01",
     "2024-01-01T12:30:00Z", "1_000", "0b11", "-0o14", "0o8", "+0x1F", "0xG", "nUll", "tRUE",
     "=", ".", "-x", "1e", "e3", "0x", "0o", "1.2.3", "--1", "inf", "nan", "Infinity", ".Nan"],
)  # fmt: skip
def test_plain_scalar_that_is_a_string(text: str) -> None:
    """What only YAML 1.1 takes for something else."""
    assert value_of(text) == text


@for_each(
    ("text", "value"),
    [
        ("0o14", 12),
        ("014", 14),
        ("0", 0),
        ("-17", -17),
        ("+17", 17),
        ("0x1F", 31),
        ("0xff", 255),
        ("1.5", 1.5),
        ("-1.5", -1.5),
        ("+.5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("12E-1", 1.2),
        ("-0.0", -0.0),
        ("1.0", 1.0),
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("false", False),
        ("False", False),
        ("FALSE", False),
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("~", None),
        ("", None),
    ],
)
def test_plain_scalar_that_is_a_number_a_boolean_or_null(text: str, value: Any) -> None:
    """The core schema's numbers, booleans and nulls, with their types."""
    found = value_of(text)
    assert (type(found), repr(found)) == (type(value), repr(value))


@pytest.mark.parametrize("text", ["5", "true", "null", "~", "", "0o14", "1.5", ".inf"])
@pytest.mark.parametrize("quote", ['"', "'"])
def test_quoted_scalar_is_a_string(text: str, quote: str) -> None:
    """Whatever is in the quotes."""
    assert value_of(f"{quote}{text}{quote}") == text


def test_block_scalar_is_a_string() -> None:
    """Even if it looks like a number."""
    assert value_of("|-\n    5") == "5"
    assert value_of(">\n    true") == "true\n"


@pytest.mark.parametrize(
    ("yaml", "column", "end_column"),
    [("{a: 1, b: 2, a: 3}", 14, 15), ("{1: a, '1': b}", 8, 11), ("{a: 1, 'a': 1}", 8, 11)],
)
def test_duplicate_keys_are_errors(yaml: str, column: int, end_column: int) -> None:
    """At the second of the two, wherever in the file it is, whatever the spelling."""
    assert fault_of(yaml) == ("duplicate-key", 1, column, 1, end_column)


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_duplicate_keys_are_errors_in_json(format: Format) -> None:
    """Escapes in a key don't hide it."""
    text = r'{"input": "hi", "expected_output": {"a": 1, "\u0061": 2}}'
    assert places(text, format) == [("duplicate-key", 1, 45, 1, 53)]


def test_every_duplicate_key_is_reported() -> None:
    """All of them, with everything else that is wrong."""
    text = "- input: a\n  input: b\n  tags: 5\n- {input: c, input: d, oops: 1}\n"
    assert [place[:3] for place in places(text)] == [
        ("duplicate-key", 2, 3),
        ("wrong-type", 3, 9),
        ("duplicate-key", 4, 14),
        ("unknown-field", 4, 24),
    ]


@pytest.mark.parametrize(
    ("yaml", "value"),
    [
        ("!!str 5", "5"),
        ("!!int '5'", 5),
        ("!!float 5", 5.0),
        ("!!bool 'true'", True),
        ("!!null ''", None),
        ("!!map {a: 1}", {"a": 1}),
        ("!!seq [1]", [1]),
        ("!<tag:yaml.org,2002:str> 5", "5"),
        ("! 5", "5"),
    ],
)
def test_core_tags_are_accepted(yaml: str, value: Any) -> None:
    """They mean what they say."""
    found = value_of(yaml)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("yaml", "end_column"),
    [
        ("!foo x", 7),
        ("!!binary aGk=", 14),
        ("!!timestamp 2024-01-01", 23),
        ("!!set {a}", 8),
        ("!!python/object/apply:os.system [ls]", 34),
        ("!!int x", 8),
        ("!!bool yes", 11),
        ("!!map [a]", 8),
        ("!!str {a: 1}", 8),
        ("!<tag:example.org,2000:x> y", 28),
    ],
)
def test_other_tags_are_errors(yaml: str, end_column: int) -> None:
    """Nothing is made of them, and nothing is run."""
    assert fault_of(yaml) == ("bad-tag", 1, 1, 1, end_column)


def test_more_than_one_document_is_an_error() -> None:
    """At the second one."""
    assert places("input: a\n---\ninput: b\n") == [("several-documents", 2, 1, 2, 4)]


def test_markers_around_the_only_document_are_fine() -> None:
    """One document may say where it starts and ends."""
    assert inputs_of("%YAML 1.2\n---\ninput: a\n...\n") == [["a"]]


def test_undefined_aliases_are_errors() -> None:
    """At the alias; an anchor must come first."""
    assert fault_of("[*a, &a 1]") == ("undefined-alias", 1, 2, 1, 4)


@pytest.mark.parametrize("yaml", ["&a [*a]", "&a {b: [1, *a]}", "&a {b: {<<: *a}}"])
def test_recursive_aliases_are_errors(yaml: str) -> None:
    """At the alias."""
    column = yaml.index("*") + 1
    assert fault_of(yaml) == ("recursive-alias", 1, column, 1, column + 2)


def nested(depth: int, open: str, close: str) -> str:
    return open * depth + close * depth


@pytest.mark.parametrize("format", ["yaml", "json", "jsonl"])
@pytest.mark.parametrize(("open", "close"), [("[", "]"), ('{"a":', "}")])
def test_nesting_over_100_is_an_error(format: Format, open: str, close: str) -> None:
    """100 levels are fine, the 101st is pointed at."""
    close_by = "1" + close if open != "[" else close
    inner = open * 98 + close_by + close * 97
    (case,) = evalcase.loads(f'{{"input": {{"x": {inner}}}}}', format)
    assert '"x": ' in json.dumps(case.to_dict())
    inner = open * 99 + close_by + close * 98
    column = len('{"input": {"x": ') + 98 * len(open) + 1
    text = f'{{"input": {{"x": {inner}}}}}'
    assert places(text, format) == [("too-deep", 1, column, 1, column + 1)]


def test_nesting_over_100_through_aliases_is_an_error() -> None:
    """It counts what a value is, not how it is written."""
    half = nested(60, "[", "]")
    text = f"x-a: &a {half}\ninput: {{v: {'[' * 50}*a{']' * 50}}}\n"
    assert [place[:3] for place in places(text)] == [("too-deep", 2, 62)]


@pytest.mark.parametrize("format", ["yaml", "json", "jsonl"])
@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 100_000, "[" * 50_000 + "]" * 50_000])
def test_nesting_without_end_is_an_error_and_no_crash(format: Format, text: str) -> None:
    """Neither the stack nor the time runs out."""
    problem = only_problem(text, format)
    assert (problem.code, problem.line) == ("too-deep", 1)


@pytest.mark.parametrize("text", ["- " * 50_000, "? " * 50_000, "[{? " * 20_000])
def test_nesting_without_end_in_block_style_is_an_error_and_no_crash(text: str) -> None:
    """The same for what only YAML has."""
    assert only_problem(text).severity == "error"


def test_alias_expansion_over_a_budget_is_an_error() -> None:
    """A few lines can't become gigabytes."""
    lines = ["x-0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, 10):
        lines.append(f"x-{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]")
    problem = only_problem("\n".join([*lines, "input: hi"]))
    assert problem.code == "alias-bomb"
    assert problem.excerpt is not None
    assert problem.span is not None
    assert problem.excerpt.text[problem.span.column - 1] == "*"


def test_alias_expansion_through_merges_is_within_the_budget_too() -> None:
    """Merging is using an alias."""
    lines = ["x-0: &a0 {" + ", ".join(f"k{n}: [1, 2, 3, 4]" for n in range(200)) + "}"]
    lines += [f"x-{n}: {{<<: *a0}}" for n in range(1, 2000)]
    assert only_problem("\n".join([*lines, "input: hi"])).code == "alias-bomb"


def test_many_honest_aliases_are_fine() -> None:
    """The budget is far beyond what people write."""
    text = "x-s: &s {role: system, content: Be brief}\ncases:\n" + "".join(
        f"  - input: [*s, {{role: user, content: q{n}}}]\n" for n in range(3000)
    )
    assert len(evalcase.loads(text)) == 3000


@pytest.mark.parametrize(
    "character", ["\x00", "\x07", "\x08", "\x0b", "\x1b", "\x1f", "\x7f", "\x80"]
)
def test_raw_control_characters_are_errors(character: str) -> None:
    """In text, at their place."""
    assert fault_of(f'"ab{character}c"') == ("control-character", 1, 4, 1, 5)


def test_raw_control_characters_are_errors_in_comments_too() -> None:
    """Nothing in the file is exempt."""
    assert places("input: a # \x1b[31m\n") == [("control-character", 1, 12, 1, 13)]


@pytest.mark.parametrize("format", ["json", "jsonl"])
@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\t"])
def test_raw_control_characters_are_errors_in_json(format: Format, character: str) -> None:
    """JSON has them only as escapes."""
    text = f'{{"input": "ab{character}"}}'
    assert places(text, format) == [("control-character", 1, 14, 1, 15)]


def test_escaped_control_characters_are_data() -> None:
    """Who writes them as escapes means them."""
    assert value_of(r'"\e[31m\0\x07\t\u001f\x7f"') == "\x1b[31m\0\x07\t\x1f\x7f"
    (case,) = evalcase.loads(r'{"input": "\u001b[31m\u0000\t\u007f"}', "json")
    assert case.input[0].content == "\x1b[31m\0\t\x7f"


@pytest.mark.parametrize("ending", ["yaml", "json", "jsonl"])
@pytest.mark.parametrize("bad", [b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe9"])
def test_bad_utf_8_is_an_error_at_its_place(tmp_path: Path, ending: str, bad: bytes) -> None:
    """The column counts code points up to the first bad byte."""
    path = tmp_path / f"a.{ending}"
    start = '{"input": "é\N{GRINNING FACE}'.encode()
    path.write_bytes(start + bad + b'"}\n')
    (problem,) = evalcase.check([path])
    assert (problem.code, problem.span) == ("bad-encoding", (1, 14, 1, 15))


def test_bad_utf_8_in_one_line_of_jsonl_leaves_the_others_readable(tmp_path: Path) -> None:
    """Every problem of the file is found."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"input": "a", "oops": 1}\n{"input": "\xff"}\n{"input": 5}\n')
    found = [(each.code, each.span) for each in evalcase.check([path]) if each.case is None]
    assert ("bad-encoding", (2, 12, 2, 13)) in found
    assert ("wrong-type", (3, 11, 3, 12)) in found


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"])
@pytest.mark.parametrize("ending", ["yaml", "json", "jsonl"])
def test_only_utf_8_is_read(tmp_path: Path, encoding: str, ending: str) -> None:
    """No other encoding is guessed."""
    path = tmp_path / f"a.{ending}"
    path.write_text('{"input": "caf\xe9 au lait"}', encoding)
    problems = evalcase.check([path])
    assert [problem for problem in problems if problem.severity == "error"]
    assert all(problem.code != "unknown-field" for problem in problems)


@pytest.mark.parametrize("ending", ["yaml", "json", "jsonl"])
def test_byte_order_mark_makes_no_difference(tmp_path: Path, ending: str) -> None:
    """Neither to the values nor to the places."""
    text = '{"input": "é", "oops": 1}'
    with_mark, without = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    with_mark.write_text(text, "utf-8-sig")
    without.write_text(text, "utf-8")
    (one,), (two,) = evalcase.check([with_mark]), evalcase.check([without])
    assert one.span == two.span == (1, 16, 1, 22)
    good = text.replace("oops", "x-oops")
    with_mark.write_text(good, "utf-8-sig")
    without.write_text(good, "utf-8")
    assert evalcase.load(with_mark).cases == evalcase.load(without).cases


@pytest.mark.parametrize("format", ["yaml", "json", "jsonl"])
def test_byte_order_mark_before_a_text_makes_no_difference(format: Format) -> None:
    """What `loads` is given may still have one."""
    text = '{"input": "é", "oops": 1}'
    assert places("\ufeff" + text, format) == places(text, format)


def test_anchors_and_aliases_work() -> None:
    """On values of every kind, and on keys; each use is a value of its own."""
    assert value_of("{a: &x [1], b: *x, c: &y t, d: *y, &k e: 1, f: *k}") == {
        "a": [1], "b": [1], "c": "t", "d": "t", "e": 1, "f": "e",
    }  # fmt: skip
    assert value_of("[&x 5, *x, &x six, *x]") == [5, 5, "six", "six"]
    value = value_of("[&x {a: []}, *x]")
    value[0]["a"].append(1)
    assert value == [{"a": [1]}, {"a": []}]


def test_anchored_value_may_be_a_key_elsewhere() -> None:
    """By its source text."""
    assert value_of("[&k 0x10, {*k : v}]") == [16, {"0x10": "v"}]


# Merges.


def in_order(value: Any) -> list[tuple[str, Any]]:
    return list(value.items())


def test_merge_puts_the_keys_where_it_stands() -> None:
    """Not at the start, not at the end."""
    found = value_of("{a: 1, <<: {m: 2, n: 3}, b: 4}")
    assert in_order(found) == [("a", 1), ("m", 2), ("n", 3), ("b", 4)]


def test_merge_loses_against_explicit_keys_which_keep_their_place() -> None:
    """Before the merge or after it."""
    found = value_of("{a: 1, <<: {b: 9, a: 9, c: 2}, b: 3}")
    assert in_order(found) == [("a", 1), ("c", 2), ("b", 3)]


def test_merge_of_a_list_takes_the_earlier() -> None:
    """Of two that have a key, the first one's counts, and its place."""
    found = value_of("{<<: [{a: 1, b: 1}, {c: 2, b: 2, a: 2}], d: 3}")
    assert in_order(found) == [("a", 1), ("b", 1), ("c", 2), ("d", 3)]


def test_merge_is_shallow() -> None:
    """A mapping under a key is replaced, not merged."""
    assert value_of("{<<: {a: {x: 1, y: 2}}, a: {x: 3}}") == {"a": {"x": 3}}


def test_merge_of_an_alias_and_of_a_merged_mapping() -> None:
    """What is merged may have merged itself."""
    found = value_of("[&a {x: 1, y: 1}, &b {<<: *a, y: 2, z: 2}, {w: 3, <<: *b}]")
    assert found[1] == {"x": 1, "y": 2, "z": 2}
    assert in_order(found[2]) == [("w", 3), ("x", 1), ("y", 2), ("z", 2)]


def test_merge_copies_so_that_uses_are_independent() -> None:
    """What is done to one leaves the other alone."""
    found = value_of("[&a {x: []}, {<<: *a}]")
    found[1]["x"].append(1)
    assert found[0] == {"x": []}


def test_merge_of_nothing_adds_nothing() -> None:
    """An empty mapping or an empty list."""
    assert value_of("{<<: {}, a: 1}") == value_of("{<<: [], a: 1}") == {"a": 1}


@pytest.mark.parametrize("value", ["5", "text", "null", "[{a: 1}, 5]", "[[{a: 1}]]"])
def test_merge_of_anything_else_is_an_error(value: str) -> None:
    """At the `<<`."""
    assert fault_of(f"{{b: 1, <<: {value}}}") == ("bad-merge", 1, 8, 1, 10)


def test_two_merges_in_one_mapping_are_an_error() -> None:
    """Which one would win? A list tells."""
    assert fault_of("{<<: {a: 1}, <<: {b: 2}}") == ("duplicate-key", 1, 14, 1, 16)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_quoted_merge_key_is_a_key(quote: str) -> None:
    """Quotes take its meaning away."""
    assert value_of(f"{{{quote}<<{quote}: {{a: 1}}}}") == {"<<": {"a": 1}}


def test_merge_key_has_no_meaning_in_json() -> None:
    """There it is a key like any other."""
    (case,) = evalcase.loads('{"input": {"<<": {"a": 1}}}', "json")
    assert case.input[0].content == {"<<": {"a": 1}}


def test_fields_of_a_case_may_be_merged_in() -> None:
    """A case is a mapping too, and its problems are pointed at where they are written."""
    text = dedent("""\
        x-base: &base
          tags: [a]
          oops: 1
        cases:
          - <<: *base
            input: hi
        """)
    problem = only_problem(text)
    assert (problem.code, problem.span) == ("unknown-field", (3, 3, 3, 7))
    (case,) = cases_of(text.replace("oops", "x-oops"))
    assert case["tags"] == ["a"]


# Keys.


@pytest.mark.parametrize(
    "key", ["1", "1.0", "0x10", "007", "true", "No", "null", "~", "2024-01-01", "1e3", ".inf"]
)
def test_scalar_key_becomes_its_source_text(key: str) -> None:
    """Keys are strings, and no spelling is lost."""
    assert value_of(f"{{{key}: v}}") == {key: "v"}
    assert value_of(f"{{'{key}': v}}") == {key: "v"}


def test_keys_that_would_be_one_value_stay_two() -> None:
    """`1` and `1.0` are two texts."""
    assert list(value_of("{1: a, 1.0: b, 0x1: c, '1 ': d}")) == ["1", "1.0", "0x1", "1 "]


@pytest.mark.parametrize("key", ["[a, b]", "{a: b}", "[]", "{}"])
def test_collection_as_key_is_an_error(key: str) -> None:
    """At the key."""
    place = fault_of(f"{{b: 1, ? {key} : v}}")
    assert place[:3] == ("bad-key", 1, 10)


def test_template_without_quotes_is_explained() -> None:
    """The commonest reason for a mapping as a key."""
    problem = problems_of("input: {{ question }}\n")[0]
    assert problem.code == "bad-key"
    assert "quotes" in (problem.hint or "")
