from __future__ import annotations

from typing import Any

import pytest

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.echo import EchoTarget
from tests.for_each import for_each
from tests.targets.questions import ask, of_value, question, target_of


@for_each(
    ("content", "echoed"),
    [
        ("Hi", "Hi"),
        ([{"type": "text", "text": "a"}, {"type": "text", "value": "b"}], "ab"),
        ({"question": "x"}, {"question": "x"}),
        ({"role": "assistant", "content": "x"}, {"role": "assistant", "content": "x"}),
    ],
)
def test_it_says_what_the_user_said_last(content: Any, echoed: Any) -> None:
    messages = [{"role": "user", "content": "before"}, {"role": "user", "content": content}]
    answer = ask(
        target_of(EchoTarget), question([*messages, {"role": "assistant", "content": "no"}])
    )
    assert answer.messages == ({"role": "assistant", "content": echoed},)


def test_without_a_user_there_is_nothing_to_say() -> None:
    with pytest.raises(TargetError, match="no user message"):
        ask(target_of(EchoTarget), question([{"role": "system", "content": "x"}]))


def test_it_takes_no_options_and_no_value() -> None:
    with pytest.raises(ConfigError, match="no option `loud`: it has `kind`, `concurrency`"):
        target_of(EchoTarget, loud=True)
    with pytest.raises(ConfigError, match="takes no value"):
        of_value(EchoTarget, "x")
    assert ask(of_value(EchoTarget, "")).text == "Hi"
