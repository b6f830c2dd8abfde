"""Rows to cases: each field of a case is filled from a column, or from a path into one.

Most formats are rows with names of their own: a preset says what their columns are called, and may
look at those that mean more than that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from evalcase.format.fields import CASE_FIELDS
from evalcase.importing.draft import CaseDraft, Chosen, SuiteDraft
from evalcase.importing.shapes import shape_expected, shape_id, shape_input, shape_tags
from evalcase.importing.source import ForeignFile, Item, UnusableError
from evalcase.types.problem import Finding, KeyPath, Problem, did_you_mean
from evalcase.types.value import JSON, describe_kind
from evalcase.util.json import BadJsonError, parse_json

ColumnHandler = Callable[[CaseDraft, Item], None]
EXPECTED = "expected_output"
_OURS: Mapping[str, str] = {name: name for name in CASE_FIELDS}
_CONVERSES = ("turns", "user")
"""Fields of a case that need no input beside them."""
_TEXTS = ("description", "criteria", "conversation_id")


class Preset(NamedTuple):
    """What the columns of a format are called, and what becomes of them."""

    tool: str
    columns: Mapping[str, str] = _OURS
    """Fields of a case, and what they are filled from; the first that is there counts."""
    expected: str = "exact"
    handlers: Mapping[str, ColumnHandler] = {}
    """What is done with columns that are no plain field."""
    bookkeeping: frozenset[str] = frozenset()
    """Columns that say nothing about a case: left out, and named."""
    containers: tuple[str, ...] = ()
    """Where the list of rows may be, in a file that is one mapping."""
    cells_are_json: bool = False
    """Whether a cell of CSV that looks like JSON is."""


ROWS = Preset("rows")


def import_rows(
    source: ForeignFile, chosen: Chosen, suite: SuiteDraft, preset: Preset = ROWS
) -> None:
    """Make a case of each row. Raise UnusableError where none can be made."""
    rows = list(find_rows(source, preset, suite))
    columns = {**preset.columns, **chosen.columns}
    names = dict.fromkeys(name for row in rows for name, _ in row.fields())
    _require_columns(source, names, columns, chosen)
    filling = _Filling(columns, chosen, preset, _Rest(source, suite, chosen, preset))
    for row in rows:
        if isinstance(row.value, dict):
            filling.fill(suite.new_case(row), row)
        else:
            why = f"this row, which is {describe_kind(row.value)}, not a mapping"
            suite.new_case(row).drop(row, why)
    filling.rest.tell()


def find_rows(source: ForeignFile, preset: Preset, suite: SuiteDraft) -> Iterator[Item]:
    """Each row of a file; what stands beside them is told."""
    if source.is_table:
        for document in source.documents:
            yield _parse_cells(Item(document.value, document), source, preset)
        return
    root = source.root
    if isinstance(root.value, list):
        yield from root.items()
        return
    name = _find_container(root, preset)
    if name is None:
        yield root
        return
    for other, item in root.fields():
        if other in ("name", "description") and isinstance(item.value, str):
            suite.fields[other] = item.value
        elif other != name:
            suite.lose(item, f"`{other}`, which is next to the rows", at="key")
    yield from root.at(name).items()


_CONTAINERS = (
    "cases", "rows", "data", "examples", "items", "samples", "records", "tests", "questions",
)  # fmt: skip


def _find_container(root: Item, preset: Preset) -> str | None:
    names = (*preset.containers, *_CONTAINERS)
    return next((name for name in names if isinstance(root.at(name).value, list)), None)


def _parse_cells(row: Item, source: ForeignFile, preset: Preset) -> Item:
    """A row of CSV, with cells that are meant as JSON read as such."""
    if source.shape != "csv" or not isinstance(row.value, dict):
        return row
    plain = () if preset.cells_are_json else ("input", EXPECTED, *_TEXTS)
    value = {name: text if name in plain else _read_cell(text) for name, text in row.value.items()}
    return row._replace(value=value)


def _read_cell(text: JSON) -> JSON:
    if not isinstance(text, str) or text[:1] not in ("{", "["):
        return text
    try:
        return parse_json(text)
    except BadJsonError:
        return text


def _require_columns(
    source: ForeignFile, names: Iterable[str], columns: Mapping[str, str], chosen: Chosen
) -> None:
    listed = list(names)
    for field, column in chosen.columns.items():
        if _first_step(column, listed) not in listed:
            message = f"`{field}` is to be filled from `{column}`, and no row has such a column"
            raise _make_unusable(
                source,
                message,
                did_you_mean(column.split(".")[0], listed) or _describe_columns(listed),
            )
    asked = columns["input"].split("|")
    asks = (*asked, *(columns[name] for name in _CONVERSES if name in columns))
    if not any(_first_step(path, listed) in listed for path in asks):
        message = f"no row has the column `{asked[0]}`, which would be the input"
        raise _make_unusable(
            source, message, f"{_describe_columns(listed)}: say --map input=COLUMN"
        )


def _describe_columns(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_SHOWN]) + (", …" if len(names) > _MOST_SHOWN else "")
    return f"the columns are {shown}" if names else "there are no columns"


_MOST_SHOWN = 30


def _make_unusable(source: ForeignFile, message: str, hint: str) -> UnusableError:
    document = source.header or (source.documents[0] if source.documents else None)
    if document is None:
        return UnusableError([Problem("no-cases", "the file has no rows", source.path)])
    return UnusableError(document.place([Finding("missing-input", (), message, hint)]))


def _first_step(path: str, names: Iterable[str]) -> str:
    return path if path in names else path.split(".", maxsplit=1)[0]


class _Rest:
    """Columns that nothing was made of: each is told once, however many rows have it."""

    def __init__(
        self, source: ForeignFile, suite: SuiteDraft, chosen: Chosen, preset: Preset
    ) -> None:
        self.source = source
        self.suite = suite
        self.keeps = chosen.keeps_rest
        self.preset = preset
        self.left: dict[str, list[Item]] = {}

    def take(self, name: str, item: Item, case: CaseDraft) -> None:
        if item.value is None:
            return
        if self.keeps:
            metadata = case.fields.setdefault("metadata", {})
            assert isinstance(metadata, dict)
            metadata.setdefault(name, item.value)
        else:
            self.left.setdefault(name, []).append(item)

    def tell(self) -> None:
        known = [name for name in self.left if name in self.preset.bookkeeping]
        if known:
            names = ", ".join(f"`{name}`" for name in known)
            self.suite.remarks.append(f"left out, as it says nothing about a case: {names}")
        for name, items in self.left.items():
            if name not in known:
                header, number = self.source.header, len(items)
                first = items[0]._replace(value=None)
                at = first if header is None else Item(None, header, (name,))
                rows = "one row" if number == 1 else f"{number:,} rows"
                why = f"`{name}`, which {rows} {'has' if number == 1 else 'have'}"
                self.suite.lose(at, why, "--rest metadata keeps such columns", at="key")


class _Filling:
    """Fills the fields of cases."""

    def __init__(
        self, columns: Mapping[str, str], chosen: Chosen, preset: Preset, rest: _Rest
    ) -> None:
        self.columns = columns
        self.chosen = chosen
        self.preset = preset
        self.expected = chosen.expected or preset.expected
        self.rest = rest

    def fill(self, case: CaseDraft, row: Item) -> None:
        taken: set[str] = set()
        for field, paths in self.columns.items():
            found = self._find(row, paths)
            if found is not None:
                taken.add(str(found.path[len(row.path)]))
                if found.value is not None:
                    self._put(case, field, found)
        for name, item in row.fields():
            if name in taken:
                continue
            if name in self.preset.handlers:
                if item.value is not None:
                    self.preset.handlers[name](case, item)
            else:
                self.rest.take(name, item, case)
        if not any(name in case.fields for name in ("input", *_CONVERSES)):
            case.drop(row, "this row, which has no input")

    def _find(self, row: Item, paths: str) -> Item | None:
        """The first of some paths that leads somewhere."""
        assert isinstance(row.value, dict)
        for path in paths.split("|"):
            steps: KeyPath = (path,)
            if path not in row.value:
                steps = tuple(int(step) if step.isdecimal() else step for step in path.split("."))
            if steps[0] in row.value:
                found = row.at(*steps)
                if found.value is not None or len(steps) == 1:
                    return found
        return None

    def _put(self, case: CaseDraft, field: str, item: Item) -> None:
        if field == EXPECTED:
            put_expected(case, item, self.expected)
        elif field.startswith("metadata."):
            metadata = case.fields.setdefault("metadata", {})
            assert isinstance(metadata, dict)
            metadata[field.removeprefix("metadata.")] = item.value
        else:
            put_field(case, field, item)


def put_field(case: CaseDraft, field: str, item: Item) -> None:
    """Fill a field with a value, as far as it fits."""
    value: JSON = item.value
    case.fields_from[field] = item
    if field == "input":
        value = shape_input(value)
    elif field == "id":
        value = shape_id(value)
    elif field == "tags":
        value = shape_tags(value)
    elif field == "metadata":
        held = case.fields.get("metadata")
        value = {**held, **value} if isinstance(held, dict) and isinstance(value, dict) else value
        value = value if isinstance(value, dict) else None
    elif field in _TEXTS and not isinstance(value, str):
        value = None
    if value is None:
        case.lose(item, f"`{item.path[-1]}`: {describe_kind(item.value)} can't be `{field}`")
    else:
        case.fields[field] = value


def put_expected(case: CaseDraft, item: Item, how: str) -> None:
    """What is expected: an exact answer, or prose for a judge."""
    if how == "exact":
        case.fields[EXPECTED] = shape_expected(item.value)
    elif not isinstance(item.value, str):
        hint = "--expected exact compares with it as it is"
        case.lose(item, f"`{item.path[-1]}`: {describe_kind(item.value)} can't be `criteria`", hint)
    elif item.value.strip():
        case.fields["criteria"] = item.value
