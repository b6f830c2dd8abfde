"""How recorded files are made: what a loopback service sends, and what is asked of the package that
gets it. Needs the packages of `requirements.txt`."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import anthropic
import boto3
import openai
from agents import Agent as OpenAIAgent
from agents import OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from google import genai
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_classic.agents import AgentExecutor, create_tool_calling_agent
from langchain_core.load import dumpd
from langchain_core.messages import convert_to_openai_messages, messages_to_dict
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from mcp import Client
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, WebSearchTool
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.openai import OpenAIResponsesModel as ResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_core import to_jsonable_python
from smolagents import CodeAgent, OpenAIModel, ToolCallingAgent
from smolagents import tool as smol_tool

from tests.frameworks.greenhouse import server as greenhouse
from tests.frameworks.table import Make, Recipe

ASK = "What is next?"
set_tracing_disabled(True)


def find_ferry(origin: str, destination: str, day: str) -> str:
    """Find a ferry.

    Args:
        origin: a port
        destination: a port
        day: a date
    """
    return f"the ferry from {origin} to {destination} on {day} departs at 19:00"


def find_no_ferry(origin: str, destination: str, day: str) -> str:
    """Find a ferry.

    Args:
        origin: a port
        destination: a port
        day: a date
    """
    raise ValueError(f"no timetable from {origin} to {destination} on {day}")


find_no_ferry.__name__ = "find_ferry"


def hold_cabin(sailing: str, berths: int) -> str:
    """Hold a cabin."""
    return f"{berths} berths are held on {sailing}"


# The libraries of services.


def chat(url: str) -> Any:
    return _ask_chat(url).model_dump(mode="json")


def chat_chunks(url: str) -> Any:
    return [chunk.model_dump(mode="json") for chunk in _ask_chat(url, stream=True)]


def _ask_chat(url: str, **options: Any) -> Any:
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    messages = [{"role": "user", "content": ASK}]
    return client.chat.completions.create(model="heron-2-mini", messages=messages, **options)


def responses(url: str) -> Any:
    return _ask_responses(url).model_dump(mode="json")


def responses_events(url: str) -> Any:
    return [event.model_dump(mode="json") for event in _ask_responses(url, stream=True)]


def _ask_responses(url: str, **options: Any) -> Any:
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    return client.responses.create(model="heron-3", input=ASK, **options)


def claude(url: str) -> Any:
    return _ask_anthropic(url).model_dump(mode="json")


def claude_events(url: str) -> Any:
    return [event.model_dump(mode="json") for event in _ask_anthropic(url, stream=True)]


def _ask_anthropic(url: str, **options: Any) -> Any:
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    messages = [{"role": "user", "content": ASK}]
    return client.beta.messages.create(model="wren-5", max_tokens=500, messages=messages, **options)


def gemini(url: str) -> Any:
    client = genai.Client(api_key="none", http_options={"base_url": url})
    reply = client.models.generate_content(model="plover-4-flash", contents=ASK)
    return reply.model_dump(mode="json")


def gemini_short(url: str) -> Any:
    client = genai.Client(api_key="none", http_options={"base_url": url})
    return client.models.generate_content(model="plover-4-flash", contents=ASK).to_json_dict()


def gemini_calling(lend_book: Callable[..., str], url: str) -> Any:
    """The library calls the function itself, and asks again."""
    client = genai.Client(api_key="none", http_options={"base_url": url})
    config = {"tools": [lend_book]}
    reply = client.models.generate_content(model="plover-4-flash", contents=ASK, config=config)
    return reply.to_json_dict()


def gemini_chunks(url: str) -> Any:
    client = genai.Client(api_key="none", http_options={"base_url": url})
    chunks = client.models.generate_content_stream(model="plover-4-flash", contents=ASK)
    return [chunk.to_json_dict() for chunk in chunks]


def lend_book(book: str, member: int) -> str:
    """Lend a book to a member."""
    return f"{book} is lent to {member}"


def lend_no_book(book: str, member: int) -> str:
    """Lend a book to a member."""
    raise ValueError(f"{member} has no card for {book}")


lend_no_book.__name__ = "lend_book"


def bedrock(url: str) -> Any:
    return _bedrock(url).converse(modelId="tern-1", messages=_BEDROCK)


def bedrock_events(url: str) -> Any:
    return list(_bedrock(url).converse_stream(modelId="tern-1", messages=_BEDROCK)["stream"])


_BEDROCK = [{"role": "user", "content": [{"text": ASK}]}]


def _bedrock(url: str) -> Any:
    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
    return boto3.client("bedrock-runtime", region_name="eu-west-1", endpoint_url=url, **keys)


# LangChain and LangGraph.


def _langchain(url: str, **options: Any) -> Any:
    return ChatOpenAI(model="heron-2-mini", base_url=url, api_key="none", max_retries=0, **options)


def langchain(url: str) -> Any:
    return _langchain(url).invoke(ASK).model_dump(mode="json")


def langchain_responses(url: str) -> Any:
    return _langchain(url, use_responses_api=True).invoke(ASK).model_dump(mode="json")


def langchain_anthropic(url: str) -> Any:
    model = ChatAnthropic(model="wren-5", base_url=url, api_key="none", max_retries=0)
    return model.invoke(ASK).model_dump(mode="json")


def langchain_serialized(url: str) -> Any:
    return dumpd(_langchain(url).invoke(ASK))


def langchain_chunks(url: str) -> Any:
    return [chunk.model_dump(mode="json") for chunk in _langchain(url).stream(ASK)]


def langchain_joined_chunks(url: str) -> Any:
    first, *rest = _langchain(url).stream(ASK)
    return sum(rest, first).model_dump(mode="json")


def langchain_agent(url: str) -> Any:
    messages = _run_langchain_agent(url)
    return {"messages": [message.model_dump(mode="json") for message in messages]}


def langchain_agent_dicts(url: str) -> Any:
    return to_jsonable_python(messages_to_dict(_run_langchain_agent(url)))


def langchain_agent_openai(url: str) -> Any:
    return convert_to_openai_messages(_run_langchain_agent(url))


def _run_langchain_agent(url: str) -> Any:
    agent = create_agent(_langchain(url), [find_ferry])
    return agent.invoke({"messages": [("user", ASK)]})["messages"]


def langchain_executor(url: str) -> Any:
    done = _run_executor(url)
    steps = [[action.model_dump(mode="json"), seen] for action, seen in done["intermediate_steps"]]
    return {**done, "intermediate_steps": steps}


def langchain_executor_serialized(url: str) -> Any:
    return dumpd(_run_executor(url))


def _run_executor(url: str) -> Any:
    prompt = ChatPromptTemplate.from_messages([
        ("user", "{input}"), ("placeholder", "{agent_scratchpad}"),
    ])  # fmt: skip
    tools = [tool(find_ferry)]
    agent = create_tool_calling_agent(_langchain(url, disable_streaming=True), tools, prompt)
    executor = AgentExecutor(agent=agent, tools=tools, return_intermediate_steps=True)
    return executor.invoke({"input": ASK})


def langgraph(function: Callable[..., str], url: str) -> Any:
    state = _graph(function, url).invoke({"messages": [("user", ASK)]})
    return {"messages": [message.model_dump(mode="json") for message in state["messages"]]}


def langgraph_chunks(url: str) -> Any:
    given = {"messages": [("user", ASK)]}
    chunks = _graph(find_ferry, url).stream(given, stream_mode="messages")
    return [[chunk.model_dump(mode="json"), about] for chunk, about in chunks]


def langgraph_updates(url: str) -> Any:
    given = {"messages": [("user", ASK)]}
    return [
        {
            node: {"messages": [message.model_dump(mode="json") for message in change["messages"]]}
            for node, change in update.items()
        }
        for update in _graph(find_ferry, url).stream(given, stream_mode="updates")
    ]


def _graph(function: Callable[..., str], url: str) -> Any:
    tools = [tool(function), tool(hold_cabin)]
    model = _langchain(url).bind_tools(tools)
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(tools, handle_tool_errors=True))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


# Pydantic AI.


def pydantic_ai(url: str) -> Any:
    return to_jsonable_python(_run_pydantic_ai(url, [find_ferry]).all_messages())


def pydantic_ai_two_calls(url: str) -> Any:
    return to_jsonable_python(_run_pydantic_ai(url, [find_ferry, hold_cabin]).all_messages())


def pydantic_ai_events(url: str) -> Any:
    async def collect() -> list[Any]:
        async with _make_pydantic_ai(url, [find_ferry]).run_stream_events(ASK) as events:
            return [event async for event in events]

    return to_jsonable_python(asyncio.run(collect()))


def pydantic_ai_result(url: str) -> Any:
    return to_jsonable_python(_run_pydantic_ai(url, [find_ferry]))


def pydantic_ai_retried(url: str) -> Any:
    asked: list[str] = []

    def find_ferry(origin: str, destination: str, day: str) -> str:
        asked.append(day)
        if len(asked) == 1:
            raise ModelRetry(f"no timetable from {origin} to {destination}")
        return "19:00"

    return to_jsonable_python(_run_pydantic_ai(url, [find_ferry]).all_messages())


def pydantic_ai_unknown_tool(url: str) -> Any:
    return to_jsonable_python(_run_pydantic_ai(url, []).all_messages())


class Sailing(BaseModel):
    departs: str
    berths: int


def pydantic_ai_output(url: str) -> Any:
    return to_jsonable_python(_run_pydantic_ai(url, [], output_type=Sailing).all_messages())


def pydantic_ai_web_search(url: str) -> Any:
    model = ResponsesModel("heron-3", provider=OpenAIProvider(base_url=url, api_key="none"))
    agent = Agent(model, capabilities=[NativeTool(WebSearchTool())])
    return to_jsonable_python(agent.run_sync(ASK).all_messages())


def _run_pydantic_ai(url: str, tools: list[Any], **options: Any) -> Any:
    return _make_pydantic_ai(url, tools, **options).run_sync(ASK)


def _make_pydantic_ai(url: str, tools: list[Any], **options: Any) -> Any:
    provider = OpenAIProvider(base_url=url, api_key="none")
    return Agent(OpenAIChatModel("heron-2-mini", provider=provider), tools=tools, **options)


# The Agents SDK of OpenAI.


def read_sensor(bed: str, kind: str) -> str:
    """Read a sensor."""
    return f"{kind} of {bed}: 18 percent"


def read_no_sensor(bed: str, kind: str) -> str:
    """Read a sensor."""
    raise ValueError(f"no {kind} sensor in {bed}")


read_no_sensor.__name__ = "read_sensor"


def agents_input_list(function: Callable[..., str], url: str) -> Any:
    return _run_agents(function, url).to_input_list()


def agents_items(url: str) -> Any:
    return _write_items(_run_agents(read_sensor, url).new_items)


def agents_result(url: str) -> Any:
    done = _run_agents(read_sensor, url)
    return {
        "final_output": done.final_output,
        "new_items": _write_items(done.new_items),
        "raw_responses": to_jsonable_python(done.raw_responses),
    }


def agents_events(url: str) -> Any:
    async def collect() -> list[Any]:
        run = Runner.run_streamed(_make_agent(read_sensor, url), ASK)
        return [event async for event in run.stream_events()]

    return [_write_event(event) for event in asyncio.run(collect())]


def _write_event(event: Any) -> Any:
    if event.type == "run_item_stream_event":
        return {"type": event.type, "name": event.name, "item": _write_items([event.item])[0]}
    data = {"data": to_jsonable_python(event.data)} if hasattr(event, "data") else {}
    return {"type": event.type, **data}


def _write_items(items: Any) -> Any:
    raw = [{"type": item.type, "raw_item": to_jsonable_python(item.raw_item)} for item in items]
    return [
        {**item, **({"output": each.output} if hasattr(each, "output") else {})}
        for item, each in zip(raw, items, strict=True)
    ]


def _run_agents(function: Callable[..., str], url: str) -> Any:
    return Runner.run_sync(_make_agent(function, url), ASK)


def _make_agent(function: Callable[..., str], url: str) -> Any:
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    model = OpenAIResponsesModel("heron-3", client)
    return OpenAIAgent(name="gardener", model=model, tools=[function_tool(function)])


# smolagents.


def smolagents(function: Callable[..., str], url: str) -> Any:
    agent = _make_smolagent(ToolCallingAgent, function, url)
    return agent.run(ASK, return_full_result=True).dict()


def smolagents_code(url: str) -> Any:
    agent = _make_smolagent(CodeAgent, find_ferry, url)
    return agent.run(ASK, return_full_result=True).dict()


def smolagents_steps(url: str) -> Any:
    steps = _make_smolagent(ToolCallingAgent, find_ferry, url).run(ASK, stream=True)
    return [step.dict() if hasattr(step, "dict") else asdict(step) for step in steps]


def _make_smolagent(kind: Any, function: Callable[..., str], url: str) -> Any:
    model = OpenAIModel("heron-2-mini", api_base=url, api_key="none")
    agent = kind(tools=[smol_tool(function)], model=model, max_steps=3, verbosity_level=0)
    # Its own prompt is long, and no part of an answer.
    agent.prompt_templates["system_prompt"] = "Answer."
    return agent


# MCP.


def mcp_result(vent: int, _: str) -> Any:
    return asyncio.run(_call_vent(vent)).model_dump(mode="json", by_alias=True)


def mcp_tools(_: str) -> Any:
    return asyncio.run(_list_vents()).model_dump(mode="json", by_alias=True)


async def _call_vent(vent: int) -> Any:
    async with Client(greenhouse) as client:
        return await client.call_tool("open_vent", {"vent": vent})


async def _list_vents() -> Any:
    async with Client(greenhouse) as client:
        return await client.list_tools()


def _each(folder: str, names: str, ending: str, make: Make, sent: str = ".json") -> list[Recipe]:
    """One recipe for each of some files, which is sent as it is."""
    return [
        Recipe(f"{folder}/{name}{ending}", [f"{folder}/{name}{sent}"], make)
        for name in names.split()
    ]


FERRY = ["openai_chat/one_call.json", "openai_chat/text.json"]
SENSOR = ["openai_responses/one_call.json", "openai_responses/text.json"]
BOOK = ["gemini/one_call.json", "gemini/text.json"]
FERRY_STREAM = ["openai_chat/text_and_call.sse", "openai_chat/text.sse"]
SENSOR_STREAM = ["openai_responses/text_and_call.sse", "openai_responses/text.sse"]
TWO_SENSORS = ["openai_responses/two_calls.json", SENSOR[1]]
FERRY_AND_CABIN = ["openai_chat/two_calls.json", FERRY[1]]
FINAL = ["openai_chat/one_call.json", "wire/final_answer.json"]
LANGCHAIN = "text one_call two_calls text_and_call malformed_arguments cut_off blocked refusal"
RECIPES = [
    *_each("openai_chat", "text one_call two_calls custom_call refusal", ".dump.json", chat),
    *_each("openai_chat", "text text_and_call", ".chunks.json", chat_chunks, ".sse"),
    *_each(
        "openai_responses",
        "text one_call web_search mcp_call_failed code_interpreter refusal cut_off",
        ".dump.json",
        responses,
    ),
    *_each("openai_responses", "text text_and_call", ".chunks.json", responses_events, ".sse"),
    *_each(
        "anthropic",
        "text text_and_call thinking_alone web_search mcp_call_failed",
        ".dump.json",
        claude,
    ),
    *_each("anthropic", "text text_and_call", ".chunks.json", claude_events, ".sse"),
    *_each("gemini", "text two_calls code_execution_failed prompt_blocked", ".dump.json", gemini),
    *_each("gemini", "text_and_call cut_off", ".short.json", gemini_short),
    *_each("gemini", "text text_and_call", ".chunks.json", gemini_chunks, ".sse"),
    Recipe("gemini/called.json", BOOK, partial(gemini_calling, lend_book)),
    Recipe("gemini/called_failed.json", BOOK, partial(gemini_calling, lend_no_book)),
    *_each("bedrock", "text text_and_call blocked_by_guardrail", ".boto3.json", bedrock),
    *_each("bedrock", "text text_and_call", ".events.json", bedrock_events, ".events.json"),
    *[
        Recipe(f"langchain/{name}.json", [f"openai_chat/{name}.json"], langchain)
        for name in LANGCHAIN.split()
    ],
    Recipe("langchain/web_search.json", ["openai_responses/web_search.json"], langchain_responses),
    Recipe("langchain/anthropic_call.json", ["anthropic/text_and_call.json"], langchain_anthropic),
    Recipe(
        "langchain/anthropic_web_search.json", ["anthropic/web_search.json"], langchain_anthropic
    ),
    Recipe("langchain/serialized_call.json", ["openai_chat/one_call.json"], langchain_serialized),
    Recipe("langchain/chunks.json", ["openai_chat/text_and_call.sse"], langchain_chunks),
    Recipe(
        "langchain/joined_chunks.json", ["openai_chat/text_and_call.sse"], langchain_joined_chunks
    ),
    Recipe("langchain/agent.json", FERRY, langchain_agent),
    Recipe("langchain/agent_dicts.json", FERRY, langchain_agent_dicts),
    Recipe("langchain/agent_openai_messages.json", FERRY, langchain_agent_openai),
    Recipe("langchain/executor.json", FERRY, langchain_executor),
    Recipe("langchain/executor_serialized.json", FERRY, langchain_executor_serialized),
    Recipe("langgraph/state.json", FERRY, partial(langgraph, find_ferry)),
    Recipe("langgraph/state_failed.json", FERRY, partial(langgraph, find_no_ferry)),
    Recipe("langgraph/state_text.json", ["openai_chat/text.json"], partial(langgraph, find_ferry)),
    Recipe("langgraph/two_calls.json", FERRY_AND_CABIN, partial(langgraph, find_ferry)),
    Recipe("langgraph/chunks.json", FERRY_STREAM, langgraph_chunks),
    Recipe("langgraph/updates.json", FERRY, langgraph_updates),
    Recipe("pydantic_ai/text.json", ["openai_chat/text.json"], pydantic_ai),
    Recipe("pydantic_ai/loop.json", FERRY, pydantic_ai),
    Recipe("pydantic_ai/two_calls.json", FERRY_AND_CABIN, pydantic_ai_two_calls),
    Recipe("pydantic_ai/events.json", FERRY_STREAM, pydantic_ai_events),
    Recipe("pydantic_ai/result.json", FERRY, pydantic_ai_result),
    Recipe("pydantic_ai/retried.json", [FERRY[0], *FERRY], pydantic_ai_retried),
    Recipe("pydantic_ai/unknown_tool.json", FERRY, pydantic_ai_unknown_tool),
    Recipe("pydantic_ai/output_tool.json", ["wire/final_result.json"], pydantic_ai_output),
    Recipe(
        "pydantic_ai/web_search.json", ["openai_responses/web_search.json"], pydantic_ai_web_search
    ),
    Recipe("openai_agents/text.json", [SENSOR[1]], agents_result),
    Recipe("openai_agents/input_list.json", SENSOR, partial(agents_input_list, read_sensor)),
    Recipe(
        "openai_agents/input_list_failed.json", SENSOR, partial(agents_input_list, read_no_sensor)
    ),
    Recipe("openai_agents/two_calls.json", TWO_SENSORS, partial(agents_input_list, read_sensor)),
    Recipe("openai_agents/events.json", SENSOR_STREAM, agents_events),
    Recipe("openai_agents/new_items.json", SENSOR, agents_items),
    Recipe("openai_agents/result.json", SENSOR, agents_result),
    Recipe("openai_agents/mcp_call.json", ["openai_responses/mcp_call.json"], agents_items),
    Recipe("smolagents/result.json", FINAL, partial(smolagents, find_ferry)),
    Recipe("smolagents/result_failed.json", FINAL, partial(smolagents, find_no_ferry)),
    Recipe("smolagents/steps.json", FINAL, smolagents_steps),
    Recipe("smolagents/code_result.json", ["wire/code.json"], smolagents_code),
    Recipe("mcp/result.json", [], partial(mcp_result, 3)),
    Recipe("mcp/result_failed.json", [], partial(mcp_result, 12)),
    Recipe("mcp/tools.json", [], mcp_tools),
]
