"""`python -m tests.frameworks.objects` prints how evalcase reads the objects that real SDKs and
frameworks return: for each, one line of JSON with text, tool calls and tokens."""

import json
import logging
from typing import Any

import anthropic
import openai
from smolagents import ToolCallingAgent

from evalcase.targets.answers import read_answer
from tests.frameworks import recipes
from tests.frameworks.servers import serving


def sdk_chat(url: str) -> Any:
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    asked: list[Any] = [{"role": "user", "content": recipes.ASK}]
    return client.chat.completions.create(model="heron-2-mini", messages=asked)


def sdk_responses(url: str) -> Any:
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    return client.responses.create(model="heron-3", input=recipes.ASK)


def sdk_anthropic(url: str) -> Any:
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    asked: list[Any] = [{"role": "user", "content": recipes.ASK}]
    return client.messages.create(model="wren-5", max_tokens=100, messages=asked)


def langgraph(url: str) -> Any:
    return recipes._graph(recipes.find_ferry, url).invoke({"messages": [("user", recipes.ASK)]})


def pydantic_ai(url: str) -> Any:
    return recipes._run_pydantic_ai(url, [recipes.find_ferry])


def openai_agents(url: str) -> Any:
    return recipes._run_agents(recipes.read_sensor, url)


def smolagents(url: str) -> Any:
    agent = recipes._make_smolagent(ToolCallingAgent, recipes.find_ferry, url)
    return agent.run(recipes.ASK, return_full_result=True)


OBJECTS = [
    (sdk_chat, recipes.FERRY[:1]), (sdk_responses, recipes.SENSOR[:1]),
    (sdk_anthropic, ["anthropic/text_and_call.json"]), (langgraph, recipes.FERRY),
    (pydantic_ai, recipes.FERRY), (openai_agents, recipes.SENSOR), (smolagents, recipes.FINAL),
]  # fmt: skip


def main() -> None:
    logging.disable()
    for make, sent in OBJECTS:
        with serving(*sent) as service:
            answer = read_answer(make(service.url))
        calls = [call.name for call in answer.tool_calls]
        tokens = None if answer.usage is None else answer.usage.output_tokens
        told = {"of": make.__name__, "text": answer.text, "calls": calls, "tokens": tokens}
        print(json.dumps(told))  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main()
