from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.errors import RecordError
from evalcase.store.index import read_index
from evalcase.store.reader import JournalLines
from evalcase.types.answer import Failure
from evalcase.util.table import mark_of
from tests.store.rows import dict_of, encode_row, read_results
from tests.store.samples import open_journal, result, row, rows_of, write

END = {"type": "end", "status": "completed"}


def test_results_come_back_whole_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    failed = result(3, answer=None, grades=(), failure=Failure("timeout", "120 s", {"limit": 120}))
    results = [result(1), result(2), failed]
    write(path, [*map(dict_of, results), END])
    assert list(read_results(str(path))) == results


def test_the_last_result_of_a_trial_counts(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    again = {"verdict": "passed", "question_hash": "changed"}
    write(path, [row(1), row(2), row(3), END, row(2, **again), row(1, **again), row(2)])
    assert [each.key.case for each in read_results(str(path))] == ["case-3", "case-1", "case-2"]
    index = read_index(str(path))
    hashes = {1: ("passed", "changed"), 2: ("errored", f"{2:016x}"), 3: ("ungraded", f"{3:016x}")}
    for number, (verdict, question) in hashes.items():
        known = index.find(result(number).key)
        assert known is not None
        assert (known.verdict, known.question) == (verdict, mark_of(question))
    assert index.find(result(4).key) is None
    assert len(index) == 3


@given(st.data())
def test_any_truncation_loses_only_the_torn_line(data: st.DataObject) -> None:
    rows = [row(number, text=data.draw(st.text(max_size=20))) for number in range(4)]
    encoded = [encode_row(each) for each in rows]
    whole = b"".join(encoded)
    cut = data.draw(st.integers(0, len(whole)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        path.write_bytes(whole[:cut])
        seen = JournalLines(str(path))
        kept = list(seen)
        assert kept == encoded[: len(kept)]
        assert (seen.torn is None) == (seen.size == cut)
        assert len(b"".join(encoded[: len(kept) + 1])) > cut or len(kept) == 4
        assert rows_of(path) == rows[: len(kept)]
        assert write(path, rows[len(kept) :]) == list(range(4 - len(kept)))
        assert path.read_bytes() == whole


def test_a_whole_last_line_with_a_wrong_checksum_is_damage_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, [row(1), row(2)])
    path.write_bytes(changed := path.read_bytes().replace(b"case-2", b"case-7"))
    with pytest.raises(RecordError, match=r"journal\.jsonl:2: .* does not match its checksum"):
        list(JournalLines(str(path)))
    with pytest.raises(RecordError, match=r"journal\.jsonl:2: "):
        open_journal(str(path))
    assert path.read_bytes() == changed
