import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import _WITHOUT_PRIVILEGE, EVALCASE, environment
from tests.faults.sabotage import sabotaged
from tests.run.project import Done, Project, cases, finish, ids
from tests.store.rows import read_rows

MANY = cases(400)
"""More than the 100 that may be on their way to the disk at once, so that there are several groups;
and there is room for the first of them, of about 30 kB at most."""


def go(project: Project, *around: str) -> Done:
    """Run the suite with another command around evalcase."""
    # Python itself would leave half a file of its own on a disk without room.
    env = environment(PYTHONDONTWRITEBYTECODE="1")
    process = subprocess.Popen(
        [*around, *EVALCASE, "run", "--concurrency", "2"], cwd=project.path, env=env,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    return finish(process)


def check_stop(project: Project, done: Done, why: str) -> None:
    """It has stopped with exit 3 and said how many rows are safe; and it can go on."""
    assert done.code == 3
    assert why in done.out
    called = project.calls()
    assert len(called) < len(MANY), "it went on"
    journal = project.runs()[0] / "journal.jsonl"
    rows = [row for _, row in read_rows(str(journal))]
    safe = [row["case"] for row in rows if row["type"] == "result"]
    said = re.search(r"safe are the first (\d+) rows", done.out)
    assert said is not None, done.out
    assert 0 < int(said[1]) <= len(rows)
    project.forget_calls()
    resumed = project.run("resume", "--json")
    assert (resumed.code, resumed.counts()) == (0, {"passed": len(MANY)})
    assert set(project.calls()) == set(ids(MANY)) - set(safe)


def test_fault_03_a_full_disk_stops_the_run_and_what_is_safe_is_said(
    project: Project,
) -> None:
    """The kernel's own short write and error, by a limit on the size of files."""
    project.suite(*MANY)
    done = go(project, "bash", "-c", 'ulimit -f 40; exec "$0" "$@"')
    check_stop(project, done, "File too large")


FULL_FOLDER = """
mount -t tmpfs -o size=64k small out || exit 77
cp old.txt out/r.html && head -c 200000 /dev/zero > out/filler 2> /dev/null
"$0" "$@"
code=$?
cp -a out/. kept/
exit $code
"""


@pytest.mark.parametrize("command", [["report"], ["compare"], ["resume", "--report", "out/r.html"]])
def test_fault_03_a_full_disk_leaves_the_old_report_whole(
    project: Project, tmp_path: Path, command: list[str]
) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here")
    project.suite(*cases(2))
    for _ in range(2):
        assert project.run("run", "--quiet").code == 0
    (tmp_path / "old.txt").write_text("an old report")
    (tmp_path / "out").mkdir()
    (tmp_path / "kept").mkdir()
    process = subprocess.Popen(
        ["unshare", "-rm", "sh", "-c", FULL_FOLDER, *EVALCASE, *command,
         *([] if "resume" in command else ["-o", "out/r.html"])],
        cwd=tmp_path, env=environment(PYTHONDONTWRITEBYTECODE="1"),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    done = finish(process)
    if done.code == 77 or "unshare" in done.err:
        pytest.skip("no file system can be mounted here")
    assert "out/r.html can't be written: No space left on device" in done.err
    assert done.code == (3 if "resume" in command else 2)
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["filler", "r.html"]
    assert (tmp_path / "kept" / "r.html").read_text() == "an old report"


SECOND_GROUP = 9
"""The sync of it: those before are of folders, of run.json, and of the empty journal."""

EIO = """
import errno, os
real, left = os.fsync, [{left}]

def fsync(fd):
    left[0] -= 1
    if left[0] == 0:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    real(fd)  # the next one says that all is well, as on Linux

os.fsync = fsync
"""


def write_seal(project: Project) -> None:
    """Have what the first run of a user makes beside its record: its syncs are not among those."""
    assert project.run("run", "--quiet", "--limit", "1").code == 0
    shutil.rmtree(project.path / ".evalcase")
    project.forget_calls()


def test_fault_03_a_failed_sync_poisons_the_run_and_is_never_tried_again(
    project: Project, tmp_path: Path
) -> None:
    project.suite(*MANY)
    write_seal(project)
    env = sabotaged(tmp_path, EIO.format(left=SECOND_GROUP))
    done = project.run_process("run", "--concurrency", "2", env=env)
    check_stop(project, done, "Input/output error")


@pytest.mark.parametrize("place", [".", ".evalcase/runs"])
def test_fault_03_a_read_only_folder_means_that_nothing_runs(project: Project, place: str) -> None:
    project.suite(*cases(2))
    folder = project.path / place
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o555)
    try:
        done = go(project, sys.executable, "-c", _WITHOUT_PRIVILEGE)
    finally:
        folder.chmod(0o755)
    assert (done.code, project.calls()) == (3, [])
    assert "can't be written: Permission denied" in done.err
