"""The fields of a case in its canonical form, with their types: cases of a record are held to them.

A case is its JSON object, and has no use for these: they only say what may be in it.
"""

from __future__ import annotations

from typing import Any

from evalcase.model.codec import decode_object
from evalcase.model.field_marks import COUNT, NOT_NEGATIVE, SHARE, mark_kinds
from evalcase.model.message import Message
from evalcase.model.quick_dataclass import dataclass, field


@dataclass(frozen=True, slots=True)
class RubricFields:
    text: str
    id: str | None = None
    weight: Any = None
    required: Any = None
    levels: Any = None
    """A secret may have been taken out of these: what they are is for the judge to say."""


@dataclass(frozen=True, slots=True)
class TurnFields:
    input: tuple[Message, ...]
    expected_output: tuple[Message, ...] = ()
    criteria: str | None = None
    rubrics: tuple[RubricFields, ...] = ()
    graders: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class UserFields:
    goal: str
    target: str
    max_turns: int = field(metadata=COUNT)
    persona: str | None = None
    facts: Any = field(default=None, metadata=mark_kinds(list, dict))
    first: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class RepeatFields:
    times: int = field(default=1, metadata=COUNT)
    pass_rate: float = field(default=1.0, metadata=SHARE)


@dataclass(frozen=True, slots=True)
class CaseFields:
    """In the order of the canonical form."""

    id: str
    input: tuple[Message, ...] = ()
    expected_output: tuple[Message, ...] = ()
    turns: tuple[TurnFields, ...] = ()
    stop_on_failure: bool = False
    user: UserFields | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    skip: str | bool = field(default=False, metadata=mark_kinds(str, bool))
    conversation_id: str | None = None
    criteria: str | None = None
    rubrics: tuple[RubricFields, ...] = ()
    graders: tuple[dict[str, Any], ...] = ()
    targets: tuple[str, ...] = ()
    repeat: RepeatFields = RepeatFields()
    threshold: float | None = field(default=None, metadata=SHARE)
    timeout_s: float | None = field(default=None, metadata=NOT_NEGATIVE)
    vars: dict[str, Any] = field(default_factory=dict)
    rendered: bool = False


def check_case(data: dict[str, Any]) -> None:
    """Raise ValueError if data is not that of a case: it may come from anyone."""
    decode_object(CaseFields, data)
    # What is absent is left out: where a name is, readers go by its value.
    for part in (data, *data.get("turns", ()), data.get("user", {})):
        for name, value in part.items():
            if value is None:
                raise ValueError(f"`{name}` is null")
    if data.keys().isdisjoint(("input", "turns", "user")):
        raise ValueError("it asks nothing")
