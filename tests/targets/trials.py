"""Trials as the engine has them, for tests."""

from typing import Any

from evalcase.types.case import canonical_case
from evalcase.types.result import Trial


def trial(
    input: str | list[dict[str, Any]] = "Hi", *, suite: str = "suite.yaml", id: str = "one",
    repeat: int = 1, **fields: Any,
) -> Trial:  # fmt: skip
    messages = [{"role": "user", "content": input}] if isinstance(input, str) else input
    return Trial(suite, canonical_case({"id": id, "input": messages, **fields}), "target", repeat)
