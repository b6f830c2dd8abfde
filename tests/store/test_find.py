from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalcase.errors import ConfigError, RecordError
from evalcase.store.folder import Run
from evalcase.store.runs import FoundRun, find_run
from tests.store.test_folder import begin, end


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
