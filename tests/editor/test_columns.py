from __future__ import annotations

from evalcase.editor.protocol import Encoding, to_column, to_units
from tests.for_each import for_each

LINE = "a😀漢é\u2028b"


@for_each(
    ("encoding", "units"),
    [("utf-8", [0, 1, 5, 8, 10, 13, 14]), ("utf-16", [0, 1, 3, 4, 5, 6, 7]),
     ("utf-32", [0, 1, 2, 3, 4, 5, 6])],
)  # fmt: skip
def test_columns_go_there_and_back(encoding: Encoding, units: list[int]) -> None:
    assert [to_units(LINE, column, encoding) for column in range(7)] == units
    assert [to_column(LINE, unit, encoding) for unit in units] == list(range(7))


@for_each("encoding", ["utf-8", "utf-16", "utf-32"])
def test_what_lies_behind_a_line_is_its_end(encoding: Encoding) -> None:
    assert to_column(LINE, 1000, encoding) == len(LINE)
    assert to_units(LINE, 1000, encoding) == to_units(LINE, len(LINE), encoding)
    assert to_column("abc", 1000, encoding) == 3
