import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import LIMIT_S
from tests.faults.pipes import Alive
from tests.run.project import CONFIG, Project, case, cases, finish
from tests.store.rows import read_results

SUITE = [case(f"c{number:02}", "say no") for number in range(30)]


def run_until(project: Project, command: str, announced: int) -> set[str]:
    """Kill a run as soon as so many trials were announced as finished; what was announced."""
    process = project.start(command, out=subprocess.DEVNULL)
    assert process.stderr is not None
    said = b""
    while said.count(b"failed c") < announced:
        ready, _, _ = select.select([process.stderr], [], [], LIMIT_S)
        more = os.read(process.stderr.fileno(), 100) if ready else b""
        assert more, f"it said only {said!r}"
        said += more
    process.kill()
    said += process.communicate()[1]
    # The last line may itself be cut off; then it was not announced.
    lines = [line for line in said.split(b"\n")[:-1] if line.startswith(b"failed")]
    return {line.split()[1].decode().rstrip(":") for line in lines}


def on_disk(project: Project) -> set[str]:
    journals = [run / "journal.jsonl" for run in project.runs()]
    return {
        each.key.case
        for journal in journals
        if journal.exists()
        for each in read_results(str(journal))
    }


@pytest.mark.parametrize("announced", [1, 4, 11, 23])
def test_fault_01_kill_9_at_any_moment_also_within_resume_loses_nothing_announced(
    project: Project, announced: int
) -> None:
    project.suite(*SUITE)
    first = run_until(project, "run", announced)
    assert first <= on_disk(project)
    project.forget_calls()
    safe = on_disk(project)
    if len(safe) < len(SUITE):
        second = run_until(project, "resume", min(2, len(SUITE) - len(safe)))
        assert not safe & set(project.calls()), "what was finished was run again"
        assert safe | second <= on_disk(project)
    project.forget_calls()
    safe = on_disk(project)
    done = project.run("resume", project.runs()[0].name, "--json")
    assert done.counts() == {"failed": 30}
    assert set(project.calls()) == {str(each["id"]) for each in SUITE} - safe


FAMILY = """
import os, signal, sys, time

alive = os.open("alive", os.O_WRONLY)  # held by all of them, until the last is gone

def child(*steps):
    if os.fork() == 0:
        for step in steps:
            step()
        os.write(alive, b".")
        time.sleep(600)

child()
child(os.setsid)
child(os.setsid, lambda: os.fork() and os._exit(0))
child(lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
os.write(alive, b".")
time.sleep(600)
"""

WORKER = 'mode = "worker"\n'


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing watches over commands")
@pytest.mark.parametrize(
    ("mode", "number"), [("", signal.SIGKILL), (WORKER, signal.SIGKILL), ("", signal.SIGHUP)]
)
def test_fault_01_the_commands_of_a_killed_run_end_with_all_that_they_started(
    project: Project, tmp_path: Path, mode: str, number: int
) -> None:
    (tmp_path / "family.py").write_text(FAMILY)
    command = f'command = ["{sys.executable}", "-S", "family.py"]\n'
    project.configure(f'{CONFIG}\n[targets.family]\nkind = "command"\n{command}{mode}')
    project.suite(case("one"))
    alive = Alive(tmp_path)
    process = project.start("run", "--target", "family")
    try:
        alive.await_number(5)
        process.send_signal(number)
        alive.await_none()
    finally:
        process.kill()
        process.communicate()


def test_fault_01_a_run_killed_before_its_first_trial_can_be_resumed(
    project: Project, tmp_path: Path
) -> None:
    """Where run.json is written and the journal is not there yet."""
    project.suite(*cases(3))
    finish(project.start("run", "--quiet"))
    (project.runs()[0] / "journal.jsonl").unlink()
    unfinished = tmp_path / ".evalcase" / "runs" / "20200101-000000-abcdef"
    unfinished.mkdir()  # killed between the two steps of making a run
    (unfinished / "run.json.tmp").write_text('{"version":')
    assert project.run("resume", "--json").counts() == {"passed": 3}
    assert "damaged" in project.run("list").out
