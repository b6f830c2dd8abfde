"""Which calls failed, whatever an agent calls them by."""

from __future__ import annotations

from typing import Any

from evalcase import Answer
from evalcase.graders.compare.failed_calls import failed_calls
from evalcase.types.message import Message
from tests.for_each import for_each


@for_each("id", ["c1", 7, ["c", 1], {"c": 1}])
def test_a_call_is_found_by_an_id_of_any_kind(id: Any) -> None:
    call = {"id": id, "tool": "search", "input": {}}
    answer = Answer((
        Message({"role": "assistant", "content": None, "tool_calls": [call]}),
        Message({"role": "tool", "tool_call_id": id, "content": '{"error": "no"}'}),
    ))  # fmt: skip
    assert list(failed_calls(answer)) == ["search"]
