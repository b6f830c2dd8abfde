"""Rows in, the bytes of a Parquet file out, a group of rows at a time: pyarrow, of the extra
`parquet`, does the work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from evalcase.report.files.rows import COLUMN_TYPES, RowCell

_ROWS = 10_000


class _Sink:
    """A file that is only written to; what was written is taken out of it piece by piece."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: Any) -> int:  # noqa: ANN401 - pyarrow hands over a buffer
        piece = bytes(data)
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None: ...

    def close(self) -> None: ...

    def take(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def parquet_pieces(
    columns: Sequence[str], rows: Iterable[Mapping[str, RowCell]]
) -> Iterator[bytes]:
    """The whole file. Columns that are not those of every table hold scores."""
    import pyarrow as pa
    from pyarrow import parquet

    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    schema = pa.schema([(name, types[COLUMN_TYPES.get(name, float)]) for name in columns])
    sink, left = _Sink(), iter(rows)
    with parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        while group := list(islice(left, _ROWS)):
            table = [{name: _make_cell(row.get(name)) for name in columns} for row in group]
            writer.write_table(pa.Table.from_pylist(table, schema))
            yield sink.take()
    yield sink.take()


def _make_cell(value: RowCell) -> RowCell:
    """Text as UTF-8 can hold it."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
