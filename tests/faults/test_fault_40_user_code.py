"""Code of users that does what it should not: see `misbehaviour` for the table. Each cell is a case
of a run beside others that are well, and costs its own trial and nothing else."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

import evalcase
from tests.faults.misbehaving_module import START
from tests.faults.misbehaviour import GRADERS, PLACES, TABLE, Cell
from tests.run.project import Project, case, finish
from tests.store.rows import read_results

# Code that comes late may leave a coroutine that nobody waits for: the interpreter says so when it
# finds the time, and that is not for evalcase to change.
pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

CANCEL_ALL = """
for task in asyncio.all_tasks():
    task.cancel()
await asyncio.sleep(0)
return RIGHT
"""


def write(project: Project, several: Sequence[Cell]) -> None:
    """A module with the code of some cells, and a suite with a case for each."""
    source = START + "\n\n".join(cell.source for cell in several)
    (project.path / "odd.py").write_text(source, encoding="utf-8")
    project.suite(*map(case_of, several), case("well"))


def case_of(cell: Cell) -> dict[str, Any]:
    name = f"python:odd:{cell.name}"
    if cell.place in GRADERS:
        return case(cell.name, graders=["expected", {"type": name, "timeout_s": cell.kind.limit_s}])
    return case(cell.name, target=name, timeout_s=cell.kind.limit_s)


def check(project: Project, several: Sequence[Cell]) -> None:
    """The record can be read, has every trial, and says of each what it must."""
    results = {
        result.key.case: result
        for result in read_results(str(project.runs()[-1] / "journal.jsonl"))
    }
    assert len(results) == len(several) + 1
    assert results["well"].verdict == "passed"
    wrong = []
    for cell in several:
        result = results[cell.name]
        broken = [grade.failure for grade in result.grades if grade.failure is not None]
        said = str(result.failure or broken or "")
        if result.verdict != cell.kind.verdict or cell.kind.word not in said:
            wrong.append((cell.name, result.verdict, said))
    assert wrong == []


def code_of(several: Sequence[Cell]) -> int:
    """The exit code that tells the truth of some cells and one that is well."""
    verdicts = {cell.kind.verdict for cell in several}
    return 3 if "errored" in verdicts else 1 if "failed" in verdicts else 0


@pytest.mark.parametrize("group", TABLE)
def test_fault_40_each_costs_its_own_trial_and_nothing_else(project: Project, group: str) -> None:
    several = TABLE[group]
    write(project, several)
    done = project.run("run", "--json", "--concurrency", str(len(several) + 1))
    check(project, several)
    assert done.code == code_of(several) == 3
    assert done.json["status"] == "completed"


ENDS_THE_LOOP = {
    "cancels_every_task": (CANCEL_ALL, "the run was cancelled by code of a target or a grader"),
    "stops_the_loop": (
        "asyncio.get_running_loop().stop()\nawait asyncio.sleep(0.01)",
        "the event loop was stopped by user code",
    ),
}


@pytest.mark.parametrize("place", ["async_function", "async_grader"])
@pytest.mark.parametrize("harm", ENDS_THE_LOOP)
def test_fault_40_what_ends_the_event_loop_ends_the_run_and_is_never_green(
    project: Project, place: str, harm: str
) -> None:
    body, word = ENDS_THE_LOOP[harm]
    (project.path / "odd.py").write_text(START + PLACES[place].define("harm", body))
    name = "python:odd:harm"
    odd = {"graders": [name]} if place in GRADERS else {"target": name}
    project.suite(case("well"), case("odd", **odd))
    done = finish(project.start("run", "--concurrency", "1"))
    assert done.code == 3
    assert word in " ".join(done.err.split())
    assert "evalcase resume" in done.out
    assert [row["case"] for row in project.rows()] == ["well"]


# Beside trials: imports, set-up and tear-down.

STEPS = {
    "import": "RAISE\ndef answer(question):\n    return 'ok'\n",
    "factory": "def answer():\n    RAISE\n",
    "async_factory": "async def answer():\n    RAISE\n",
    "init": "class answer:\n    def __init__(self):\n        RAISE\n",
    "open": "class answer:\n    def open(self):\n        RAISE\n    def answer(self, q): ...\n",
    "aenter": "class answer:\n    async def __aenter__(self):\n        RAISE\n"
    "    async def __aexit__(self, *_): ...\n    def answer(self, q): ...\n",
    "close": "class answer:\n    def close(self):\n        RAISE\n"
    "    def answer(self, q): return 'ok'\n",
    "async_close": "class answer:\n    async def close(self):\n        RAISE\n"
    "    def answer(self, q): return 'ok'\n",
    "aexit": "class answer:\n    async def __aenter__(self): ...\n"
    "    async def __aexit__(self, *_):\n        RAISE\n    def answer(self, q): return 'ok'\n",
}
RAISES = {
    "error": "raise ValueError('no')",
    "exit": "sys.exit(0)",
    "generator_exit": "raise GeneratorExit",
    "cancelled": "raise asyncio.CancelledError",
    "outcome": "raise OutcomeError('x')",
    "interrupt": "raise KeyboardInterrupt",
}


@pytest.mark.parametrize("step", STEPS)
def test_fault_40_what_set_up_and_tear_down_raise_never_makes_a_run_green(
    project: Project, step: str
) -> None:
    project.suite(case("fails", expected_output="something else"))
    for name, raised in RAISES.items():
        (project.path / f"{name}.py").write_text(START + STEPS[step].replace("RAISE", raised))
        done = project.run("run", "--json", "--target", f"python:{name}:answer")
        if step in ("close", "async_close", "aexit"):
            assert (done.code, done.counts()) == (1, {"failed": 1}), name
            assert "tear-down failed" in done.err, (name, done)
        else:
            assert done.code == (130 if name == "interrupt" else 2), (name, done)
            assert done.out == ""


@pytest.mark.parametrize("raised", RAISES)
def test_fault_40_a_grader_that_can_not_be_imported_is_told_before_anything_runs(
    project: Project, raised: str
) -> None:
    (project.path / "odd.py").write_text(f"{START}def grade(answer): ...\n{RAISES[raised]}")
    project.suite(case("one", graders=["python:odd:grade"]))
    done = project.run("run", "--json")
    assert (done.code, done.out) == (130 if raised == "interrupt" else 2, "")
    assert project.calls() == []


# The same from Python.


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(0), KeyboardInterrupt()])
def test_fault_40_what_a_listener_raises_ends_the_run_and_keeps_what_was_done(
    project: Project, error: BaseException
) -> None:
    def listen(_: object) -> None:
        raise error

    suite = evalcase.loads(json.dumps({"cases": [case("one"), case("two")]}))
    with pytest.raises(type(error)):
        evalcase.evaluate(suite, "echo", root=project.path, on_result=listen)
    assert len(project.rows()) >= 1
