import pytest

from tests.pytest_plugin.project import records, write


def collected(pytester: pytest.Pytester, *arguments: str) -> list[str]:
    result = pytester.runpytest_inprocess("--collect-only", "-q", *arguments)
    return [line for line in result.outlines if "::" in line and not line.startswith("ERROR")]


CASES = [f"evals/all.eval.yaml::{id}" for id in ("good", "bad", "broken", "later", "unjudged")]


def test_a_plain_run_collects_no_evals_and_imports_nothing_to_run_them(
    evals: pytest.Pytester,
) -> None:
    write(
        evals,
        "test_own.py",
        "import sys\n"
        "def test_own():\n"
        "    names = {n for n in sys.modules if n.startswith('evalcase')}\n"
        "    assert 'evalcase.api' not in names\n",
    )
    result = evals.runpytest_subprocess("-p", "no:hypothesispytest", "-p", "no:xdist")
    result.assert_outcomes(passed=1)


def test_the_configuration_may_ask_for_them_and_the_command_line_wins(
    evals: pytest.Pytester,
) -> None:
    write(evals, "pytest.ini", "[pytest]\nevalcase = true\n")
    assert collected(evals) == [*CASES, "test_own.py::test_own"]
    assert collected(evals, "--no-evals") == ["test_own.py::test_own"]


def test_a_case_is_an_item_for_each_of_its_targets(evals: pytest.Pytester) -> None:
    write(
        evals,
        "evals/all.eval.yaml",
        "- {id: one, input: x, expected_output: x}\n"
        "- {id: two, input: x, expected_output: x, targets: [echo, 'python:agent:answer']}\n",
    )
    both = [f"evals/all.eval.yaml::two[{name}]" for name in ("echo", "python:agent:answer")]
    assert collected(evals, "--evals", "evals") == ["evals/all.eval.yaml::one", *both]
    only = ["evals/all.eval.yaml::one", "evals/all.eval.yaml::two"]
    assert collected(evals, "--evals", "evals", "--evals-target", "echo") == only


def test_ids_become_names_that_can_be_typed_and_told_apart(evals: pytest.Pytester) -> None:
    text = '- {id: "a::b", input: x}\n- {id: "a:b", input: y}\n- {id: "tab\\there", input: z}\n'
    write(evals, "evals/all.eval.yaml", text)
    names = [name.partition("::")[2] for name in collected(evals, "--evals", "evals")]
    assert names == ["a:b", "a:b-2", "tab<U+0009>here"]


def test_an_invalid_suite_is_a_collection_error_with_all_problems(evals: pytest.Pytester) -> None:
    write(
        evals,
        "evals/wrong.eval.yaml",
        "- id: a\n  inpt: x\n- id: 7\n  input: x\n  graders: [exprected]\n",
    )
    result = evals.runpytest_inprocess("--evals")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR collecting evals/wrong.eval.yaml*",
            "  evals/wrong.eval.yaml:2:3: error?unknown-field?: `inpt` is not a field of a case",
            "    hint: did you mean `input`?",
            "  evals/wrong.eval.yaml:3:7: error?wrong-type?: `id` is text, not 7",
            "  evals/wrong.eval.yaml:5:13: error?unknown-grader?: there is no grader `exprected`",
        ]
    )
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert not records(evals)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--evals-concurrency", "many"],
            "is a whole number of 1 or more, not 'many'",
        ),
        (["--evals-concurrency", "0"], "*`concurrency` is*not 0"),
        (["--evals-timeout", "nan"], "--evals-timeout is a number of seconds over 0, not 'nan'"),
        (
            ["-o", "evalcase_repeat=x"],
            "`evalcase_repeat` is a whole number*, not 'x'",
        ),
    ],
)
def test_options_that_cannot_be_used_are_named(
    evals: pytest.Pytester, arguments: list[str], said: str
) -> None:
    result = evals.runpytest_inprocess("--evals", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *{said}*"])
