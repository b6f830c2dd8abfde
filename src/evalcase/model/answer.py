"""What a target gave back: messages, and what they cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf
from typing import Annotated

from msgspec import Meta

from evalcase.model.json_value import JSON
from evalcase.model.message import Message, ToolCall, check_messages
from evalcase.model.step import Step
from evalcase.model.value import Value

MOST_USD = 1e12
MOST_TOKENS = 10**15
"""Nobody has paid so much, or been told so much: a larger number is a mistake."""


class Usage(Value, frozen=True):
    """Tokens as the target counted them; None where it didn't say."""

    input_tokens: Annotated[int, Meta(ge=0)] | None = None
    output_tokens: Annotated[int, Meta(ge=0)] | None = None
    cached_tokens: Annotated[int, Meta(ge=0)] | None = None

    def __post_init__(self) -> None:
        for count in (self.input_tokens, self.output_tokens, self.cached_tokens):
            if count is not None and not (type(count) is int and count >= 0):
                raise ValueError(f"`usage` counts tokens from 0, and has {count!r:.60}")


class Earlier(Value, frozen=True):
    """What an answer took when it was first given; None where nobody noted it."""

    duration_s: float | None = None
    cost_usd: float | None = None


class Answer(Value, frozen=True):
    """The messages of a target, in order, with usage and cost where they are known."""

    messages: tuple[Message, ...]
    usage: Usage | None = None
    cost_usd: Annotated[float, Meta(ge=0)] | None = None
    truncated: bool = False
    """Whether output was cut because it was larger than evalcase keeps."""
    cached: bool = False
    """Whether it was given earlier, and comes from the cache or a record. It cost nothing now."""
    model: str | None = None
    """The model that answered, as its service names it."""
    asked_as: str | None = None
    """How an answer by a schema was asked for: `json_schema`, `json_object` or `prompt`."""
    scrubbed: bool = False
    """Whether a secret was taken out of it when it was recorded. It was graded as it was before
    that, and can't be graded so again."""
    earlier: Earlier | None = None
    """What it took then, where it comes from a cache, a record or a file of answers."""
    last_at: Annotated[int, Meta(ge=0)] = 0
    """Where in its messages the last turn of a conversation is answered. Those before it are what
    was said earlier, by both sides; what isn't said in turns has none."""
    ends_conversation: bool = False
    """Whether the target says that there is nothing more to say to its user."""
    steps: tuple[Step, ...] = ()
    """What was done on the way to it, where that was traced."""
    steps_cut: Annotated[int, Meta(ge=0)] = 0
    """How many more steps there were than are kept."""
    trace: str | None = None
    """The id of the trace that tells of it, where there is one."""
    stderr: str | None = None
    """The last that a program wrote to its standard error, where what it answered has no text:
    that may say why."""

    def __post_init__(self) -> None:
        """Raise TypeError or ValueError for what can be no answer. It is looked at again when a
        target returns it."""
        check_messages(self.messages, "an Answer")
        if self.usage is not None and not isinstance(self.usage, Usage):
            raise TypeError(f"`usage` of an Answer is a Usage, not {self.usage!r:.60}")
        cost: object = self.cost_usd
        if cost is not None and not (type(cost) in (int, float) and 0 <= cost < inf):  # type: ignore[operator]
            what = "`cost_usd` of an Answer is a number from 0"
            raise ValueError(f"{what}, not {cost!r:.60}")

    @classmethod
    def of_text(
        cls, text: str, *, usage: Usage | None = None, cost_usd: float | None = None
    ) -> Answer:
        """An answer that is one text, with what it took where that is known."""
        if not isinstance(text, str):
            raise TypeError(f"Answer.of_text takes text, not {type(text).__name__}")
        return cls((Message({"role": "assistant", "content": text}),), usage, cost_usd)

    @property
    def last(self) -> tuple[Message, ...]:
        """The messages that answer what was said last: all of them, but for a conversation."""
        return self.messages[self.last_at :] if self.last_at else self.messages

    @property
    def content(self) -> JSON:
        """The content of the last assistant message that has any; None where there is none."""
        for message in reversed(self.last):
            if message.role == "assistant" and message.content is not None:
                return message.content
        return None

    @property
    def text(self) -> str:
        """The answer as text: parts as their joined text, other data as JSON."""
        for message in reversed(self.last):
            if message.role == "assistant" and message.content is not None:
                text = message.text
                return text if text is not None else json.dumps(message.content, ensure_ascii=False)
        return ""

    @property
    def tool_calls(self) -> list[ToolCall]:
        """Every call of every message, in order."""
        return [call for message in self.messages for call in message.tool_calls]

    def fingerprint(self) -> str:
        """16 hex digits that stand for its messages: a label is of an answer, not of a trial."""
        from hashlib import sha256

        said = json.dumps(self.messages, sort_keys=True, separators=(",", ":"))
        return sha256(said.encode()).hexdigest()[:16]


def sum_usage(several: Sequence[Usage | None]) -> Usage | None:
    """Tokens of all answers; None for a kind of which some answer didn't say."""
    usages = [usage for usage in several if usage is not None]
    if not usages or len(usages) < len(several):
        return None
    return Usage(
        _add_counts([usage.input_tokens for usage in usages]),
        _add_counts([usage.output_tokens for usage in usages]),
        _add_counts([usage.cached_tokens for usage in usages]),
    )


def _add_counts(counts: Sequence[int | None]) -> int | None:
    return None if any(count is None for count in counts) else sum(filter(None, counts))
