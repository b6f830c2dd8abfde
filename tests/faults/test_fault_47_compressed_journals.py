from __future__ import annotations

import gzip
import os
import subprocess
from pathlib import Path
from random import Random

import pytest

from evalcase.errors import RecordError
from evalcase.record import packing
from evalcase.record.about import RunAbout
from evalcase.record.folder import Run
from evalcase.record.journal import open_journal
from evalcase.record.lines import JournalLines, open_lines
from evalcase.record.packing import pack_journal
from evalcase.system import packed
from tests.record.faults import SmallDisk
from tests.record.samples import append_and_wait, python, row, rows_of, write

ROWS = [row(number) for number in range(300)]


def names(folder: str | Path) -> list[str]:
    return [each.name for each in Path(folder).iterdir()]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose journal is compressed, in many parts."""
    monkeypatch.setattr(packing, "WORTH_IT", 1)
    monkeypatch.setattr(packed, "BLOCK", 10_000)
    write(tmp_path / "journal.jsonl", ROWS)
    run = Run("r", str(tmp_path), "", RunAbout({}))
    assert pack_journal(run, pytest.fail)
    assert names(tmp_path) == ["journal.jsonl.gz"]
    return run


def test_fault_47_a_compressed_journal_has_the_same_rows_and_gunzip_reads_it(run: Run) -> None:
    journal = Path(run.journal)
    assert rows_of(journal) == ROWS
    lines = b"".join(JournalLines(run.journal))
    assert gzip.decompress(journal.read_bytes()) == lines
    assert journal.stat().st_size < len(lines) / 4


def test_fault_47_it_is_read_from_any_place(run: Run) -> None:
    lines, places, at = list(JournalLines(run.journal)), [], 0
    for line in lines:
        places.append(at)
        at += len(line)
    order = [*range(len(lines))]
    Random(1).shuffle(order)
    with open_lines(run.journal) as file:
        for number in order:
            file.seek(places[number])
            assert file.readline() == lines[number]
        assert (file.seek(0, os.SEEK_END), file.read()) == (at, b"")


def test_fault_47_who_knew_the_journal_by_its_name_finds_it_compressed(run: Run) -> None:
    assert len(list(JournalLines(str(Path(run.path, "journal.jsonl"))))) == len(ROWS)


def test_fault_47_rows_are_added_to_a_compressed_journal(run: Run) -> None:
    before = Path(run.journal).read_bytes()
    with open_journal(run.journal) as journal:
        assert journal.rows == len(ROWS)
        assert append_and_wait(journal, row(1_000))
        assert append_and_wait(journal, row(1_001))
    assert rows_of(Path(run.journal)) == [*ROWS, row(1_000), row(1_001)]
    assert Path(run.journal).read_bytes().startswith(before)
    assert names(run.path) == ["journal.jsonl.gz"]


def test_fault_47_what_was_being_added_when_its_writer_died_is_dropped_and_said(run: Run) -> None:
    write(Path(run.journal), [row(1_000)])
    whole = Path(run.journal).read_bytes()
    write(Path(run.journal), [row(1_001)])
    for size in (len(whole) + 1, len(whole) + 30, Path(run.journal).stat().st_size - 1):
        os.truncate(run.journal, size)
        lines = JournalLines(run.journal)
        assert len(list(lines)) == len(ROWS) + 1
        assert lines.torn == (len(ROWS) + 2, len(whole), size - len(whole))
        with open_journal(run.journal) as journal:
            assert journal.cut == lines.torn
            append_and_wait(journal, row(1_001))
        assert rows_of(Path(run.journal)) == [*ROWS, row(1_000), row(1_001)]


def test_fault_47_one_that_was_cut_off_elsewhere_is_damaged(run: Run) -> None:
    size = Path(run.journal).stat().st_size
    os.truncate(run.journal, size - 10)
    with pytest.raises(RecordError, match="damaged: 10 bytes are missing at its end"):
        rows_of(Path(run.journal))
    with pytest.raises(RecordError, match="damaged"):
        open_journal(run.journal)
    assert Path(run.journal).stat().st_size == size - 10


def test_fault_47_every_byte_that_is_wrong_is_noticed(run: Run) -> None:
    data = Path(run.journal).read_bytes()
    # What says when it was made, and on what, is no part of what is in it.
    for at in (*range(4), *range(10, 60), *range(60, len(data), 97), len(data) - 1):
        spoilt = bytearray(data)
        spoilt[at] ^= 0x55
        Path(run.journal).write_bytes(spoilt)
        with pytest.raises(RecordError, match=r"damaged|not compressed by evalcase"):
            rows_of(Path(run.journal))


def test_fault_47_what_something_else_compressed_is_refused_with_the_way_out(run: Run) -> None:
    Path(run.journal).write_bytes(gzip.compress(b"".join(JournalLines(run.journal))))
    with pytest.raises(RecordError, match="not compressed by evalcase: `gunzip` it"):
        rows_of(Path(run.journal))


def test_fault_47_a_small_journal_and_one_that_is_written_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run("r", str(tmp_path), "", RunAbout({}))
    assert not pack_journal(run, pytest.fail)
    write(tmp_path / "journal.jsonl", ROWS)
    assert not pack_journal(run, pytest.fail)
    monkeypatch.setattr(packing, "WORTH_IT", 1)
    with open_journal(run.journal):
        assert not pack_journal(run, pytest.fail)
    assert rows_of(tmp_path / "journal.jsonl") == ROWS


def test_fault_47_a_full_disk_leaves_the_journal_as_it_is_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "WORTH_IT", 1)
    write(tmp_path / "journal.jsonl", ROWS)
    said: list[str] = []
    assert not pack_journal(
        Run("r", str(tmp_path), "", RunAbout({})), said.append, SmallDisk(1_000)
    )
    assert names(tmp_path) == ["journal.jsonl"]
    assert ["could not be compressed, and stays as it is: No space" in each for each in said] == [1]


def test_fault_47_a_kill_at_any_moment_of_compressing_loses_nothing(tmp_path: Path) -> None:
    code = python(str(Path(__file__).with_name("pack_kills.py")), str(tmp_path))
    done = subprocess.run(code, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 10
