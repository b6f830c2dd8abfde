"""What a run uses has to be there: `check` and `run` say so alike, wherever it is named."""

from pathlib import Path

import pytest

import evalcase
from tests.format.checking import SUITE, problems_of_run, write


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
        problems = problems_of_run(cases=[case])
        assert (*place, "error") in [(each.code, each.line, each.severity) for each in problems]


def test_only_the_functions_that_grade_chosen_cases_have_to_be_there(folder: Path) -> None:
    suite = """\
- {id: one, input: hi, graders: ["python:unlike:yes"]}
- {id: two, input: hi, graders: ["python:unlike:nosuch"]}
- {id: three, input: hi, graders: ["python:unlike:neither"], skip: true}
"""
    write(folder, unlike__py="def yes(answer): return True\n", a__eval__yaml=suite)
    assert evalcase.evaluate(".", "echo", cases=["one"]).ok
    problems = problems_of_run(target="echo", cases=["one", "two"])
    assert ("unknown-grader", 2) in [(each.code, each.line) for each in problems]


def test_a_target_of_the_command_line_is_looked_at_before_anything_else(folder: Path) -> None:
    write(folder, evalcase__toml="[targets.agent]\nkind = 'echo'\n", a__eval__yaml=SUITE)
    problems = problems_of_run(target=["agnet", "pyton:x", "replay:../x"], cases=["one"])
    assert [(p.code, p.path, p.hint) for p in problems] == [
        ("unknown-target", "target agnet", "did you mean `agent`?"),
        ("unknown-target", "target pyton:x", "did you mean `python:x`?"),
    ]


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
        [] if found else [("missing-program", "evalcase.toml:4:11")]
    )
    (folder / "other").mkdir()
    monkeypatch.chdir(folder / "other")
    if found:
        assert evalcase.evaluate(folder / "a.eval.yaml", root=folder).ok
    else:
        problems = problems_of_run(paths=folder / "a.eval.yaml", root=folder)
        assert [problem.code for problem in problems] == ["missing-program"]


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
        ("missing", "evalcase.toml:7:11", "evalcase.toml:7:11", "`no-such-program-here`"),
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
    kinds = "kind:value, such as python:my_agent:answer"
    assert hint() == f"add --target {kinds}, or set `target` in evalcase.toml"
    write(folder, evalcase__toml="[targets.big]\nkind='echo'\n[targets.small]\nkind='echo'\n")
    assert hint() == "add --target with one of big, small, or set `target` in evalcase.toml"
