"""Any service with OpenAI's chat API.

| option | meaning |
|---|---|
| `model` | the name of the model |
| `base_url` | where the service is, by default https://api.openai.com/v1 |
| `params` | what else is sent: temperature, tools, response_format, stream, … |
| `price` | what tokens cost, see `prices` |

The rest of its options are in `http_options`. The key is that of OPENAI_API_KEY, or of the variable
that `key_env` names; with another `base_url`, only the latter.
"""

from __future__ import annotations

from dataclasses import replace

from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.model.trial import Trial
from evalcase.targets import Warn, ignore
from evalcase.targets.chat.client import ChatClient
from evalcase.targets.chat.openai_answer import OpenAIStream, read_openai_answer
from evalcase.targets.chat.openai_messages import openai_messages
from evalcase.targets.chat.options import Api, read_chat_options, split_value
from evalcase.targets.chat.prices import Pricing
from evalcase.targets.files import Files, load_files
from evalcase.targets.options import Options
from evalcase.targets.web.options import KeyRule

_API = Api(
    "openai",
    "https://api.openai.com/v1",
    "/chat/completions",
    KeyRule(variable="OPENAI_API_KEY"),
    frozenset({"model", "messages"}),
)


class OpenAITarget:
    """Asks a model."""

    def __init__(self, *, root: str = ".", warn: Warn = ignore, **options: object) -> None:
        read = Options("openai", options)
        self._options = read_chat_options(_API, read, {})
        self._pricing = Pricing(read, self._options.model, self._options.base_url)
        read.check_unknown()
        self._root = root
        self._warn = warn
        self._client = ChatClient(self._options.http, root)
        self.concurrency = self._options.http.concurrency
        self.key_names = self._options.http.key_names

    @classmethod
    def from_value(cls, value: str, *, root: str = ".", warn: Warn = ignore) -> OpenAITarget:
        model, base_url = split_value("openai", value)
        return cls(model=model, base_url=base_url, root=root, warn=warn)

    @staticmethod
    def carries_address(value: str) -> bool:
        """Whether `openai:VALUE` says where to connect to."""
        return split_value("openai", value)[1] is not None

    async def open(self) -> None:
        await self._client.open()
        self._pricing.load()

    async def answer(self, trial: Trial) -> Answer:
        body = self._body(trial, await self._client.files(trial))
        stream = OpenAIStream() if self._options.streams else None
        answer = read_openai_answer(await self._client.ask(body, stream), self._warn)
        return replace(answer, cost_usd=self._pricing.cost_usd(answer.usage))

    async def close(self) -> None:
        await self._client.close()

    def cache_key(self, trial: Trial) -> JSON:
        """All that decides the answer, without secrets. It reads the files of the case."""
        return self._options.http.cache_key(self._body(trial, load_files(trial)))

    def _body(self, trial: Trial, files: Files) -> JSON:
        body: dict[str, JSON] = {
            "model": self._options.model,
            "messages": openai_messages(trial.case, files, self._warn),
        }
        if self._options.streams:
            body["stream_options"] = {"include_usage": True}
        return {**body, **self._options.params}
