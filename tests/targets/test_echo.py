from typing import Any

from evalcase.targets.echo import EchoTarget
from tests.for_each import for_each
from tests.targets.questions import ask, question, target_of


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
