"""The format, part 1.3: the suite file. One test for each thing it says."""

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import evalcase
from evalcase import SuiteError
from evalcase.cli.app import run_command
from tests.for_each import for_each
from tests.spec.found import Place, only_problem, places, problems_of
from tests.spec.reading import cases_of, inputs_of


def test_file_may_be_a_mapping_with_cases() -> None:
    """The usual shape: suite fields, and the cases among them."""
    assert inputs_of("name: x\ncases:\n  - input: a\n  - input: b\n") == [["a"], ["b"]]
    assert problems_of("cases: [{input: a}]") == []


@for_each("name", ["evalcases", "eval_cases", "tests"])
def test_cases_has_aliases_that_are_accepted_and_warned(name: str) -> None:
    """Older names of the list of cases work, with a warning at the name."""
    text = f"name: x\n{name}: [{{input: a}}]\n"
    assert inputs_of(text) == [["a"]]
    assert places(text) == [("deprecated-name", 2, 1, 2, 1 + len(name))]


def test_file_may_be_a_list_of_cases() -> None:
    """Without any suite fields."""
    assert inputs_of("- input: a\n- input: b\n") == [["a"], ["b"]]
    assert problems_of("- input: a\n") == []


@pytest.mark.parametrize("name", ["input", "input_messages"])
def test_file_may_be_one_case(name: str) -> None:
    """A mapping with an input, and without cases, is a case."""
    assert inputs_of(f"id: x\n{name}: a\n") == [["a"]]


def test_file_may_be_jsonl_with_one_case_per_line(tmp_path: Path) -> None:
    """Each line is a case, in order; blank lines are none."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"input": "a"}\n\n  \n{"input": {"k": 1}}\r\n{"input": "c"}')
    assert [case.input[0].content for case in evalcase.load(path)] == ["a", {"k": 1}, "c"]


@for_each("line", ["5", '"hi"', '[{"input": "a"}]', "null"])
def test_line_of_jsonl_that_is_no_case_is_an_error(line: str) -> None:
    """A line is one case: not a list of them, not a value."""
    text = f'{{"input": "a"}}\n{line}\n'
    assert places(text, "jsonl") == [("wrong-type", 2, 1, 2, 1 + len(line))]


@for_each(
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


@for_each("container", ["cases", "evalcases", "eval_cases", "tests"])
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
    assert run_command(["show", "--format", "json", str(tmp_path)]) == 0
    (suite,) = json.loads(capfd.readouterr().out)
    assert suite["name"] == "x"
    assert {problem.path for problem in evalcase.check([tmp_path])} <= {str(path)}


@for_each(
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


@for_each(
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


def test_input_of_a_suite_does_not_stand_in_for_that_of_a_case() -> None:
    """Each case says what it is about."""
    assert places("input: a\ncases:\n  - id: x\n") == [("missing-input", 3, 5, 3, 10)]


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


@for_each(
    ("name", "hint"),
    [
        ("nmae", "did you mean `name`?"),
        ("treshold", "did you mean `threshold`?"),
        ("gradres", "did you mean `graders`?"),
        ("expected_output", "it belongs to a case"),
    ],
)
def test_any_other_field_of_a_suite_is_an_error(name: str, hint: str) -> None:
    """With a suggestion."""
    problem = only_problem(f"{name}: x\ncases: [{{input: x}}]\n")
    assert problem.code == "unknown-field"
    assert problem.span == (1, 1, 1, 1 + len(name))
    assert problem.hint == hint


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
          graders: [expected, python: json:f]
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
            "graders": ["expected", {"python": "json:f"}],
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


def test_folders_are_searched_for_four_patterns(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Only names with `.eval` before the ending are found, at any depth."""
    found = ["a.eval.yaml", "b.eval.yml", "c.eval.json", "d.eval.jsonl", "sub/deep/e.eval.yaml"]
    others = ["f.yaml", "g.jsonl", "eval.yaml", "h.eval.txt", "i.eval.yaml.bak", "j.suite.yaml"]
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    for name in (*found, *others):
        (tmp_path / name).write_text(json.dumps({"id": name, "input": "x"}))
    assert run_command(["show", "--format", "jsonl", str(tmp_path)]) == 0
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
    assert run_command(["check", str(tmp_path)]) == 2
