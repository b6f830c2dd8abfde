"""A model on loopback that has each coding agent run one command, and then says that it is done.

It speaks the APIs of Anthropic, OpenAI and Google. A request that holds the output of a tool is
answered by a text, and one that offers a shell by a call of it.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

SHELLS = ("Bash", "bash", "exec_command", "run_shell_command")
DONE = "It is taken once."
_Events = list[dict[str, Any]]


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    command_line = ""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        if path.endswith("/messages"):
            is_done = '"tool_result"' in json.dumps(asked["messages"])
            events = _say_anthropic(None if is_done else self._call(asked.get("tools", [])))
        elif path.endswith("/responses"):
            is_done = "function_call_output" in json.dumps(asked["input"])
            events = _say_responses(None if is_done else self._call(asked.get("tools", [])))
        elif path.endswith("/chat/completions"):
            is_done = any(each["role"] == "tool" for each in asked["messages"])
            tools = [each["function"] for each in asked.get("tools", [])]
            events = _say_chat(None if is_done else self._call(tools))
        else:
            is_done = "functionResponse" in json.dumps(asked["contents"])
            tools = [each for one in asked.get("tools", []) for each in one["functionDeclarations"]]
            events = _say_gemini(None if is_done else self._call(tools))
        named = (f"event: {event['type']}\n" if "type" in event else "" for event in events)
        self._send(200, "".join(f"{each}data: {json.dumps(event)}\n\n"
                                for each, event in zip(named, events, strict=True)))  # fmt: skip

    def do_GET(self) -> None:
        """What programs look up before they ask: there is none of it."""
        self._send(404, "{}")

    def do_HEAD(self) -> None:
        self.do_GET()

    def _call(self, tools: _Events) -> tuple[str, dict[str, Any]] | None:
        """The call of a shell, if there is one."""
        for tool in tools:
            if tool.get("name") in SHELLS:
                given = "cmd" if tool["name"] == "exec_command" else "command"
                return tool["name"], {given: self.command_line, "description": "Edit a file"}
        return None

    def _send(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(command_line: str) -> Iterator[str]:
    """The address of a model that has agents run this."""
    handler = type("Handler", (Model,), {"command_line": command_line})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


_Call = tuple[str, dict[str, Any]] | None


def _say_anthropic(call: _Call) -> _Events:
    usage = {"input_tokens": 100, "output_tokens": 7}
    message: dict[str, Any] = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    block: dict[str, Any] = {"type": "text", "text": ""}
    if call is None:
        delta = {"type": "text_delta", "text": DONE}
    else:
        block = {"type": "tool_use", "id": "toolu_1", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    reason = "end_turn" if call is None else "tool_use"
    end = {"stop_reason": reason, "stop_sequence": None}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": usage},
        {"type": "message_stop"},
    ]


def _say_responses(call: _Call) -> _Events:
    if call is None:
        part = {"type": "output_text", "text": DONE, "annotations": []}
        item = {"type": "message", "id": "m1", "role": "assistant", "content": [part]}
    else:
        given = {"name": call[0], "arguments": json.dumps(call[1])}
        item = {"type": "function_call", "id": "f1", "call_id": "c1", **given}
    usage = {"input_tokens": 100, "output_tokens": 7, "total_tokens": 107}
    whole = {"id": "r1", "status": "completed", "model": "m", "output": [item], "usage": usage}
    return [
        {"type": "response.created", "response": {"id": "r1", "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]


def _say_chat(call: _Call) -> _Events:
    delta: dict[str, Any] = {"role": "assistant", "content": DONE}
    if call is not None:
        given = {"name": call[0], "arguments": json.dumps(call[1])}
        called = {"index": 0, "id": "c1", "type": "function", "function": given}
        delta = {"role": "assistant", "content": None, "tool_calls": [called]}
    reason = "stop" if call is None else "tool_calls"
    base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
    return [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
    ]


def _say_gemini(call: _Call) -> _Events:
    part: dict[str, Any] = {"text": DONE}
    if call is not None:
        part = {"functionCall": {"name": call[0], "args": call[1]}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 7, "totalTokenCount": 107}
    candidates = [{"content": content, "finishReason": "STOP", "index": 0}]
    return [{"candidates": candidates, "usageMetadata": usage, "modelVersion": "m"}]
