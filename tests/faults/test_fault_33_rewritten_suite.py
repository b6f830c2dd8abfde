"""A suite file that is written to while it is run: nothing else is run in place of its cases."""

import json
from pathlib import Path

import pytest

from tests.run.project import Project

COUNT = 400
FILL = "x" * 12_000  # so large that it is read as a stream, and not held

AGENT = """
import os
from pathlib import Path

done = []

def answer(question):
    done.append(1)
    if len(done) == 20:
        meddle()
    return "ok"

def write_over(name, text):
    with open(name, "r+") as file:
        file.write(text)

"""


def lines(prefix: str = "c", count: int = COUNT) -> str:
    rows = (
        {"id": f"{prefix}{number}", "input": "hi", "expected_output": "ok", "metadata": {"x": FILL}}
        for number in range(count)
    )
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def big(project: Project) -> Path:
    path = project.path / "big.eval.jsonl"
    path.write_text(lines())
    (project.path / "other").write_text(lines("d"))
    return path


def meddling(project: Project, code: str) -> None:
    (project.path / "agent.py").write_text(f"{AGENT}\ndef meddle():\n    {code}\n")


MEDDLING = {
    "truncated": "os.truncate('big.eval.jsonl', 1_200_000)",
    "written in place": "write_over('big.eval.jsonl', Path('other').read_text())",
    "replaced": "os.replace('other', 'big.eval.jsonl')",
    "replaced, its time as before": (
        "about = os.stat('big.eval.jsonl'); os.replace('other', 'big.eval.jsonl'); "
        "os.utime('big.eval.jsonl', ns=(about.st_atime_ns, about.st_mtime_ns))"
    ),
    "removed": "os.remove('big.eval.jsonl')",
}


@pytest.mark.parametrize("how", MEDDLING)
def test_fault_33_it_is_noticed_and_the_run_stops(project: Project, big: Path, how: str) -> None:
    assert (project.path / "other").stat().st_size == big.stat().st_size
    meddling(project, MEDDLING[how])
    done = project.run("run", "--json", "--concurrency", "1")
    assert (done.code, done.json["status"]) == (3, "stopped")
    assert 20 <= done.json["total"] < COUNT
    assert all(row["case"].startswith("c") for row in project.rows())
    shown = project.run("report").out
    assert "big.eval.jsonl changed while it was run" in shown
    assert "next     evalcase resume" in shown
    big.write_text(lines())
    meddling(project, "pass")
    resumed = project.run("resume", "--json")
    assert (resumed.code, resumed.counts()) == (0, {"passed": COUNT})


SAME = [
    "os.utime('big.eval.jsonl')",
    "write_over('big.eval.jsonl', Path('big.eval.jsonl').read_text())",
]


@pytest.mark.parametrize("code", SAME)
def test_fault_33_the_same_content_is_no_change(project: Project, big: Path, code: str) -> None:
    meddling(project, code)
    done = project.run("run", "--json", "--concurrency", "1")
    assert (done.code, done.counts()) == (0, {"passed": COUNT})
    assert big.read_text() == lines()


def test_fault_33_fields_beside_it_count(project: Project, big: Path) -> None:
    del big
    beside = project.path / "big.eval.suite.yaml"
    beside.write_text("tags: [a]\n")
    meddling(project, "Path('big.eval.suite.yaml').write_text('input: Be kind.')")
    done = project.run("run", "--json", "--concurrency", "1")
    assert (done.code, done.json["status"]) == (3, "stopped")


@pytest.mark.parametrize("ending", ["yaml", "jsonl"])
@pytest.mark.parametrize("name", ["rows.csv", "text.txt"])
def test_fault_33_files_that_cases_are_made_of_are_looked_at_too(
    project: Project, ending: str, name: str
) -> None:
    (project.path / "rows.csv").write_text("id,q\na,1\nb,2\n")
    (project.path / "text.txt").write_text("more")
    project.add_to_agent(
        "def editing(question: Question):\n"
        f"    with (HERE / '{name}').open('a') as file:\n"
        "        file.write('c,3\\n')\n"
        "    return 'ok'\n"
    )
    case = {
        "id": "c", "rows": "rows.csv", "var_files": {"text": "text.txt"},
        "input": "{{q}} {{text}}", "expected_output": "ok",
    }  # fmt: skip
    path = project.suite(case)
    if ending == "jsonl":
        path.unlink()
        (project.path / "s.eval.jsonl").write_text(json.dumps(case) + "\n")
    done = project.run("run", "--json", "--target", "python:agent:editing", "--concurrency", "1")
    assert (done.code, done.json["status"]) == (3, "stopped")
    assert f"{name} changed while it was run" in project.run("report", "latest").out
