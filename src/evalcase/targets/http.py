"""Any HTTP service: a body or a query made from the question, an answer picked by paths. Calls that
no path leads to are noted on the answer, so that no grader takes it that there are none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Annotated, ClassVar, Literal
from urllib.parse import quote, urlencode

from evalcase.errors import TargetError
from evalcase.targets.answers import (
    content_message,
    ignore_calls,
    note_end,
    note_unread,
    read_json,
    read_output,
)
from evalcase.targets.base import (
    describe_files,
    describe_question,
    last_user_content,
    list_faults,
    warn_of_hidden,
    write_content,
)
from evalcase.targets.endings import find_end, find_end_at, is_broken_off
from evalcase.targets.streams import Event, read_events
from evalcase.targets.usage import read_cost, read_usage
from evalcase.targets.web import (
    Address,
    Never,
    Parameters,
    ReplyPath,
    WebOptions,
    WebTarget,
    one_line,
    protocol_error,
)
from evalcase.tracing.context import HEADER, PendingCalls
from evalcase.types.answer import Answer
from evalcase.types.message import Message, take_message
from evalcase.types.options import about
from evalcase.types.problem import Finding, find_nearest
from evalcase.types.target import Question, Surroundings, TargetKind, Traits, Warn
from evalcase.types.value import JSON, describe_kind, replace
from evalcase.util.answers import kind_of_end
from evalcase.util.calls import BadCallsError, find_calls, understand_calls
from evalcase.util.json import BadJsonError, JsonPath, MissingError, parse_json
from evalcase.util.processes import Output
from evalcase.util.text import Template, value_as_text

_PLACEHOLDERS = (
    "prompt", "messages", "case_id", "conversation_id", "metadata", "repeat", "session", "turn",
    "files",
)  # fmt: skip
_STREAM = re.compile(rb"(?:(?:event|id|retry)?:[^\r\n]*[\r\n]+)*data: ?[{\[]")
"""How a stream of JSON events begins. Many services don't declare theirs."""
_HINT = (
    " (`tool_calls` of the http target is the path of their list in a whole reply, or `false` if "
    "they don't count)"
)


class HttpOptions(WebOptions, frozen=True, kw_only=True):
    """The address of the service, the request, and the paths into its reply."""

    url: Annotated[
        Address, about("The URL.", example="http://localhost:8000/answer", elsewhere=("base_url",))
    ]
    method: Annotated[
        Literal["POST", "GET", "PUT", "PATCH"],
        about("How the service is asked; a GET has no body, and asks by `query`."),
    ] = "POST"
    query: Annotated[
        Parameters, about("Parameters of the URL, with placeholders.", example={"q": "{prompt}"})
    ] = {}
    body: Annotated[
        JSON, about("The JSON body, with placeholders; by default, what programs are given.")
    ] = None
    answer: Annotated[
        ReplyPath | None,
        about("The path of the answer in the JSON response; by default, the whole body."),
    ] = None
    tool_calls: Annotated[
        ReplyPath | Never | None,
        about("The path of the list of tool calls; `false` if its calls don't count."),
    ] = None
    usage: Annotated[ReplyPath | None, about("The path of the token usage in the response.")] = None
    cost_usd: Annotated[
        ReplyPath | None, about("The path of the cost in the response.", elsewhere=("cost",))
    ] = None
    output: Annotated[
        Literal["auto", "text", "json"], about("How to read the body if `answer` is not set.")
    ] = "auto"
    stream: Annotated[
        ReplyPath | None, about("For a stream of events: the path of the text in the JSON of each.")
    ] = None
    trace: Annotated[
        bool, about("Send a `traceparent` header, so that its spans join the trace of the trial.")
    ] = False

    @property
    def calls_path(self) -> JsonPath | None:
        return self.tool_calls if isinstance(self.tool_calls, JsonPath) else None

    def conflicts(self) -> Iterator[Finding]:
        yield from super().conflicts()
        body, query = _template(self.body), _template(dict(self.query))
        for name, template in (("body", body), ("query", query)):
            for path, message in template.faults():
                yield Finding((name, *path), f"`{name}`: {message}")
        is_get = self.method == "GET"
        asked, asks = ("query", query) if is_get else ("body", body)
        is_same = not asks.used and not query.used and not any(asks.faults())
        literal = (
            "has {} in it, and is sent as it is written; placeholders stand in `query`, `body`"
        )
        same = "has no placeholder such as {prompt}, so every case would be asked the same"
        query_needed = 'is GET, which has no body: write query = {q = "{prompt}"}'
        whole = "is a path into one reply, and can't be combined with `stream`"
        text = "is a path into JSON, and can't be combined with output = 'text'"
        is_stream, is_text = self.stream is not None, self.output == "text"
        paths = [
            (name, getattr(self, name)) for name in ("answer", "tool_calls", "usage", "cost_usd")
        ]
        yield from list_faults(
            *(("url", True, literal.format(f"{{{name}}}")) for name in _template(self.url).used),
            ("body", is_get and self.body is not None, "is not sent with a GET: ask by `query`"),
            ("method", is_get and not self.query, query_needed),
            (asked, is_same and getattr(self, asked), same),
            *((name, is_stream and path, whole) for name, path in paths),
            *((name, is_text and path, text) for name, path in paths),
        )


def _template(value: JSON) -> Template:
    return Template(value, _PLACEHOLDERS, strict=True)


class HttpTarget(WebTarget):
    kind: ClassVar[TargetKind] = TargetKind(
        "http",
        "Sends requests to an HTTP service.",
        HttpOptions,
        value="url",
        carries_address=lambda _: True,
    )

    def __init__(self, options: HttpOptions, surroundings: Surroundings) -> None:
        super().__init__(options, surroundings, options.url, options.method)
        self._options = options
        self._body = None if options.body is None else _template(options.body)
        self._query = _template(dict(options.query))
        self._used = {*self._query.used, *(self._body.used if self._body is not None else ())}
        self._traces = PendingCalls()
        stateless = options.stateless
        self.traits = Traits(
            options.concurrency, self._key_names,
            "session" not in self._used if stateless is None else stateless, caching="keyed",
            seen=self._traces.seen_of if options.trace else None,
            only_reads=True,
        )  # fmt: skip

    async def answer(self, question: Question) -> Answer:
        if "prompt" in self._used and not self._used & {"messages", "session"}:
            sees = "the http target sends the last user message"
            warn_of_hidden(self._surroundings.warn, question, sees, "{messages} has all of them")
        if not self._options.trace:
            return await self._ask(question)
        with self._traces.start(question) as trace:
            answer = await self._ask(question, {HEADER: trace.traceparent})
            return replace(answer, trace=trace.trace)

    async def _ask(self, question: Question, headers: dict[str, str] | None = None) -> Answer:
        body, query = self._make_body(question), self._options.query
        url = self._with_query(self._make_query(question)) if query else None
        async with self._http().ask(self._method, body, headers, url) as reply:
            output = await reply.read(self._options.max_output_bytes)
        return _ReplyReader(
            self._options, self._surroundings.warn, reply.response.content_type, output
        ).read()

    def cache_key(self, question: Question) -> JSON:
        options = self._options
        paths = options.answer, options.calls_path, options.usage, options.cost_usd, options.stream
        how: list[JSON] = [
            options.max_output_bytes, options.output, options.tool_calls is not False,
            *(path.text if path else None for path in paths),
        ]  # fmt: skip
        question = replace(question, session="")  # it is new each time, and decides nothing
        body = self._make_body(question)
        if self._body is None and isinstance(body, dict):
            del body["session"], body["turn"], body["attempt"]
        query = self._make_query(question)
        return {"request": self._request_key(body, query), "how": how}

    def _make_body(self, question: Question) -> JSON:
        if self._body is not None:
            return self._body.fill(self._values(self._body, question))
        if self._method == "GET":
            return None
        files = describe_files(question, self._surroundings.root)
        return {**describe_question(question), "files": files}

    def _make_query(self, question: Question) -> str:
        parameters = self._query.fill(self._values(self._query, question))
        assert isinstance(parameters, dict)
        texts = {name: value_as_text(value) for name, value in parameters.items()}
        return urlencode(texts, quote_via=quote, safe="")

    def _values(self, template: Template, question: Question) -> dict[str, JSON]:
        makers: dict[str, Callable[[], JSON]] = {
            "prompt": lambda: write_content(last_user_content(question)),
            "messages": lambda: [message.to_dict() for message in question.messages],
            "files": lambda: describe_files(question, self._surroundings.root),
            "case_id": lambda: question.case,
        }
        return {
            name: makers[name]() if name in makers else getattr(question, name)
            for name in template.used
        }


class _ReplyReader:
    def __init__(self, options: HttpOptions, warn: Warn, content_type: str, output: Output) -> None:
        self._options = options
        self._warn = warn
        self._output = output
        self._is_stream = content_type == "text/event-stream" or _STREAM.match(output.data)

    def read(self) -> Answer:
        """The answer. Raise TargetError where there is none, or one that can't be trusted."""
        options = self._options
        if options.stream is not None:
            return self._read_stream(options.stream)
        if options.output != "text" and self._is_stream:
            hint = 'stream = "PATH" joins the texts at a path of its events, such as delta.content'
            what = f'the answer is a stream of events: {hint}; output = "text" takes it as it is'
            raise self._error(what)
        value = self._parse()
        path = options.calls_path
        leads_to_calls, calls = (False, None) if path is None else self._find_calls(path, value)
        if options.answer is None:
            answer = read_output(self._output, options.output, self._warn)
        else:
            answer = self._read_at(options.answer, value, calls)
        # A path may lead into a reply whose calls were read with it.
        if calls is not None and answer.tool_calls != calls.tool_calls:
            answer = replace(answer, messages=(calls, *answer.messages))
        # Where a path leads to a list, empty or not, the user says that there are no other calls.
        if options.tool_calls is False or leads_to_calls:
            answer = replace(answer, messages=ignore_calls(answer.messages))
        elif options.answer is not None:
            answer = replace(answer, messages=note_unread(answer.messages, value, _HINT))
        if (usage := self._find_beside(options.usage, value)) is not None:
            answer = replace(answer, usage=read_usage(usage, self._warn))
        if (cost_usd := self._find_beside(options.cost_usd, value)) is not None:
            answer = replace(answer, cost_usd=read_cost(cost_usd, self._warn))
        return answer

    def _parse(self) -> JSON:
        """The body as JSON, if a path leads into it."""
        options = self._options
        needed = options.answer or options.calls_path
        if needed is None and options.usage is None and options.cost_usd is None:
            return None
        try:
            if self._output.truncated:
                raise BadJsonError("it is larger than `max_output_bytes`")
            return parse_json(self._output.data)
        except BadJsonError as error:
            if needed is None:
                return None
            raise self._error(f"the answer is not JSON: {error}") from None

    def _error(self, what: str, **more: bool) -> TargetError:
        return protocol_error(what, self._output.data, **more)

    def _find_calls(self, path: JsonPath, value: JSON) -> tuple[bool, Message | None]:
        """Whether the path of calls leads anywhere; and the calls there, as a message."""
        try:
            calls = understand_calls(path.find(value) or [])
        except MissingError as error:
            # Many services leave out an empty list; but a name that is nearly right is misspelt.
            known = error.found if isinstance(error.found, dict) else {}
            meant = find_nearest(error.step, known, 0.8)
            if meant is not None:
                raise self._error(f"`tool_calls`: {error}; did you mean `{meant}`?") from None
            self._warn(f"http target: {error}")
            return False, None
        except BadCallsError as error:
            raise self._error(f"`tool_calls`: at `{path.text}` {error}") from None
        return True, take_message({"role": "assistant", "tool_calls": calls}) if calls else None

    def _read_at(self, path: JsonPath, value: JSON, calls: Message | None) -> Answer:
        try:
            found = path.find(value)
            if found is None and calls is None:
                raise MissingError(f"at `{path.text}` there is null")
            # An agent that calls a tool often says nothing.
            answer = Answer((calls,)) if found is None and calls else read_json(found, self._warn)
            end = find_end_at(value, path.steps)
        except (MissingError, TargetError) as error:
            where = "`answer`: " if isinstance(error, MissingError) else ""
            raise self._error(f"{where}{error}") from None
        return answer if end is None else replace(answer, messages=note_end(answer.messages, end))

    def _find_beside(self, path: JsonPath | None, value: JSON) -> JSON:
        try:
            return None if path is None else path.find(value)
        except MissingError as error:
            # It is no reason to lose an answer that was paid for.
            self._warn(f"http target: {error}")
            return None

    def _read_stream(self, path: JsonPath) -> Answer:
        """The texts at a path of all events, up to `[DONE]`. Events without one are about
        something else."""
        if self._output.truncated:
            raise self._error("`stream`: it is larger than `max_output_bytes`")
        events, pieces, is_over = list[JSON](), list[str](), False
        for event in read_events(self._output.data):
            is_over = event.data.strip() == b"[DONE]"
            if is_over:
                break
            events.append(self._read_event(event))
            piece = _find_piece(path, events[-1])
            if isinstance(piece, str):
                pieces.append(piece)
            elif piece is not None:
                what = f"there is {describe_kind(piece)}, and no text"
                raise self._error(f"`stream`: at `{path.text}` {what}")
        end = find_end(events)
        if not is_over and is_broken_off(events):
            raise self._error("`stream`: it breaks off before its end", may_succeed_later=True)
        if not pieces and kind_of_end(end) is None and not any(find_calls(events)):
            raise self._error(f"`stream`: no event has a text at `{path.text}`")
        messages = note_end([content_message("".join(pieces))], end)
        if self._options.tool_calls is False:
            return Answer(ignore_calls(messages))
        return Answer(note_unread(messages, events, _HINT))

    def _read_event(self, event: Event) -> JSON:
        try:
            value: JSON = {"error": True} if event.name == "error" else parse_json(event.data)
        except BadJsonError as error:
            raise self._error(f"`stream`: an event is not JSON: {error}") from None
        if isinstance(value, dict) and (
            value.get("error") or value.get("type") in ("error", "RUN_ERROR")
        ):
            said = one_line(event.data.decode(errors="replace"))
            raise self._error(f"`stream`: it ends with an error: {said}")
        return value


def _find_piece(path: JsonPath, event: JSON) -> JSON:
    """The piece of text in an event. OpenAI's Responses API has a `delta` of many other things."""
    kind = event.get("type") if isinstance(event, dict) else None
    if re.fullmatch(r"response\.(?!output_text|refusal).*\.delta", str(kind)):
        return None
    try:
        return path.find(event)
    except MissingError:
        return None
