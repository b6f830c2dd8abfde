"""Projects with mistakes: `check` and `run` find the same, at the same places, and import nothing.

Each folder of `tests/corpus/wrong` is a project. What is found in a file stands in it, as comments:

    # expect: CODE LINE:COL       an error of `check`, which refuses a run, too
    # warn: CODE LINE:COL         a warning of `check`, which a run is not refused for
    # stops: CODE LINE:COL        a warning of `check`, which a run is refused for
    # check only: CODE LINE:COL   an error of `check` in what the run doesn't use

Behind it may stand `unless --target`: it is about a target that is tested, and a run whose targets
the command line names is not refused for it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase.model.problem import Problem

CORPUS = Path(__file__).parent.parent / "corpus" / "wrong"
ANNOUNCED = re.compile(r"# (expect|warn|stops|check only): (\S+) (\d+):(\d+)( unless --target)?")
CANARY = "from pathlib import Path\nPath(__file__).with_suffix('.sang').touch()\n"
MODULES = ("agent", "checks", "a")

Found = tuple[str, str, int | None, int | None]


def projects() -> list[Any]:
    return [pytest.param(path, id=path.name) for path in sorted(CORPUS.iterdir())]


@pytest.fixture
def project(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A copy of a project, in which every module tells if it is imported."""
    source: Path = request.param
    folder = tmp_path / source.name
    shutil.copytree(source, folder)
    for module in MODULES:
        # Whatever is looked for in it, it may have.
        (folder / f"{module}.py").write_text(CANARY + "def __getattr__(name): ...\n")
    # What no linter would let stand here.
    write(folder, broken__py="import pathlib\n\ndef f(:\n")
    (folder / "pack").mkdir()
    (folder / "pack" / "__init__.py").write_text("return 1\n")
    (folder / "pack" / "fine.py").write_text("def f(): ...\n")
    # What no repository holds well.
    write(tmp_path, elsewhere__py="def f(): ...\n")
    (folder / "linked.py").symlink_to(tmp_path / "elsewhere.py")
    (folder / "linked.answers").symlink_to(tmp_path / "elsewhere.py")
    (folder / "linked-program").symlink_to(sys.executable)
    (folder / "dangling").symlink_to(tmp_path / "nowhere")
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.answers")
    monkeypatch.chdir(folder)
    return folder


def announced(folder: Path, *kinds: str, of_tested: bool = True) -> list[Found]:
    found: list[Found] = []
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            for kind, code, line, column, unless in ANNOUNCED.findall(path.read_text()):
                if kind in kinds and (of_tested or not unless):
                    name = str(path.relative_to(folder)).removesuffix(".expect")
                    found.append((code, name, int(line), int(column)))
    return sorted(found)


def told(problems: list[Problem], *severities: str) -> list[Found]:
    return sorted((p.code, p.path, p.line, p.column) for p in problems if p.severity in severities)


def problems_of_run(paths: str | Path = ".", **options: Any) -> list[Problem]:
    """What a run, of the current folder, is refused with."""
    with pytest.raises((evalcase.SuiteError, evalcase.ConfigError)) as caught:
        evalcase.evaluate(paths, **options)
    error = caught.value
    assert isinstance(error, evalcase.SuiteError | evalcase.ConfigError)
    return list(error.problems)


def assert_nothing_is_imported(folder: Path) -> None:
    assert list(folder.rglob("*.sang")) == []
    assert not (folder / ".evalcase").exists()


def test_the_canary_sings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agent_canary.py").write_text(CANARY + "def answer(text): return text\n")
    (tmp_path / "a.eval.yaml").write_text("- {input: hi, expected_output: hi}\n")
    monkeypatch.chdir(tmp_path)
    evalcase.evaluate(".", "python:agent_canary:answer")
    assert list(tmp_path.glob("*.sang"))


@pytest.mark.parametrize("project", projects(), indirect=True)
def test_check_finds_everything_at_its_place_and_imports_nothing(project: Path) -> None:
    problems = evalcase.check(".")
    assert told(problems, "error") == announced(project, "expect", "check only")
    assert told(problems, "warning", "note") == announced(project, "warn", "stops")
    assert_nothing_is_imported(project)


@pytest.mark.parametrize("project", projects(), indirect=True)
def test_a_run_is_refused_with_the_same_problems_and_imports_nothing(project: Path) -> None:
    problems = problems_of_run()
    assert told(problems, "error") == announced(project, "expect", "stops")
    assert told(problems, "warning", "note") == []
    checked = {replace(problem, stops=True) for problem in evalcase.check(".")}
    assert set(problems) <= checked
    assert_nothing_is_imported(project)


@pytest.mark.parametrize("project", projects(), indirect=True)
def test_a_run_of_another_target_is_refused_with_all_but_what_that_replaces(project: Path) -> None:
    expected = announced(project, "expect", "stops", of_tested=False)
    if expected:
        assert told(problems_of_run(target="echo"), "error") == expected
    else:
        evalcase.evaluate(".", "echo")
    assert list(project.rglob("*.sang")) == []


@pytest.mark.parametrize("project", projects(), indirect=True)
def test_text_that_is_not_saved_has_the_same_problems(project: Path) -> None:
    found = evalcase.check(".")
    for path in sorted(project.rglob("*")):
        name = str(path.relative_to(project))
        if path.suffix in (".yaml", ".jsonl", ".toml") and ".suite." not in name:
            text = path.read_text()
            path.write_text("")
            beside = name.replace(".eval.jsonl", ".suite.yaml")
            expected = [problem for problem in found if problem.path in (name, beside)]
            problems = [p for p in evalcase.check_text(text, name) if p.path in (name, beside)]
            path.write_text(text)
            assert told(problems, "error", "warning") == told(expected, "error", "warning")


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


# What a run uses


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


SUITE = """\
target: nosuch
cases:
  - {id: one, input: hi, expected_output: hi}
  - {id: two, input: hi, expected_output: hi, target: other}
  - {id: three, input: hi, criteria: Is kind., target: echo}
"""


def test_targets_of_the_command_line_replace_those_of_a_suite(folder: Path) -> None:
    write(folder, evalcase__toml="", a__eval__yaml=SUITE)
    assert len(evalcase.check(".")) == 3
    assert evalcase.evaluate(".", "echo", cases=["one", "two"]).ok


def test_only_what_chosen_cases_need_has_to_be_there(folder: Path) -> None:
    write(folder, evalcase__toml="", a__eval__yaml=SUITE)
    expected = {
        "one": ("unknown-target", 1),
        "two": ("unknown-target", 4),
        "three": ("no-judge", 5),
    }
    for case, place in expected.items():
        (problem,) = problems_of_run(cases=[case])
        assert ((problem.code, problem.line), problem.severity) == (place, "error")


def test_only_the_functions_that_grade_chosen_cases_have_to_be_there(folder: Path) -> None:
    suite = """\
- {id: one, input: hi, graders: ["python:unlike:yes"]}
- {id: two, input: hi, graders: ["python:unlike:nosuch"]}
- {id: three, input: hi, graders: ["python:unlike:neither"], skip: true}
"""
    write(folder, unlike__py="def yes(answer): return True\n", a__eval__yaml=suite)
    assert evalcase.evaluate(".", "echo", cases=["one"]).ok
    for chosen, lines in {("one", "two"): [2], ("one", "three"): [3], ("*",): [2, 3]}.items():
        problems = problems_of_run(target="echo", cases=chosen)
        assert [(p.code, p.line, p.hint) for p in problems] == [
            ("unknown-grader", line, "it has yes") for line in lines
        ]


def test_a_target_of_the_command_line_is_looked_at_before_anything_else(folder: Path) -> None:
    write(folder, evalcase__toml="[targets.agent]\nkind = 'echo'\n", a__eval__yaml=SUITE)
    problems = problems_of_run(target=["agnet", "pyton:x", "replay:../x"], cases=["one"])
    assert [(p.code, p.path, p.hint) for p in problems] == [
        ("unknown-target", "target agnet", "did you mean `agent`?"),
        ("unknown-target", "target pyton:x", "did you mean `python:x`?"),
    ]


def test_addresses_may_stand_in_the_configuration(folder: Path) -> None:
    config = "target = 'http:http://127.0.0.1:1/'\n[targets.web]\nkind='http'\nurl='http://h/'\n"
    suite = "targets: ['http:http://127.0.0.1:1/', web]\ncases: [{input: a, expected_output: b}]\n"
    write(folder, evalcase__toml=config, a__eval__yaml=suite)
    assert evalcase.check(".") == []


def test_suites_of_a_program_have_problems_without_a_place(folder: Path) -> None:
    write(folder, evalcase__toml="")
    suite = evalcase.loads(SUITE)
    with pytest.raises(evalcase.SuiteError) as caught:
        evalcase.evaluate(suite)
    assert [(p.code, p.path, p.line) for p in caught.value.problems] == [
        ("unknown-target", "<text>", None),
        ("unknown-target", "<text>", None),
        ("no-judge", "<text>", None),
    ]


def test_an_example_is_written_as_its_file_is(folder: Path) -> None:
    config = "[judge]\nvotes = 3\n[targets.m]\nkind = 'openai'\n[targets.c]\nkind = 'command'\n"
    write(folder, evalcase__toml=config, a__eval__yaml="- {input: a, graders: [python]}\n")
    assert [(p.message, p.hint) for p in evalcase.check(".")] == [
        ("`judge` needs `target`", 'for example target = "judge"'),
        ("a target of kind `openai` needs `model`", 'for example model = "some-model"'),
        (
            "a target of kind `command` needs `command`",
            'for example command = ["./agent", "--fast"]',
        ),
        ("the grader `python` needs `value`", "for example: - python: checks:polite"),
    ]


UNUSABLE = """\
target: echo
graders: ["python:raises:f"]
cases:
  - id: one
    input: hi
    graders: [{any: [{python: "json.no_such_part:f"}, json, {script: [no-such-program]}]}]
  - {id: two, input: hi, graders: [{python: "raises:f"}, {python: "json:dumps"}]}
"""


def test_graders_that_can_not_be_loaded_are_all_told_at_their_places(folder: Path) -> None:
    write(folder, a__eval__yaml=UNUSABLE, raises__py="def f(answer): ...\n1 / 0\n")
    (warning,) = evalcase.check(".")
    assert (warning.severity, warning.code, warning.line) == ("warning", "missing-program", 6)
    problems = problems_of_run()
    assert [(p.code, p.line, p.column) for p in problems] == [
        ("bad-grader", 2, 11),
        ("bad-grader", 6, 31),
        ("missing-program", 6, 71),
        ("bad-grader", 7, 45),
        ("bad-grader", 7, 67),
    ]
    assert "ZeroDivisionError" in problems[0].message
    assert "no program `no-such-program`" in problems[2].message
    with pytest.raises(evalcase.SuiteError) as caught:
        evalcase.evaluate(evalcase.loads(UNUSABLE))
    assert [(p.path, p.line, p.case) for p in caught.value.problems][:1] == [
        ("<text>", None, "one")
    ]


def test_a_program_is_looked_for_on_the_path_that_it_is_run_with(folder: Path) -> None:
    config = """\
[targets.own]
kind = "command"
command = ["grade-here"]
env = { PATH = "bin" }
[targets.beside]
kind = "command"
command = ["grade-here"]
[targets.there]
kind = "command"
command = ["python3"]
"""
    write(folder, evalcase__toml=config, a__eval__yaml="- {input: a, expected_output: a}\n")
    write(folder, **{"grade-here": ""})
    own, beside = evalcase.check(".")
    assert (own.code, own.line, own.column) == ("missing-program", 3, 12)
    assert (beside.code, beside.line, beside.column) == ("missing-program", 7, 12)
    assert (beside.hint or "").startswith("write ./grade-here: ")


OWN_PATH = """\
target = "tool"
[targets.tool]
kind = "command"
command = ["say-it"]
cwd = "sub"
env = { PATH = "bin:/usr/bin:/bin" }
"""


@pytest.mark.parametrize(
    ("place", "path", "found"),
    [
        ("sub/bin", "bin:/usr/bin:/bin", True),
        ("bin", "bin:/usr/bin:/bin", False),  # which is seen from where nobody runs it
        ("sub", ":/usr/bin:/bin", True),
        ("sub/bin", "bin:$PATH", True),
        ("bin", "sub/bin:$PATH", False),
    ],
)
def test_a_path_that_is_not_absolute_is_seen_from_where_the_program_is_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, path: str, found: bool
) -> None:
    (folder / "sub").mkdir()
    (folder / place).mkdir(exist_ok=True)
    program = folder / place / "say-it"
    program.write_text("#!/bin/sh\necho hi\n")
    program.chmod(0o755)
    config = OWN_PATH.replace("bin:/usr/bin:/bin", path)
    write(folder, evalcase__toml=config, a__eval__yaml="- {input: a, expected_output: hi}\n")
    problems = evalcase.check(".")
    assert [(p.code, p.place) for p in problems] == (
        [] if found else [("missing-program", "evalcase.toml:4:12")]
    )
    (folder / "other").mkdir()
    monkeypatch.chdir(folder / "other")
    if found:
        assert evalcase.evaluate(folder / "a.eval.yaml", root=folder).ok
    else:
        problems = problems_of_run(paths=folder / "a.eval.yaml", root=folder)
        assert [problem.code for problem in problems] == ["missing-program"]
        assert ("no variable is filled in" in str(problems[0].hint)) == ("$" in path)


TRIED = """\
{default}
[targets.raising]
kind = "python"
function = "raises:f"
[targets.missing]
kind = "command"
command = ["no-such-program-here"]
"""


@pytest.mark.parametrize(
    ("target", "by_suite", "by_default", "said"),
    [
        ("raising", "evalcase.toml:4:12", "evalcase.toml:4:12", "ZeroDivisionError"),
        ("missing", "evalcase.toml:7:12", "evalcase.toml:7:12", "`no-such-program-here`"),
        ("python:raises:f", "a.eval.yaml:1:12", "evalcase.toml:1:10", "ZeroDivisionError"),
        ("command:nor-this x", "a.eval.yaml:1:12", "evalcase.toml:1:10", "program `nor-this`"),
    ],
)
def test_a_target_that_can_not_be_opened_is_told_where_it_is_named(
    folder: Path, target: str, by_suite: str, by_default: str, said: str
) -> None:
    write(folder, raises__py="def f(text): ...\n1 / 0\n")
    for default, own, place in (
        ("", f"target: '{target}', ", by_suite),
        (f"target = '{target}'", "", by_default),
    ):
        write(folder, evalcase__toml=TRIED.format(default=default))
        write(folder, a__eval__yaml=f"- {{{own}input: hi, expected_output: hi}}\n")
        (problem,) = problems_of_run()
        assert (problem.place, problem.severity) == (place, "error")
        assert said in problem.message


def test_targets_that_can_not_be_opened_are_told_by_who_names_them(folder: Path) -> None:
    write(folder, a__eval__yaml="- {input: hi, expected_output: hi}\n", evalcase__toml="")
    problems = problems_of_run(target=["python:no_such_a:f", "echo", "python:no_such_b:f"])
    assert [(problem.code, problem.path) for problem in problems] == [
        ("missing-module", "target python:no_such_a:f"),
        ("missing-module", "target python:no_such_b:f"),
    ]


def test_a_module_that_another_makes_importable_is_none_that_is_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (folder / "lib").mkdir()
    write(folder / "lib", late_module__py="def f(text): return text\n")
    path = json.dumps(str(folder / "lib"))
    write(
        folder,
        evalcase__toml="",
        path_maker__py=f"import sys\nsys.path.append({path})\ndef f(text): return text\n",
        a__eval__yaml="- {input: hi, expected_output: hi}\n",
    )
    done = evalcase.evaluate(".", ["python:path_maker:f", "python:late_module:f"])
    assert (done.ok, done.totals.cases.total) == (True, 2)


def test_an_object_that_can_not_be_opened_says_so_itself(folder: Path) -> None:
    class Closed(evalcase.Target):
        async def open(self) -> None:
            raise evalcase.ConfigError("closed today")

        async def answer(self, question: evalcase.Question) -> evalcase.Answer:
            raise AssertionError(question)

    write(folder, evalcase__toml="", a__eval__yaml="- {input: hi, expected_output: hi}\n")
    with pytest.raises(evalcase.ConfigError, match=r"^closed today$"):
        evalcase.evaluate(".", Closed())


def test_no_target_at_all_is_well_until_a_run(folder: Path) -> None:
    write(folder, a__eval__yaml="- {id: a, input: hi, expected_output: hi}\n")
    assert evalcase.check(".") == []
    with pytest.raises(evalcase.ConfigError, match="names no target") as caught:
        evalcase.evaluate(".")
    (problem,) = caught.value.problems
    assert (problem.place, problem.case, problem.severity) == ("a.eval.yaml:1:3", "a", "error")
    (folder / "a.eval.yaml").unlink()
    write(folder, b__eval__jsonl='{"id": "a", "input": "x", "target": "echo"}\n{"input": "y"}\n')
    with pytest.raises(evalcase.ConfigError, match=r"b.eval.jsonl:2:1: .* names no target"):
        evalcase.evaluate(".")


def test_a_case_without_a_target_says_which_there_are(folder: Path) -> None:
    def hint() -> str | None:
        with pytest.raises(evalcase.ConfigError) as caught:
            evalcase.evaluate(".")
        return caught.value.problems[0].hint

    write(folder, a__eval__yaml="- {id: a, input: hi, expected_output: hi}\n")
    kinds = "a name, or kind:value such as python:my_agent:answer"
    assert hint() == f"say --target with {kinds}; or set `target` in evalcase.toml"
    write(folder, evalcase__toml="[targets.big]\nkind='echo'\n[targets.small]\nkind='echo'\n")
    assert hint() == "say --target with one of big, small; or set `target` in evalcase.toml"


def test_arguments_of_a_call_by_another_name_are_told_of(folder: Path) -> None:
    call = "{role: assistant, tool_calls: [{tool: f, args: {a: 1}}]}"
    write(folder, a__eval__yaml=f"- {{input: hi, expected_output: {call}}}\n")
    (problem,) = evalcase.check(".")
    told = "`args` is kept, and is not compared: arguments are written as `input`"
    assert (problem.code, problem.message) == ("not-compared", told)


def test_a_program_that_gives_no_target_is_told_how_to_pass_one(folder: Path) -> None:
    suite = evalcase.loads("- {id: a, input: hi, expected_output: hi}")
    with pytest.raises(evalcase.ConfigError, match=r"pass one, evaluate\(suite, target\), or"):
        evalcase.evaluate(suite, root=folder)


# What is not compared


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
        ("bot", "same", "`same` judges the answers of its own model, m, which is asked as `bot`"),
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
    assert "of your own" in (problem.hint or "")
    assert evalcase.load("a.eval.yaml")
    assert not (folder / "checks.sang").exists()


@pytest.mark.parametrize(
    ("held", "hint"),
    [
        ("{target: echo}", "write `target` in its place"),
        ("{evaluators: [expected]}", "write `graders` and `suite_graders: false` in its place"),
        (
            "{evaluators: [expected], target: echo}",
            "write `target`, `graders` and `suite_graders: false` in its place",
        ),
        ("", "remove it"),
    ],
)
def test_what_takes_the_place_of_execution_means_the_same(
    folder: Path, held: str, hint: str
) -> None:
    case = f"{{id: a, input: x, expected_output: x, execution: {held}}}"
    write(folder, a__eval__yaml=f"graders: [{{contains: a}}]\ncases: [{case}]\n")
    assert [problem.hint for problem in evalcase.check(".")] == [hint]


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        ("graders: contains", "write [contains]"),
        ("graders: {contains: x}", "put `- ` before each grader"),
        ("graders: [{script: python3 x.py}]", "write [python3, x.py]"),
        ("graders: [{type: contains, value: x, not: yes}]", "write true, without quotes"),
        ("graders: [expected], suite_graders: off", "write false, without quotes"),
        ("graders: ['python:checks']", "write checks:FUNCTION"),
        ("graders: ['python:checks.polite']", "did you mean `checks:polite`?"),
        ("graders: ['python:checks.py']", "write ./checks.py:FUNCTION"),
        ("graders: ['python:./checks.py']", "write ./checks.py:FUNCTION"),
        ("graders: [expected], target: [a, b]", "several are written as `targets`"),
        (
            "graders: [expected], target: {kind: echo}",
            "a table of options goes in evalcase.toml, as [targets.NAME]; write its name",
        ),
        ("rubrics: [{txt: x}]", "did you mean `text`?"),
        ("graders: [{trajectory: [{tol: x}]}]", "did you mean `tool`?"),
    ],
)
def test_one_mistake_is_told_once_and_with_what_to_write(
    folder: Path, fields: str, hint: str
) -> None:
    write(folder, evalcase__toml="[judge]\ntarget = 'echo'\n")
    write(folder, a__eval__yaml=f"- {{id: a, input: x, expected_output: x, {fields}}}\n")
    (problem,) = [each for each in evalcase.check(".") if each.severity == "error"]
    assert problem.hint == hint


# Where a configuration is


def test_the_configuration_of_another_folder(folder: Path) -> None:
    (folder / "sub").mkdir()
    write(folder / "sub", evalcase__toml="[targets.nosuch]\nkind='echo'\n", a__eval__yaml=SUITE)
    assert {p.code for p in evalcase.check("sub")} == {"undefined-target", "no-judge"}
    assert [p.code for p in evalcase.check("sub", root="sub")] == ["unknown-target", "no-judge"]


def test_hints_name_the_file_that_has_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.evalcase]\nretries = 1\n")
    suite = "- {input: x, criteria: Is kind., target: bot}\n- {input: y, target: 'http://a.b'}\n"
    (tmp_path / "a.eval.yaml").write_text(suite)
    hints = [str(problem.hint) for problem in evalcase.check("a.eval.yaml")]
    assert [hint.partition(",")[0] for hint in hints] == [
        "add [tool.evalcase.judge] to pyproject.toml",
        "add [tool.evalcase.targets.bot] to pyproject.toml",
        "add [tool.evalcase.targets.NAME] to pyproject.toml",
    ]
    (tmp_path / "a.eval.yaml").write_text("- {input: x, expected_output: x}\n")
    with pytest.raises(evalcase.ConfigError, match=r"in \[tool.evalcase\] of pyproject.toml"):
        evalcase.evaluate("a.eval.yaml")


def test_a_root_is_taken_as_it_is_whatever_lies_above_it(folder: Path) -> None:
    write(folder, evalcase__toml="[targets.nosuch]\nkind='echo'\n")
    (folder / "sub").mkdir()
    write(folder / "sub", a__eval__yaml=SUITE)
    without = {"undefined-target", "no-judge"}
    assert {p.code for p in evalcase.check("sub", root="sub")} == without
    assert {p.code for p in evalcase.check_text(SUITE, "sub/a.eval.yaml", root="sub")} == without
    assert {p.code for p in evalcase.check("sub", root=folder)} == {"unknown-target", "no-judge"}


def test_a_root_that_is_no_folder_is_refused(folder: Path) -> None:
    write(folder, a__eval__yaml="- {input: a, expected_output: b}\n")
    for root, what in (("gone", "gone is not there"), ("a.eval.yaml", "a.eval.yaml is a file")):
        with pytest.raises(evalcase.ConfigError, match=f"folder of a project, and {what}"):
            evalcase.check(".", root=root)
        with pytest.raises(evalcase.ConfigError, match=f"folder of a project, and {what}"):
            evalcase.check_text("", "x.eval.yaml", root=root)


def test_it_is_shown_as_seen_from_where_a_person_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, evalcase__toml="x = 1\n", a__eval__yaml="- {input: a, expected_output: b}\n")
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder / "sub")
    (problem,) = evalcase.check("..")
    assert problem.path == "../evalcase.toml"
    monkeypatch.chdir("/")
    (problem,) = evalcase.check(folder, root=folder)
    assert problem.path == str(folder.resolve() / "evalcase.toml")


def test_a_plain_suite_needs_nothing_of_all_this(folder: Path) -> None:
    write(folder, a__eval__yaml="- {input: a, expected_output: b}\n")
    code = "import sys, evalcase; evalcase.check('.'); print(sorted(sys.modules))"
    modules = run_python(code)
    for name in (
        "tomllib", "importlib.metadata", "evalcase.project.config", "evalcase.model.option",
        "evalcase.plugins.registry", "evalcase.graders", "evalcase.targets",
    ):  # fmt: skip
        assert name not in modules, name


def run_python(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules: list[str] = json.loads(done.stdout.replace("'", '"'))
    return modules


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ("{serch: {arguments: exact}}", "needs a call of `serch` (did you mean `search`?)"),
        ("{search: {arguments: exact}}", None),
        ("{other: {arguments: exact}}", None),  # the grader may be that of a suite
    ],
)
def test_a_rule_for_a_tool_that_is_misspelt_is_told(
    folder: Path, tools: str, said: str | None
) -> None:
    expected = "{role: assistant, tool_calls: [{tool: search, input: {q: x}}]}"
    suite = f"input: x\nexpected_output: {expected}\ngraders: [{{trajectory: {{tools: {tools}}}}}]"
    write(folder, a__eval__yaml=suite)
    found = [problem.message for problem in evalcase.check(".")]
    assert (found == []) == (said is None)
    assert all(said is not None and said in message for message in found)


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
