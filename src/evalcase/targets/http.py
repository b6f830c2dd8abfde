"""Any service that answers a POST: a body made from the question, an answer picked by a path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, cast

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.conflict import conflict
from evalcase.model.json_value import JSON
from evalcase.model.message import Message
from evalcase.model.option import option
from evalcase.model.question import Question
from evalcase.model.quick_dataclass import dataclass, replace
from evalcase.model.quota import Quota
from evalcase.model.shape import Anything, Choice, Flag, OptionFault
from evalcase.model.target import Surroundings, Target, TargetKind, Traits
from evalcase.system.processes.pipes import Output
from evalcase.targets.asking.files import describe_files
from evalcase.targets.asking.shown import describe_hidden, describe_question
from evalcase.targets.reading.answers import content_message, read_json
from evalcase.targets.reading.calls import BadCallsError, calls_message
from evalcase.targets.reading.outputs import How, read_output
from evalcase.targets.reading.replies import HiddenCallsError
from evalcase.targets.reading.usage import read_cost, read_usage
from evalcase.targets.web.body import BodyTemplate
from evalcase.targets.web.endpoint import make_endpoint
from evalcase.targets.web.errors import protocol_error
from evalcase.targets.web.options import WebOptions
from evalcase.targets.web.shapes import Address, JsonPathText
from evalcase.targets.web.streamed import join_stream, refuse_stream
from evalcase.text.json_path import JsonPath, MissingError
from evalcase.text.strict_json import BadJsonError, parse_json
from evalcase.traces.context import HEADER, BegunTraces

if TYPE_CHECKING:
    from evalcase.targets.web.client import HttpClient


_PATHS = "`answer` and `tool_calls` of an http target say where both are"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions(WebOptions):
    """Where the service is, what it is sent, and where in its reply the answer stands."""

    url: str = option(
        Address(),
        "The URL of the service.",
        example="http://localhost:8000/answer",
        elsewhere=("base_url", "endpoint", "address", "uri"),
    )
    body: JSON = option(
        Anything(),
        "The JSON body, with placeholders in its texts; by default, what programs are given.",
        default=None,
        elsewhere=("data", "payload", "json", "request"),
    )
    answer: JsonPath | None = option(
        JsonPathText(),
        "The path of the answer in the JSON response; by default, the whole body.",
        default=None,
        elsewhere=("response", "response_path", "transform", "output_path"),
    )
    tool_calls: JsonPath | None = option(
        JsonPathText(),
        "The path of the list of tool calls in the response.",
        default=None,
        elsewhere=("tools", "calls", "tool_calls_path"),
    )
    usage: JsonPath | None = option(
        JsonPathText(), "The path of the token usage in the response.", default=None
    )
    cost_usd: JsonPath | None = option(
        JsonPathText(), "The path of the cost in the response.", default=None, elsewhere=("cost",)
    )
    output: str = option(
        Choice(("auto", "text", "json")),
        "How to read the body if `answer` is not set.",
        default="auto",
    )
    stream: JsonPath | None = option(
        JsonPathText(),
        "For an answer that is a stream of events: the path of the text in the JSON of each.",
        default=None,
        example="choices.0.delta.content",
        elsewhere=("sse", "delta", "streaming"),
    )
    trace: bool = option(
        Flag(), "Send a `traceparent` header, so that its spans join the trace of the trial.",
        default=False, elsewhere=("tracing", "otel"),
    )  # fmt: skip

    @conflict
    def _body_has_gaps(self) -> Iterator[OptionFault]:
        if self.body is not None:
            yield from BodyTemplate(self.body).faults("body")

    @conflict
    def _text_has_no_paths(self) -> Iterator[OptionFault]:
        if self.answer is not None and self.output == "text":
            what = "is a path into JSON, and can't be combined with output = 'text'"
            yield OptionFault(("answer",), f"`answer` {what}")
        if self.tool_calls is not None and self.output == "text":
            what = 'is a path into JSON, and does not go with output = "text"'
            yield OptionFault(("tool_calls",), f"`tool_calls` {what}")

    @conflict
    def _stream_has_no_other_paths(self) -> Iterator[OptionFault]:
        paths = {"answer": self.answer, "tool_calls": self.tool_calls}
        for name, path in {**paths, "usage": self.usage, "cost_usd": self.cost_usd}.items():
            if self.stream is not None and path is not None:
                what = "is a path into one reply, and can't be combined with `stream`"
                yield OptionFault((name,), f"`{name}` {what}")


class HttpTarget(Target):
    """Posts each question to an address."""

    kind: ClassVar[TargetKind] = TargetKind(
        "http",
        "Sends POST requests to an HTTP service.",
        HttpOptions,
        value="url",
        carries_address=lambda _: True,
    )

    def __init__(self, options: HttpOptions, surroundings: Surroundings) -> None:
        self._options = options
        self._surroundings = surroundings
        self._environment = surroundings.environment
        self._endpoint = make_endpoint("http", options, options.url)
        self._body = None if options.body is None else BodyTemplate(options.body)
        self._traces = BegunTraces()
        stateless = options.stateless
        if stateless is None:
            stateless = self._body is None or "session" not in self._body.used
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
        body = self._make_body(question)
        if not self._options.trace:
            return self._read(await self._client.post(body))
        with self._traces.begin(question) as begun:
            answered = await self._client.post(body, {HEADER: begun.traceparent})
            return replace(self._read(answered), trace=begun.trace)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def cache_key(self, question: Question) -> JSON:
        """All that decides the answer, without secrets."""
        options = self._options
        how: list[JSON] = [options.output, options.max_output_bytes]
        paths = options.answer, options.usage, options.cost_usd
        how += [path.text if path else None for path in paths]
        how += [options.tool_calls.text] if options.tool_calls is not None else []
        how += [{"stream": options.stream.text}] if options.stream is not None else []
        # A session is new each time, and decides nothing by itself.
        body = self._make_body(replace(question, session=""))
        if self._body is None and isinstance(body, dict):
            del body["session"], body["turn"], body["attempt"]
        request = self._endpoint.cache_key(body, self._environment)
        return {"request": request, "how": how}

    def _quota(self) -> Quota | None:
        return None if self._client is None else self._client.take_quota()

    def _make_body(self, question: Question) -> JSON:
        root = self._surroundings.root
        if self._body is not None:
            return self._body.fill(question, root)
        return {**describe_question(question), "files": describe_files(question, root)}

    def _read(self, output: Output) -> Answer:
        options, warn = self._options, self._surroundings.warn
        if options.stream is not None:
            return Answer((content_message(join_stream(output, options.stream)),))
        if options.output != "text":
            refuse_stream(output)
        value = self._json(output)
        calls = self._find_calls(value, output)
        if options.answer is None:
            answer = self._whole(value, output, calls)
        else:
            answer = self._at_path(options.answer, value, output, calls)
        # A path may lead into a reply whose calls were read with it.
        if calls is not None and answer.tool_calls != calls.tool_calls:
            answer = replace(answer, messages=(calls, *answer.messages))
        usage, cost_usd = self._beside(options.usage, value), self._beside(options.cost_usd, value)
        if isinstance(usage, dict):
            # Details of details, such as OpenAI's, are nothing to warn of.
            usage = {key: item for key, item in usage.items() if not isinstance(item, dict)}
        if usage is None and cost_usd is None:
            return answer
        return replace(
            answer,
            usage=answer.usage if usage is None else read_usage(usage, warn),
            cost_usd=answer.cost_usd if cost_usd is None else read_cost(cost_usd, warn),
        )

    def _json(self, output: Output) -> JSON:
        """The body as JSON, if a path leads into it."""
        options = self._options
        if all(
            path is None
            for path in (options.answer, options.tool_calls, options.usage, options.cost_usd)
        ):
            return None
        try:
            if output.truncated:
                raise BadJsonError("it is larger than `max_output_bytes`")
            return parse_json(output.data)
        except BadJsonError as error:
            if options.answer is None and options.tool_calls is None:
                return None
            raise protocol_error(f"the answer is not JSON: {error}", output.data) from None

    def _find_calls(self, value: JSON, output: Output) -> Message | None:
        """The tool calls that a path leads to, as a message of their own. Where it leads nowhere,
        a warning says so: many services leave out what is empty."""
        path = self._options.tool_calls
        try:
            return calls_message(self._beside(path, value))
        except BadCallsError as error:
            where = path.text if path is not None else ""
            raise protocol_error(f"`tool_calls`: at `{where}` {error}", output.data) from None

    def _whole(self, value: JSON, output: Output, calls: Message | None) -> Answer:
        how = cast(How, self._options.output)
        try:
            return read_output(output, how, self._surroundings.warn)
        except HiddenCallsError as error:
            if calls is None:
                raise protocol_error(f"{error}; {_PATHS}", output.data) from None
        if how == "json":
            return Answer((content_message(value),))
        return read_output(output, "text", self._surroundings.warn)

    def _at_path(
        self, path: JsonPath, value: JSON, output: Output, calls: Message | None
    ) -> Answer:
        try:
            found = path.find(value)
        except MissingError as error:
            raise protocol_error(f"`answer`: {error}", output.data) from None
        if found is None and calls is not None:
            return Answer((calls,))  # an agent that calls a tool often says nothing
        if found is None:
            raise protocol_error(f"`answer`: at `{path.text}` there is null", output.data)
        try:
            return read_json(found, self._surroundings.warn)
        except HiddenCallsError as error:
            if calls is None:
                raise protocol_error(f"{error}; {_PATHS}", output.data) from None
            return Answer((content_message(found),))
        except TargetError as error:
            raise protocol_error(str(error), output.data) from None

    def _beside(self, path: JsonPath | None, value: JSON) -> JSON:
        """What else a path leads to. It is no reason to lose an answer that was paid for."""
        if path is None:
            return None
        try:
            return path.find(value)
        except MissingError as error:
            self._surroundings.warn(f"http target: {error}")
            return None

    def _warn_of_hidden(self, question: Question) -> None:
        if self._warned or self._body is None:
            return
        used = self._body.used
        if "messages" in used or "session" in used or "prompt" not in used:
            return
        what = describe_hidden(question)
        if what is not None:
            self._warned = True
            hint = "{messages} has all of them"
            sees = "the http target sends the last user message only"
            self._surroundings.warn(f"{sees}; {what}; {hint}")
