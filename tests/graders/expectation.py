"""Short ways to a trial and an answer, for tests of graders."""

from __future__ import annotations

import json
from typing import Any

from evalcase import parse_case
from evalcase.graders.expected import ExpectedGrader
from evalcase.model.answer import Answer
from evalcase.model.grade import Grade
from evalcase.model.message import Message
from evalcase.model.trial import Trial


def trial_of(**fields: Any) -> Trial:
    return Trial("a.eval.yaml", parse_case(json.dumps({"id": "a", "input": "?", **fields})), "echo")


def answer_of(*messages: Any, **fields: Any) -> Answer:
    """A message is written whole, or as its content."""
    return Answer(tuple(_message(each) for each in messages), **fields)


def _message(written: Any) -> Message:
    if isinstance(written, dict) and "role" in written:
        return Message(written)
    return Message({"role": "assistant", "content": written})


def calls(*written: Any, content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(written)}


def compare(expected: Any, *answer: Any, **fields: Any) -> Grade:
    return ExpectedGrader().grade(trial_of(expected_output=expected), answer_of(*answer, **fields))
