import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import ConfigError, RecordError
from evalcase.store.folder import Run, RunAbout, create_run, find_sealer, is_own, read_run
from evalcase.store.runs import FoundRun, find_run, list_runs, newest_unfinished
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
    assert json.loads(Path(run.path, "run.json").read_bytes())["version"] == 6


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


# Find


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    """Three runs, the oldest first."""
    made = [begin(tmp_path / "runs", later_s=later) for later in (0, 60, 3600)]
    for run in made:
        end(run, "completed")
    return made


def find(tmp_path: Path, name: str) -> FoundRun:
    return find_run(name, str(tmp_path / "runs"))


def test_a_run_is_named_by_its_id_a_part_its_folder_or_its_place(
    tmp_path: Path, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    oldest, middle, newest = runs
    monkeypatch.chdir(tmp_path)
    names = {
        oldest.id: oldest, middle.id[-6:]: middle, newest.path: newest, "latest": newest,
        "previous": middle, os.path.relpath(oldest.path): oldest, f"{middle.id[9:]}": middle,
    }  # fmt: skip
    for name, run in names.items():
        assert find(tmp_path, name) == (run, None), name


@pytest.mark.parametrize("name", ["latest", "20", ""])
def test_a_grading_may_follow(tmp_path: Path, runs: list[Run], name: str) -> None:
    if name == "latest":
        assert find(tmp_path, "latest@2") == (runs[-1], 2)
        assert find(tmp_path, f"{runs[0].id}@1") == (runs[0], 1)
        assert find(tmp_path, f"{runs[0].path}@12") == (runs[0], 12)
    else:
        with pytest.raises(ConfigError):
            find(tmp_path, f"{name}@2")


def test_the_nearest_is_named(tmp_path: Path, runs: list[Run]) -> None:
    wrong = runs[1].id[:-1] + "z"
    with pytest.raises(ConfigError, match=f"the nearest is {runs[1].id}"):
        find(tmp_path, wrong)


def test_several_are_named(tmp_path: Path, runs: list[Run]) -> None:
    with pytest.raises(ConfigError, match="matches several runs") as raised:
        find(tmp_path, runs[0].id[:8])
    assert all(run.id in str(raised.value) for run in runs)


def test_what_is_damaged_is_found_and_said_to_be(tmp_path: Path, runs: list[Run]) -> None:
    Path(runs[-1].path, "run.json").unlink()
    for name in ("latest", runs[-1].id):
        with pytest.raises(RecordError, match=r"it has no run\.json"):
            find(tmp_path, name)


# Seal


SEALED_AT = datetime(2026, 11, 16, tzinfo=UTC).timestamp()
SEALED = RunAbout(
    {"paths": ["a.eval.yaml", "odd \udcff name"], "targets": [], "timeout_s": 2.5},
    suites={"a.eval.yaml": "é😀"}, trials=3,
)  # fmt: skip
ROOT = "/project"


@pytest.fixture
def state(tmp_path: Path) -> str:
    return str(tmp_path / "state")


@pytest.fixture
def run(tmp_path: Path, state: str) -> Run:
    sealer = find_sealer(state, ROOT, make=True)
    return create_run(
        str(tmp_path / "runs"), SEALED, now=SEALED_AT, sealer=sealer
    )  # fmt: skip


def test_a_run_is_known_again_by_who_made_it(run: Run, state: str) -> None:
    assert is_own(run, state, ROOT)
    assert is_own(read_run(run.path), state, ROOT)


def test_for_another_user_or_in_another_project_it_is_a_stranger_s(
    run: Run, state: str, tmp_path: Path
) -> None:
    assert find_sealer(str(tmp_path / "other"), ROOT, make=True) is not None
    assert not is_own(run, str(tmp_path / "other"), ROOT)
    assert not is_own(run, str(tmp_path / "nobody"), ROOT)
    assert not is_own(run, None, ROOT)
    assert not is_own(run, state, "/clone")


def every_place(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value within a value."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [path, *(each for key, part in inner for each in every_place(part, (*path, key)))]


def test_whatever_is_edited_the_seal_is_broken(run: Run, state: str) -> None:
    file = Path(run.path) / "run.json"
    whole = file.read_text()
    places = [path for path in every_place(json.loads(whole)) if path not in ((), ("version",))]
    assert len(places) > 10
    for path in places:
        data = json.loads(whole)
        *above, last = path
        holder: Any = data
        for key in above:
            holder = holder[key]
        holder[last] = {"edited": "x"} if isinstance(holder[last], dict) else "edited"
        file.write_text(json.dumps(data))
        with suppress(RecordError):  # what is of another shape is no run at all
            assert not is_own(read_run(run.path), state, ROOT), path


def test_without_a_key_a_run_is_made_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for state in (None, str(tmp_path / "file")):
        sealer = find_sealer(state, ROOT, make=True)
        run = create_run(str(tmp_path), SEALED, now=SEALED_AT, sealer=sealer)
        assert (sealer, run.seal, is_own(run, state, ROOT)) == (None, None, False)
