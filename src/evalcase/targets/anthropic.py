"""Models by Anthropic's Messages API.

| option | meaning |
|---|---|
| `model` | the name of the model |
| `base_url` | where the service is, by default https://api.anthropic.com |
| `params` | what else is sent: max_tokens (by default 4096), tools, thinking, stream, … |
| `version` | the version of the API, by default 2023-06-01 |
| `price` | what tokens cost, see `prices` |

The rest of its options are in `http_options`. The key is that of ANTHROPIC_API_KEY, or of the
variable that `key_env` names; with another `base_url`, only the latter.
"""

from __future__ import annotations

from dataclasses import replace

from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.model.trial import Trial
from evalcase.targets import Warn, ignore
from evalcase.targets.chat.anthropic_answer import AnthropicStream, read_anthropic_answer
from evalcase.targets.chat.anthropic_messages import anthropic_messages
from evalcase.targets.chat.client import ChatClient
from evalcase.targets.chat.options import Api, read_chat_options, split_value
from evalcase.targets.chat.prices import Pricing
from evalcase.targets.files import Files, load_files
from evalcase.targets.options import Options
from evalcase.targets.web.options import KeyRule

_API = Api(
    "anthropic",
    "https://api.anthropic.com",
    "/v1/messages",
    KeyRule("x-api-key", "", "ANTHROPIC_API_KEY"),
    frozenset({"model", "messages", "system"}),
)
_VERSION = "2023-06-01"
_MAX_TOKENS = 4096


class AnthropicTarget:
    """Asks a model."""

    def __init__(self, *, root: str = ".", warn: Warn = ignore, **options: object) -> None:
        read = Options("anthropic", options)
        version = read.text("version") or _VERSION
        self._options = read_chat_options(_API, read, {"anthropic-version": version})
        self._pricing = Pricing(read, self._options.model, self._options.base_url)
        read.check_unknown()
        self._root = root
        self._warn = warn
        self._client = ChatClient(self._options.http, root)
        self.concurrency = self._options.http.concurrency
        self.key_names = self._options.http.key_names

    @classmethod
    def from_value(cls, value: str, *, root: str = ".", warn: Warn = ignore) -> AnthropicTarget:
        model, base_url = split_value("anthropic", value)
        return cls(model=model, base_url=base_url, root=root, warn=warn)

    @staticmethod
    def carries_address(value: str) -> bool:
        """Whether `anthropic:VALUE` says where to connect to."""
        return split_value("anthropic", value)[1] is not None

    async def open(self) -> None:
        await self._client.open()
        self._pricing.load()

    async def answer(self, trial: Trial) -> Answer:
        body = self._body(trial, await self._client.files(trial))
        stream = AnthropicStream() if self._options.streams else None
        read = read_anthropic_answer(await self._client.ask(body, stream), self._warn)
        cost_usd = self._pricing.cost_usd(read.answer.usage, read.cache_write_tokens)
        return replace(read.answer, cost_usd=cost_usd)

    async def close(self) -> None:
        await self._client.close()

    def cache_key(self, trial: Trial) -> JSON:
        """All that decides the answer, without secrets. It reads the files of the case."""
        return self._options.http.cache_key(self._body(trial, load_files(trial)))

    def _body(self, trial: Trial, files: Files) -> JSON:
        return {
            "model": self._options.model,
            "max_tokens": _MAX_TOKENS,
            **anthropic_messages(trial.case, files, self._warn),
            **self._options.params,
        }
