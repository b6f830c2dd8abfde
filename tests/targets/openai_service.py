"""A service with the API of OpenAI, and what a target sends it and makes of its replies."""

from typing import Any

import pytest

from evalcase.errors import TargetError
from evalcase.targets.openai import OpenAITarget
from evalcase.types.answer import Answer
from evalcase.types.target import Question
from tests.targets.questions import ask, question, target_of
from tests.targets.server import Server, serving

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
ADD = {"name": "add", "arguments": '{"a": 1}'}
CALL = {"id": "c1", "type": "function", "function": ADD}


def completion(message: Any = None, **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "4"} if message is None else message
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **fields}


def make(server: Server, **options: Any) -> OpenAITarget:
    return target_of(
        OpenAITarget, **{"model": "some-model", "base_url": server.url + "/v1", **options}
    )


def sent(given: Question, **options: Any) -> Any:
    """The body of the request that a trial becomes."""
    with serving(completion()) as server:
        ask(make(server, **options), given)
    return server.request.json


def messages(*input: dict[str, Any], **options: Any) -> Any:
    return sent(question(list(input)), **options)["messages"]


def answer(reply: Any, **options: Any) -> Answer:
    with serving(reply) as server:
        return ask(make(server, **options))


def failure(reply: Any, **options: Any) -> TargetError:
    with pytest.raises(TargetError) as caught:
        answer(reply, **options)
    return caught.value


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}
