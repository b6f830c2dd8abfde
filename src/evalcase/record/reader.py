"""A journal as results. It may come from anyone: everything in it is data, and checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BufferedReader
from typing import TypeVar

from evalcase.model.codec import decode_object
from evalcase.model.conversation import split_turns
from evalcase.model.result import Regraded, Result
from evalcase.model.value import replace
from evalcase.record.index import Index, read_index
from evalcase.record.lines import damaged_error, line_number, open_lines, read_line_at

T = TypeVar("T")


def read_results(path: str, upto: int | None = None) -> Iterator[Result]:
    """Every result that counts, in the order of the cases: where a trial was run again, its
    last one, and where an answer was graded again, its last grading, none after `upto`."""
    return read_results_of(path, read_index(path, upto))


def read_results_of(path: str, index: Index, targets: Sequence[str] = ()) -> Iterator[Result]:
    """The same for a journal that was gone through already, of a case in the order of targets."""
    with open_lines(path) as file:
        for answer_at, grading_at in index.places(targets):
            yield read_result_at(path, file, answer_at, grading_at)


def read_result_at(path: str, file: BufferedReader, answer_at: int, grading_at: int) -> Result:
    """The result whose answer and grading stand at two places of an open journal."""
    result = _decode_at(path, file, answer_at, Result)
    if result.turns:
        _check_turns(path, file, answer_at, result)
    if grading_at == answer_at:
        return result
    again = _decode_at(path, file, grading_at, Regraded)
    return replace(
        result, verdict=again.verdict, grades=again.grades, grading=again.grading,
        grading_hash=again.grading_hash, pass_rate=again.pass_rate, repeats=again.repeats,
    )  # fmt: skip


def _check_turns(path: str, file: BufferedReader, at: int, result: Result) -> None:
    """Raise RecordError if the turns of a conversation are not those of its answer."""
    try:
        if result.answer is None:
            raise ValueError("it has turns, and no answer")
        split_turns(result.answer, result.turns)
    except ValueError as error:
        raise damaged_error(path, line_number(file, at), f"is not a result: {error}") from error


def _decode_at(path: str, file: BufferedReader, at: int, wanted: type[T]) -> T:
    try:
        row = read_line_at(path, file, at)
        row.pop("type", None)
        return decode_object(wanted, row)
    except (TypeError, ValueError) as error:
        raise damaged_error(path, line_number(file, at), f"is not a result: {error}") from error
