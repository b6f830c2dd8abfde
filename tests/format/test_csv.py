"""CSV is read as RFC 4180 has it, and every cell knows its place."""

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from evalcase.format.tables import stream_table
from evalcase.types.problem import Finding
from tests.for_each import for_each


def values(text: str) -> list[object]:
    return [row.value for row in list(stream_table(text, "a.csv"))[1:]]


def places(text: str, column: str) -> list[tuple[int | None, int | None]]:
    _, *rows = stream_table(text, "a.csv")
    found = [row.place([Finding((column,), "", code="no-cases")])[0] for row in rows]
    return [(problem.line, problem.column) for problem in found]


def problems(text: str) -> list[str]:
    header, *rows = stream_table(text, "a.csv")
    return [str(each) for row in (header, *rows) for each in row.problems]


def test_rows_are_mappings_of_column_names_to_texts() -> None:
    assert values("q,a\n1,x\n2,y\n") == [{"q": "1", "a": "x"}, {"q": "2", "a": "y"}]


def test_a_quoted_cell_may_hold_commas_quotes_and_lines() -> None:
    assert values('q,a\n"a, ""b""\r\nc",d\n') == [{"q": 'a, "b"\r\nc', "a": "d"}]


def test_a_quote_inside_of_a_plain_cell_is_a_quote() -> None:
    assert values('q,a\n5" disk,d\n') == [{"q": '5" disk', "a": "d"}]


@for_each("end", ["\n", "\r\n", "\r"])
def test_lines_end_in_any_of_three_ways(end: str) -> None:
    text = end.join(["q,a", "1,x", "", "2,y"])
    assert values(text) == [{"q": "1", "a": "x"}, {"q": "2", "a": "y"}]
    assert places(text, "a") == [(2, 3), (4, 3)]


def test_an_empty_cell_is_nothing_and_a_short_row_has_empty_cells() -> None:
    assert values('q,a,b\n1,,""\n2\n') == [{"q": "1"}, {"q": "2"}]


@for_each("delimiter", [",", ";", "\t"])
def test_the_first_line_says_what_stands_between_cells(delimiter: str) -> None:
    assert values(f"q{delimiter}a\n1{delimiter}x") == [{"q": "1", "a": "x"}]


def test_names_are_trimmed_and_a_column_without_one_is_called_by_its_number() -> None:
    assert values(", q\n0,x\n") == [{"column 1": "0", "q": "x"}]


def test_places_count_the_lines_inside_of_cells() -> None:
    assert places('q,a\n"x\ny",1\nz,2\n', "a") == [(3, 4), (4, 3)]


def test_faults_have_their_places() -> None:
    assert problems('q,q\n1,2,3\n"x"y,1\n"open\n') == [
        "a.csv:1:3: error[duplicate-key]: the column `q` appears twice",
        "a.csv:2:5: error[syntax]: this row has 3 cells, and there are 2 columns",
        "a.csv:3:4: error[syntax]: there is more after the quote that closes this cell",
        "a.csv:4:1: error[syntax]: this quote is never closed",
    ]


def test_a_file_without_rows_has_none() -> None:
    assert values("") == values("q,a\n") == values("\n\n") == []


CELLS = st.text(st.sampled_from("ab ,;\"\n\r\t'é"), min_size=1, max_size=8)


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=5))
def test_what_the_standard_library_writes_is_read_back(rows: list[list[str]]) -> None:
    written = io.StringIO()
    writer = csv.writer(written, quoting=csv.QUOTE_ALL)
    writer.writerow(["x", "y", "z"])
    writer.writerows(rows)
    assert problems(written.getvalue()) == []
    assert values(written.getvalue()) == [dict(zip("xyz", row, strict=True)) for row in rows]


@given(st.text(st.sampled_from('ab,"\n\r'), max_size=30))
def test_no_text_is_too_odd(text: str) -> None:
    for row in list(stream_table(text, "a.csv"))[1:]:
        assert isinstance(row.value, dict)
        row.place([Finding((name,), "", code="no-cases") for name in row.value])
