"""A model that is asked by a chat API, whichever it is: the `Api` says what they differ in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalcase.errors import TargetError
from evalcase.targets.asking.files import Files, load_files
from evalcase.targets.chat.api import SchemaMode
from evalcase.targets.chat.client import ChatClient
from evalcase.targets.chat.options import ChatOptions
from evalcase.targets.chat.other_host import refuse_other_host
from evalcase.targets.chat.prices import Pricing
from evalcase.targets.web.endpoint import make_endpoint
from evalcase.types.answer import Answer, Earlier
from evalcase.types.question import Question
from evalcase.types.target import Surroundings, Target, Traits
from evalcase.types.value import JSON, replace

if TYPE_CHECKING:
    from evalcase.targets.chat.batches import ChatBatches


_BATCH_SHARE = 0.5
"""What an answer in a batch costs of what it would cost at once, at both services."""


class ChatTarget(Target):
    """Asks a model."""

    def __init__(self, options: ChatOptions, surroundings: Surroundings) -> None:
        api = options.api
        self._api = api
        self._options = options
        self._surroundings = surroundings
        self._environment = surroundings.environment
        self._endpoint = make_endpoint(api.kind, options, options.url, options.own_headers)
        self._client = ChatClient(self._endpoint, surroundings)
        self._pricing = Pricing(options.price, options.model, options.address)
        self._modes: list[SchemaMode] = [*api.write_schema, "prompt"]
        """How an answer by a schema can be asked for, without those that the service refused."""
        self._batches = self._make_batches() if options.batch else None
        self.traits = Traits(
            options.concurrency, self._endpoint.key_names, caching="keyed",
            quota=self._client.quota, batching=self._batches, only_reads=True,
        )  # fmt: skip

    async def open(self) -> None:
        # What is sent from now on, and what the cache knows an answer by, must be the same.
        self._environment = dict(self._surroundings.environment)
        refuse_other_host(self._options, self._environment)
        await self._client.open()
        self._pricing.load()

    def _make_batches(self) -> ChatBatches:
        from evalcase.targets.chat.batches import ChatBatches  # few ask by batches

        options = self._options
        return ChatBatches(
            self._api.make_batches(), options.address, options.batch_poll_s, self._client.http,
            self._batched_body,
        )  # fmt: skip

    async def _batched_body(self, question: Question) -> JSON:
        return self._make_body(question, await self._client.load_files(question), "prompt")

    async def answer(self, question: Question) -> Answer:
        if self._batches is not None:
            answer = self._read(await self._batches.reply_to(question), share=_BATCH_SHARE)
            # How long it took nobody knows: it stood in a queue for hours, perhaps.
            return replace(answer, earlier=Earlier(None, answer.cost_usd))
        files = await self._client.load_files(question)
        while True:
            mode = self._modes[0]
            try:
                answer = await self._answer(self._make_body(question, files, mode))
            except TargetError as error:
                if question.schema is None or not _refuses_schema(error, mode):
                    raise
                if self._modes[0] == mode:  # another question may have found it out meanwhile
                    del self._modes[0]
                continue
            return answer if question.schema is None else replace(answer, asked_as=mode)

    async def _answer(self, body: JSON) -> Answer:
        assembler = self._api.make_assembler() if self._options.streams else None
        return self._read(await self._client.ask(body, assembler))

    def _read(self, reply: dict[str, Any], share: float = 1.0) -> Answer:
        answer, cache_write_tokens = self._api.read_answer(reply, self._surroundings.warn)
        cost_usd = self._pricing.cost_usd(answer.usage, cache_write_tokens)
        return replace(answer, cost_usd=None if cost_usd is None else cost_usd * share)

    async def close(self) -> None:
        if self._batches is not None:
            self._batches.close()
        await self._client.close()

    def cache_key(self, question: Question) -> JSON:
        """All that decides the answer, without secrets. It reads the files of the case."""
        files = load_files(question, self._surroundings.root)
        # Not as the service turned out to take it: the next run doesn't know that before it asks.
        body = self._make_body(question, files, next(iter(self._api.write_schema), "prompt"))
        return self._endpoint.cache_key(body, self._environment)

    def _make_body(self, question: Question, files: Files, mode: SchemaMode) -> JSON:
        api, options = self._api, self._options
        params = {**api.defaults, **(api.stream_defaults if options.streams else {})}
        params.update(options.params)
        write = api.write_schema.get(mode)
        if question.schema is not None and write is not None:
            # Whoever asks by a schema can't read anything else.
            params.update(write(question.schema, params))
        messages = api.write_messages(question, files, self._surroundings.warn)
        return {"model": options.model, **messages, **params}


_NAMED = (
    "response_format",
    "json_schema",
    "json_object",
    "output_config",
    "output_format",
    "schema",
)


def _refuses_schema(error: TargetError, mode: SchemaMode) -> bool:
    """Whether a service says that it knows no such way to ask by a schema."""
    if mode == "prompt" or error.details.get("status") not in (400, 422):
        return False
    said = f"{error} {error.details.get('body')}".lower()
    return any(name in said for name in _NAMED)
