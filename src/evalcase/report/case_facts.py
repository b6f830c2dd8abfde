"""A case in, what it says beside its messages out, each with a label, for whoever shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalcase.format.writer import write_yaml
from evalcase.types.answer import SimulatedUser
from evalcase.types.case import Case
from evalcase.util.text import as_json, content_text, write_count


def case_facts(
    case: Case, others: Sequence[str], indent: int | None = None
) -> Iterator[tuple[str, str]]:
    """What it is about and graded by; of its other fields those that are named, as text or JSON."""
    if case.description is not None:
        yield "about", case.description
    if case.criteria is not None:
        yield "criteria", case.criteria
    for name in ("rubrics", "graders"):
        if case._data.get(name):
            yield name, "".join(write_yaml(case._data[name])).strip("\n")
    for name in others:
        value = case._data.get(name)
        if value not in (None, [], {}):
            yield name, value if isinstance(value, str) else as_json(value, indent=indent)


def user_facts(user: SimulatedUser) -> Iterator[tuple[str, str]]:
    """Whom a target talks to, where another plays the user."""
    yield "goal", user.goal
    if user.persona is not None:
        yield "persona", user.persona
    facts = user.facts
    if isinstance(facts, dict):
        facts = [f"{name}: {content_text(value)}" for name, value in facts.items()]
    if facts:
        yield "facts", "\n".join(facts)
    yield "played by", f"{user.target}, at most {write_count(user.max_turns, 'turn')}"
