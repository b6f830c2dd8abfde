"""Makes the recordings beside it again: spans of instrumentations that others wrote, as OTLP JSON.

Each agent is asked the cases of `weather.eval.yaml`. No model is needed: pydantic-ai has one that
is a function, and the OpenAI client talks to a server of this script on loopback. README.md has the
versions, and an environment for each.

    python record.py pydantic-ai openinference openllmetry
    python record.py openllmetry-old
"""

import base64
import json
import os
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

HERE = Path(__file__).parent
QUESTIONS = {
    "bergen": "What is the weather in Bergen?",
    "nowhere": "What is the weather in Nowhere?",
    "greeting": "Hello!",
}
REPLIES = {"Bergen": "It rains in Bergen.", "Nowhere": "I don't know Nowhere."}


def look_up(city: str) -> str:
    if city == "Nowhere":
        raise LookupError(f"no such city: {city}")
    return "rain, 9 degrees"


def tracing() -> tuple[TracerProvider, InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "weather"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider, exporter


def write(name: str, exporter: InMemorySpanExporter) -> None:
    """One export a line: the spans of each trace, in the order in which they ended."""
    traces: dict[int, list[ReadableSpan]] = {}
    for span in exporter.get_finished_spans():
        traces.setdefault(span.context.trace_id, []).append(span)
    lines = [json.dumps(_hex_ids(MessageToDict(encode_spans(each)))) for each in traces.values()]
    text = "".join(f"{_scrubbed(line)}\n" for line in lines)
    (HERE / name).write_text(text)


def _hex_ids(value: Any) -> Any:
    """OTLP JSON has ids as hexadecimal digits, where Protobuf's own JSON has base64."""
    if isinstance(value, list):
        return [_hex_ids(each) for each in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        key: base64.b64decode(item).hex() if key in ids else _hex_ids(item)
        for key, item in value.items()
    }


def _scrubbed(line: str) -> str:
    """Without the paths of the machine, and the port that the server happened to have."""
    line = re.sub(r"127\.0\.0\.1:\d+", "model.example", line).replace("127.0.0.1", "model.example")
    for place in (HERE, Path.home(), Path(os.__file__).parent):
        line = line.replace(str(place), "…")
    return re.sub(r'File \\\\?"[^"\\]*/', 'File \\\\"', line)


def record_pydantic_ai(version: int, name: str) -> None:
    from pydantic_ai import Agent, ModelRetry
    from pydantic_ai.capabilities import Instrumentation
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_ai.models.instrumented import InstrumentationSettings

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        del info
        question = str(messages[0].parts[-1].content)  # type: ignore[union-attr]
        city = next((each for each in REPLIES if each in question), None)
        if city is None:
            return ModelResponse([TextPart("Hello! Ask me about the weather.")])
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("look_up", {"city": city}, f"call-{city}")])
        return ModelResponse([TextPart(REPLIES[city])])

    provider, exporter = tracing()
    settings = InstrumentationSettings(tracer_provider=provider, version=version)  # type: ignore[arg-type]
    agent = Agent(
        FunctionModel(model), name="weather", instructions="You know the weather.",
        capabilities=[Instrumentation(settings=settings)],
    )  # fmt: skip

    @agent.tool_plain(name="look_up")
    def tool(city: str) -> str:
        try:
            return look_up(city)
        except LookupError as error:
            raise ModelRetry(str(error)) from error

    tracer = provider.get_tracer("evals")
    for case, question in QUESTIONS.items():
        with tracer.start_as_current_span("case", attributes={"evalcase.case": case}):
            agent.run_sync(question)
    write(name, exporter)


class Model(BaseHTTPRequestHandler):
    """Chat completions: a call of `look_up` for a city, and then what it says."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = asked["messages"]
        city = next((each for each in REPLIES if each in messages[1]["content"]), None)
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if city is None:
            message["content"] = "Hello! Ask me about the weather."
        elif messages[-1]["role"] == "user":
            function = {"name": "look_up", "arguments": json.dumps({"city": city})}
            call = {"id": f"call-{city}", "type": "function", "function": function}
            message["tool_calls"] = [call]
        else:
            message["content"] = REPLIES[city]
        ending = "tool_calls" if "tool_calls" in message else "stop"
        body = {
            "id": "1", "object": "chat.completion", "created": 1, "model": "small-1",
            "choices": [{"index": 0, "message": message, "finish_reason": ending}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
        }  # fmt: skip
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


def ask_openai(base_url: str, question: str, run_tool: Any) -> None:
    """An agent with nothing but the client: what a team might write."""
    from openai import OpenAI

    client = OpenAI(base_url=base_url, api_key="none")
    function = {"name": "look_up", "parameters": {"type": "object", "properties": {"city": {}}}}
    messages: list[Any] = [
        {"role": "system", "content": "You know the weather."},
        {"role": "user", "content": question},
    ]
    for _ in range(3):
        reply = client.chat.completions.create(
            model="small", messages=messages, tools=[{"type": "function", "function": function}]
        )
        said = reply.choices[0].message
        messages.append(said.model_dump(exclude_none=True))
        if not said.tool_calls:
            return
        for call in said.tool_calls:
            try:
                content = run_tool(json.loads(call.function.arguments)["city"])
            except LookupError as error:
                content = f"error: {error}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


def record_openai(base_url: str, name: str, instrumentor: Any, instrument: Any) -> None:
    provider, exporter = tracing()
    instrumentor.instrument(tracer_provider=provider)
    tracer = provider.get_tracer("evals")
    run_tool = instrument(tracer)
    try:
        for case, question in QUESTIONS.items():
            with tracer.start_as_current_span("case", attributes={"evalcase.case": case}):
                ask_openai(base_url, question, run_tool)
    finally:
        instrumentor.uninstrument()
    write(name, exporter)


def record_openinference(base_url: str) -> None:
    from openinference.instrumentation import OITracer, TraceConfig
    from openinference.instrumentation.openai import OpenAIInstrumentor

    def decorated(tracer: Any) -> Any:
        return OITracer(tracer, TraceConfig()).tool(name="look_up")(look_up)

    record_openai(base_url, "openinference.jsonl", OpenAIInstrumentor(), decorated)


def record_openllmetry(base_url: str, name: str) -> None:
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    record_openai(base_url, name, OpenAIInstrumentor(), lambda _: look_up)


def main(names: list[str]) -> None:
    server = HTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base_url = f"http://127.0.0.1:{server.server_port}/v1"
    for name in names:
        if name == "pydantic-ai":
            record_pydantic_ai(2, "pydantic-ai-2.jsonl")
            record_pydantic_ai(6, "pydantic-ai-6.jsonl")
        elif name == "openinference":
            record_openinference(base_url)
        else:
            record_openllmetry(base_url, f"{name}.jsonl")
    server.shutdown()


if __name__ == "__main__":
    main(sys.argv[1:])
