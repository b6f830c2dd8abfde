from __future__ import annotations

from pathlib import Path

import pytest

from evalcase.store.stored import GrowingJournal
from evalcase.types.case import canonical_case
from tests.store.rows import case_row, encode_row

CASE = canonical_case({"id": "a", "input": [{"role": "user", "content": "x"}]})


def result_line(case: str, repeat: int = 1, repeats: int = 1, verdict: str = "passed") -> bytes:
    return encode_row({
        "type": "result", "suite": "s", "case": case, "target": "t", "repeat": repeat,
        "question_hash": "q", "verdict": verdict, "repeats": repeats,
    })  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(encode_row(case_row("s", CASE)) + result_line("a"))
    return journal


def test_what_has_come_since_is_told_once(path: Path) -> None:
    journal = GrowingJournal(str(path))
    first = journal.read_since(0)
    assert first.offset == path.stat().st_size
    (grown,) = first.cases
    assert (grown.case, grown.outcome.verdict) == (CASE, "passed")
    assert journal.read_since(first.offset) == (first.offset, ())


def test_a_line_that_is_being_written_is_waited_for(path: Path) -> None:
    journal, line = GrowingJournal(str(path)), result_line("b", verdict="failed")
    whole = path.read_bytes()
    path.write_bytes(whole + line[:-5])
    reached = journal.reach()
    assert reached == len(whole)
    path.write_bytes(whole + line)
    (grown,) = journal.read_since(reached).cases
    assert (grown.results[0].key.case, grown.case) == ("b", None)


def test_all_trials_of_a_case_come_together(path: Path) -> None:
    journal = GrowingJournal(str(path))
    path.write_bytes(path.read_bytes() + result_line("b", 2, 3))
    offset = journal.read_since(0).offset
    path.write_bytes(path.read_bytes() + result_line("b", 1, 3))
    (grown,) = journal.read_since(offset).cases
    assert [result.key.repeat for result in grown.results] == [1, 2]
    assert (grown.outcome.verdict, grown.outcome.passed, grown.outcome.repeats) == (None, 2, 3)
