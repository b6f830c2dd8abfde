from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import RecordError
from evalcase.store.folder import Run, RunAbout, create_run, find_sealer, is_own, read_run

NOW = datetime(2026, 11, 16, tzinfo=UTC).timestamp()
ABOUT = RunAbout(
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
        str(tmp_path / "runs"), ABOUT, now=NOW, sealer=sealer
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
        run = create_run(str(tmp_path), ABOUT, now=NOW, sealer=sealer)
        assert (sealer, run.seal, is_own(run, state, ROOT)) == (None, None, False)
