"""A question: all that a target is given, and never what is expected of its answer."""

from __future__ import annotations

import json

from msgspec import field

from evalcase.model.json_value import JSON
from evalcase.model.message import Message, check_messages, text_of
from evalcase.model.value import Value


class Question(Value, frozen=True):
    """What is asked, and where it belongs. A case asks one; a judge asks others."""

    messages: tuple[Message, ...]
    """The conversation so far, ending with what is to be answered."""
    case: str = ""
    """The id of the case, which is unique in its suite only."""
    suite: str = ""
    """The path of the suite, as it was named."""
    repeat: int = 1
    """Which trial of the case this is, from 1."""
    attempt: int = 1
    """Which try of the trial this is, from 1."""
    session: str = ""
    """New for every trial, and the same for all its tries and turns; what a grader asks has one of
    its own."""
    turn: int = 1
    """Which turn of its conversation this is, from 1."""
    conversation_id: str | None = None
    metadata: dict[str, JSON] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    """The files that messages name: absolute paths by the names as they were written."""
    schema: JSON = None
    """The JSON Schema that the answer should follow, where whoever asks has one."""
    hash: str = ""
    """By this a record knows whether a case still asks what it asked then; empty where a grader
    asks, or who plays a user."""

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
