"""What migration does to random suites, however they are spelt, and what it leaves."""

import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

import evalcase
from evalcase import SuiteError
from evalcase.config.catalogue import Catalogue
from evalcase.format.document import parse_document
from evalcase.format.migrate import migrate_bytes
from evalcase.format.positions import Format
from tests.for_each import for_each
from tests.random_suites import (
    OLD_NAMES,
    as_json,
    cases,
    damaged,
    exact,
    layouts,
    loaded,
    offsets,
    often,
    suites,
)


def meaning(data: bytes, format: Format) -> Any:
    """What a file says: its suite, or the codes of its errors."""
    try:
        return loaded(data.decode("utf-8-sig"), format)
    except SuiteError as error:
        return [problem.code for problem in error.problems if problem.severity == "error"]


def check_migration(data: bytes, format: Format) -> None:
    result = migrate_bytes(data, format, f"file.{format}", Catalogue())
    assert result.before == data
    assert result.errors == []
    assert exact(meaning(result.after, format)) == exact(meaning(data, format))
    # Undo what is said to be done, and the rest has to be what it was, to the byte.
    text = data.decode().removeprefix("\ufeff")
    pieces, done = [], 0
    for span, old, new, (edit,) in result.changes:
        start, end = offsets(text, span)
        key = text[start:end]
        assert old in OLD_NAMES
        assert key.strip("\"'") == old
        assert edit == (span, key.replace(old, new))
        pieces += [text[done:start], edit.text]
        done = end
    assert result.after.decode().removeprefix("\ufeff") == "".join([*pieces, text[done:]])
    assert result.after.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")
    again = migrate_bytes(result.after, format, f"file.{format}", Catalogue())
    assert (again.after, again.changes) == (result.after, [])
    if isinstance(meaning(data, format), dict):
        check_what_is_left(result.after, format, {problem.code for problem in result.left})


def check_what_is_left(after: bytes, format: Format, left: set[str]) -> None:
    warnings = evalcase.loads(after.decode("utf-8-sig"), format).warnings
    names = {warning.code for warning in warnings} & {"deprecated-name", "ignored-alias"}
    # An old name that is null may be deprecated before, and ignored once another was renamed.
    assert left or not names


marks = st.sampled_from([b"", b"\xef\xbb\xbf"])


@often
@given(data=st.data(), suite=suites(old=True).flatmap(damaged), mark=marks)
def test_migrate_of_yaml_changes_names_and_nothing_else(
    data: st.DataObject, suite: Any, mark: bytes
) -> None:
    """Not what the file means, not a byte of the rest; and a second time nothing at all."""
    text = data.draw(layouts(suite))
    assume(not parse_document(text, "yaml", "").faults)
    check_migration(mark + text.encode(), "yaml")


@often
@given(
    suite=suites(old=True).flatmap(damaged),
    indent=st.sampled_from([None, 0, 2]),
    mark=marks,
    ascii=st.booleans(),
)
def test_migrate_of_json_changes_names_and_nothing_else(
    suite: Any, indent: int | None, mark: bytes, ascii: bool
) -> None:
    """The same for JSON."""
    text = json.dumps(suite, indent=indent, ensure_ascii=ascii)
    check_migration(mark + text.encode(), "json")


@often
@given(
    some=st.lists(cases(old=True).flatmap(damaged), min_size=1, max_size=3),
    end=st.sampled_from(["\n", "\r\n", "\n\n", "\n  \n"]),
    mark=marks,
)
def test_migrate_of_jsonl_changes_names_and_nothing_else(
    some: list[Any], end: str, mark: bytes
) -> None:
    """The same for JSONL."""
    check_migration(mark + end.join(map(as_json, some)).encode(), "jsonl")


@for_each(
    ("format", "text"),
    [
        ("json", r'{"input\u005fmessages": "x"}'),
        ("jsonl", r'{"input\u005fmessages": "x"}'),
        ("yaml", r'"input\x5fmessages": x'),
    ],
)
def test_old_name_that_is_written_with_an_escape_is_left_and_reported(
    format: Format, text: str
) -> None:
    """There is no plain name to rename, but the old one is still there."""
    result = migrate_bytes(text.encode(), format, f"file.{format}", Catalogue())
    assert (result.after, result.changes) == (text.encode(), [])
    assert [(problem.code, problem.line) for problem in result.left] == [("deprecated-name", 1)]
