"""What OpenAI's Responses API answers, as its library dumps it."""

from typing import Any

import pytest

from evalcase.errors import TargetError
from evalcase.targets.answers import read_answer
from tests.for_each import for_each

SAID: dict[str, Any] = {
    "id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "phase": None,
    "content": [{"type": "output_text", "text": "At nine.", "annotations": [], "logprobs": None}],
}  # fmt: skip
THOUGHT: dict[str, Any] = {"id": "rs_1", "type": "reasoning", "summary": [], "content": None}
ECHO: dict[str, Any] = dict.fromkeys((
    "created_at", "background", "conversation", "instructions", "max_output_tokens",
    "max_tool_calls", "metadata", "parallel_tool_calls", "previous_response_id", "prompt",
    "reasoning", "safety_identifier", "service_tier", "temperature", "text", "tool_choice",
    "tools", "top_logprobs", "top_p", "truncation", "user",
))  # fmt: skip


def respond(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 30, "input_tokens_details": {"cached_tokens": 10}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 35,
    }  # fmt: skip
    return {
        "id": "resp_1", "object": "response", "model": "gpt-5-mini-2025-08-07", "error": None,
        "incomplete_details": None, "status": "completed", "output": list(output),
        "usage": usage, **ECHO, **more,
    }  # fmt: skip


@for_each(
    ("value", "said"),
    [
        (respond(THOUGHT), "has no message and no call"),
        (respond(), "has no message and no call"),
        (respond(status="failed", error={"code": "x", "message": "too long"}),
         "the reply is no answer: it failed: too long"),
        (respond(status="failed"), "the response is `failed`"),
        (respond(SAID, status="in_progress"), "the response is `in_progress`"),
        (respond(SAID, status="queued"), "the response is `queued`"),
        (respond(SAID, status="cancelled"), "the response is `cancelled`"),
    ],
)  # fmt: skip
def test_a_response_without_an_answer_is_an_error(value: Any, said: str) -> None:
    with pytest.raises(TargetError, match=said) as caught:
        read_answer(value)
    assert caught.value.kind == "protocol"


def test_items_that_are_not_known_are_told_of_once() -> None:
    odd = {"type": "mcp_list_tools", "tools": []}
    said: list[str] = []
    assert read_answer(respond(odd, SAID, odd), said.append).text == "At nine."
    assert said == ["items of the type `mcp_list_tools` in the answer are not read"]


def test_keys_beside_messages_that_are_not_read_are_told_of_once() -> None:
    said: list[str] = []
    value = {"messages": [{"role": "assistant", "content": "x"}], **ECHO}
    read_answer(value, said.append)
    (warning,) = said
    assert "'created_at', 'background'" in warning
    assert "and 16 more beside `messages` in an answer: not read" in warning
