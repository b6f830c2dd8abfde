from __future__ import annotations

from pathlib import Path
from typing import Any

from evalcase.store.folder import Run, RunAbout
from evalcase.store.index import GradedBy, read_index
from evalcase.store.rows import End, GradingRow
from evalcase.store.stored import StoredRun
from tests.store.rows import dict_of, encode_row, end_row


def journal(tmp_path: Path, *rows: dict[str, Any]) -> str:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"".join(map(encode_row, rows)))
    return str(path)


def test_a_grading_is_told_as_it_was_begun(tmp_path: Path) -> None:
    resumed = GradingRow(2, "2026-03-01", "resume", {"s.eval.yaml": "abc"})
    named = GradingRow(3, "2026-03-02", "grade", graders=("contains: Lima",), recorded=True)
    ends = [end_row(End("completed", graded=number)) for number in (2, 3)]
    path = journal(tmp_path, dict_of(resumed), ends[0], dict_of(named), ends[1])
    assert read_index(path, 1).graded_by() == GradedBy(1, 3)
    assert read_index(path, 2).graded_by() == GradedBy(2, 3, resumed=True)
    newest = GradedBy(3, 3, ("contains: Lima",), recorded=True)
    assert read_index(path).graded_by() == newest
    run = StoredRun(Run("id", str(tmp_path), "", RunAbout({})))
    assert run.graded_suites(frozenset({"s.eval.yaml"})) == {"s.eval.yaml": "abc"}
    assert run.graded_suites(frozenset({"other"})) is None
