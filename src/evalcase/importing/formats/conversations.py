"""Goldens of DeepEval that are conversations: a scenario that a user is played by, or turns."""

from __future__ import annotations

from evalcase.importing.draft import CaseDraft, SuiteDraft
from evalcase.importing.rows import ColumnHandler, Preset, find_rows, put_field
from evalcase.importing.shapes import shape_messages
from evalcase.importing.source import ForeignFile, Item
from evalcase.importing.users import split_history, write_user
from evalcase.types.value import JSON

_MOST_TURNS = 10
"""As often as DeepEval lets a user speak, if nobody says otherwise."""
_NAMES = {
    "scenario": "scenario", "turns": "turns", "name": "name",
    "expected_outcome": "expected_outcome", "expectedOutcome": "expected_outcome",
    "user_description": "persona", "userDescription": "persona",
    "chatbot_role": "chatbot_role", "chatbotRole": "chatbot_role",
    "additional_metadata": "metadata", "additionalMetadata": "metadata",
}  # fmt: skip


def is_of_conversations(source: ForeignFile, preset: Preset) -> bool:
    """Whether a golden of the file has a scenario, or turns in place of an input."""
    rows = find_rows(source, preset, SuiteDraft("", ""))
    first = next((row.value for row in rows if isinstance(row.value, dict)), {})
    assert isinstance(first, dict)
    has_turns = isinstance(first.get("turns"), list | str) and "input" not in first
    return "scenario" in first or has_turns


def import_conversations(
    source: ForeignFile, suite: SuiteDraft, preset: Preset, keep: ColumnHandler
) -> None:
    """Make a case of each golden; what has no field of its own is kept as it is elsewhere."""
    for row in find_rows(source, preset, suite):
        case = suite.new_case(row)
        found = {_NAMES[name]: item for name, item in row.fields() if name in _NAMES}
        for name, item in row.fields():
            is_kept = name in preset.handlers and not name.startswith("expected")
            if is_kept and item.value is not None:
                keep(case, item)
            elif name not in _NAMES and item.value not in (None, "", [], {}):
                case.lose(item, f"`{name}`", at="key")
        _fill_case(case, row, found, suite)


def _fill_case(case: CaseDraft, row: Item, found: dict[str, Item], suite: SuiteDraft) -> None:
    for name, field in (("name", "id"), ("expected_outcome", "criteria"), ("metadata", "metadata")):
        if name in found and found[name].value not in (None, "", {}):
            put_field(case, field, found[name])
    turns = found.get("turns")
    messages = _read_turns(case, turns) if turns is not None else []
    scenario = found["scenario"].value if "scenario" in found else None
    role = found["chatbot_role"].value if "chatbot_role" in found else None
    if isinstance(role, str) and role.strip():
        messages = [{"role": "system", "content": role}, *messages]
    if isinstance(scenario, str) and scenario.strip():
        history, first = split_history(messages)
        persona = found["persona"].value if "persona" in found else None
        case.fields["user"] = write_user(
            suite, scenario, _MOST_TURNS, persona if isinstance(persona, str) else None, first=first
        )
        if history:
            case.fields["input"] = history
    elif not _put_turns(case, messages):
        case.drop(row, "this golden, which has neither a scenario nor turns of a user")


def _read_turns(case: CaseDraft, item: Item) -> list[JSON]:
    messages = shape_messages(item.value) if isinstance(item.value, list) and item.value else []
    if messages is None or (item.value and not isinstance(item.value, list)):
        case.lose(item, "`turns`: they have other things than messages in them")
        return []
    return [_strip_message(each) for each in messages]


def _strip_message(message: JSON) -> JSON:
    """A message without what DeepEval leaves empty beside it."""
    assert isinstance(message, dict)
    return {name: each for name, each in message.items() if each not in (None, [], {}, "")}


def _put_turns(case: CaseDraft, messages: list[JSON]) -> bool:
    """What the user said is said again; what was answered then is only kept."""
    turns: list[JSON] = []
    answers: list[JSON] = []
    before: list[JSON] = []
    for each in messages:
        assert isinstance(each, dict)
        if each.get("role") == "user":
            turns.append({"input": each.get("content")})
        elif each.get("role") == "system" and not turns:
            before.append(each)
        else:
            answers.append(each)
    if turns:
        case.fields["turns"] = turns
    if turns and before:
        case.fields["input"] = before
    if answers:
        metadata = case.fields.setdefault("metadata", {})
        assert isinstance(metadata, dict)
        metadata.setdefault("recorded_answers", answers)
    return bool(turns)
