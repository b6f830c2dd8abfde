"""What a target gave back: messages, and what they cost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from evalcase.model.json_value import JSON, fresh
from evalcase.model.message import Message, ToolCall


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the target counted them; None where it didn't say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None

    def to_dict(self) -> dict[str, int]:
        pairs = {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
        }
        return {name: value for name, value in pairs.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Answer:
    """The messages of a target, in order, with usage and cost where they are known."""

    messages: tuple[Message, ...]
    usage: Usage | None = None
    cost_usd: float | None = None
    truncated: bool = False
    """Whether output was cut because it was larger than evalcase keeps."""
    cached: bool = False
    """Whether it was given earlier, and taken from the cache. It cost nothing this time."""

    @classmethod
    def of_text(cls, text: str) -> Answer:
        return cls((Message({"role": "assistant", "content": text}),))

    @property
    def content(self) -> JSON:
        """The content of the last assistant message that has any; None where there is none."""
        for message in reversed(self.messages):
            if message.role == "assistant" and message.content is not None:
                return message.content
        return None

    @property
    def text(self) -> str:
        """The answer as text: parts as their joined text, other data as JSON."""
        for message in reversed(self.messages):
            if message.role == "assistant" and message.content is not None:
                text = message.text
                return text if text is not None else json.dumps(message.content, ensure_ascii=False)
        return ""

    @property
    def tool_calls(self) -> list[ToolCall]:
        """Every call of every message, in order."""
        return [call for message in self.messages for call in message.tool_calls]

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of a record. Absent fields are left out."""
        data: dict[str, Any] = {"messages": [message.to_dict() for message in self.messages]}
        if self.usage is not None:
            data["usage"] = self.usage.to_dict()
        if self.cost_usd is not None:
            data["cost_usd"] = self.cost_usd
        if self.truncated:
            data["truncated"] = True
        if self.cached:
            data["cached"] = True
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Answer:
        """The answer that `to_dict` wrote."""
        usage = data.get("usage")
        return cls(
            tuple(Message(fresh(message)) for message in data["messages"]),
            Usage(**usage) if usage is not None else None,
            data.get("cost_usd"),
            data.get("truncated", False),
            data.get("cached", False),
        )
