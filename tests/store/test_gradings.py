from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalcase.errors import RecordError
from evalcase.store.folder import Run, RunAbout
from evalcase.store.index import GradedBy, read_index
from evalcase.store.rows import End, GradingRow
from evalcase.store.stored import StoredRun
from tests.for_each import for_each
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


@for_each(
    ("wrong", "why"),
    [
        ({"number": "2"}, "`number`: Expected `int"),
        ({"number": 0}, "`number`: Expected `int"),
        ({"number": 1 << 31}, "`number`: Expected `int"),
        ({}, "missing required field `number`"),
        ({"number": 2, "graders": [1]}, "`graders.0`: Expected `str"),
        ({"number": 2, "graders": "x"}, "`graders`: Expected `array"),
        ({"number": 2, "suites": {"s": 1}}, "`suites.*`: Expected `str"),
        ({"number": 2, "suites": []}, "`suites`: Expected `object"),
        ({"number": 2, "recorded": 1}, "`recorded`: Expected `bool"),
        ({"number": 2, "origin": "merge"}, "`origin`: Invalid enum value 'merge'"),
        ({"number": 2, "more": 1}, "unknown field `more`"),
    ],
)
def test_what_is_no_grading_is_damage_(tmp_path: Path, wrong: dict[str, Any], why: str) -> None:
    path = journal(tmp_path, {"type": "grading", **wrong})
    with pytest.raises(RecordError) as caught:
        read_index(path)
    assert str(caught.value).startswith(f"{path}:1: the record is damaged: this line is not a ")
    assert why in str(caught.value)
