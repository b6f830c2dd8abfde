"""A user who is played: what files of other tools say of one, as the field `user`."""

from __future__ import annotations

from evalcase.importing.draft import SuiteDraft
from evalcase.types.value import JSON

SIMULATOR = "simulator"
_REMARK = "the target `simulator` plays the user: [targets.simulator] says what it is"


def write_user(
    suite: SuiteDraft, goal: str, max_turns: JSON, persona: JSON = None, facts: JSON = None,
    first: JSON = None,
) -> dict[str, JSON]:  # fmt: skip
    """The field, and a word in the suite on who that is."""
    if _REMARK not in suite.remarks:
        suite.remarks.append(_REMARK)
    user: dict[str, JSON] = {"goal": goal, "target": SIMULATOR, "max_turns": max_turns}
    given = {"persona": persona, "facts": facts, "first": first}
    return {**user, **{name: each for name, each in given.items() if each}}


def split_history(messages: list[JSON]) -> tuple[list[JSON], JSON]:
    """What was said before, and what the user says first: the last message, if it is theirs."""
    last = messages[-1] if messages else None
    if isinstance(last, dict) and last.get("role") == "user":
        return messages[:-1], last.get("content")
    return messages, None
