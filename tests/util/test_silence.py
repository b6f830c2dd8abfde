from __future__ import annotations

from typing import Any

from evalcase.util.answers import name_silence, say_silence
from tests.for_each import for_each


def test_calls_that_end_an_answer_need_no_other_word() -> None:
    call = {"tool": "f", "input": {}}
    message: dict[str, Any] = {"role": "assistant", "tool_calls": [call]}
    message["finish_reason"] = "tool_calls"
    assert name_silence([message]) == "(no text)"
    assert name_silence([{**message, "finish_reason": "length"}]).endswith("length)")
    without = {"role": "assistant", "content": "", "finish_reason": "tool_calls"}
    assert name_silence([without]) == "(no text, but finish_reason: tool_calls)"


@for_each(
    ("ended", "told"),
    [
        ("stop", "(empty)"),
        ("length", "(no text, but finish_reason: length)"),
        (["stop"], '(no text, but finish_reason: ["stop"])'),
        ({"by": "me"}, '(no text, but finish_reason: {"by": "me"})'),
        (0, "(no text, but finish_reason: 0)"),
        (None, "(empty)"),
    ],
)
def test_an_answer_may_end_in_any_way(ended: Any, told: str) -> None:
    message = {"role": "assistant", "content": "", "finish_reason": ended}
    assert name_silence([message]) == told
    assert say_silence([message], "")
