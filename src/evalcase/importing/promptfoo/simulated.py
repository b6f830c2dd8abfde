"""A conversation with promptfoo's simulated user, and what can be asserted of it here."""

from __future__ import annotations

from evalcase.importing.draft import CaseDraft, SuiteDraft
from evalcase.importing.promptfoo.assertions import SET, Assertion
from evalcase.importing.promptfoo.folder import FILE, Folder
from evalcase.importing.promptfoo.judging import JUDGED
from evalcase.importing.promptfoo.providers import Provider
from evalcase.importing.promptfoo.tool_use import TOOL_USE
from evalcase.importing.shapes import shape_messages
from evalcase.importing.templates import Variables
from evalcase.importing.users import split_history, write_user
from evalcase.types.value import JSON

_MOST_TURNS = 10
"""As often as promptfoo lets the user speak, if nobody says otherwise."""
_OF_THE_WHOLE = (*JUDGED, *TOOL_USE, "latency", "cost")


def reads_transcript(assertion: Assertion) -> bool:
    """Whether it looks at the conversation as one text, which no grader does."""
    if assertion.type == SET:
        return any(map(reads_transcript, assertion.inner))
    return assertion.type not in _OF_THE_WHOLE


def put_user(
    case: CaseDraft, provider: Provider, asked: JSON, variables: Variables, folder: Folder,
    suite: SuiteDraft,
) -> None:  # fmt: skip
    """The user, with the prompt as what the agent is told before. Raise ValueError where the
    instructions or the history can't be read."""
    config = provider.config
    instructions = config.at("instructions").value
    goal = variables.render(instructions if isinstance(instructions, str) else "{{instructions}}")
    if not goal.strip():
        raise ValueError("its simulated user has no instructions")
    history, first = split_history(_read_history(provider, variables, folder))
    most = config.at("maxTurns").value
    user = write_user(suite, goal, _MOST_TURNS if most is None else most, first=first)
    case.fields["user"] = user
    told: list[JSON] = [{"role": "system", "content": asked}] if isinstance(asked, str) else []
    case.fields["input"] = [*(shape_messages(asked) or told), *history]
    for name, item in config.fields():
        if name not in ("instructions", "maxTurns", "initialMessages") and item.value:
            case.lose(item, f"`{name}` of a simulated user", at="key")


def _read_history(provider: Provider, variables: Variables, folder: Folder) -> list[JSON]:
    said = variables.values.get("initialMessages", provider.config.at("initialMessages").value)
    if isinstance(said, str) and said.startswith(FILE):
        said = folder.value(said)
    if isinstance(said, str) and said.strip():
        from evalcase.util.json import parse_json

        said = parse_json(said)
    messages = shape_messages(variables.render_all(said)) if said else []
    if messages is None:
        raise ValueError("`initialMessages` has other things than messages in it")
    return messages
