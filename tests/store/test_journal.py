import os
import signal
import subprocess
import tempfile
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.errors import RecordError
from evalcase.store import journal as journal_module
from evalcase.store.index import read_index
from evalcase.store.journal import Done
from evalcase.store.reader import JournalLines
from evalcase.store.rows import decode_row, encode_struct, write_row
from evalcase.store.stored import GrowingJournal
from evalcase.types.answer import Failure
from evalcase.types.case import canonical_case
from evalcase.types.grade import Grade
from evalcase.types.result import Result
from evalcase.util.json import DEEPEST_ROW, body_of
from tests.for_each import for_each
from tests.store.faults import WatchedDisk
from tests.store.rows import case_row, dict_of, encode_row, read_results
from tests.store.samples import append_and_wait, open_journal, python, result, row, rows_of, write


def test_a_journal_is_continued_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, [row(1)])
    with closing(open_journal(str(path))) as journal:
        assert (journal.rows, journal.cut) == (1, None)
        assert append_and_wait(journal, row(2))
        assert journal.rows == 2
    assert rows_of(path) == [row(1), row(2)]


def test_no_row_is_acknowledged_before_it_is_synced(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    disk = WatchedDisk()
    early: list[int] = []

    def check(number: int) -> None:
        if f'"case-{number}"'.encode() not in path.read_bytes()[: disk.synced]:
            early.append(number)

    with closing(open_journal(str(path), disk=disk)) as journal:
        for number in range(300):
            journal.append(result(number), lambda number=number: check(number))  # type: ignore[misc]
    assert early == []


def test_rows_that_nobody_waits_for_share_a_sync_with_those_that_come_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "REST_S", 3600)
    disk, groups = WatchedDisk(), []
    delivered = threading.Event()

    def deliver(dones: list[Done]) -> None:
        groups.append(len(dones))
        delivered.set()

    with closing(
        open_journal(str(tmp_path / "journal.jsonl"), disk=disk, deliver=deliver)
    ) as journal:
        disk.calls.clear()
        journal.append(result(0), lambda: None)
        assert delivered.wait(60), "the first waits for nobody"
        delivered.clear()
        for number in range(1, 8):
            journal.append(result(number), lambda: None)
        journal.hurry()
        assert delivered.wait(60), "whoever waits for them says so"
        for number in range(8, 10):
            journal.append(result(number), lambda: None)
    assert groups == [1, 7, 2], "and so does the end"
    assert disk.calls == ["write", "fsync"] * 3


@for_each("keep", [1, 10, -27, -2, -1])
def test_a_torn_last_line_is_cut_off_exactly(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "journal.jsonl"
    write(path, [row(1), row(2)])
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    path.write_bytes(whole[:first] + whole[first:][:keep])
    with closing(open_journal(str(path))) as journal:
        assert journal.cut == 2
        assert path.read_bytes() == whole[:first]
        assert append_and_wait(journal, row(2))
    assert path.read_bytes() == whole


def test_a_forked_child_that_lives_on_does_not_hold_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    script = (
        "import os, signal, sys\n"
        "from tests.store.samples import open_journal\n"
        "journal = open_journal(sys.argv[1])\n"
        "pid = os.fork()\n"
        "if not pid:\n"
        "    os.write(1, b'the child runs\\n')\n"
        "    signal.pause()\n"
        "os.write(1, b'%d\\n' % pid)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    command = python("-W", "ignore", "-c", script, str(path))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        lines = {parent.stdout.readline().strip(), parent.stdout.readline().strip()}
        (child,) = lines - {"the child runs"}
        parent.wait()
        try:
            open_journal(str(path)).close()
        finally:
            os.kill(int(child), signal.SIGKILL)


def test_fault_23_links_in_a_run_s_folder_lead_to_no_other_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"one line, as in many a file of a home folder\n")
    (tmp_path / "journal.jsonl").symlink_to(mine)
    with pytest.raises(RecordError, match="it is a link"):
        open_journal(str(tmp_path / "journal.jsonl"))
    (tmp_path / "journal.jsonl").unlink()
    (tmp_path / "writer.pid").symlink_to(mine)
    open_journal(str(tmp_path / "journal.jsonl")).close()
    assert mine.read_bytes() == b"one line, as in many a file of a home folder\n"


# Reader


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
        assert (known.verdict, known.question) == (verdict, hash(question))
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


# Tail


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


# Rows


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value]
    return value


def with_details(value: Any) -> Result:
    return result(1, grades=(Grade("g", 1.0, True, "", {"a": value}),))


@for_each(
    "value",
    ["é😀", "\ud800", "\udcff\udc80", "\ud83d\ude00.", "\\ud83d", 10**30, -(10**400), 1.5e300],
)  # fmt: skip
def test_a_row_comes_back_as_it_was(value: Any) -> None:
    row = with_details(value)
    assert decode_row(body_of(write_row(row))) == row


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), {1, 2}, b"bytes", object(), {1: 2}, nested(DEEPEST_ROW),
     nested(100_000)],
    ids=["nan", "inf", "set", "bytes", "object", "key", "deep", "abysmal"],
)  # fmt: skip
def test_a_row_that_could_not_be_read_again_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"JSON|nested"):
        encode_struct(with_details(value))
