"""Tests with a user to be played: goldens of DeepEval, which may also be questions, and tasks of
tau-bench, in both of its shapes."""

from __future__ import annotations

from evalcase.importers.draft import (
    EMPTY,
    CaseDraft,
    Choices,
    SuiteDraft,
    split_history,
    write_grader,
)
from evalcase.importers.rows import (
    Preset,
    find_rows,
    import_rows,
    parse_cell,
    put_field,
    shape_call,
    shape_id,
    shape_messages,
)
from evalcase.importers.source import ForeignFile, Item
from evalcase.types.value import JSON, describe_kind

# DeepEval

_DEEPEVAL_TURNS = 10
"""DeepEval's default for the turns of a user."""
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
    rows = find_rows(source, _GOLDENS, SuiteDraft("", "", origin=Item(None, source.documents[0])))
    first = next((row.mapping() for row in rows if isinstance(row.value, dict)), {})
    has_turns = isinstance(first.get("turns"), list | str) and "input" not in first
    if "scenario" not in first and not has_turns:
        import_rows(source, choices, suite, _GOLDENS)
        return
    for row in find_rows(source, _GOLDENS, suite):
        case = suite.new_case(row)
        given = [(name, item) for name, item in row.fields() if item.value not in EMPTY]
        for name, item in given:
            if name in _KEPT:
                _keep(case, item)
            elif name not in _CONVERSATION:
                case.lose(item, f"`{name}`", at="key")
        found = {_CONVERSATION[name]: item for name, item in given if name in _CONVERSATION}
        _converse(case, row, found, suite)


def _keep(case: CaseDraft, item: Item) -> None:
    name = str(item.path[-1])
    if item.value not in EMPTY:
        value = _split(item.value, "|") if name in _LISTS else item.value
        case.keep(name, item._replace(value=value))


def _split(value: JSON, delimiter: str) -> JSON:
    """A list that DeepEval has written as text: as JSON, or joined."""
    value = parse_cell(value)
    return [*value.split(delimiter)] if isinstance(value, str) else value


def _expect_tools(case: CaseDraft, item: Item) -> None:
    """Expected tools in any order, as DeepEval compares them by default."""
    kept: list[JSON] = []
    for each in item._replace(value=_split(item.value, ";")).several():
        call = shape_call(each.value) if each.value else {}
        if call is None:
            case.lose(item, f"`{item.path[-1]}`: a call names its tool")
            return
        named = ("tool", "input", "output")
        kept += [{key: call[key] for key in named if call.get(key) is not None}] if call else []
    if not kept:
        return
    expected = case.fields.get("expected_output")
    message: dict[str, JSON] = {"role": "assistant", "tool_calls": kept}
    if isinstance(expected, str):
        message["content"] = expected
        case.add_grader(write_grader("expected"), item)
    case.fields["expected_output"] = [message]
    case.add_grader(write_grader("trajectory", order="any_order"), item)


_GOLDENS = Preset(
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
        if name in found:
            put_field(case, field, found[name])
    texts = {name: item.value.strip() and item.value for name, item in found.items()
             if isinstance(item.value, str)}  # fmt: skip
    messages = _read_turns(case, found["turns"]) if "turns" in found else []
    if role := texts.get("chatbot_role"):
        messages = [{"role": "system", "content": role}, *messages]
    if scenario := texts.get("scenario"):
        history, first = split_history(messages)
        case.fields["user"] = suite.user(
            scenario, _DEEPEVAL_TURNS, texts.get("persona"), first=first
        )
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
        {name: each for name, each in message.items() if each not in EMPTY}
        for message in messages
        if isinstance(message, dict)
    ]


def _put_turns(case: CaseDraft, messages: list[JSON]) -> bool:
    """The user's messages are sent again; the recorded answers are only kept."""
    said = [each for each in messages if isinstance(each, dict)]
    roles = [each.get("role") for each in said]
    start = roles.index("user") if "user" in roles else 0
    before = [each for each in said[:start] if each.get("role") == "system"]
    turns: list[JSON] = [
        {"input": each.get("content")} for each in said if each.get("role") == "user"
    ]
    answers = [each for each in said if each.get("role") != "user" and each not in before]
    if turns:
        case.fields |= {"turns": turns, **({"input": [*before]} if before else {})}
    if answers:
        case.keep("recorded_answers", case.origin.at("turns")._replace(value=[*answers]))
    return bool(turns)


# tau-bench

_TAU_TURNS = 30
_READ = frozenset({
    "id", "description", "user_scenario", "initial_state", "evaluation_criteria", "annotations",
    "user_id", "instruction", "actions", "outputs", "annotator", "ticket",
})  # fmt: skip
_INSTRUCTIONS = (
    "domain", "reason_for_call", "task_instructions", "known_info", "unknown_info",
)  # fmt: skip
_COMPONENTS = {
    "actions": "ACTION", "communicate_info": "COMMUNICATE", "nl_assertions": "NL_ASSERTION",
}  # fmt: skip
"""Fields of the criteria, and their component of the reward."""
_TOLD = "The user is told this: "
_DATABASE = "the state of the database at the end, which no grader sees"


def import_tau_bench(source: ForeignFile, choices: Choices, suite: SuiteDraft) -> None:
    del choices
    tasks = source.rows()
    if not source.is_table:
        root = source.root
        tasks = (root.at("tasks") if "tasks" in root.mapping() else root).several()
    for item in tasks:
        case = suite.new_case(item)
        if isinstance(item.value, dict):
            _read_task(case, item, suite)
        else:
            case.drop(item, f"this task, which is {describe_kind(item.value)}, not a mapping")
    suite.remarks.append(f"the files say nothing about it: users may speak {_TAU_TURNS} times")


def _read_task(case: CaseDraft, item: Item, suite: SuiteDraft) -> None:
    purpose = item.at("description", "purpose").value or item.at("description").value
    fields = {"id": shape_id(item.at("id").value), "description": purpose}
    case.fields |= {name: each for name, each in fields.items() if isinstance(each, str)}
    history, first = _read_history(case, item.at("initial_state"))
    if history:
        case.fields["input"] = history
    user = _read_user(item, suite, first)
    if user is None:
        case.drop(item, "this task, which has no instructions for its user")
        return
    case.fields["user"] = user
    for name in ("user_id", "ticket"):
        if item.at(name).value:
            case.keep(name, item.at(name))
    _read_criteria(case, item)
    case.lose_rest(item, _READ)
    case.lose_rest(item.at("user_scenario", "instructions"), _INSTRUCTIONS)


def _read_user(item: Item, suite: SuiteDraft, first: JSON) -> dict[str, JSON] | None:
    scenario = item.at("user_scenario")
    told = scenario.at("instructions")

    def text_at(item: Item) -> str:
        return item.value.strip() if isinstance(item.value, str) else ""

    facts = [
        told.at(name).value for name in ("known_info", "unknown_info") if text_at(told.at(name))
    ]
    goal = text_at(told) or "\n\n".join(
        filter(None, (text_at(told.at(name)) for name in ("reason_for_call", "task_instructions")))
    )
    goal = goal or text_at(item.at("instruction"))
    persona = scenario.at("persona")
    named = persona.value if text_at(persona) else None
    return suite.user(goal, _TAU_TURNS, named, facts, first) if goal else None


def _read_history(case: CaseDraft, state: Item) -> tuple[list[JSON], JSON]:
    messages = state.at("message_history").value
    case.lose_rest(state, ("message_history",), " of `initial_state`")
    shaped = shape_messages(messages) if messages else []
    if shaped is None:
        case.lose(state.at("message_history"), "`message_history`: it has other things in it")
    return split_history(shaped or [])


def _read_criteria(case: CaseDraft, item: Item) -> None:
    """Graders of what the reward of a task rests on; the rest of its criteria is only kept."""
    criteria = item.at("evaluation_criteria")
    if criteria.value is None:  # the first shape: its calls stand for the database they lead to
        _expect_calls(case, item.at("actions"))
        _expect_statements(case, item.at("outputs"), _TOLD)
        case.lose(item.at("actions").without_value(), _DATABASE)
        return
    basis = criteria.at("reward_basis")
    names = [each.value for each in basis.items()] or ["DB", "COMMUNICATE"]
    for field, component in _COMPONENTS.items():
        held = criteria.at(field)
        if component not in names:
            if held.value:
                case.keep(field, held)
        elif component == "ACTION":
            _expect_calls(case, held)
        else:
            _expect_statements(case, held, "" if component == "NL_ASSERTION" else _TOLD)
    if "DB" in names:
        case.lose(basis.without_value(), _DATABASE)
    case.lose_rest(criteria, (*_COMPONENTS, "reward_basis"), " of `evaluation_criteria`")


def _expect_statements(case: CaseDraft, statements: Item, before: str) -> None:
    for each in statements.items():
        case.add_rubric(f"{before}{each.value}" if before else each.value)


def _expect_calls(case: CaseDraft, actions: Item) -> None:
    """Calls in any order. Arguments are compared whole, or as far as `compare_args` says."""
    exact: list[JSON] = []
    for each in actions.items():
        call = each.mapping()
        name, compared = call.get("name"), call.get("compare_args")
        given = call.get("arguments", call.get("kwargs", {}))
        if not isinstance(name, str) or not isinstance(given, dict):
            case.lose(each, "this one of `actions`, which is no call of a tool")
        elif call.get("requestor") == "user":
            case.lose(each, "this one of `actions`, which is a call that the user makes")
        elif isinstance(compared, list):
            some: dict[str, JSON] = {key: held for key, held in given.items() if key in compared}
            case.add_grader(write_grader("trajectory", [{"tool": name, "input": some}]), each)
        else:
            exact.append({"tool": name, "input": given})
    if exact:
        grader = write_grader("trajectory", exact, order="any_order", arguments="exact")
        case.add_grader(grader, actions)
