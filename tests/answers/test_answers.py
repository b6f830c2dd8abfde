"""Every recorded answer, returned, printed and sent, is read as well as the table says.

The levels are listed in `reading.py`. `python -m tests.answers.update` writes those of today.
"""

from pathlib import Path

import pytest

from tests.answers.reading import measure
from tests.answers.table import HERE, VIAS, read_table

SOURCES, ROWS = read_table()


@pytest.mark.parametrize("via", VIAS)
def test_answers_are_read_as_well_as_the_table_says(via: str, tmp_path: Path) -> None:
    said = {row.file: row.reads.get(via, "all") for row in ROWS}
    different = [
        f"{file}: the table says {said[file]!r}, and it is {level!r}: {why}"
        for file, (level, why) in measure(ROWS, via, tmp_path).items()
        if level != said[file]
    ]
    assert not different, "\n".join(different)


def test_no_verdict_on_a_recorded_answer_is_a_lie() -> None:
    assert [row.file for row in ROWS if "wrong" in row.reads.values()] == []


def test_every_file_has_one_row() -> None:
    ours = (".json", ".jsonl", ".sse", ".txt")
    found = [path.relative_to(HERE).as_posix() for path in HERE.rglob("*") if path.suffix in ours]
    assert sorted(row.file for row in ROWS) == sorted(found)


def test_rows_do_not_contradict_themselves() -> None:
    for row in ROWS:
        assert row.source in SOURCES, row.file
        assert set(row.reads) <= set(row.via) <= set(VIAS), row.file
        assert row.holds_calls or not row.calls, row.file
        # What a row says of calls is all that is in the file, unless the reply is no answer.
        assert bool(row.calls) == row.holds_calls or row.errored is not None, row.file
        assert ("http_stream" in row.via) <= (row.stream is not None), row.file
        assert (row.text is None) == (row.errored is not None or row.data), row.file
