"""Rows to cases: each field of a case is filled from a column, or from a path into one.

Most formats are rows under other names: a preset names their columns, and handles those that mean
more than a field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from evalcase.format.fields import CASE_FIELDS
from evalcase.importers.draft import CaseDraft, Choices, SuiteDraft
from evalcase.importers.source import ForeignFile, Item, UnusableError
from evalcase.types.message import OTHER_ROLES, ROLES, is_message, names_tool
from evalcase.types.problem import Finding, KeyPath, did_you_mean
from evalcase.types.value import JSON, describe_kind
from evalcase.util.json import BadJsonError, parse_json
from evalcase.util.text import list_some, nearest_field

ColumnHandler = Callable[[CaseDraft, Item], None]
EXPECTED = "expected_output"
_OURS: Mapping[str, str] = {name: name for name in CASE_FIELDS}
_CONVERSES = ("turns", "user")
"""Fields of a case that need no input beside them."""
_TEXTS = ("description", "criteria", "conversation_id")
_CONTAINERS = (
    "cases", "rows", "data", "examples", "items", "samples", "records", "tests", "questions",
)  # fmt: skip
_MAX_COLUMNS_SHOWN = 30
_ARGUMENTS = ("arguments", "args", "input_parameters", "inputParameters")
"""Names of the input of a tool, in Inspect, LangChain and DeepEval."""


def skip_column(case: CaseDraft, item: Item) -> None:
    """For a column that is read once the input is known."""


class Preset(NamedTuple):
    columns: Mapping[str, str] = _OURS
    """Fields of a case, and the paths that fill them; the first that exists counts."""
    expected: str = "exact"
    handlers: Mapping[str, ColumnHandler] = {}
    """Functions for columns that are no plain field."""
    bookkeeping: frozenset[str] = frozenset()
    """Columns that say nothing about a case."""
    containers: tuple[str, ...] = ()
    """Keys of the list of rows, in a file that is one mapping."""
    cells_are_json: bool = False
    """Whether a CSV cell that looks like JSON is JSON."""


ROWS = Preset()


def import_rows(
    source: ForeignFile, choices: Choices, suite: SuiteDraft, preset: Preset = ROWS
) -> None:
    """Make a case of each row. Raise UnusableError if that is impossible."""
    rows = list(find_rows(source, preset, suite))
    columns = {**preset.columns, **choices.columns}
    _require_columns(source, rows, columns, choices)
    rest: dict[str, list[Item]] = {}
    for row in rows:
        case = suite.new_case(row)
        if not isinstance(row.value, dict):
            kind = describe_kind(row.value)
            case.drop(row, f"this row, which is {kind}, not a mapping")
            continue
        for name, item in _fill(case, row, columns, choices.expected or preset.expected):
            if name in preset.handlers:
                preset.handlers[name](case, item)
            elif choices.keeps_rest:
                case.keep(name, item)
            else:
                rest.setdefault(name, []).append(item)
        if not any(name in case.fields for name in ("input", *_CONVERSES)):
            case.drop(row, "this row, which has no input")
    _report_rest(rest, source, suite, preset)


def find_rows(source: ForeignFile, preset: Preset, suite: SuiteDraft) -> Iterator[Item]:
    """Each row of a file; fields beside the rows are left out."""
    if source.is_table:
        plain = () if preset.cells_are_json else ("input", EXPECTED, *_TEXTS)
        for row in source.rows():
            cells: JSON = {
                name: text if name in plain else parse_cell(text)
                for name, text in row.mapping().items()
            }
            yield row._replace(value=cells) if source.shape == "csv" else row
        return
    root = source.root
    if isinstance(root.value, list):
        yield from root.items()
        return
    names = (*preset.containers, *_CONTAINERS)
    container = next((name for name in names if isinstance(root.at(name).value, list)), None)
    if container is None:
        yield root
        return
    for name, item in root.fields():
        if name in ("name", "description") and isinstance(item.value, str):
            suite.fields[name] = item.value
        elif name != container:
            suite.lose(item, f"`{name}`, which is next to the rows", at="key")
    yield from root.at(container).items()


def parse_cell(text: JSON) -> JSON:
    """The value of a text that is JSON of an object or a list; else the text."""
    if not isinstance(text, str) or text[:1] not in ("{", "["):
        return text
    try:
        return parse_json(text)
    except BadJsonError:
        return text


def _guess_mapping(names: list[str]) -> str:
    """The options for a table whose columns have names that other tools use."""
    near = {
        field: [each for each in names if each.isidentifier() and nearest_field(each, [field])]
        for field in ("input", EXPECTED)
    }
    given = [f"--map {field}={found[0]}" for field, found in near.items() if len(found) == 1]
    return " ".join(given) if len(near["input"]) == 1 else "--map input=COLUMN"


def _require_columns(
    source: ForeignFile, rows: list[Item], columns: Mapping[str, str], choices: Choices
) -> None:
    names = list(dict.fromkeys(name for row in rows for name, _ in row.fields()))
    listed = list_some(names[:_MAX_COLUMNS_SHOWN], len(names))
    hint = f"the columns are {listed}" if names else "there are no columns"

    def exists(path: str) -> bool:
        return path in names or path.partition(".")[0] in names

    missing = [(name, each) for name, each in choices.columns.items() if not exists(each)]
    asked = columns["input"].split("|")
    if missing:
        field, column = missing[0]
        message = f"`{field}` is to be filled from `{column}`, and no row has such a column"
        hint = did_you_mean(column.split(".")[0], names) or hint
    elif any(map(exists, [*asked, *[columns[name] for name in _CONVERSES if name in columns]])):
        return
    else:
        message = f"no row has the column `{asked[0]}`, which would be the input"
        hint = f"{hint}: say {_guess_mapping(names)}"
    document = source.header or source.documents[0]
    raise UnusableError(document.place([Finding((), message, hint, code="missing-input")]))


def _report_rest(
    rest: Mapping[str, list[Item]], source: ForeignFile, suite: SuiteDraft, preset: Preset
) -> None:
    known = [name for name in rest if name in preset.bookkeeping]
    if known:
        suite.remark_left_out(known)
    for name in filter(lambda name: name not in known, rest):
        items, header = rest[name], source.header
        place = items[0].without_value() if header is None else Item(None, header, (name,))
        rows = "one row has" if len(items) == 1 else f"{len(items):,} rows have"
        hint = "--rest metadata keeps such columns"
        suite.lose(place, f"`{name}`, which {rows}", hint, at="key")


def _fill(
    case: CaseDraft, row: Item, columns: Mapping[str, str], expected: str
) -> list[tuple[str, Item]]:
    """Fill the fields of a case; return the columns that are left, with a value each."""
    taken: set[str] = set()
    for field, paths in columns.items():
        found = _find_column(row, paths)
        if found is None:
            continue
        taken.add(str(found.path[len(row.path)]))
        if found.value is None:
            continue
        if field == EXPECTED:
            put_expected(case, found, expected)
        elif field.startswith("metadata."):
            metadata = case.fields.setdefault("metadata", {})
            assert isinstance(metadata, dict)
            metadata[field.removeprefix("metadata.")] = found.value
        else:
            put_field(case, field, found)
    return [(name, item) for name, item in row.fields()
            if name not in taken and item.value is not None]  # fmt: skip


def _find_column(row: Item, paths: str) -> Item | None:
    for path in paths.split("|"):
        steps: KeyPath = (path,)
        if path not in row.mapping():
            steps = tuple(int(step) if step.isdecimal() else step for step in path.split("."))
        if steps[0] in row.mapping():
            found = row.at(*steps)
            if found.value is not None or len(steps) == 1:
                return found
    return None


def put_field(case: CaseDraft, field: str, item: Item) -> None:
    """Fill a field, or report that the value doesn't fit."""
    value: JSON = item.value
    case.fields_from[field] = item
    if field in _SHAPES:
        value = _SHAPES[field](value)
    elif field == "metadata":
        held, value = case.fields.get("metadata"), parse_cell(value)
        value = {**held, **value} if isinstance(held, dict) and isinstance(value, dict) else value
        value = value if isinstance(value, dict) else None
    elif field in _TEXTS and not isinstance(value, str):
        value = None
    if value is None:
        case.lose(item, f"`{item.path[-1]}`: {describe_kind(item.value)} can't be `{field}`")
    else:
        case.fields[field] = value


def put_expected(case: CaseDraft, item: Item, how: str) -> None:
    """The expected output: an exact answer, or criteria for a judge."""
    if how == "exact":
        case.fields[EXPECTED] = shape_expected(item.value)
    elif not isinstance(item.value, str):
        hint = "--expected exact compares with it as it is"
        case.lose(item, f"`{item.path[-1]}`: {describe_kind(item.value)} can't be `criteria`", hint)
    elif item.value.strip():
        case.fields["criteria"] = item.value


def shape_input(value: JSON) -> JSON:
    if isinstance(value, str) or (isinstance(value, dict) and not is_message(value)):
        return value
    messages = shape_messages(value)
    if messages is not None:
        return messages
    # Messages with a mistake are not taken for data: `check` names the mistake.
    looks_so = isinstance(value, list) and any(map(is_message, value))
    return value if looks_so else [{"role": "user", "content": value}]


def shape_expected(value: JSON) -> JSON:
    if not isinstance(value, dict | list) or (isinstance(value, dict) and not is_message(value)):
        return value
    messages = shape_messages(value)
    if messages is not None:
        return messages
    looks_so = isinstance(value, list) and (not value or any(map(is_message, value)))
    return [{"role": "assistant", "content": value}] if looks_so else value


def shape_messages(value: JSON) -> list[JSON] | None:
    """Messages in one of the common forms to ours; None if one of them is no message."""
    messages = [_shape_message(each) for each in (value if isinstance(value, list) else [value])]
    return messages if all(messages) and messages else None


def _shape_message(value: JSON) -> JSON:
    if not isinstance(value, dict):
        return None
    if is_message(value) and value["role"] in ROLES:
        calls = value.get("tool_calls")
        if calls is None or (isinstance(calls, list) and calls and all(map(names_tool, calls))):
            return value
    value = _unwrap_langchain(value)
    role, calls = value.get("role", value.get("type")), value.get("tool_calls")
    role = OTHER_ROLES.get(role, role) if isinstance(role, str) else None
    if role not in ROLES or not (value.get("content") is not None or calls):
        return None
    rest = value if "role" in value else {key: value[key] for key in value if key != "type"}
    message: dict[str, JSON] = {"role": role, **rest} | {"role": role}
    if isinstance(calls, list) and calls:
        message["tool_calls"] = [*map(_shape_known_call, calls)]
    elif not calls:  # an empty list says nothing
        message.pop("tool_calls", None)
    return message


def _unwrap_langchain(value: dict[str, JSON]) -> dict[str, JSON]:
    """A message as LangChain stores it, `{type: human, data: {…}}`, or names its classes."""
    name, held, data = value.get("id"), value.get("kwargs"), value.get("data")
    role: JSON = value.get("type")
    if isinstance(name, list) and name and isinstance(held, dict):
        data, role = held, str(name[-1]).removesuffix("Message").lower()
    if not isinstance(data, dict) or not isinstance(role, str):
        return value
    return {**{key: item for key, item in data.items() if item not in (None, {}, [])}, "type": role}


def _shape_known_call(call: JSON) -> JSON:
    """A tool call of another tool to ours; other forms stay as they are."""
    if not isinstance(call, dict):
        return call
    name = call.get("function", call.get("name"))
    arguments = next((call[key] for key in _ARGUMENTS if call.get(key) is not None), None)
    if "tool" in call or not isinstance(name, str):
        return call
    taken = ("function", "name", "type", *_ARGUMENTS)
    rest = {key: item for key, item in call.items() if key not in taken and item is not None}
    return {"tool": name, **({} if arguments is None else {"input": arguments}), **rest}


def shape_call(call: JSON) -> dict[str, JSON] | None:
    """One tool call, or None if it names no tool."""
    shaped: JSON = _shape_known_call(call) if isinstance(call, dict) else {"tool": call}
    return shaped if isinstance(shaped, dict) and isinstance(shaped.get("tool"), str) else None


def shape_id(value: JSON) -> str | None:
    if isinstance(value, str):
        return value if value.strip() else None
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def shape_tags(value: JSON) -> list[JSON] | None:
    """A list of texts, or a text with commas."""
    if isinstance(value, str):
        return list(dict.fromkeys(each.strip() for each in value.split(",") if each.strip()))
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return list(dict.fromkeys(value))
    return None


_SHAPES: Mapping[str, Callable[[JSON], JSON]] = {
    "input": shape_input, "id": shape_id, "tags": shape_tags,
}  # fmt: skip
