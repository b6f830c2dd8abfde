from __future__ import annotations

import os
import tempfile
import tracemalloc
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.errors import RecordError
from evalcase.model.codec import encode_object
from evalcase.model.failure import Failure
from evalcase.model.totals import Counts
from evalcase.record import lines
from evalcase.record.index import Index, read_index, read_totals
from evalcase.record.journal import open_journal
from evalcase.record.lines import JournalLines
from evalcase.record.reader import read_results
from evalcase.system.table import mark_of
from evalcase.text.journal_row import MAX_LINE, encode_row, fault_in
from tests.effort import count_steps
from tests.for_each import for_each
from tests.record.samples import result, row, rows_of, write

END = {"type": "end", "status": "completed"}


def signed(body: bytes) -> bytes:
    """A line with a right checksum that our own writer would not write."""
    body = body[:-1]
    return body + b',"sum":"' + sha256(body).hexdigest()[:16].encode() + b'"}\n'


def test_results_come_back_whole_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    failed = result(3, answer=None, grades=(), failure=Failure("timeout", "120 s", {"limit": 120}))
    results = [result(1), result(2), failed]
    rows = [{"type": "result", **encode_object(each)} for each in results]
    write(path, [{"type": "start"}, *rows, {"type": "of a newer version"}, END])
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


def test_totals(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    free = row(7)
    del free["answer"]["cost_usd"]
    without = row(8, answer=None)
    write(path, [row(number) for number in range(5)] + [free, without, row(3, verdict="passed")])
    counted = read_totals(str(path))
    assert counted.trials == counted.cases == Counts(7, 2, 1, 2, 1, 1)
    assert counted.cost_usd == 1.0
    assert counted.spent_usd == 1.3
    assert counted.unpriced == 1


def test_the_cost_does_not_depend_on_the_order(tmp_path: Path) -> None:
    orders = [range(100), range(99, -1, -1)]
    sums = []
    for number, order in enumerate(orders):
        write(tmp_path / f"{number}.jsonl", [row(each) for each in order])
        sums.append(read_totals(str(tmp_path / f"{number}.jsonl")))
    assert sums[0] == sums[1]


def test_no_price_is_not_zero(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, [row(1, answer=None), END])
    assert read_totals(str(path)).cost_usd is None
    assert read_totals(str(path)).spent_usd is None


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
        assert seen.size + (seen.torn.size if seen.torn else 0) == cut
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


@for_each(
    ("line", "fault"),
    [
        (b"\n", "has no checksum"),
        (b"{}\n", "has no checksum"),
        (encode_row(row(9)).replace(b"case-9", b"case-8"), "does not match its checksum"),
        (signed(b'{"type":["case"]}'), "does not begin with its type"),
        (signed(b'{"type":"c\\u0061se","case":"a"}'), "does not begin with its type"),
        (signed(b'{"type":"case" ,"case":"a"}'), "does not begin with its type"),
        (signed(b'{"case":"a","type":"case"}'), "does not begin with its type"),
        (signed(b'{"type":"result"}'), "is not a result: `verdict` is missing"),
        (signed(b'{"type":"result",}'), "is not a row of a journal"),
        (signed(b'{"type":"\xff"}'), "is not a row of a journal"),
        (signed(b'{"type":"x","y":NaN}'), "NaN is not a JSON value"),
        (signed(b'{"type":"x","y":' + b"[" * 300 + b"]" * 300 + b"}"), "nested more than 200 deep"),
        (
            signed(b'{"type":"x","y":' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
            "nested more than 200 deep",
        ),
        (signed(b'{"type":"x","y":' + b"9" * 5000 + b"}"), "is not a row of a journal"),
        (encode_row(row(9) | {"case": ["a"]}), "wrong type"),
        (encode_row(row(9) | {"repeat": True}), "wrong type"),
        (encode_row(row(9) | {"verdict": "great"}), "unknown verdict"),
        (encode_row(row(9) | {"verdict": ["great"]}), "is not a result"),
        (encode_row(row(9) | {"answer": "text"}), "is not a result"),
        (encode_row(row(9) | {"answer": {"cost_usd": "1"}}), "not an amount of money"),
        (encode_row(row(9) | {"repeats": 0}), "repeats is not a count"),
        (encode_row(row(9) | {"repeat": -1}), "-1 is not a trial of a case"),
        (encode_row(row(9) | {"repeat": 0}), "0 is not a trial of a case"),
        (encode_row(row(9) | {"answer": {"cost_usd": -5}}), "not an amount of money"),
        (encode_row(row(9) | {"grading": "2"}), "grading is not a count"),
        (encode_row(row(9) | {"pass_rate": 2}), "pass_rate is not a share"),
        (encode_row(row(9) | {"answer": {"cost_usd": 10**400}}), "not an amount of money"),
    ],
)
def test_fault_23_a_damaged_line_is_named(tmp_path: Path, line: bytes, fault: str) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(encode_row(row(1)) + line + encode_row(row(2)))
    for read in (read_totals, read_index, lambda path: list(read_results(path))):
        with pytest.raises(RecordError, match=rf"journal\.jsonl:2: .*{fault}"):
            read(str(path))


GRADE = {"grader": "g", "score": 0.5, "passed": False, "reason": "no"}


@for_each(
    "change",
    [
        {"answer": {}},
        {"answer": {"messages": [1]}},
        {"answer": {"messages": [{"role": 1}]}},
        {"answer": {"messages": [], "usage": {"input_tokens": "many"}}},
        {"answer": {"messages": [], "usage": {"tokens": 1}}},
        {"answer": {"messages": [], "truncated": "yes"}},
        {"answer": {"messages": [], "cached": 1}},
        {"failure": {}},
        {"failure": {"kind": "exit", "message": 5}},
        {"failure": {"kind": "exit", "message": "", "details": []}},
        {"grades": 5},
        {"grades": [1]},
        {"grades": [GRADE | {"reason": 5}]},
        {"grades": [GRADE | {"score": "high"}]},
        {"grades": [GRADE | {"score": 10**400}]},
        {"grades": [GRADE | {"details": 5}]},
        {"grades": [GRADE | {"failure": {"kind": 5, "message": ""}}]},
        {"duration_s": "long"},
        {"duration_s": None},
        {"attempts": True},
        {"retried": {}},
        {"retried": [{"kind": "http", "message": None}]},
        {"started_at": 5},
    ],
)
def test_fault_23_a_result_of_the_wrong_shape_is_named(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, [row(1), row(2) | change, row(3)])
    with pytest.raises(RecordError, match=r"journal\.jsonl:2: .* is not a result"):
        list(read_results(str(path)))


def test_fault_23_a_line_without_end_is_refused_without_being_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with path.open("wb") as file:
        file.truncate(40 * MAX_LINE)  # a hole, not data
    with pytest.raises(RecordError, match=r":1: .* longer than"):
        list(JournalLines(str(path)))


def test_fault_23_a_pipe_or_a_folder_is_no_journal(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(RecordError, match="not a regular file"):
            read_totals(str(path))
    with pytest.raises(RecordError, match="No such file"):
        read_totals(str(tmp_path / "missing"))


def test_a_journal_can_be_read_while_it_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that is completed right after its first part was read is not damaged."""
    path = tmp_path / "journal.jsonl"
    first, second = encode_row(row(1)), encode_row(row(2))
    path.write_bytes(first + second[:100])

    def fault_found_late(line: bytes) -> str | None:
        if line == second[:100]:
            path.write_bytes(first + second)
        return fault_in(line)

    monkeypatch.setattr(lines, "fault_in", fault_found_late)
    seen = lines.JournalLines(str(path))
    assert list(seen) == [first]
    assert seen.torn is not None
    assert list(lines.JournalLines(str(path))) == [first, second]


@pytest.mark.parametrize("size", [1, 2, 7, 100, 400, 1000, 1 << 16])
def test_lines_are_the_same_whatever_is_read_at_once(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    rows = [encode_row(row(number, text="x" * 90 * number)) for number in range(6)]
    torn = encode_row(row(6))[:-40]
    path.write_bytes(b"".join(rows) + torn)
    monkeypatch.setattr(lines, "_BLOCK", size)
    seen = JournalLines(str(path))
    assert list(seen) == rows
    assert (seen.count, seen.size) == (6, len(b"".join(rows)))
    assert seen.torn == lines.Torn(7, seen.size, len(torn))


@given(st.data())
def test_lines_that_are_verified_together_are_as_sure_as_each_by_itself(
    data: st.DataObject,
) -> None:
    rows = [encode_row(row(number)) for number in range(5)]
    whole = bytearray(b"".join(rows))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(whole)))
        end = data.draw(st.integers(start, min(start + 40, len(whole))))
        whole[start:end] = data.draw(st.binary(max_size=40))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        path.write_bytes(whole)
        told = []
        for size in (1, 1 << 16):  # lines by themselves, and all at once
            seen = JournalLines(str(path))
            given: list[bytes] = []
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(lines, "_BLOCK", size)
                try:
                    given.extend(seen)
                except RecordError as error:
                    given.append(str(error).encode())
            told.append((given, seen.count, seen.size, seen.last, seen.torn))
    assert told[0] == told[1]
    sound = told[0][0][: told[0][1]]
    assert all(fault_in(line) is None for line in sound)
    assert b"".join(sound) == whole[: len(b"".join(sound))]


@pytest.mark.parametrize("size", [1, 100, 500])
def test_a_line_that_is_too_long_is_refused_whatever_its_checksum(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    first, long = encode_row(row(1)), encode_row(row(2, text="x" * 500))
    path.write_bytes(first + long + first)
    monkeypatch.setattr(lines, "_BLOCK", size)
    monkeypatch.setattr(lines, "_MOST", len(long) - 1)
    monkeypatch.setattr(lines, "MAX_LINE", len(long) - 2)
    with pytest.raises(RecordError, match=r"journal\.jsonl:2: the record is damaged: this line "):
        list(JournalLines(str(path)))
    monkeypatch.setattr(lines, "_MOST", len(long))
    assert list(JournalLines(str(path))) == [first, long, first]


def long_journal(path: Path, count: int) -> str:
    common = row(1)
    path.write_bytes(b"".join(encode_row(common | {"case": f"case-{i}"}) for i in range(count)))
    return str(path)


def test_many_rows_are_read_in_linear_time(tmp_path: Path) -> None:
    few = long_journal(tmp_path / "few", 200)
    many = long_journal(tmp_path / "many", 2_000)
    assert read_totals(many).trials.total == 2_000
    assert count_steps(lambda: read_totals(many)) < 11 * count_steps(lambda: read_totals(few))


def test_little_is_kept_in_memory_for_each_trial(tmp_path: Path) -> None:
    path = long_journal(tmp_path / "journal.jsonl", 5_000)
    tracemalloc.start()
    try:
        read_totals(path)
        assert tracemalloc.get_traced_memory()[1] / 5_000 < 200
        index = Index()
        index.read(JournalLines(path))
        assert len(index) == 5_000
        assert tracemalloc.get_traced_memory()[0] / 5_000 < 110
    finally:
        tracemalloc.stop()
