"""A file to the name of its format, by names that only one tool has.

Whoever imports a file says that it is another's. So more is taken for a sign than where a file is
checked, which is asked first.
"""

from __future__ import annotations

from evalcase.format.suite import Foreign, name_foreign, name_foreign_cases
from evalcase.importing.source import ForeignFile
from evalcase.types.value import JSON

_LOOKED_AT = 20
_OF_AGENTV = frozenset({"assertions", "assert", "criteria", "expected_outcome", "evaluators"})
_OURS = frozenset({"expected_output", "criteria", "rubrics", "graders", "expected_messages"})


def guess_format(source: ForeignFile) -> str:
    """What a file says it is; rows, if it says nothing."""
    rows = _first_rows(source)
    foreign = _name_tool(source, rows)
    if foreign is not None and foreign.format is not None and " " not in foreign.format:
        return foreign.format
    return _guess_loosely(source, rows)


def _name_tool(source: ForeignFile, rows: list[dict[str, JSON]]) -> Foreign | None:
    whole = None if source.is_table else name_foreign(source.root.value, ())
    return whole or (name_foreign_cases(rows, ()) if rows else None)


def _first_rows(source: ForeignFile) -> list[dict[str, JSON]]:
    if source.header is not None:
        values: list[JSON] = [source.header.value]
    elif source.is_table:
        values = [each.value for each in source.documents[:_LOOKED_AT]]
    else:
        value = source.root.value
        lists = value.values() if isinstance(value, dict) else (value,)
        values = next((each[:_LOOKED_AT] for each in lists if isinstance(each, list)), [value])
    return [each for each in values if isinstance(each, dict)]


def _guess_loosely(source: ForeignFile, rows: list[dict[str, JSON]]) -> str:
    names = {name for row in rows for name in row}
    value = None if source.is_table else source.root.value
    if isinstance(value, dict) and _is_of_agentv(value, names):
        return "agentv"
    if isinstance(value, dict) and any(map(_names_class, value.values())):
        return "openai-evals"
    if (isinstance(value, dict) and isinstance(value.get("goldens"), list)) or "scenario" in names:
        return "deepeval"
    if "input" not in names and any(map(_is_chat, rows[:1])):
        return "deepeval"
    if "input" not in names or not _OURS.isdisjoint(names):
        return "rows"
    return "inspect" if "target" in names else "braintrust" if "expected" in names else "rows"


def _is_of_agentv(value: dict[str, JSON], names: set[str]) -> bool:
    """Its first files are ours as well, but for a few names, and paths that start with `/`."""
    if "evalcases" in value or "eval_cases" in value:
        return True
    if isinstance(value.get("tests"), str):
        return "prompts" not in value
    is_theirs = isinstance(value.get("tests"), list) and not _OF_AGENTV.isdisjoint(names)
    return is_theirs and ("input" in names or "turns" in names)


def _is_chat(row: dict[str, JSON]) -> bool:
    """Whether its turns are messages: ours have an `input` each."""
    turns = row.get("turns")
    first = turns[0] if isinstance(turns, list) and turns else None
    return isinstance(first, dict) and "role" in first


def _names_class(value: JSON) -> bool:
    return isinstance(value, dict) and isinstance(value.get("class"), str)
