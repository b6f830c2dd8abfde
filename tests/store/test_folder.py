from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import RecordError
from evalcase.store.folder import Run, RunAbout, create_run, read_run
from evalcase.store.runs import list_runs, newest_unfinished
from tests.store.faults import ForgetfulDisk, SmallDisk
from tests.store.samples import row, write

NOW = datetime(2026, 11, 15, 21, 30, 0, 123456, tzinfo=UTC).timestamp()
ABOUT = RunAbout({"paths": ["é😀\ud800"]}, suites={"a.eval.yaml": "é😀\ud800"}, targets=("echo",))


def begin(runs: Path, *, later_s: float = 0, about: RunAbout = ABOUT) -> Run:
    now = NOW + later_s
    return create_run(str(runs), about, now=now)


def end(run: Run, status: str) -> None:
    write(Path(run.journal), [row(1), {"type": "end", "status": status}])


def test_a_run_is_read_as_it_was_created(tmp_path: Path) -> None:
    run = create_run(str(tmp_path / "a" / "runs"), ABOUT, now=NOW, random=lambda n: b"\x4f" * n)
    assert run.id == "20261115-213000-4f4f4f"
    assert run.created_at == "2026-11-15T21:30:00.123456Z"
    assert run.path == str(tmp_path / "a" / "runs" / run.id)
    assert read_run(run.path) == run
    assert [each.name for each in Path(run.path).iterdir()] == ["run.json"]
    assert json.loads(Path(run.path, "run.json").read_bytes())["version"] == 5


@pytest.mark.parametrize("disk", [SmallDisk(room=10), ForgetfulDisk(fails_at=2)])
def test_fault_03_run_json_is_never_half_there(tmp_path: Path, disk: Any) -> None:
    with pytest.raises(RecordError, match=r"No space left|Input/output error"):
        create_run(str(tmp_path), ABOUT, now=NOW, disk=disk)
    [listed] = list_runs(str(tmp_path))
    assert (listed.status, listed.run) == ("damaged", None)


def test_runs_are_listed_newest_first(tmp_path: Path) -> None:
    runs = [begin(tmp_path, later_s=later) for later in (0, 0.001, 0.002, 1, 86400)]
    (tmp_path / "notes").mkdir()
    (tmp_path / "20261115-213000-000000").touch()
    (tmp_path / "20261115-213000-ffffff").mkdir()
    listed = list_runs(str(tmp_path))
    assert [each.run for each in listed if each.run] == runs[::-1]
    assert sorted(each.status for each in listed) == ["damaged"] * 2 + ["incomplete"] * 5


def test_the_newest_unfinished_run(tmp_path: Path) -> None:
    old, stopped, fresh, over = (begin(tmp_path, later_s=later) for later in range(4))
    end(old, "completed")
    end(stopped, "interrupted")
    end(over, "completed")
    assert newest_unfinished(str(tmp_path)) == fresh
    end(fresh, "completed")
    assert newest_unfinished(str(tmp_path)) == stopped
    end(stopped, "completed")
    assert newest_unfinished(str(tmp_path)) is None
    # Trials that are being run again: there is work to do until the next end.
    write(Path(over.journal), [row(2)])
    assert newest_unfinished(str(tmp_path)) == over
