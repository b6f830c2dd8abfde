"""What came back of batches: rows by the ids of their questions, in a file that has no name, so
that it is gone with the process. What is secret in them is not kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from tempfile import TemporaryFile
from typing import Any, BinaryIO, TypeAlias

from evalcase.errors import TargetError
from evalcase.targets.web.errors import protocol_error
from evalcase.util.json import BadJsonError, parse_json
from evalcase.util.table import Table, mark_of

HasAnswer: TypeAlias = Callable[[dict[str, Any]], bool]
IsOurs: TypeAlias = Callable[[str], bool]
_MOST_BYTES = 64 * 1024 * 1024
"""Of one row."""


class BatchAnswers:
    """Rows that are found by id. A row with an answer stands, whatever other batches say."""

    def __init__(self, file: BinaryIO) -> None:
        """`file` is closed with this."""
        self._file = file
        self._places = Table("QB")
        """Where a row begins, and whether it has an answer."""

    async def take(
        self, chunks: AsyncIterator[bytes], has_answer: HasAnswer, is_ours: IsOurs
    ) -> int:
        """Take in rows as they come. Return how many of them are ours."""
        rest, count = b"", 0
        async for chunk in chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) > _MOST_BYTES:
                raise protocol_error("a row of the batch is too long", rest[:1000])
            count += sum(self._add(line, has_answer, is_ours) for line in lines)
        return count + self._add(rest, has_answer, is_ours)

    def _add(self, line: bytes, has_answer: HasAnswer, is_ours: IsOurs) -> bool:
        if not line.strip():
            return False
        row = _parse_row(line)
        id = row.get("custom_id")
        if not isinstance(id, str) or not is_ours(id):
            return False
        mark, good = mark_of(id), bool(has_answer(row))
        known = self._places.find(mark)
        if known is None or not known[1] or good:
            self._file.seek(0, 2)
            at = self._file.tell()
            self._file.write(line + b"\n")
            self._places.add(mark, at, good)
        return True

    def has_answer(self, id: str) -> bool:
        known = self._places.find(mark_of(id))
        return known is not None and bool(known[1])

    def find(self, id: str) -> dict[str, Any] | None:
        """The row of a question; None if there is none."""
        known = self._places.find(mark_of(id))
        if known is None:
            return None
        self._file.seek(known[0])
        return _parse_row(self._file.readline())

    def close(self) -> None:
        self._file.close()


def open_answers() -> BatchAnswers:
    """Room for rows, on disk: there may be more than anybody wants in memory."""
    return BatchAnswers(TemporaryFile("w+b"))


def _parse_row(line: bytes) -> dict[str, Any]:
    try:
        row = parse_json(line)
    except BadJsonError as error:
        raise protocol_error(f"a row of the batch is not JSON: {error}", line) from None
    if not isinstance(row, dict):
        raise protocol_error("a row of the batch is not a JSON object", line)
    return row


def batch_error(what: str, **details: Any) -> TargetError:  # noqa: ANN401 - what services say
    """Why a question of a batch has no answer. To ask it again needs another batch."""
    return TargetError(what, kind="http", details=details)
