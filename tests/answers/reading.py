"""How well evalcase reads the recorded answers: each is returned, printed or sent to it, and what
it makes of that is held against the table.

| level | meaning |
|---|---|
| `all` | text, calls with their outputs, usage and finish reason are as the table says |
| `calls` | text and calls are, something else is not |
| `text` | the text is, and graders of calls are errored |
| `nothing` | it is read as something else, and graders of calls are errored or fail |
| `refused` | the trial is errored, although a person could read the answer |
| `wrong` | a verdict is a lie: a call that was made or that failed is not seen, one that was not \
is, or a reply that is no answer is graded |
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import evalcase
from evalcase.types.result import Result
from tests.answers.table import HERE, Row

STREAM = "text/event-stream"


def measure(rows: list[Row], via: str, folder: Path) -> dict[str, tuple[str, str]]:
    """The level of each row and why, by file."""
    rows = [row for row in rows if via in row.via]
    levels: dict[str, tuple[str, str]] = {}
    for target, some in _group(rows, via):
        with target() as options:
            results = _run(some, options, folder)
        for row in some:
            levels[row.file] = _judge(row, via, results[row.file])
    return levels


def _group(rows: list[Row], via: str) -> Iterator[tuple[Callable[[], Any], list[Row]]]:
    """Rows that can be asked of one target, so that there are few runs."""
    if via in ("python", "command"):
        yield {"python": _python, "command": _command}[via], rows
        return
    if via == "native":
        keys: set[Any] = {(row.file.partition("/")[0], row.path.suffix == ".sse") for row in rows}
        for kind, streams in sorted(keys):
            some = [
                row
                for row in rows
                if row.file.startswith(f"{kind}/") and (row.path.suffix == ".sse") == streams
            ]
            yield partial(_native, kind, streams), some
        return
    for path in sorted({row.stream if via == "http_stream" else None for row in rows}, key=str):
        some = rows if path is None else [row for row in rows if row.stream == path]
        yield partial(_http, path), some


@contextmanager
def _python() -> Iterator[Any]:
    from tests.answers.table import read_table

    rows = {row.file: row for row in read_table()[1]}
    yield lambda file: rows[file].value


@contextmanager
def _command() -> Iterator[Any]:
    yield {"kind": "command", "command": ["cat", f"{HERE}/{{prompt}}"]}


@contextmanager
def _http(stream: str | None) -> Iterator[Any]:
    with _serving(lambda body: body["file"]) as url:
        options = {"kind": "http", "url": url, "body": {"file": "{prompt}"}}
        yield options if stream is None else {**options, "stream": stream}


@contextmanager
def _native(kind: str, streams: bool) -> Iterator[Any]:
    with _serving(_last_text) as url:
        params = {"stream": True} if streams else {}
        kind = kind.removesuffix("_chat")
        yield {"kind": kind, "model": "some-model", "base_url": url, "params": params}


def _last_text(body: Any) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else content[0]["text"]


@contextmanager
def _serving(choose: Callable[[Any], str]) -> Iterator[str]:
    """A service that answers with the file that a request names."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            file = HERE / choose(body)
            data = file.read_bytes()
            kind = {".sse": STREAM, ".json": "application/json"}.get(file.suffix, "text/plain")
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _run(rows: list[Row], target: Any, folder: Path) -> dict[str, Result]:
    if isinstance(target, dict):
        written = "".join(f"{key} = {_to_toml(item)}\n" for key, item in target.items())
        (folder / "evalcase.toml").write_text(f"[targets.it]\n{written}")
        target = "it"
    cases = [evalcase.Case(id=row.file, input=row.file, graders=_graders(row)) for row in rows]
    done = evalcase.evaluate(cases, target, root=folder, retries=0, cache=False)
    return {result.key.case: result for result in done.results}


def _to_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_to_toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def _graders(row: Row) -> list[Any]:
    graders: list[Any] = [
        {"tool_calls": {"name": "none", "max": 0}},
        {"tool_calls": {"name": "unfailed", "errors": "forbid"}},
    ]
    return graders if row.finish is None else [*graders, {"type": "finish", "value": row.finish}]


def _judge(row: Row, via: str, result: Result) -> tuple[str, str]:
    if row.errored is not None:
        if result.verdict != "errored":
            return "wrong", f"{result.verdict}, though it is no answer"
        said = row.errored in result.reason
        return "all" if said else "refused", result.reason
    if result.answer is None:
        return "refused", result.reason
    grades = {grade.grader: grade for grade in result.grades}
    none, unfailed = grades["none"], grades["unfailed"]
    if none.passed and row.holds_calls:
        return "wrong", "no calls are seen"
    if not none.passed and not row.holds_calls:
        return "wrong", f"calls are seen: {none.reason}"
    if unfailed.passed and row.has_failed_call:
        return "wrong", "a failed call is not seen"
    if not unfailed.passed and unfailed.failure is None and not row.has_failed_call:
        return "wrong", f"a call counts as failed: {unfailed.reason}"
    return _compare(row, via, result)


def _compare(row: Row, via: str, result: Result) -> tuple[str, str]:
    answer = result.answer
    assert answer is not None
    said = _read_data(answer.content) if row.data else answer.text
    if said != (row.value if row.data else row.text):
        return "nothing", f"it says {said!r:.100}"
    made = [{"tool": call.name, "input": _drop_nulls(call.arguments)} for call in answer.tool_calls]
    meant = [{"tool": call["tool"], "input": _drop_nulls(call.get("input"))} for call in row.calls]
    if made != meant:
        return "text", f"the calls are {made!r:.200}"
    outputs = _find_outputs(answer)
    for call, output in zip(row.calls, outputs, strict=True):
        if "output" in call and call["output"] != output:
            return "calls", f"the output of {call['tool']} is {output!r:.100}"
    if via == "http_stream" or (row.usage is None and row.finish is None):
        return "all", ""
    usage = answer.usage
    if row.usage is not None and (
        usage is None
        or {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens} != row.usage
    ):
        return "calls", f"the usage is {usage}"
    finish = next((grade for grade in result.grades if grade.grader == "finish"), None)
    if finish is not None and not finish.passed:
        return "calls", finish.reason
    return "all", ""


def _read_data(content: Any) -> Any:
    """What a grader of JSON sees: a program can only print it."""
    return json.loads(content) if isinstance(content, str) else content


def _drop_nulls(value: Any) -> Any:
    """Libraries write every key that there is."""
    if isinstance(value, dict):
        return {key: _drop_nulls(item) for key, item in value.items() if item is not None}
    return [_drop_nulls(item) for item in value] if isinstance(value, list) else value


def _find_outputs(answer: evalcase.Answer) -> list[Any]:
    """What each call gave back: its own output, or the tool message that has its id."""
    messages = {
        message.get("tool_call_id"): message.content
        for message in answer.messages
        if message.role == "tool"
    }
    return [
        messages.get(call.id) if call.output is None else call.output for call in answer.tool_calls
    ]
