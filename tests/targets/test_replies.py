import json
from contextlib import suppress
from typing import Any

import pytest

from evalcase.errors import GraderError, TargetError
from evalcase.targets.answers import read_answer
from evalcase.util.calls import seen_calls
from tests.for_each import for_each

CALL = {"tool": "delete", "input": {"id": 1}}
OPENAI = {"id": "1", "type": "function", "function": {"name": "delete", "arguments": '{"id": 1}'}}
OLDER = {"name": "delete", "arguments": '{"id": 1}'}
LANGCHAIN = {"name": "delete", "args": {"id": 1}, "id": "1", "type": "tool_call"}
USE = {"type": "tool_use", "id": "1", "name": "delete", "input": {"id": 1}}
GOOGLE = {"name": "delete", "args": {"id": 1}}
GEMINI: dict[str, Any] = {"role": "model", "parts": [{"text": "Done."}, {"functionCall": GOOGLE}]}
SAID = {"type": "text", "text": "Done."}
DUMPED = {
    "content": "Done.", "refusal": None, "role": "assistant", "annotations": [], "audio": None,
    "function_call": None, "tool_calls": [OPENAI],
}  # fmt: skip


@for_each(
    ("value", "said"),
    [
        ({"answer": "Done.", "tool_calls": [CALL]}, "`delete` at `tool_calls.0`"),
        ({"text": "Done.", "tool_calls": [CALL], "score": 1}, "`delete` at `tool_calls.0`"),
        ({"message": DUMPED, "ok": True}, "`delete` at `message.tool_calls.0`"),
        (
            {"messages": [{"type": "ai", "tool_calls": [LANGCHAIN]}]},
            "`delete` at `messages.0.tool_calls.0`",
        ),
        ({"output": [{"type": "function_call", **OLDER}]}, "`delete` at `output.0`"),
        ({"a.b": {"functionCall": {"name": "x"}}}, "`x` at `/a.b/functionCall`"),
        (
            {"response": {"candidates": [{"content": GEMINI}]}},
            "`delete` at `response.candidates.0.content.parts.1.functionCall`",
        ),
        (
            {"messages": [{"role": "assistant", "content": "x"}], "tool_calls": [CALL]},
            "`delete` at `tool_calls.0`",
        ),
        (json.dumps([CALL]), "`delete` at `0`"),
        (f"```json\n{json.dumps(OLDER)}\n```", "`delete`"),
        (f'{{"type": "init"}}\n{json.dumps(USE)}\n', "`delete` at `line 2`"),
        (f"event: x\ndata: {json.dumps(USE)}\n\ndata: [DONE]", "`delete` at `line 2`"),
        (f"Loaded credentials.\n{json.dumps(USE)}", "`delete` at `line 2`"),
        ([{"type": "text", "text": json.dumps(CALL)}], "`delete`"),
        ([{"tool_name": "x", "args": None, "part_kind": "tool-call"}], "`x` at `0`"),
        ({"trajectory": {"tool_name_0": "x", "tool_args_0": {}}}, "`x` at `trajectory`"),
        ({"intermediate_steps": [[{"tool": "x", "tool_input": {}}, "done"]]}, "`x` at `intermed"),
        ({"choices": [{"message": {"role": "assistant", "content": "a"}}], "steps": [CALL]},
         "`delete` at `steps.0`"),
        ({"messages": [{"role": "assistant", "content": "a"}, {"role": "tool", "content": "b"}],
          "steps": [CALL]}, "`delete` at `steps.0`"),
        ({"messages": [{"role": "assistant", "tool_calls": [{**CALL, "id": "1"}]}],
          "steps": [{**CALL, "id": "2"}]}, "`delete` at `steps.0`"),
        ({"messages": [{"role": "assistant", "tool_calls": [{"tool": "x", "id": "1"}]}],
          "steps": [{**CALL, "id": "1"}]}, "`delete` at `steps.0`"),
    ],
)  # fmt: skip
def test_calls_that_were_not_read_are_an_error_for_graders_of_calls(value: Any, said: str) -> None:
    with pytest.raises(GraderError) as caught:
        seen_calls(read_answer(value))
    assert said in str(caught.value)
    assert caught.value.kind == "unread-calls"


@for_each(
    ("value", "said"),
    [
        ({"text": "Done.", "tool_calls": ["delete"]}, "a call is {tool, input}, {name, args}"),
        ({"candidates": [{"content": GEMINI}] * 2}, "the answer has 2 `candidates`"),
        (
            {"role": "assistant", "parts": [{"type": "tool-delete", "input": {"id": 1}}]},
            "has neither `content` nor `tool_calls`",
        ),
        ({"choices": [{"message": DUMPED}] * 2}, "the answer has 2 `choices`"),
    ],
)
def test_replies_that_can_not_be_read_are_an_error(value: Any, said: str) -> None:
    with pytest.raises(TargetError) as caught:
        read_answer(value)
    assert said in str(caught.value)
    assert caught.value.kind == "protocol"


@for_each(
    "value",
    [
        'A call is written {"tool": "delete", "input": {"id": 1}}.',
        f"Use this:\n```json\n{json.dumps(CALL)}\n```",
        json.dumps({"tools": [{"name": "delete", "parameters": {"type": "object"}}]}),
        [{"name": "Ann", "input": "hello"}],
        {"usage": {"server_tool_use": {"web_search_requests": 0}}},
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Done."}],
        {"role": "assistant", "tool_calls": [LANGCHAIN], "additional_kwargs": {"calls": [CALL]}},
        {"tools": [{"name": "ping", "description": "x", "parameters": {}}], "tool_calls": "none"},
        {"name": "web", "args": "--port 80"},
        {"role": "assistant", "content": {"plan": [CALL]}, "unread_calls": []},
    ],
)
def test_answers_that_plainly_hold_no_other_calls_can_be_graded(value: Any) -> None:
    answer = read_answer(value)
    assert seen_calls(answer) == answer.tool_calls


@for_each(
    "value",
    [
        {"text": "x", "tool_calls": 3},
        {"risk": "high", "tool_calls": []},
        {"risk": "high", "function_call": None},
        [{"type": "text", "text": "x"}],
        [{"tool": "hammer", "input": "nail"}],
        {"plan": [CALL]},
        {"risk": 1, "tool_calls": [CALL]},
        {"stats": {"tool_calls": 3, "function_call": "never"}},
        {"parts": [{"text": "x"}]},
        [{"type": ["x"]}],
    ],
)
def test_data_is_data(value: Any) -> None:
    assert read_answer(value).messages == ({"role": "assistant", "content": value},)


@for_each(
    "value",
    [
        {"stop_reason": "error", "line": 3},
        {"output": ["a"], "error": "division by zero"},
        {"candidates": ["Ann", "Bob"], "error": "too few"},
        [{"order": 1, "stop_reason": "failed"}],
        {"type": "error", "error": "not found"},
    ],
)
def test_data_is_no_reply_that_failed(value: Any) -> None:
    assert read_answer(value).messages == ({"role": "assistant", "content": value},)


def test_how_a_reply_ended_is_noted_on_the_last_message_of_the_assistant() -> None:
    said, tool = {"role": "assistant", "content": "a"}, {"role": "tool", "content": "b"}
    answer = read_answer({"messages": [said, tool], "finish_reason": "content_filter"})
    assert answer.messages == ({**said, "finish_reason": "content_filter"}, tool)


@for_each(
    "value",
    [
        {"output": "ok", "finish_reason": "content_filter"},
        {"response": "ok", "stop_reason": "content_filter"},
        json.dumps({"output": "ok", "finish_reason": "content_filter"}),
    ],
)
def test_structured_replies_keep_why_they_ended(value: Any) -> None:
    (message,) = read_answer(value).messages
    assert (message["content"], message["finish_reason"]) == (value, "content_filter")


def test_messages_of_a_run_that_failed_are_no_answer() -> None:
    said = [{"role": "assistant", "content": "a"}]
    for status in ("failed", "cancelled"):
        with pytest.raises(TargetError, match=f"its `status` is `{status}`"):
            read_answer({"messages": said, "status": status})
    assert read_answer({"messages": said, "status": "done"}).text == "a"
    (message,) = read_answer({"messages": said, "status": "incomplete"}).messages
    assert message["finish_reason"] == "incomplete"


def test_a_part_of_an_unknown_type_that_may_be_a_call_is_no_answer_without_calls() -> None:
    part = {"type": "invocation", "name": "delete", "input": {"id": 1}}
    answer = read_answer({"messages": [{"role": "assistant", "content": [SAID, part]}]})
    with pytest.raises(GraderError, match="`delete` in a part of the type `invocation`"):
        seen_calls(answer)


def test_a_reply_that_ends_by_calls_and_has_none_is_told_of() -> None:
    said: list[str] = []
    message = {"role": "assistant", "content": "a"}
    read_answer({"choices": [{"message": message, "finish_reason": "tool_calls"}]}, said.append)
    assert said == ["an answer has the finish reason `tool_calls`, and no calls"]


@for_each(
    "value",
    [
        {"type": "message", "role": "assistant", "content": [{"type": {}}], "stop_reason": "end"},
        {"type": "message", "role": "assistant", "content": [{**USE, "id": []}]},
        {"object": "response", "status": "incomplete", "output": [7]},
        {
            "object": "response",
            "output": [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": []}],
                }
            ],
        },
        [{"kind": "response", "parts": [{"part_kind": 7, "content": "x"}]}],
    ],
)
def test_odd_values_in_replies_are_told_as_such_or_kept(value: Any) -> None:
    with suppress(TargetError):
        read_answer(value)
