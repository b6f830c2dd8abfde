"""A question: all that a target is given, and never what is expected of its answer."""

from __future__ import annotations

import json
from typing import NamedTuple

from msgspec import field

from evalcase.types.message import Message, check_messages, text_of
from evalcase.types.value import JSON, Value
from evalcase.types.workspace import Space


class Question(Value, frozen=True):
    """The messages for a target, and where they belong. Cases, judges and simulated users ask."""

    messages: tuple[Message, ...]
    """The conversation so far; the last message is to be answered."""
    case: str = ""
    """The id of the case, unique in its suite."""
    suite: str = ""
    """The path of the suite, as the user named it."""
    repeat: int = 1
    """The number of the trial, from 1."""
    attempt: int = 1
    """The number of the attempt in the trial, from 1."""
    session: str = ""
    """The same for all attempts and turns of a trial. What a grader asks has its own session."""
    turn: int = 1
    """The number of the turn in its conversation, from 1."""
    conversation_id: str | None = None
    metadata: dict[str, JSON] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    """The files that messages name: absolute paths by the names as written."""
    schema: JSON = None
    """The JSON Schema that the answer should follow."""
    workspace: Space | None = None
    """The folder to work in, where the case has one."""
    hash: str = ""
    """The question hash of the case; empty where a grader or a simulated user asks."""

    def __post_init__(self) -> None:
        check_messages(self.messages, "a Question")

    @property
    def last_user(self) -> Message | None:
        """The last message of the user; None where there is none."""
        for message in reversed(self.messages):
            if message["role"] == "user":
                return message
        return None

    @property
    def text(self) -> str:
        """The last message of the user as text: parts joined, other data as JSON."""
        message = self.last_user
        if message is None or message.content is None:
            return ""
        text = text_of(message.content)
        return text if text is not None else json.dumps(message.content, ensure_ascii=False)


class TrialKey(NamedTuple):
    """The name of a trial in a run."""

    suite: str
    """The path of the suite file, as the user named it."""
    case: str
    target: str
    repeat: int
    """Counted from 1."""
