import resource
from random import Random

from evalcase.util.table import Table

MANY = 300_000


def test_a_table_of_many_rows_is_found_changed_and_gone_through() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    marks = [hash(("mark", number)) for number in range(MANY)]
    table = Table(2)
    for number, mark in enumerate(marks):
        table.add(mark, "a text" * 10, number)
    table.add(marks[7], None, 0.25)
    assert len(table) == MANY
    assert table.find(marks[7]) == (None, 0.25)
    assert table.find(marks[8]) == ("a text" * 10, 8)
    assert marks[9] in table
    assert 1 not in table
    assert [row[0] for row in table] == marks
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


def test_rows_come_in_the_order_of_columns() -> None:
    numbers = list(range(1000))
    Random(1).shuffle(numbers)
    table = Table(2)
    for number in numbers:
        table.add(number, number % 10, number)
    rows = [row[1:] for row in table.in_order_of(0, 1)]
    assert rows == sorted(rows)
    assert len(rows) == 1000
    # Rows that are alike there stay as they came.
    assert [row[2] for row in table.in_order_of(0)][:100] == [n for n in numbers if n % 10 == 0]
