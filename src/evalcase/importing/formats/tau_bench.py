"""Tasks of tau-bench, of both its shapes: a user with instructions, and the calls that an agent
should make for them."""

from __future__ import annotations

from evalcase.importing.draft import CaseDraft, Chosen, SuiteDraft
from evalcase.importing.shapes import shape_id, shape_messages
from evalcase.importing.source import ForeignFile, Item
from evalcase.importing.users import split_history, write_user
from evalcase.types.value import JSON, describe_kind

_MOST_TURNS = 30
_READ = frozenset({
    "id", "description", "user_scenario", "initial_state", "evaluation_criteria", "annotations",
    "user_id", "instruction", "actions", "outputs", "annotator", "ticket",
})  # fmt: skip
_INSTRUCTIONS = (
    "domain", "reason_for_call", "task_instructions", "known_info", "unknown_info",
)  # fmt: skip
_CRITERIA = frozenset({"actions", "communicate_info", "nl_assertions", "reward_basis"})


def import_tau_bench(source: ForeignFile, chosen: Chosen, suite: SuiteDraft) -> None:
    """Make a case of each task."""
    del chosen
    for item in _find_tasks(source):
        case = suite.new_case(item)
        if isinstance(item.value, dict):
            _read_task(case, item, suite)
        else:
            case.drop(item, f"this task, which is {describe_kind(item.value)}, not a mapping")
    suite.remarks.append(f"the files say nothing about it: users may speak {_MOST_TURNS} times")


def _find_tasks(source: ForeignFile) -> list[Item]:
    if source.is_table:
        return [Item(each.value, each) for each in source.documents]
    root = source.root
    held = root.at("tasks") if isinstance(root.value, dict) and "tasks" in root.value else root
    return list(held.items()) if isinstance(held.value, list) else [held]


def _read_task(case: CaseDraft, item: Item, suite: SuiteDraft) -> None:
    id = shape_id(item.at("id").value)
    if id is not None:
        case.fields["id"] = id
    purpose = item.at("description").value
    purpose = purpose.get("purpose") if isinstance(purpose, dict) else purpose
    if isinstance(purpose, str):
        case.fields["description"] = purpose
    history, first = _read_history(case, item.at("initial_state"))
    if history:
        case.fields["input"] = history
    user = _read_user(item, suite, first)
    if user is None:
        case.drop(item, "this task, which has no instructions for its user")
        return
    case.fields["user"] = user
    kept = {name: item.at(name).value for name in ("user_id", "ticket") if item.at(name).value}
    if kept:
        case.fields["metadata"] = kept
    _read_criteria(case, item)
    said = dict(item.at("user_scenario", "instructions").fields())
    rest = {name: held for name, held in said.items() if name not in _INSTRUCTIONS}
    for name, held in (*item.fields(), *rest.items()):
        if name not in _READ and held.value not in (None, "", [], {}):
            case.lose(held, f"`{name}`", at="key")


def _read_user(item: Item, suite: SuiteDraft, first: JSON) -> dict[str, JSON] | None:
    scenario = item.at("user_scenario")
    told = scenario.at("instructions")
    text: JSON = item.at("instruction").value if told.value is None else told.value
    facts: list[JSON] = []
    if isinstance(text, dict):
        facts = [text[name] for name in ("known_info", "unknown_info") if _is_text(text.get(name))]
        several = (text.get(name) for name in ("reason_for_call", "task_instructions"))
        text = "\n\n".join(str(each).strip() for each in several if _is_text(each))
    if not isinstance(text, str) or not text.strip():
        return None
    persona = scenario.at("persona").value
    named = persona if isinstance(persona, str) and persona.strip() else None
    return write_user(suite, text.strip(), _MOST_TURNS, named, facts, first)


def _is_text(value: JSON) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _read_history(case: CaseDraft, state: Item) -> tuple[list[JSON], JSON]:
    messages = state.at("message_history").value
    for name, held in state.fields():
        if name != "message_history" and held.value:
            hint = "where an agent works is up to its target"
            case.lose(held, f"`{name}` of `initial_state`", hint, at="key")
    shaped = shape_messages(messages) if messages else []
    if shaped is None:
        case.lose(state.at("message_history"), "`message_history`: it has other things in it")
    return split_history(shaped or [])


def _read_criteria(case: CaseDraft, item: Item) -> None:
    held = item.at("evaluation_criteria")
    is_first_shape = held.value is None
    actions = item.at("actions") if is_first_shape else held.at("actions")
    told = item.at("outputs") if is_first_shape else held.at("communicate_info")
    _expect_calls(case, actions)
    for each in told.items():
        case.add_rubric(f"The user is told this: {each.value}")
    for each in held.at("nl_assertions").items():
        if _is_text(each.value):
            case.add_rubric(each.value)
    basis = held.at("reward_basis")
    names = basis.value if isinstance(basis.value, list) else []
    if is_first_shape or not names or "DB" in names:
        why = "the state of the database at the end: calls that nobody expected are not seen"
        case.lose((actions if is_first_shape else basis)._replace(value=None), why)
    for name, each in held.fields():
        if name not in _CRITERIA and each.value:
            case.lose(each, f"`{name}` of `evaluation_criteria`", at="key")


def _expect_calls(case: CaseDraft, actions: Item) -> None:
    """Calls in any order. Their arguments are compared whole, or as far as a task says."""
    exact: list[JSON] = []
    for each in actions.items():
        call = each.value if isinstance(each.value, dict) else {}
        name, given = call.get("name"), call.get("arguments", call.get("kwargs", {}))
        compared = call.get("compare_args")
        is_odd = not isinstance(name, str) or not isinstance(given, dict)
        if is_odd or call.get("requestor") == "user":
            why = "no call of a tool" if is_odd else "a call that the user makes"
            case.lose_grader(each, f"this one of `actions`, which is {why}")
        elif isinstance(compared, list) and isinstance(given, dict):
            some: dict[str, JSON] = {key: held for key, held in given.items() if key in compared}
            case.add_grader({"trajectory": [{"tool": name, "input": some}]}, each)
        else:
            exact.append({"tool": name, "input": given})
    if exact:
        grader: JSON = {"trajectory": {"value": exact, "order": "any_order", "arguments": "exact"}}
        case.add_grader(grader, actions)
