"""The fields of a case in its canonical form, with their types: cases of a record are held to them.

A case is its JSON object, and has no use for these: they only say what may be in it.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, field

from evalcase.model.codec import decode_object
from evalcase.model.message import Message
from evalcase.model.value import Value


class RubricFields(Value, frozen=True):
    text: str
    id: str | None = None
    weight: Any = None
    required: Any = None
    levels: Any = None
    """A secret may have been taken out of these: what they are is for the judge to say."""


class TurnFields(Value, frozen=True):
    input: tuple[Message, ...]
    expected_output: tuple[Message, ...] = ()
    criteria: str | None = None
    rubrics: tuple[RubricFields, ...] = ()
    graders: tuple[dict[str, Any], ...] = ()


class UserFields(Value, frozen=True):
    goal: str
    target: str
    max_turns: Annotated[int, Meta(ge=1)]
    persona: str | None = None
    facts: list[Any] | dict[str, Any] | None = None
    first: tuple[Message, ...] = ()


class RepeatFields(Value, frozen=True):
    times: Annotated[int, Meta(ge=1)] = 1
    pass_rate: Annotated[float, Meta(ge=0, le=1)] = 1.0


class CaseFields(Value, frozen=True):
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
    skip: str | bool = False
    conversation_id: str | None = None
    criteria: str | None = None
    rubrics: tuple[RubricFields, ...] = ()
    graders: tuple[dict[str, Any], ...] = ()
    targets: tuple[str, ...] = ()
    repeat: RepeatFields = RepeatFields()
    threshold: Annotated[float, Meta(ge=0, le=1)] | None = None
    timeout_s: Annotated[float, Meta(ge=0)] | None = None
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
