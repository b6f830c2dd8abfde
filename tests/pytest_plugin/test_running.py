from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.pytest_plugin.project import records, verdicts, write


def test_each_verdict_is_what_pytest_has_for_it(evals: pytest.Pytester) -> None:
    result = evals.runpytest_inprocess("--evals", "-rsfE", "--strict-markers")
    result.assert_outcomes(passed=2, failed=2, errors=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of broken*",
            "errored at python:agent:answer",
            "  ValueError: boom",
            "  agent.py:4, in answer",
            "evals/all.eval.yaml:14: errored",
            "*FAILURES*",
            "failed at python:agent:answer",
            "  input     What is 3+3?",
            "  expected * got",
            "  It is * What is 3+3?",
            "  six *",
            "evals/all.eval.yaml:8: failed",
            "ungraded at python:agent:answer",
            "  nothing to grade it by",
            "evals/all.eval.yaml:16: ungraded",
            "*= evals =*",
            "1 passed, 1 failed, 1 errored, 1 ungraded, 1 skipped*",
            "record   .evalcase/runs/*",
            "SKIPPED ?1? evals/all.eval.yaml:15: the model is not there yet",
        ]
    )
    result.stdout.fnmatch_lines(["FAILED evals/all.eval.yaml::bad - line 1, character *"])
    result.stdout.fnmatch_lines(["ERROR evals/all.eval.yaml::broken - ValueError: boom"])
    assert "Traceback" not in result.stdout.str()
    (run,) = records(evals)
    assert run.complete
    assert verdicts(run) == {
        "good python:agent:answer": "passed",
        "bad python:agent:answer": "failed",
        "broken python:agent:answer": "errored",
        "later python:agent:answer": "skipped",
        "unjudged python:agent:answer": "ungraded",
    }


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (["-k", "good or broken"], ["good", "broken"]),
        (["-k", "smoke"], ["good"]),
        (["-m", "smoke"], ["good"]),
        (["-m", "needs_gpu"], ["good"]),
        (["-m", "sums and not smoke", "-k", "not later"], ["bad", "broken", "unjudged"]),
        (["-m", "evalcase", "-k", "bad"], ["bad"]),
        (["evals/all.eval.yaml::bad"], ["bad"]),
    ],
)
def test_only_what_is_chosen_is_run(
    evals: pytest.Pytester, arguments: list[str], ids: list[str]
) -> None:
    evals.runpytest_inprocess("--evals", "--strict-markers", *arguments)
    (run,) = records(evals)
    assert [each.case for each in run.cases] == ids


def test_all_cases_are_asked_at_once(evals: pytest.Pytester) -> None:
    write(
        evals,
        "agent.py",
        "import asyncio\n"
        "barrier = asyncio.Barrier(20)\n"
        "async def answer(question):\n"
        "    await barrier.wait()\n"  # nobody leaves before all are there
        "    return question\n",
    )
    ids = range(20)
    text = "".join(f"- {{id: c{n}, input: q{n}, expected_output: q{n}}}\n" for n in ids)
    write(evals, "evals/all.eval.yaml", text)
    result = evals.runpytest_inprocess("--evals", "evals", "--evals-concurrency", "20")
    result.assert_outcomes(passed=20)


def test_repeats_count_by_the_verdict_of_the_case(evals: pytest.Pytester) -> None:
    write(
        evals,
        "agent.py",
        "asked = []\n"
        "async def answer(question):\n"
        "    asked.append(question)\n"
        "    return question if asked.count(question) % 2 else 'no'\n",
    )
    write(
        evals,
        "evals/all.eval.yaml",
        "- {id: half, input: a, expected_output: a, repeat: {times: 4, pass_rate: 0.5}}\n"
        "- {id: whole, input: b, expected_output: b, repeat: 4}\n",
    )
    result = evals.runpytest_inprocess("--evals", "evals")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["failed at python:agent:answer: 2 of 4 passed, all needed", "*- 2 of 4 passed, all*"]
    )
    (run,) = records(evals)
    assert run.totals.trials.total == 8


@pytest.fixture
def shaky(evals: pytest.Pytester) -> pytest.Pytester:
    """A case that passes though one of its trials errors."""
    write(
        evals,
        "agent.py",
        "asked = []\n"
        "async def answer(question):\n"
        "    asked.append(question)\n"
        "    return question if len(asked) != 2 else 1 / 0\n",
    )
    case = "- {id: a, input: a, expected_output: a, repeat: {times: 3, pass_rate: 0.3}}\n"
    write(evals, "evals/all.eval.yaml", case)
    return evals


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_trial_that_errors_in_a_case_that_passes_is_not_overlooked(
    shaky: pytest.Pytester, workers: list[str]
) -> None:
    plugins = ["-p", "xdist"] if workers else []
    result = shaky.runpytest_subprocess("--evals", "evals", *plugins, *workers)
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    told = "not well: 1 trial errored, and --evals-max-errors allows 0"
    result.stdout.fnmatch_lines([told])


def test_a_run_that_is_not_complete_is_not_well(evals: pytest.Pytester) -> None:
    """As one whose suite is edited in the meantime: what is in its record is not what it says."""
    agent = (
        "from pathlib import Path\n"
        "async def answer(question):\n"
        "    path = Path('evals/rows.csv')\n"
        "    path.write_text(path.read_text() + 'b,y\\n')\n"
        "    return question\n"
    )
    write(evals, "agent.py", agent)
    write(evals, "evals/rows.csv", "id,q\na,x\n")
    suite = "- {id: r, rows: rows.csv, input: '{{q}}', expected_output: '{{q}}'}\n"
    write(evals, "evals/all.eval.yaml", suite)
    result = evals.runpytest_inprocess("--evals", "evals")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["not well: the run is not complete"])


def test_the_first_failure_ends_the_run_and_it_can_be_resumed(evals: pytest.Pytester) -> None:
    write(
        evals,
        "agent.py",
        "import asyncio\n"
        "async def answer(question):\n"
        "    if question == 'never':\n"
        "        await asyncio.Event().wait()\n"
        "    return question\n",
    )
    write(
        evals,
        "evals/all.eval.yaml",
        "- {id: fine, input: a, expected_output: a}\n"
        "- {id: wrong, input: a, expected_output: b}\n"
        "- {id: endless, input: never, expected_output: a}\n",
    )
    result = evals.runpytest_inprocess("--evals", "evals", "-x")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*interrupted*2 of 3 trials*", "*evalcase resume*"])
    (run,) = records(evals)
    assert run.status == "interrupted"
    assert run.totals.trials.total == 2


def test_junit_has_what_the_run_measured(evals: pytest.Pytester, tmp_path: Path) -> None:
    evals.runpytest_inprocess("--evals", "evals", f"--junitxml={tmp_path / 'out.xml'}")
    cases = {each.get("name"): each for each in ET.parse(tmp_path / "out.xml").iter("testcase")}
    assert list(cases) == ["good", "bad", "broken", "later", "unjudged"]
    (run,) = records(evals)
    took = {each.key.case: each.duration_s for each in run.results}
    for name, each in cases.items():
        assert float(each.get("time", "")) == pytest.approx(took[str(name)], abs=0.005)
    failure = cases["bad"].find("failure")
    assert failure is not None
    assert failure.get("message", "").startswith("line 1, character 1: expected")
    assert "evals/all.eval.yaml:8: failed" in (failure.text or "")
    assert cases["broken"].find("error") is not None
    properties = {each.get("name"): each.get("value") for each in cases["bad"].iter("property")}
    assert properties == {"target": "python:agent:answer", "verdict": "failed", "score": "0"}


def test_without_a_target_each_case_is_an_error_that_says_what_to_do(
    evals: pytest.Pytester,
) -> None:
    write(evals, "evalcase.toml", "")
    result = evals.runpytest_inprocess("--evals")
    result.assert_outcomes(passed=1, errors=4, skipped=1)
    result.stdout.fnmatch_lines(["case `good` names no target: say --evals-target NAME, or*"])
    assert not records(evals)


def test_the_configuration_of_pytest_has_every_option(evals: pytest.Pytester) -> None:
    write(
        evals,
        "pytest.ini",
        "[pytest]\nevalcase = true\nevalcase_target = echo python:agent:answer\n"
        "evalcase_repeat = 2\nevalcase_concurrency = 3\nevalcase_timeout = 9.5\n"
        "evalcase_retries = 0\nevalcase_max_cost = 3\nevalcase_runs_dir = kept\n"
        "evalcase_retry_timeouts = true\nevalcase_env_file = some.env\n",
    )
    write(evals, "some.env", "SOMETHING=1\n")
    write(evals, "evals/all.eval.yaml", "- {id: a, input: x, expected_output: x}\n")
    result = evals.runpytest_inprocess("evals")
    result.assert_outcomes(passed=2)
    (folder,) = (evals.path / "kept").glob("2*")
    options = (folder / "run.json").read_text()
    for said in ('"repeat":2', '"concurrency":3', '"timeout_s":9.5', '"retries":0'):
        assert said in options.replace(" ", "")
    result.stdout.fnmatch_lines(["record   kept/*"])


def test_secrets_stay_secret(evals: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "abcdefghijkl0123456789")
    write(
        evals,
        "evalcase.toml",
        'target = "python:agent:answer"\nsecrets = ["MY_TOKEN"]\n',
    )
    write(
        evals,
        "agent.py",
        "import os\nasync def answer(question):\n    return os.environ['MY_TOKEN']\n",
    )
    result = evals.runpytest_inprocess("--evals", "evals", "-k", "bad")
    result.assert_outcomes(failed=1, deselected=4)
    assert "abcdefghijkl0123456789" not in result.stdout.str()
