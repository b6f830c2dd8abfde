import pytest

from tests.pytest_plugin.project import records, write


def test_workers_share_one_run_with_all_cases_at_once(evals: pytest.Pytester) -> None:
    write(
        evals,
        "agent.py",
        "import asyncio\n"
        "barrier = asyncio.Barrier(4)\n"
        "async def answer(question):\n"
        "    await barrier.wait()\n"  # nobody leaves before all are there
        "    if question == 'crash':\n"
        "        raise ValueError('boom')\n"
        "    return {'2+2': '4'}.get(question, question)\n",
    )
    result = evals.runpytest_inprocess("--evals", "-n2", "-rsfE", "--strict-markers")
    result.assert_outcomes(passed=2, failed=2, errors=1, skipped=1)
    (run,) = records(evals)
    assert run.complete
    assert run.totals.cases.total == 5
    result.stdout.fnmatch_lines(
        [
            "  It is * What is 3+3?",
            "evals/all.eval.yaml:8: failed",
            "record   .evalcase/runs/*",
            "SKIPPED ?1? evals/all.eval.yaml:15: the model is not there yet",
        ]
    )
    result.stdout.fnmatch_lines(["FAILED evals/all.eval.yaml::bad - line 1, character *"])
    result.stdout.fnmatch_lines(["ERROR evals/all.eval.yaml::broken - ValueError: boom"])


def test_workers_are_reached_however_long_the_folder_for_temporary_files_is(
    evals: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(evals.mkdir("long" * 25)))
    result = evals.runpytest_subprocess("--evals", "-n2")
    result.assert_outcomes(passed=2, failed=2, errors=1, skipped=1)


def test_a_failure_ends_workers_that_wait_for_others(evals: pytest.Pytester) -> None:
    write(
        evals,
        "agent.py",
        "import asyncio\n"
        "async def answer(question):\n"
        "    if question != 'wrong':\n"
        "        await asyncio.Event().wait()\n"
        "    return 'no'\n",
    )
    ids = ("wrong", "a", "b", "c")
    text = "".join(f"- {{id: {id}, input: {id}, expected_output: {id}}}\n" for id in ids)
    write(evals, "evals/all.eval.yaml", text)
    result = evals.runpytest_inprocess("--evals", "evals", "-n2", "-x")
    result.assert_outcomes(failed=1)  # those that were waited for are no errors
    (run,) = records(evals)
    assert run.status == "interrupted"
