"""That a run was completed is counted, and not believed: rows may be lost, and each line stands for
itself."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.run.project import Project, case
from tests.store.rows import decode_row


def lose(run: Path, id: str, *, at_most: int = 9) -> None:
    """Take rows of a case out of the journal."""
    kept = []
    for line in (run / "journal.jsonl").read_bytes().splitlines(keepends=True):
        if decode_row(line).get("case") == id and at_most:
            at_most -= 1
        else:
            kept.append(line)
    (run / "journal.jsonl").write_bytes(b"".join(kept))


@pytest.fixture
def lossy(project: Project) -> Project:
    """A project with a run of two cases, two trials each, of which the one that failed is lost."""
    project.suite(case("good"), case("bad", "say no"), repeat=2)
    assert project.run("run").code == 1
    lose(project.runs()[-1], "bad")
    return project


def test_fault_46_a_run_whose_results_are_lost_is_not_complete(lossy: Project) -> None:
    said = lossy.run("report").out
    assert "the record lacks 2 of 4 results" in said
    assert "1 not run" in said
    summary = json.loads(lossy.run("report", "--format", "json").out)
    assert (summary["status"], summary["not_run"]) == ("incomplete", 1)
    assert "incomplete, 2 of 4 trials" in lossy.run("list").out
    assert json.loads(lossy.run("list", "--json").out)[0]["status"] == "incomplete"


def test_fault_46_no_report_of_it_is_green(lossy: Project) -> None:
    junit = ET.fromstring(lossy.run("report", "--format", "junit").out)
    assert int(junit.get("errors", "0")) > 0
    assert "✅" not in lossy.run("report", "--format", "markdown").out
    assert "the run is not complete" in lossy.run("report", "--format", "github").out
    assert lossy.run("compare", "latest", "latest@1", "--fail-on", "broken").code != 0


def test_fault_46_resume_runs_what_is_lost(lossy: Project) -> None:
    lossy.forget_calls()
    ended = lossy.run("resume", "--json")
    assert (ended.code, ended.json["failed"], ended.json["status"]) == (1, 1, "completed")
    assert lossy.calls() == ["bad", "bad"]


TIDYING = {
    "all records": "shutil.rmtree('.evalcase')",
    "all records, moved": "os.rename('.evalcase', 'away')",
    "the journal": "os.remove(journal)",
    "the journal, but not its name": "os.remove(journal); open(journal, 'w').close()",
    "what the journal holds": "os.truncate(journal, 0)",
    "nothing, but writes to it": "os.system('echo {} >> ' + journal)",
    "run.json": "os.remove(os.path.join(os.path.dirname(journal), 'run.json'))",
}
TIDY_AGENT = """
import glob, os, shutil

done = []

def answer(question):
    done.append(1)
    if len(done) == 3:
        journal, = glob.glob(".evalcase/runs/*/journal.jsonl")
        {deed}
    return "ok"
"""


@pytest.mark.parametrize("what", TIDYING)
def test_fault_46_an_agent_that_removes_records_makes_no_green_run(
    project: Project, what: str
) -> None:
    """As one does that has tools, and clears up its folder by `git clean`."""
    project.suite(*(case(f"c{number}") for number in range(6)))
    (project.path / "agent.py").write_text(TIDY_AGENT.format(deed=TIDYING[what]))
    done = project.run("run", "--concurrency", "1")
    assert done.code == 3
    assert "stopped" in done.out
    assert ("next " in done.out) == bool(
        project.runs() and (project.runs()[-1] / "run.json").exists()
    )
    if what != "run.json":
        assert "--runs-dir" in done.out.replace("\n", " ")
