"""A model behind a chat API: messages, options, and the target. What the APIs differ in is in
`openai` and `anthropic`."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.answers import read_messages
from evalcase.targets.base import ContentFile, Files, image_type, list_faults, load_files, part_of
from evalcase.targets.batch import ChatBatches
from evalcase.targets.presets import Preset
from evalcase.targets.replies import leave_out
from evalcase.targets.streams import read_stream, service_error
from evalcase.targets.usage import Price, cache_write_tokens, cost_of, read_model, read_usage
from evalcase.targets.web import (
    Address,
    SecretHeader,
    WebOptions,
    WebTarget,
    protocol_error,
    without_query,
)
from evalcase.types.answer import Answer, Earlier, Usage
from evalcase.types.message import Message, ToolCall, find_picture, named_files, part_text, parts_of
from evalcase.types.options import Seconds, Text, about
from evalcase.types.problem import Finding
from evalcase.types.target import Question, Surroundings, Traits, Warn
from evalcase.types.value import JSON, replace
from evalcase.util.json import parse_object
from evalcase.util.user_calls import run_in_thread

# Messages of a question, as every chat API takes them: turns, in which each result of a tool names
# its call, and content parts.

_CALL_KEYS = frozenset({"id", "type", "function", "tool", "input", "output"})
_COMMON_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id"})
_ANSWER_KEYS = frozenset({"finish_reason", "stop_reason", "annotations", "status", "id"})
"""Keys that an API puts beside an answer and doesn't take back. They stand in every later turn of a
conversation, where no person has written them."""


class SentCall(NamedTuple):
    """A tool call as it is sent: with an id, and with arguments as data and as text."""

    id: str
    name: str
    arguments: JSON
    text: str
    """The arguments as JSON text; where they came as text, just that."""


class ChatTurn(NamedTuple):
    role: str
    content: JSON
    calls: tuple[SentCall, ...] = ()
    call_id: str | None = None
    """The id of the call that a tool message answers."""
    extras: dict[str, JSON] = {}

    def warn_of_extras(self, known: frozenset[str], api: str, warn: Warn) -> None:
        """Name keys of a message that are not sent, because the API would refuse them."""
        for key in self.extras.keys() - known - _ANSWER_KEYS:
            warn(f"`{key}` of a message is not sent: {api} doesn't know it")


def read_turns(messages: Iterable[Message], warn: Warn) -> list[ChatTurn]:
    """The turns. Ids are made where calls have none, and tool messages without an id are matched to
    calls: by `name` or `tool`, else in order. The `output` of a call becomes a tool message, unless
    there is one. Raise TargetError for a tool message without a call."""
    messages = list(messages)
    used = {call.id for message in messages for call in message.tool_calls}
    fresh_ids = (each for number in count(1) if (each := f"call_{number}") not in used)
    open_calls: dict[str, str] = {}
    """The names of calls without a result so far, by their ids."""
    outputs: dict[str, JSON] = {}
    """Results that stand with their call, by the same ids."""
    turns: list[ChatTurn] = []

    def add_outputs() -> None:
        for id in [*outputs]:
            del open_calls[id]
            turns.append(ChatTurn("tool", outputs.pop(id), call_id=id))

    def write_call(call: ToolCall) -> SentCall:
        for key in call.keys() - _CALL_KEYS:
            warn(f"`{key}` of a tool call is not sent: no API knows it")
        id = call.id if isinstance(call.id, str) and call.id else next(fresh_ids)
        open_calls[id] = call.name
        if "output" in call:
            outputs[id] = call.output
        arguments = {} if call.arguments is None else call.arguments
        raw = None if "tool" in call else call["function"].get("arguments")
        text = raw if isinstance(raw, str) else json.dumps(arguments, ensure_ascii=False)
        return SentCall(id, call.name, arguments, text)

    for number, message in enumerate(messages, 1):
        extras = {key: value for key, value in message.items() if key not in _COMMON_KEYS}
        if message.role != "tool":
            add_outputs()
            calls = tuple(map(write_call, message.tool_calls))
            turns.append(ChatTurn(message.role, message.content, calls, None, extras))
            continue
        call_id = message.get("tool_call_id")
        if not isinstance(call_id, str) or not call_id:
            name = message.get("name", message.get("tool"))
            named = [each for each, tool in open_calls.items() if tool == name]
            # A call that has a result already is the less likely one.
            call_id = min(named or open_calls, key=outputs.__contains__, default=None)
        if call_id is None:
            what = f"message {number} is the result of a tool without a call"
            raise TargetError(f"{what}; give it the `tool_call_id` of a call before it")
        open_calls.pop(call_id, None)
        outputs.pop(call_id, None)
        turns.append(ChatTurn("tool", message.content, (), call_id, extras))
    add_outputs()
    return turns


# Content parts.


def write_parts(content: JSON, files: Files) -> list[dict[str, JSON]]:
    """The parts of some content, in the form of OpenAI's chat API: data is text as JSON, a part of
    an unknown type is itself. Raise TargetError for one that can't be sent."""
    if content is None:
        return []
    parts = parts_of(content)
    if not parts:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        return [{"type": "text", "text": text}]
    return [_write_part(part, files) for part in parts]


def shorten(parts: Sequence[JSON]) -> JSON:
    """One plain text as itself, which says the same and is easier to read in a record."""
    if len(parts) == 1 and isinstance(parts[0], dict) and parts[0].keys() == {"type", "text"}:
        return parts[0]["text"]
    return [*parts]


def _write_part(part: dict[str, JSON], files: Files) -> dict[str, JSON]:
    text = part_text(part)
    if text is not None:
        return {"type": "text", "text": text, **_drop(part, "text", "value")}
    name = part.get("path", part.get("value"))
    if part["type"] == "file" and isinstance(name, str) and name in files:
        return _write_file(files[name], _drop(part, "path", "value"))
    found = find_picture(part) if part["type"] == "image" else None
    if found is None:
        return part  # in the shape of some provider
    extras = _drop(part, found.key, "media_type", "mime_type")
    if found.kind == "address":
        return _write_image(found.text, extras)
    if found.kind == "base64":
        data = "".join(found.text.split())
        try:
            known = image_type(b64decode(data[:64], validate=True))
        except ValueError:
            raise TargetError("`data` of an image is not base64") from None
        media_type = part.get("media_type", part.get("mime_type")) or known
        if media_type is None:
            raise TargetError("an image has `data` without a `media_type`, such as image/png")
        return _write_image(f"data:{media_type};base64,{data}", extras)
    if not files[found.text].media_type.startswith("image/"):
        raise TargetError(f"`{found.text}` is not a PNG, JPEG, GIF or WebP image")
    return _write_file(files[found.text], extras)


def _write_file(file: ContentFile, extras: dict[str, JSON]) -> dict[str, JSON]:
    if file.media_type == "text/plain":
        text = f'<file name="{file.name}">\n{file.data}\n</file>'
        return {"type": "text", "text": text, **extras}
    url = f"data:{file.media_type};base64,{file.data}"
    if file.media_type == "application/pdf":
        return {"type": "file", "file": {"filename": file.name, "file_data": url}, **extras}
    return _write_image(url, extras)


def _write_image(url: str, extras: dict[str, JSON]) -> dict[str, JSON]:
    detail = {"detail": extras["detail"]} if "detail" in extras else {}
    return {"type": "image_url", "image_url": {"url": url, **detail}, **_drop(extras, "detail")}


def _drop(part: dict[str, JSON], *names: str) -> dict[str, JSON]:
    return leave_out(part, ("type", *names))


# An API.

SchemaMode: TypeAlias = Literal["json_schema", "json_object", "prompt"]
"""How an answer by a schema is asked for: by the schema, as any JSON, or by words only."""


class ChatApi:
    """What one chat API has of its own. Each of them is a class of its own."""

    path: str
    """The path of requests after the base URL."""
    headers: ClassVar[Mapping[str, str]] = {}
    """Headers that are always sent."""
    batches: type[ChatBatches]
    own_params: frozenset[str]
    """Parameters that evalcase sends by itself, so `params` may not."""
    defaults: ClassVar[Mapping[str, JSON]] = {}
    stream_defaults: ClassVar[Mapping[str, JSON]] = {}
    last_events: frozenset[str] = frozenset()
    """The types of the events that end a stream, beside `[DONE]`."""
    schema_modes: tuple[SchemaMode, ...] = ()
    """The ways to ask for an answer by a schema, the strictest first."""
    schema_place: tuple[str, str] = ("", "")
    """The parameter that asks so, and the key in it."""

    def write_messages(self, question: Question, files: Files, warn: Warn) -> dict[str, JSON]:
        """The messages in a body. Raise TargetError for content that can't be sent."""
        raise NotImplementedError

    def write_schema(self, schema: JSON) -> dict[str, JSON]:
        return {"type": "json_schema", "name": "answer", "strict": True, "schema": schema}

    def read_reply(self, reply: dict[str, Any], warn: Warn) -> list[JSON]:
        """The messages of a reply. Raise TargetError where there is no answer in it."""
        raise NotImplementedError

    def join_events(self, events: list[dict[str, Any]]) -> dict[str, Any] | None:
        """The reply of a stream as it would have been in one piece; None if something is missing.
        Raise ValueError for events that make no sense."""
        raise NotImplementedError


# Options.


class ChatOptions(WebOptions, frozen=True, kw_only=True):
    model: Annotated[
        Text, about("The name of the model.", example="some-model", elsewhere=("name",))
    ]
    base_url: Annotated[
        Address | None,
        about("The base URL; by default, the provider's.", elsewhere=("url", "api_base")),
    ] = None
    params: Annotated[
        dict[str, JSON],
        about(
            "Further parameters of requests: temperature, tools, stream, …",
            elsewhere=(
                "temperature", "max_tokens", "top_p", "tools", "tool_choice", "stream",
                "response_format", "seed",
            ),
        ),
    ] = {}  # fmt: skip
    price: Annotated[
        Price | None,
        about(
            "The price of tokens, in USD per million.",
            elsewhere=("cost",),
            decides_answer=False,
            words="a mapping of prices",
        ),
    ] = None
    batch: Annotated[
        bool, about("Send batches at half the price; answers may take a day.", decides_answer=False)
    ] = False
    batch_poll_s: Annotated[
        Seconds, about("How often to check on a batch, in seconds.", decides_answer=False)
    ] = 30.0

    @property
    def preset(self) -> Preset:
        raise NotImplementedError

    @property
    def chat_api(self) -> ChatApi:
        raise NotImplementedError

    @property
    def address(self) -> str:
        return (self.base_url or self.preset.base_url).rstrip("/")

    @property
    def url(self) -> str:
        parts = urlsplit(self.address)
        return parts._replace(path=parts.path.rstrip("/") + self.chat_api.path).geturl()

    @property
    def key_rule(self) -> SecretHeader:
        """The variable of the key is for the provider's own address only."""
        preset = self.preset
        variable = preset.key_env if preset.is_own_address(self.address) else ""
        return SecretHeader(preset.header, variable, preset.prefix)

    def conflicts(self) -> Iterator[Finding]:
        if self.base_url is None and not self.preset.base_url:
            example = self.preset.example
            what = f"a target of kind `{self.kind}` needs `base_url`"
            yield Finding(
                (), what, f'for example base_url = "{example}"', code="missing-option",
                example=("base_url", example),
            )  # fmt: skip
        for name in self.params.keys() & self.chat_api.own_params:
            what = f"can't hold `{name}`, which evalcase sends by itself"
            yield Finding(("params", name), f"`params` {what}", at="key")
        if self.params.get("n", 1) != 1:
            what = "`params` has `n` over 1: to ask more than once, use `repeat`"
            yield Finding(("params", "n"), what)
        stream = self.params.get("stream", False)
        if not isinstance(stream, bool) or (stream and self.batch):
            what = f"is true or false, and not true with `batch`: it is {stream!r:.60}"
            yield Finding(("params", "stream"), f"`params.stream` {what}")
        has_place = self.base_url is None and has_address(self.model)
        no_rate = "can't be combined with `batch`: a batch is one request, at no rate"
        yield from list_faults(
            ("model", has_place, "has an address in it: that is `base_url`"),
            ("rpm", self.batch and self.rpm, no_rate),
            ("tpm", self.batch and self.tpm, no_rate),
        )
        yield from super().conflicts()


_PLACED = re.compile(r"(.*)@(https?://.*)", re.IGNORECASE | re.DOTALL)
_ALONE = re.compile(r"//|\\\\|localhost(?![\w.-])|\d+\.\d+\.\d+\.\d+(?![\w.-])", re.IGNORECASE)


def has_address(value: str) -> bool:
    """Whether the value of `kind:VALUE` says where to connect to, perhaps badly."""
    return "@" in value or "://" in value or _ALONE.match(value) is not None


def split_model(kind: str, value: str) -> dict[str, JSON]:
    """The options of `kind:MODEL` and `kind:MODEL@http://host/v1`. An @ without a whole address is
    an error: nothing that was meant for another host may go to a provider. Raise ConfigError."""
    found = _PLACED.fullmatch(value)
    model = found[1] if found else value.rpartition("@")[0] or value.strip("@")
    if not model or _ALONE.match(model) or (not found and "://" in model):
        raise ConfigError(f"{kind} target: it needs a model, as in {kind}:MODEL")
    if found:
        return {"model": model, "base_url": found[2]}
    if "@" in value:
        what = f"`{value}` has an @ without a whole address"
        how = f"{kind}:MODEL@http://HOST, also if the @ is a part of the name of the model"
        raise ConfigError(f"{kind} target: {what}: write {how}")
    return {"model": model}


def refuse_other_host(options: ChatOptions, kind: str, environment: Mapping[str, str]) -> None:
    """Raise ConfigError if a variable of the provider's own client names another host than the one
    that would be asked. Only the configuration and the command line decide that; but a user who
    sets the variable means that host."""
    own = options.address
    for name in options.preset.address_env if options.base_url is None else ():
        value = environment.get(name, "").strip()
        meant = without_query(value if "://" in value else f"https://{value}")
        if value and urlsplit(meant).hostname != urlsplit(own).hostname:
            raise ConfigError(
                f"{kind} target: the environment variable {name} is {meant}, and evalcase would "
                f"ask {own}: say which is meant, as {kind}:{options.model}@{meant} or base_url = "
                f'"{meant}" with the `key_env` of its key; for the other, base_url = "{own}"'
            )


# The target.

_BATCH_SHARE = 0.5
"""The price of an answer in a batch, as a share of the usual price, at both services."""
_SCHEMA_WORDS = (
    "response_format", "json_schema", "json_object", "output_config", "output_format", "schema",
)  # fmt: skip


class ChatTarget(WebTarget):
    def __init__(self, options: ChatOptions, surroundings: Surroundings) -> None:
        own_headers = options.chat_api.headers
        super().__init__(options, surroundings, options.url, own_headers=own_headers)
        self._api = options.chat_api
        self._options = options
        self._streams = options.params.get("stream") is True
        self._modes: list[SchemaMode] = [*self._api.schema_modes, "prompt"]
        """The ways to ask by a schema, without those that the service refused."""
        self._batches: ChatBatches | None = None
        if options.batch:
            self._batches = self._api.batches(
                options.address, self._http, options.batch_poll_s, self._batch_body, self._api.path
            )
        self.traits = Traits(
            options.concurrency, self._key_names, caching="keyed",
            batching=self._batches, only_reads=True,
        )  # fmt: skip

    async def open(self) -> None:
        environment = self._surroundings.environment
        refuse_other_host(self._options, self._name, environment)
        await super().open()
        self._cost_usd(Usage(1, 1))  # the list of prices is loaded now, so that no answer waits

    async def close(self) -> None:
        if self._batches is not None:
            self._batches.close()
        await super().close()

    async def answer(self, question: Question) -> Answer:
        if self._batches is not None:
            answer = self._read(await self._batches.reply_to(question), share=_BATCH_SHARE)
            # It may have stood in a queue for hours, so its time is unknown.
            return replace(answer, earlier=Earlier(None, answer.cost_usd))
        files = await self._load_files(question)
        while True:
            mode = self._modes[0]
            try:
                answer = self._read(await self._ask(self._make_body(question, files, mode)))
            except TargetError as error:
                is_refused = error.details.get("status") in (400, 422) and any(
                    name in f"{error} {error.details.get('body')}".lower() for name in _SCHEMA_WORDS
                )
                if question.schema is None or mode == "prompt" or not is_refused:
                    raise
                if self._modes[0] == mode:  # another question may have found it out meanwhile
                    del self._modes[0]
                continue
            return answer if question.schema is None else replace(answer, asked_as=mode)

    def cache_key(self, question: Question) -> JSON:
        files = load_files(question, self._surroundings.root)
        # Not as the service turned out to take it: the next run doesn't know that before it asks.
        mode: SchemaMode = next(iter(self._api.schema_modes), "prompt")
        return self._request_key(self._make_body(question, files, mode))

    async def _load_files(self, question: Question) -> Files:
        if not any(True for _ in named_files(question.messages)):
            return {}
        return await run_in_thread(load_files, question, self._surroundings.root)

    async def _batch_body(self, question: Question) -> JSON:
        return self._make_body(question, await self._load_files(question), "prompt")

    async def _ask(self, body: JSON) -> dict[str, Any]:
        most_bytes = self._options.max_output_bytes
        async with self._http().ask(self._method, body) as reply:
            if self._streams and reply.response.content_type == "text/event-stream":
                api = self._api
                return await read_stream(reply, api.last_events, api.join_events, most_bytes)
            output = await reply.read(most_bytes)
        try:
            if output.truncated:
                raise ValueError("it is larger than `max_output_bytes`")
            value = parse_object(output.data)
        except ValueError as error:
            raise protocol_error(f"the answer is not JSON: {error}", output.data) from None
        if value.get("error") is not None:
            raise service_error(value["error"], output.data)
        return value

    def _read(self, reply: dict[str, Any], share: float = 1.0) -> Answer:
        warn = self._surroundings.warn
        try:
            messages = read_messages(self._api.read_reply(reply, warn))
        except TargetError as error:
            data = json.dumps(reply, ensure_ascii=False).encode(errors="surrogatepass")
            raise protocol_error(f"there is no answer in what came back: {error}", data) from None
        usage = read_usage(reply.get("usage"), warn)
        cost_usd = self._cost_usd(usage, cache_write_tokens(reply.get("usage")))
        cost_usd = None if cost_usd is None else cost_usd * share
        return Answer(messages, usage, cost_usd, model=read_model(reply))

    def _cost_usd(self, usage: Usage | None, written: int = 0) -> float | None:
        options = self._options
        return cost_of(usage, options.price, options.model, options.address, written)

    def _make_body(self, question: Question, files: Files, mode: SchemaMode) -> JSON:
        api, options = self._api, self._options
        params = {**api.defaults, **(api.stream_defaults if self._streams else {})}
        params |= options.params
        if question.schema is not None and mode in api.schema_modes:
            is_any = mode == "json_object"
            form: JSON = {"type": mode} if is_any else api.write_schema(question.schema)
            name, key = api.schema_place
            params[name] = {**part_of(params, name), key: form} if key else form
        messages = api.write_messages(question, files, self._surroundings.warn)
        return {"model": options.model, **messages, **params}
