"""Goldens of DeepEval: questions whose answers are judged, or conversations with a user."""

from __future__ import annotations

from evalcase.importers.draft import CaseDraft, Choices, SuiteDraft, split_history, write_grader
from evalcase.importers.rows import (
    Preset,
    find_rows,
    import_rows,
    parse_cell,
    put_field,
    shape_call,
    shape_messages,
)
from evalcase.importers.source import ForeignFile, Item
from evalcase.types.value import JSON

_MAX_TURNS = 10
"""DeepEval's default for the turns of a user."""
_EMPTY: tuple[JSON, ...] = (None, "", [], {})
_KEPT = (
    "context", "retrieval_context", "actual_output", "tools_called", "comments", "source_file",
    "custom_column_key_values", "retrievalContext", "actualOutput", "sourceFile", "toolsCalled",
)  # fmt: skip
_LISTS = ("context", "retrieval_context", "retrievalContext")
_CONVERSATION = {
    "scenario": "scenario", "turns": "turns", "name": "name",
    "expected_outcome": "expected_outcome", "expectedOutcome": "expected_outcome",
    "user_description": "persona", "userDescription": "persona",
    "chatbot_role": "chatbot_role", "chatbotRole": "chatbot_role",
    "additional_metadata": "metadata", "additionalMetadata": "metadata",
}  # fmt: skip


def import_deepeval(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    rows = find_rows(source, _PRESET, SuiteDraft("", ""))
    first = next((row.mapping() for row in rows if isinstance(row.value, dict)), {})
    has_turns = isinstance(first.get("turns"), list | str) and "input" not in first
    if "scenario" not in first and not has_turns:
        import_rows(source, choices, suite, _PRESET)
        return
    for row in find_rows(source, _PRESET, suite):
        case = suite.new_case(row)
        found = {_CONVERSATION[name]: item for name, item in row.fields() if name in _CONVERSATION}
        for name, item in row.fields():
            if name in _KEPT:
                _keep(case, item)
            elif name not in _CONVERSATION and item.value not in _EMPTY:
                case.lose(item, f"`{name}`", at="key")
        _converse(case, row, found, suite)


def _keep(case: CaseDraft, item: Item) -> None:
    name = str(item.path[-1])
    if item.value not in _EMPTY:
        value = _split(item.value, "|") if name in _LISTS else item.value
        case.keep(name, item._replace(value=value))


def _split(value: JSON, delimiter: str) -> JSON:
    """A list that DeepEval has written as text: as JSON, or joined."""
    value = parse_cell(value)
    return [*value.split(delimiter)] if isinstance(value, str) else value


def _expect_tools(case: CaseDraft, item: Item) -> None:
    """Expected tools in any order, as DeepEval compares them by default."""
    named = item._replace(value=_split(item.value, ";"))
    calls = [shape_call(each.value) for each in named.several() if each.value]
    if not calls:
        return
    if None in calls:
        case.lose(item, f"`{item.path[-1]}`: a call names its tool")
        return
    kept: list[JSON] = [
        {key: call[key] for key in ("tool", "input", "output") if call.get(key) is not None}
        for call in calls
        if call is not None
    ]
    expected = case.fields.get("expected_output")
    message: dict[str, JSON] = {"role": "assistant", "tool_calls": kept}
    if isinstance(expected, str):
        message["content"] = expected
        case.add_grader(write_grader("expected"), item)
    case.fields["expected_output"] = [message]
    case.add_grader(write_grader("trajectory", order="any_order"), item)


_PRESET = Preset(
    {
        "id": "name", "input": "input|query",
        "expected_output": "expected_output|expectedOutput",
        "metadata": "additional_metadata|additionalMetadata",
    },
    expected="criteria",
    handlers={
        **dict.fromkeys(_KEPT, _keep),
        "expected_tools": _expect_tools, "expectedTools": _expect_tools,
    },
    containers=("goldens", "test_cases"),
    cells_are_json=True,
)  # fmt: skip


def _converse(case: CaseDraft, row: Item, found: dict[str, Item], suite: SuiteDraft) -> None:
    """A golden with a scenario that a user is played by, or with turns."""
    for name, field in (("name", "id"), ("expected_outcome", "criteria"), ("metadata", "metadata")):
        if name in found and found[name].value not in _EMPTY:
            put_field(case, field, found[name])
    texts = {name: item.value.strip() and item.value for name, item in found.items()
             if isinstance(item.value, str)}  # fmt: skip
    messages = _read_turns(case, found["turns"]) if "turns" in found else []
    if role := texts.get("chatbot_role"):
        messages = [{"role": "system", "content": role}, *messages]
    if scenario := texts.get("scenario"):
        history, first = split_history(messages)
        case.fields["user"] = suite.user(scenario, _MAX_TURNS, texts.get("persona"), first=first)
        if history:
            case.fields["input"] = history
    elif not _put_turns(case, messages):
        case.drop(row, "this golden, which has neither a scenario nor turns of a user")


def _read_turns(case: CaseDraft, item: Item) -> list[JSON]:
    value = parse_cell(item.value)
    messages = shape_messages(value) if isinstance(value, list) and value else []
    if messages is None or (value and not isinstance(value, list)):
        case.lose(item, "`turns`: they have other things than messages in them")
        return []
    return [
        {name: each for name, each in message.items() if each not in _EMPTY}
        for message in messages
        if isinstance(message, dict)
    ]


def _put_turns(case: CaseDraft, messages: list[JSON]) -> bool:
    """The user's messages are sent again; the recorded answers are only kept."""
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
        case.keep("recorded_answers", case.origin.at("turns")._replace(value=answers))
    return bool(turns)
