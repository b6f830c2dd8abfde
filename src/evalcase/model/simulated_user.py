"""A user whom a target plays: what they want, who they are, and how long they may talk."""

from __future__ import annotations

from typing import Any, NamedTuple

from evalcase.model.json_value import copy_value
from evalcase.model.message import Message

USER_PROTOCOL = "user/1"
"""What the target that plays a user is told, and how it is asked."""
USER_FIELDS = ("goal", "target", "max_turns", "persona", "facts", "first")
"""What a case says of them, in the order of the canonical form."""
USER_NEEDS = ("goal", "target", "max_turns")
"""Those that can't be left out."""


class SimulatedUser(NamedTuple):
    """The `user` of a case, in its canonical form."""

    goal: str
    target: str
    """The name of the target that plays them."""
    max_turns: int
    """How often they may speak."""
    persona: str | None = None
    facts: list[str] | dict[str, Any] | None = None
    """What they know: sentences, or values by name."""
    first: tuple[Message, ...] = ()
    """What they say first; where there is none, the target that plays them begins."""

    @classmethod
    def of(cls, data: dict[str, Any]) -> SimulatedUser:
        """The user of canonical data, which is left as it is."""
        first = tuple([Message.copy_of(message) for message in data.get("first", ())])
        return cls(**{**data, "facts": copy_value(data.get("facts")), "first": first})
