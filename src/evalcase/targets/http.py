"""Any service: a body or a query made from the question, an answer picked by a path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, cast

from evalcase.targets.asking.files import describe_files
from evalcase.targets.asking.shown import describe_hidden, describe_question
from evalcase.targets.reading.outputs import How
from evalcase.targets.web.body import BodyTemplate, write_query
from evalcase.targets.web.endpoint import make_endpoint
from evalcase.targets.web.option_types import Address, Never, Parameters, ReplyPath
from evalcase.targets.web.options import WebOptions
from evalcase.targets.web.picked import ReplyPaths, ReplyReader
from evalcase.tracing.context import HEADER, StartedTraces
from evalcase.types.answer import Answer
from evalcase.types.options import OptionFault, about
from evalcase.types.question import Question
from evalcase.types.target import Quota, Surroundings, Target, TargetKind, Traits
from evalcase.types.value import JSON, replace
from evalcase.util.json import JsonPath

if TYPE_CHECKING:
    from evalcase.targets.web.client import HttpClient


class HttpOptions(WebOptions, frozen=True, kw_only=True):
    """Where the service is, what it is sent, and where in its reply the answer stands."""

    url: Annotated[
        Address,
        about(
            "The URL of the service.",
            example="http://localhost:8000/answer",
            elsewhere=("base_url", "endpoint", "address", "uri"),
        ),
    ]
    method: Annotated[
        Literal["POST", "GET", "PUT", "PATCH"],
        about(
            "How the service is asked; a GET has no body, and asks by `query`.",
            elsewhere=("verb", "http_method"),
        ),
    ] = "POST"
    query: Annotated[
        Parameters,
        about(
            "Parameters that are added to the URL, with placeholders in their texts.",
            example={"q": "{prompt}"},
            elsewhere=("params", "parameters", "query_params", "queryParams"),
        ),
    ] = {}
    body: Annotated[
        JSON,
        about(
            "The JSON body, with placeholders in its texts; by default, what programs are given.",
            elsewhere=("data", "payload", "json", "request"),
        ),
    ] = None
    answer: Annotated[
        ReplyPath | None,
        about(
            "The path of the answer in the JSON response; by default, the whole body.",
            elsewhere=("response", "response_path", "transform", "output_path"),
        ),
    ] = None
    tool_calls: Annotated[
        ReplyPath | Never | None,
        about(
            "The path of the list of tool calls in the response; `false` if its calls don't count.",
            elsewhere=("tools", "calls", "tool_calls_path"),
        ),
    ] = None
    usage: Annotated[ReplyPath | None, about("The path of the token usage in the response.")] = None
    cost_usd: Annotated[
        ReplyPath | None,
        about("The path of the cost in the response.", elsewhere=("cost",)),
    ] = None
    output: Annotated[
        Literal["auto", "text", "json"], about("How to read the body if `answer` is not set.")
    ] = "auto"
    stream: Annotated[
        ReplyPath | None,
        about(
            "For an answer that is a stream of events: the path of the text in the JSON of each.",
            example="choices.0.delta.content",
            elsewhere=("sse", "delta", "streaming"),
        ),
    ] = None
    trace: Annotated[
        bool,
        about(
            "Send a `traceparent` header, so that its spans join the trace of the trial.",
            elsewhere=("tracing", "otel"),
        ),
    ] = False

    @property
    def paths(self) -> ReplyPaths:
        """Where in the response everything is."""
        calls = self.tool_calls if isinstance(self.tool_calls, JsonPath) else None
        return ReplyPaths(
            self.answer, calls, self.usage, self.cost_usd, cast("How", self.output),
            counts_calls=self.tool_calls is not False, stream=self.stream,
        )  # fmt: skip

    def conflicts(self) -> Iterator[OptionFault]:
        yield from super().conflicts()
        yield from BodyTemplate(self.body).faults("body")
        yield from BodyTemplate(dict(self.query)).faults("query")
        for name in BodyTemplate(self.url).used:
            what = f"has {{{name}}} in it, and is sent as it is written"
            hint = "placeholders stand in `query` and `body`"
            yield OptionFault(("url",), f"`url` {what}", hint)
        body, query = BodyTemplate(self.body), BodyTemplate(dict(self.query))
        if self.method == "GET" and self.body is not None:
            yield OptionFault(("body",), "`body` is not sent with a GET: ask by `query`")
        elif self.method == "GET" and not self.query:
            what = "a GET has no body, so without `query` every case would be asked the same"
            yield OptionFault(("method",), what, 'write query = {q = "{prompt}"}')
        elif self.method == "GET":
            yield from query.lack_of_any("query")
        elif self.body is not None and not query.used:
            yield from body.lack_of_any("body")
        if self.answer is not None and self.output == "text":
            what = "is a path into JSON, and can't be combined with output = 'text'"
            yield OptionFault(("answer",), f"`answer` {what}")
        if self.tool_calls and self.output == "text":
            what = 'is a path into JSON, and does not go with output = "text"'
            yield OptionFault(("tool_calls",), f"`tool_calls` {what}")
        paths = {"answer": self.answer, "tool_calls": self.tool_calls}
        for name, path in {**paths, "usage": self.usage, "cost_usd": self.cost_usd}.items():
            if self.stream is not None and path:
                what = "is a path into one reply, and can't be combined with `stream`"
                yield OptionFault((name,), f"`{name}` {what}")


class HttpTarget(Target):
    """Sends each question to an address."""

    kind: ClassVar[TargetKind] = TargetKind(
        "http",
        "Sends requests to an HTTP service.",
        HttpOptions,
        value="url",
        carries_address=lambda _: True,
    )

    def __init__(self, options: HttpOptions, surroundings: Surroundings) -> None:
        self._options = options
        self._surroundings = surroundings
        self._environment = surroundings.environment
        self._endpoint = make_endpoint("http", options, options.url, method=options.method)
        self._body = None if options.body is None else BodyTemplate(options.body)
        self._query = BodyTemplate(dict(options.query))
        self._used = self._query.used | (self._body.used if self._body is not None else set())
        self._reply = ReplyReader(options.paths, surroundings.warn)
        self._traces = StartedTraces()
        stateless = options.stateless
        if stateless is None:
            stateless = "session" not in self._used
        self.traits = Traits(
            options.concurrency, self._endpoint.key_names, stateless, caching="keyed",
            quota=self._quota, seen=self._traces.seen_of if options.trace else None,
            only_reads=True,
        )  # fmt: skip
        self._warned = False
        self._client: HttpClient | None = None

    async def open(self) -> None:
        # The client is slow to import, and only who asks something needs it.
        from evalcase.targets.web.client import HttpClient

        # What is sent from now on, and what the cache knows an answer by, must be the same.
        self._environment = dict(self._surroundings.environment)
        self._client = HttpClient(self._endpoint, self._surroundings)
        await self._client.open()

    async def answer(self, question: Question) -> Answer:
        assert self._client is not None, "open() comes first"
        self._warn_of_hidden(question)
        body, query = self._make_body(question), self._make_query(question)
        if not self._options.trace:
            return self._reply.read(await self._client.ask(body, query=query))
        with self._traces.start(question) as begun:
            answered = await self._client.ask(body, {HEADER: begun.traceparent}, query)
            return replace(self._reply.read(answered), trace=begun.trace)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def cache_key(self, question: Question) -> JSON:
        """All that decides the answer, without secrets."""
        options = self._options
        how: list[JSON] = [options.max_output_bytes, *options.paths.written()]
        # A session is new each time, and decides nothing by itself.
        question = replace(question, session="")
        body = self._make_body(question)
        if self._body is None and isinstance(body, dict):
            del body["session"], body["turn"], body["attempt"]
        query = self._make_query(question)
        request = self._endpoint.cache_key(body, self._environment, query)
        return {"request": request, "how": how}

    def _quota(self) -> Quota | None:
        return None if self._client is None else self._client.take_quota()

    def _make_body(self, question: Question) -> JSON:
        root = self._surroundings.root
        if self._body is not None:
            return self._body.fill(question, root)
        if not self._endpoint.has_body:
            return None
        return {**describe_question(question), "files": describe_files(question, root)}

    def _make_query(self, question: Question) -> str:
        return write_query(self._query.fill(question, self._surroundings.root))

    def _warn_of_hidden(self, question: Question) -> None:
        if self._warned or (self._body is None and self._endpoint.has_body):
            return
        used = self._used
        if "messages" in used or "session" in used or "prompt" not in used:
            return
        what = describe_hidden(question)
        if what is not None:
            self._warned = True
            hint = "{messages} has all of them"
            sees = "the http target sends the last user message only"
            self._surroundings.warn(f"{sees}; {what}; {hint}")
