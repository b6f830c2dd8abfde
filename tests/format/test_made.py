import pickle
import re
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import evalcase
from evalcase import Case, Context, Score, SuiteError
from evalcase.testing import FixedGrader, ScriptedTarget
from evalcase.types.problem import Span
from tests.for_each import for_each


def test_a_case_is_made_of_short_forms() -> None:
    case = Case(input="What is 2+2?", expected_output="4", tags=["sum"], graders=["expected"])
    assert case == evalcase.parse_case(
        "{input: What is 2+2?, expected_output: '4', tags: [sum], graders: [expected]}"
    )
    assert case.id.startswith("what-is-2-2-")
    assert pickle.loads(pickle.dumps(case)) == case


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "missing-input"),
        ({"input": 42}, "wrong-type"),
        ({"input": "x", "threshold": -1}, "bad-value"),
        ({"input": [{"role": "usr", "content": "x"}]}, "unknown-role"),
        ({"input": "x", "expcted_output": "4"}, "unknown-field"),
        ({"input": "x", "metadata": {"when": {1, 2}}}, "not-json-value"),
        ({"input": "x", "expected_output": float("nan")}, "not-json-value"),
    ],
)
@pytest.mark.parametrize("make", [lambda fields: Case(**fields), Case], ids=["fields", "mapping"])
def test_a_case_that_is_wrong_says_so(
    make: Callable[[Any], Case], fields: dict[str, Any], code: str
) -> None:
    with pytest.raises(SuiteError) as caught:
        make(fields)
    assert code in [problem.code for problem in caught.value.problems]


def test_a_mapping_is_read_by_the_rules_of_files() -> None:
    fields = {"input": "What is 2+2?", "expected_output": "4", "repeat": 3}
    assert Case(fields) == Case(MappingProxyType(fields)) == Case(**fields)
    assert Case(Case(fields).to_dict()) == Case(fields)


@for_each("odd", ["What is 2+2?", 3, [], ["a"], Case, True])
def test_what_is_no_mapping_makes_no_case(odd: Any) -> None:
    with pytest.raises(TypeError, match=r"a case is made of its fields, or one mapping"):
        Case(odd)


def test_fields_beside_a_mapping_are_never_left_out_in_silence() -> None:
    with pytest.raises(TypeError, match=r"not of"):
        Case({"input": "x"}, id="a")


def test_what_was_given_may_change_later() -> None:
    metadata = {"k": [1]}
    case = Case(input="x", metadata=metadata)
    metadata["k"].append(2)
    assert case.metadata == {"k": [1]}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "evalcase.toml").write_text("")
    return tmp_path


def test_cases_and_graders_need_no_file(project: Path) -> None:
    def is_short(text: str) -> bool:
        return len(text) < 5

    cases = [Case(id="sum", input="2+2?", expected_output="4"), Case(id="long", input="Say much")]
    target = ScriptedTarget({"sum": "4", "long": "much more"})
    done = evalcase.evaluate(cases, target, graders=[is_short, FixedGrader()], root=project)
    found = {result.key.case: result for result in done.results}
    assert {id: result.verdict for id, result in found.items()} == {
        "sum": "passed", "long": "failed"
    }  # fmt: skip
    assert [grade.grader for grade in found["sum"].grades] == ["is_short", "fixed", "expected"]
    assert [grade.grader for grade in found["long"].grades] == ["is_short", "fixed"]
    assert Path(done.path).parent == project / ".evalcase" / "runs"


def test_a_suite_that_is_loaded_already(project: Path) -> None:
    (project / "a.eval.yaml").write_text("- {id: one, input: x, expected_output: x}\n")
    suite = evalcase.load(project / "a.eval.yaml")
    assert evalcase.evaluate(suite, "echo", root=project).ok
    assert evalcase.evaluate([suite], "echo", root=project).ok
    chosen = evalcase.evaluate(suite, "echo", root=project, cases=[(suite.path, "one")])
    assert chosen.totals.cases.passed == 1


def test_cases_and_mappings_are_not_mixed(project: Path) -> None:
    mixed: Any = [Case(input="x", expected_output="x"), {"input": "x"}]
    with pytest.raises(TypeError, match=r"not Case, dict; `Case\(mapping\)` makes a case"):
        evalcase.evaluate(mixed, "echo", root=project)


def test_copies_of_a_case_are_numbered_as_in_a_file(project: Path) -> None:
    text = "[{input: x}, {input: x}, {turns: [{input: x}, {input: y}]}, {input: z, id: own},\n"
    text += " {turns: [{input: x}, {input: y}]}, {input: x, expected_output: x}]"
    fields: list[dict[str, Any]] = [
        {"input": "x"}, {"input": "x"}, {"turns": [{"input": "x"}, {"input": "y"}]},
        {"input": "z", "id": "own"}, {"turns": [{"input": "x"}, {"input": "y"}]},
        {"input": "x", "expected_output": "x"},
    ]  # fmt: skip
    passes = "python:evalcase.testing:passes"
    done = evalcase.evaluate(
        [Case(**each) for each in fields], "echo", graders=passes, root=project
    )
    ids = [case.id for case in evalcase.loads(text)]
    assert [each.case for each in done.cases] == ids
    assert ids[1] == f"{ids[0]}-2"
    # Those of a file have their numbers already.
    again = [*evalcase.loads("[{input: x}, {input: x}]")] * 2
    done = evalcase.evaluate(again, "echo", graders=passes, root=project)
    assert [each.case for each in done.cases] == [ids[0], *(f"{ids[0]}-{n}" for n in (2, 3, 4))]


def test_ids_that_were_written_twice_are_an_error(project: Path) -> None:
    cases = [Case(id=id, input=input) for id in ("a", "b", "c") for input in ("x", "y")]
    with pytest.raises(SuiteError, match="give each case an id of its own, or none") as caught:
        evalcase.evaluate(cases[:-1], "echo", root=project)
    assert [(each.code, each.case) for each in caught.value.problems] == [
        ("duplicate-id", "a"), ("duplicate-id", "b"),
    ]  # fmt: skip


def test_one_case_and_one_grader_need_no_list(project: Path) -> None:
    def is_short(text: str) -> bool:
        return len(text) < 5

    graders: list[Any] = [
        is_short,
        FixedGrader(),
        "python:evalcase.testing:passes",
        {"contains": "x"},
    ]
    for grader in graders:
        done = evalcase.evaluate(Case(input="x"), "echo", graders=grader, root=project)
        (result,) = done.results
        assert (result.verdict, len(result.grades)) == ("passed", 1)


class Kindless(evalcase.Grader):
    def grade(self, context: Context) -> Score:
        return Score(float(bool(context.text)))


@pytest.mark.parametrize(
    ("grader", "said"),
    [
        (Kindless(), "has no name: its class must say `name = "),
        (FixedGrader, "a grader is a function, an object that is a Grader"),
        (3, "a grader is a function, an object that is a Grader, or as in a file, not 3"),
    ],
)
def test_what_is_no_grader_is_told_with_what_it_lacks(
    grader: Any, said: str, project: Path
) -> None:
    with pytest.raises(evalcase.ConfigError, match=re.escape(said)):
        evalcase.evaluate(Case(input="x"), "echo", graders=grader, root=project)


async def judged(context: Context) -> Score:
    answer = await context.ask("judge", context.question.messages, {"type": "string"})
    return Score(float(answer.text == "is it good?"), f"the judge said {answer.text}")


def test_a_grader_may_ask_a_target_of_the_configuration(project: Path) -> None:
    (project / "evalcase.toml").write_text('[targets.judge]\nkind = "echo"\n')
    case, target = Case(id="a", input="is it good?"), ScriptedTarget(["y"])
    done = evalcase.evaluate([case], target, graders=[judged], root=project)
    (result,) = done.results
    assert (result.verdict, result.grades[0].asked) == ("passed", 1)
    assert len(target.asked) == 1, "what graders ask is not asked of the target"


def test_a_suite_knows_the_places_of_its_cases(tmp_path: Path) -> None:
    yaml = tmp_path / "a.eval.yaml"
    yaml.write_text("name: a\ncases:\n  - id: one\n    input: x\n\n  - {id: two, input: y}\n")
    suite = evalcase.load(yaml)
    assert suite.place("one") == Span(3, 5, 4, 13)
    assert suite.place("two") == Span(6, 5, 6, 24)
    with pytest.raises(KeyError):
        suite.place("three")
    lines = tmp_path / "b.jsonl"
    lines.write_text('{"id": "one", "input": "x"}\n\n{"id": "two", "input": "y"}\n')
    place = evalcase.load(lines).place("two")
    assert place is not None
    assert (place.line, place.column) == (3, 1)
    yaml.unlink()
    assert suite.place("one") is None
    assert evalcase.loads("- {id: one, input: x}").place("one") is None
