"""One test for all rows of a table: hundreds of rows that take less than a test of their own would
take to be collected, set up and reported. All that fail are told, each with what it is of."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest

_Test = Callable[..., None]
_FAILURES = (Exception, BaseExceptionGroup, pytest.fail.Exception, pytest.skip.Exception)
"""A row can't be skipped: the rows after it would be, too."""


def for_each(
    names: str | Sequence[str], rows: Iterable[Any], ids: Callable[[Any], str] = repr
) -> Callable[[_Test], _Test]:
    """As `pytest.mark.parametrize`, for tests that leave nothing behind: they share fixtures. Only
    a folder, `tmp_path`, is each row's own."""
    fields = [names] if isinstance(names, str) else list(names)
    table = [_read_row(row, fields) for row in rows]
    assert table, "a table without rows proves nothing"

    def decorate(test: _Test) -> _Test:
        @wraps(test)
        def check_all(**fixtures: Any) -> None:
            failures = []
            for number, row in enumerate(table):
                try:
                    test(**_own_folder(fixtures, number), **row)
                except _FAILURES as error:
                    error.add_note("of " + ", ".join(map(ids, row.values())))
                    failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(table)} rows", failures)

        signature = inspect.signature(test)
        fixtures = [each for name, each in signature.parameters.items() if name not in fields]
        assert len(fixtures) + len(fields) == len(signature.parameters)
        check_all.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return check_all

    return decorate


def _own_folder(fixtures: dict[str, Any], number: int) -> dict[str, Any]:
    if "tmp_path" not in fixtures:
        return fixtures
    folder = fixtures["tmp_path"] / f"row{number}"
    folder.mkdir()
    return {**fixtures, "tmp_path": folder}


def _read_row(row: Any, fields: Sequence[str]) -> dict[str, Any]:
    """The arguments of a row, which may be one of pytest's own."""
    values = getattr(row, "values", None) if type(row) is type(pytest.param()) else None
    if values is None:
        values = [row] if len(fields) == 1 else row
    return dict(zip(fields, values, strict=True))
