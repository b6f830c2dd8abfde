from typing import Any

import pytest

from tests.run.project import Project, case, cases

CRASHES = {
    "exception": "raise ValueError('no')",
    "exit": "sys.exit(0)",
    "interruption": "raise KeyboardInterrupt",
    "no_memory": "raise MemoryError",
    "too_much_memory": "return bytearray(1 << 60)",
    "recursion": "return [CALL]",
    "cancellation": "raise asyncio.CancelledError",
    "outcome_of_a_test": "raise type('Failed', (BaseException,), {})",
    "without_words": "raise Unspeakable",
    "several": "raise BaseExceptionGroup('two', [KeyboardInterrupt(), ValueError()])",
}
"""What any code may do."""

NO_GRADES = {
    "no_number": "return float('nan')",
    "more_than_all": "return 7",
    "nothing": "return None",
    "no_json": "return {'score': 1, 'details': {'a': object()}}",
}

START = """
class Unspeakable(Exception):
    def __str__(self):
        raise ValueError("no words")
"""


def functions(kind: str, codes: dict[str, str], parameter: str) -> str:
    """The source of a function for each, sync or async."""
    wait = "await " if "async" in kind else ""
    return START + "".join(
        f"{kind} {name}({parameter}):\n    {code.replace('CALL', f'{wait}{name}({parameter})')}\n"
        for name, code in codes.items()
    )


def rows(project: Project) -> dict[str, Any]:
    return {row["case"]: row for row in project.rows()}


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_fault_11_a_grader_that_breaks_is_errored_and_neither_0_nor_passed(
    project: Project, kind: str
) -> None:
    codes = {**CRASHES, **NO_GRADES}
    project.add_to_agent(functions(kind, codes, "text"))
    # The other grader alone would reach the threshold.
    odd = [
        case(name, graders=["expected", f"python:agent:{name}"], threshold=0.4) for name in codes
    ]
    project.suite(*odd, *cases(3))
    done = project.run("run", "--json")
    assert (done.code, done.counts()) == (3, {"passed": 3, "errored": len(codes)})
    for name in codes:
        row = rows(project)[name]
        assert row["answer"]["messages"][0]["content"] == "ok", "the answer is kept"
        expected, crash = row["grades"]
        assert (expected["score"], expected["passed"]) == (1.0, True)
        assert (crash["score"], crash["passed"]) == (None, False), name
        assert crash["failure"]["kind"] == "grader"


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_fault_11_a_target_that_raises_anything_is_errored_and_touches_no_other(
    project: Project, kind: str
) -> None:
    project.add_to_agent(functions(kind, CRASHES, "question"))
    odd = [case(name, target=f"python:agent:{name}") for name in CRASHES]
    project.suite(*odd, *cases(3))
    done = project.run("run", "--json")
    assert (done.code, done.counts()) == (3, {"passed": 3, "errored": len(CRASHES)})
    for name in CRASHES:
        row = rows(project)[name]
        assert (row["failure"]["kind"], "answer" in row) == ("exception", False), name


def test_fault_11_a_grader_that_can_not_be_imported_is_found_before_anything_runs(
    project: Project,
) -> None:
    (project.path / "broken.py").write_text(
        "raise KeyError('half written')\n\n\ndef grade(text):\n    return True\n"
    )
    project.suite(case("one"), case("odd", graders=["python:broken:grade"]))
    done = project.run("run")
    assert (done.code, project.calls()) == (2, [])
    assert "KeyError: 'half written'" in done.err


def test_fault_11_a_grader_that_spoils_the_answer_spoils_it_for_nobody(project: Project) -> None:
    project.add_to_agent(
        "def spoil(output, messages):\n    output.clear()\n    return 1\n"
        "def data(question):\n    return {'a': [1]}\n"
    )
    graders = ["python:agent:spoil", "expected"]
    project.suite({"id": "x", "input": "x", "expected_output": {"a": [1]}, "graders": graders})
    project.run("run", "--target", "python:agent:data")
    row = rows(project)["x"]
    assert row["answer"]["messages"][0]["content"] == {"a": [1]}
    assert row["verdict"] == "passed"
