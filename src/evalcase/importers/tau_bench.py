"""Tasks of tau-bench, in both shapes: a user with instructions, and the calls of a good agent."""

from __future__ import annotations

from evalcase.importers.draft import CaseDraft, Choices, SuiteDraft, split_history, write_grader
from evalcase.importers.rows import shape_id, shape_messages
from evalcase.importers.source import ForeignFile, Item
from evalcase.types.value import JSON, describe_kind

_MAX_TURNS = 30
_EMPTY: tuple[JSON, ...] = (None, "", [], {})
_READ = frozenset({
    "id", "description", "user_scenario", "initial_state", "evaluation_criteria", "annotations",
    "user_id", "instruction", "actions", "outputs", "annotator", "ticket",
})  # fmt: skip
_INSTRUCTIONS = (
    "domain", "reason_for_call", "task_instructions", "known_info", "unknown_info",
)  # fmt: skip
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
    suite.remarks.append(f"the files say nothing about it: users may speak {_MAX_TURNS} times")


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
    for name in ("user_id", "ticket"):
        if item.at(name).value:
            case.keep(name, item.at(name))
    _read_criteria(case, item)
    instructions = item.at("user_scenario", "instructions").fields()
    rest = [(name, held) for name, held in instructions if name not in _INSTRUCTIONS]
    for name, held in (*item.fields(), *rest):
        if name not in _READ and held.value not in _EMPTY:
            case.lose(held, f"`{name}`", at="key")


def _read_user(item: Item, suite: SuiteDraft, first: JSON) -> dict[str, JSON] | None:
    scenario = item.at("user_scenario")
    text = scenario.at("instructions").value
    if text is None:
        text = item.at("instruction").value
    facts: list[JSON] = []
    if isinstance(text, dict):
        facts = [text[name] for name in ("known_info", "unknown_info") if _is_text(text.get(name))]
        several = (text.get(name) for name in ("reason_for_call", "task_instructions"))
        text = "\n\n".join(str(each).strip() for each in several if _is_text(each))
    if not isinstance(text, str) or not text.strip():
        return None
    persona = scenario.at("persona").value
    named = persona if _is_text(persona) else None
    return suite.user(text.strip(), _MAX_TURNS, named, facts, first)


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
    """Graders of what the reward of a task rests on; the rest of its criteria is only kept."""
    criteria = item.at("evaluation_criteria")
    if criteria.value is None:  # the first shape: its calls stand for the database they lead to
        _expect_calls(case, item.at("actions"))
        _expect_told(case, item.at("outputs"))
        case.lose(item.at("actions").without_value(), _DATABASE)
        return
    basis = criteria.at("reward_basis")
    names = [each.value for each in basis.items()] or ["DB", "COMMUNICATE"]
    for field, (component, expect) in _COMPONENTS.items():
        held = criteria.at(field)
        if component in names:
            expect(case, held)
        elif held.value:
            case.keep(field, held)
    if "DB" in names:
        case.lose(basis.without_value(), _DATABASE)
    for name, each in criteria.fields():
        if name not in (*_COMPONENTS, "reward_basis") and each.value:
            case.lose(each, f"`{name}` of `evaluation_criteria`", at="key")


def _expect_statements(case: CaseDraft, statements: Item) -> None:
    for each in statements.items():
        if _is_text(each.value):
            case.add_rubric(each.value)


def _expect_told(case: CaseDraft, told: Item) -> None:
    for each in told.items():
        case.add_rubric(f"The user is told this: {each.value}")


def _expect_calls(case: CaseDraft, actions: Item) -> None:
    """Calls in any order. Arguments are compared whole, or as far as `compare_args` says."""
    exact: list[JSON] = []
    for each in actions.items():
        call = each.mapping()
        name, given = call.get("name"), call.get("arguments", call.get("kwargs", {}))
        compared = call.get("compare_args")
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


_COMPONENTS = {
    "actions": ("ACTION", _expect_calls),
    "communicate_info": ("COMMUNICATE", _expect_told),
    "nl_assertions": ("NL_ASSERTION", _expect_statements),
}
"""Fields of the criteria, their component of the reward, and how each is graded."""
