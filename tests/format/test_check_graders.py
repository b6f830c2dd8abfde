"""Graders and judges of cases, as `check` sees them: what is compared, and what is misspelt."""

from pathlib import Path

import pytest

import evalcase
from tests.format.checking import CANARY, problems_of_run, write


@pytest.mark.parametrize(
    ("grader", "found"),
    [
        ("contains: b", ["not-compared"]),
        ("type: json_equals", []),
        ("json_equals: 1", ["not-compared"]),
    ],
)
def test_only_a_grader_that_compares_takes_the_place_of_the_comparison(
    folder: Path, grader: str, found: list[str]
) -> None:
    expected = "[{role: user, content: a}, {role: assistant, content: 1}]"
    write(
        folder,
        a__eval__yaml=f"- {{input: x, graders: [{{{grader}}}], expected_output: {expected}}}\n",
    )
    assert [problem.code for problem in evalcase.check(".")] == found


def test_a_judge_that_is_configured_is_all_that_criteria_need(folder: Path) -> None:
    suite = "- {id: a, input: x, criteria: Is kind.}\n"
    write(folder, evalcase__toml="[judge]\ntarget = 'echo'\n", a__eval__yaml=suite)
    assert evalcase.check(".") == []


@pytest.mark.parametrize(
    ("fields", "grader", "needs"),
    [
        ("criteria: Is kind.", "judge", None),
        ("tags: [a]", "judge", "`criteria` or `rubrics`"),
        ("expected_output: x", "{judge: {rubric: correct}}", None),
        ("tags: [a]", "{judge: {rubric: correct}}", "an `expected_output`"),
        ("skip: true", "{judge: {rubric: correct}}", None),
        ("tags: [a]", "{judge: {rubric: faithful}}", "a context for its rubric `faithful`, at"),
        ("tags: [a]", "{judge: {rubric: faithful, context: tools}}", None),
        ("metadata: {context: x}", "{judge: {rubric: faithful}}", None),
        ("metadata: {docs: [x]}", "{judge: {rubric: faithful, context: metadata.docs}}", None),
        ("metadata: {a: {docs: []}}", "{judge: {rubric: faithful, context: a.docs}}",
         "at `a.docs` or of tools"),
        ("tags: [a]", "{all: [{contains: x}, {judge: {rubric: harmless}}]}", None),
        ("tags: [a]", "{all: [{contains: x}, {judge: {rubric: correct}}]}",
         "an `expected_output`"),
    ],
)  # fmt: skip
def test_a_case_has_what_its_judge_looks_at(
    folder: Path, fields: str, grader: str, needs: str | None
) -> None:
    suite = f"- {{id: a, input: x, {fields}, graders: [{grader}]}}\n"
    write(folder, evalcase__toml="[judge]\ntarget = 'echo'\n", a__eval__yaml=suite)
    found = evalcase.check(".")
    assert [problem.code for problem in found] == ["missing-material"] * (needs is not None)
    assert needs is None or needs in found[0].message


MODEL = "kind = 'openai'\nmodel = '{}'\n"


@pytest.mark.parametrize(
    ("target", "judge", "said"),
    [
        ("bot", "bot", "`bot` judges its own answers"),
        ("bot", "same", "`same` judges the answers of its own model, m, asked as `bot`"),
        ("openai:m", "bot", "`bot` judges the answers of its own model"),
        ("bot", "other", None),
        ("echo", "bot", None),
    ],
)
def test_a_judge_is_another_model_than_the_one_that_it_judges(
    folder: Path, target: str, judge: str, said: str | None
) -> None:
    models = [("bot", "m"), ("same", "m"), ("other", "n")]
    tables = "".join(f"[targets.{name}]\n{MODEL.format(model)}" for name, model in models)
    config = f"target = '{target}'\n{tables}[judge]\ntarget = '{judge}'\n"
    suite = "- {id: a, input: x, criteria: Is kind.}\n"
    write(folder, evalcase__toml=config, a__eval__yaml=suite)
    found = evalcase.check(".")
    assert [problem.code for problem in found] == ["same-model"] * (said is not None)
    assert said is None or said in found[0].message


@pytest.mark.parametrize(
    ("grader", "found"),
    [
        ("judge", ["missing-material", "no-judge"]),
        ("{judge: Is kind.}", ["no-judge"]),
        ("{any: [judge, expected]}", ["missing-material", "no-judge"]),
        ("{judge: {value: Is kind., target: echo}}", []),
        ("{judge: {value: Is kind., target: nosuch}}", ["unknown-target"]),
        ('{judge: {value: Is kind., panel: [echo, nosuch, "openai:m"]}}', ["unknown-target"]),
    ],
)
def test_a_grader_that_judges_needs_a_judge_or_names_one(
    folder: Path, grader: str, found: list[str]
) -> None:
    suite = f"- {{id: a, input: x, expected_output: x, graders: [{grader}]}}\n"
    write(folder, evalcase__toml="", a__eval__yaml=suite)
    assert [problem.code for problem in evalcase.check(".")] == found
    if found:
        assert [problem.code for problem in problems_of_run(target="echo")] == found


def test_no_function_is_imported_to_find_out_whether_it_compares(folder: Path) -> None:
    (folder / "checks.py").write_text(CANARY + "def yes(text): return True\n")
    expected = "[{role: user, content: a}, {role: assistant, content: 1}]"
    case = f"{{id: a, input: x, graders: [python:checks:yes], expected_output: {expected}}}"
    write(folder, a__eval__yaml=f"- {case}\n")
    (problem,) = evalcase.check(".")
    assert (problem.code, problem.severity) == ("not-compared", "note")
    assert evalcase.load("a.eval.yaml")
    assert not (folder / "checks.sang").exists()


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        ("graders: contains", "write [contains]"),
        ("graders: {contains: x}", "put `- ` before each grader"),
        ("graders: [{script: python3 x.py}]", 'write ["python3", "x.py"]'),
        ("graders: [{run: pytest -k 'a or b'}]", 'write ["pytest", "-k", "a or b"]'),
        ("graders: [{type: contains, value: x, not: yes}]", "write true"),
        ("graders: [expected], suite_graders: off", "write false"),
        ("graders: ['python:checks']", "did you mean `checks:FUNCTION`?"),
        ("graders: ['python:checks.polite']", "did you mean `checks:polite`?"),
        ("graders: ['python:checks.py']", "did you mean `./checks.py:FUNCTION`?"),
        ("graders: ['python:./checks.py']", "did you mean `./checks.py:FUNCTION`?"),
        ("graders: [{contains: x, weight: 2}]", "write {type: contains, value: …, weight: …}"),
        ("graders: [{contains: x, regex: y}]", "put `- ` before each grader"),
        ("rubrics: [{txt: x}]", "did you mean `text`?"),
    ],
)
def test_one_mistake_is_told_once_and_with_what_to_write(
    folder: Path, fields: str, hint: str
) -> None:
    write(folder, evalcase__toml="[judge]\ntarget = 'echo'\n")
    write(folder, a__eval__yaml=f"- {{id: a, input: x, expected_output: x, {fields}}}\n")
    (problem,) = [each for each in evalcase.check(".") if each.severity == "error"]
    assert problem.hint == hint


def test_a_function_that_its_file_does_not_have_is_told_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent.py").write_text(CANARY + "def answer(text): return text\n")
    (tmp_path / "evalcase.toml").write_text(
        'target = "a"\n[targets.a]\nkind = "python"\nfunction = "agent:anser"\n'
    )
    (tmp_path / "a.eval.yaml").write_text(
        "- {input: x, expected_output: x, target: 'python:agent:reply'}\n"
        "- {input: y, graders: ['python:agent:judge', {python: ./agent.py:answr}]}\n"
        "- {input: z, expected_output: x, target: 'python:agent:answer'}\n"
    )
    monkeypatch.chdir(tmp_path)
    problems = evalcase.check(".")
    assert [(each.code, each.place, each.message) for each in problems] == [
        ("unknown-target", "evalcase.toml:4:12", "agent.py has no `anser`"),
        ("unknown-target", "a.eval.yaml:1:42", "agent.py has no `reply`"),
        ("unknown-grader", "a.eval.yaml:2:24", "agent.py has no `judge`"),
        ("unknown-grader", "a.eval.yaml:2:55", "agent.py has no `answr`"),
    ]
    assert problems[0].hint == "did you mean `answer`?"
    assert not list(tmp_path.glob("*.sang"))


@pytest.mark.parametrize(
    ("call", "name", "meant"),
    [
        ("{tool: f, inptu: {a: 1}}", "inptu", "input"),
        ("{tool: f, args: {a: 1}}", "args", "input"),
        ("{tool: f, input: null, arguments: {a: 1}}", "arguments", "input"),
        ("{function: {name: f, argumnets: '{}'}}", "argumnets", "arguments"),
        ("{function: {name: f, input: {a: 1}}}", "input", "arguments"),
    ],
)
@pytest.mark.parametrize("beside", ["", ", graders: [expected]"])
def test_arguments_of_an_expected_call_by_another_name_are_warned_of(
    folder: Path, call: str, name: str, meant: str, beside: str
) -> None:
    expected = f"{{role: assistant, tool_calls: [{call}]}}"
    write(folder, a__eval__yaml=f"- {{input: hi, expected_output: {expected}{beside}}}\n")
    (problem,) = evalcase.check(".")
    assert (problem.code, problem.severity) == ("misnamed-input", "warning")
    assert problem.message == f"`{name}` is not compared, and the call has no `{meant}`"
    assert (problem.hint, problem.fix) == (f"did you mean `{meant}`?", meant)


@pytest.mark.parametrize("call", ["{tool: f, x-input: 1}", "{tool: f, input: {}, args: 1}"])
def test_other_keys_of_an_expected_call_are_only_noted(folder: Path, call: str) -> None:
    expected = f"{{role: assistant, tool_calls: [{call}]}}"
    write(folder, a__eval__yaml=f"- {{input: hi, expected_output: {expected}}}\n")
    assert all(each.severity == "note" for each in evalcase.check("."))
