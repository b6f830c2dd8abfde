"""A row of a table to a test: columns are variables, but for those that start with `__`."""

from __future__ import annotations

from evalcase.importing.promptfoo.assertions import Assertion, read_cell
from evalcase.importing.promptfoo.drafted import DraftedTest
from evalcase.importing.source import Item
from evalcase.types.value import JSON

_OPTIONS = ("prefix", "suffix")
_FIELDS = ("description", "threshold", "providerOutput", "providers", "prompts")
_CONFIG, _METADATA = "__config:", "__metadata:"


def read_table_test(row: Item) -> DraftedTest:
    """A test of a row. A column with a meaning that isn't known becomes a field, and is told."""
    variables: dict[str, Item] = {}
    fields: dict[str, Item] = {}
    options: dict[str, Item] = {}
    metadata: dict[str, JSON] = {}
    assertions: dict[str, Assertion] = {}
    for name, item in row.fields():
        if not name.startswith("__"):
            # What is empty is an empty text there, and nothing at all where a table is read here.
            variables[name] = item._replace(value=item.value or "")
        elif item.value is None:
            continue
        elif name.startswith("__expected"):
            assertions[name] = read_cell(item)
        elif name.startswith(_METADATA):
            _add_metadata(metadata, name.removeprefix(_METADATA), str(item.value))
        elif name.removeprefix("__") in _OPTIONS:
            options[name.removeprefix("__")] = item
        elif name == "__metric" or name.startswith(_CONFIG):
            continue
        else:
            bare = name.removeprefix("__")
            value = _read_number(item.value) if bare == "threshold" else item.value
            key = bare if bare in _FIELDS else name
            fields[key] = item._replace(value=value)
    _configure_assertions(row, assertions)
    return DraftedTest(row, variables, tuple(assertions.values()), fields, options, metadata)


def _configure_assertions(row: Item, assertions: dict[str, Assertion]) -> None:
    """`__metric` and `__config:__expected1:threshold` say more of assertions."""
    metric = row.at("__metric").value
    settings = [(name, item) for name, item in row.fields() if name.startswith(_CONFIG)]
    for name, assertion in assertions.items():
        if isinstance(metric, str):
            assertion.fields["metric"] = metric
        for column, item in settings:
            _, of, setting = column.split(":", 2) if column.count(":") > 1 else ("", "", "")
            if item.value is not None and of in (name, "__expected"):
                assertion.fields[setting] = _read_number(item.value)


def _add_metadata(metadata: dict[str, JSON], name: str, text: str) -> None:
    if name.endswith("[]"):
        texts = text.replace("\\,", "\0").split(",")
        metadata[name.removesuffix("[]")] = [each.replace("\0", ",").strip() for each in texts]
    else:
        metadata[name] = text


def _read_number(value: JSON) -> JSON:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value
