"""What one chat API has of its own: where it is, what it is sent, and how its answers are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from evalcase.targets.asking.files import Files
from evalcase.targets.chat.client import Assembler
from evalcase.targets.web.options import KeyRule
from evalcase.types.answer import Answer
from evalcase.types.question import Question
from evalcase.types.target import Warn
from evalcase.types.value import JSON, Value

if TYPE_CHECKING:
    from evalcase.targets.chat.batches import BatchService

SchemaMode: TypeAlias = Literal["json_schema", "json_object", "prompt"]
"""How an answer by a schema is asked for: by the schema, as any JSON, or by words only."""


class ReadAnswer(NamedTuple):
    """An answer, and what beside its usage decides its price."""

    answer: Answer
    cache_write_tokens: int = 0


class Api(Value, frozen=True):
    """A chat API."""

    kind: str
    base_url: str
    address_names: tuple[str, ...]
    """The variables by which the provider's own client is told of another."""
    path: str
    key: KeyRule
    """Its variable is for the default address only: a key belongs to a host."""
    own_params: frozenset[str]
    """What evalcase sends by itself, so `params` may not."""
    defaults: dict[str, JSON]
    """Parameters that are sent unless others are given."""
    stream_defaults: dict[str, JSON]
    """More of them, where the answer comes as a stream."""
    write_messages: Callable[[Question, Files, Warn], dict[str, JSON]]
    """The part of a body that says what is asked."""
    write_schema: Mapping[SchemaMode, Callable[[JSON, dict[str, JSON]], dict[str, JSON]]]
    """The part that asks for an answer by a schema, by the ways to do so, the strictest first. It
    is given the parameters, too."""
    read_answer: Callable[[dict[str, Any], Warn], ReadAnswer]
    make_assembler: Callable[[], Assembler]
    make_batches: Callable[[], BatchService]
    """What batches are like there."""
