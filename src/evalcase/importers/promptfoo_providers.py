"""Providers of promptfoo to targets for the configuration, and the targets of each case.

A key is never carried over: the configuration names the environment variable that holds it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct

from evalcase.config.registry import list_names
from evalcase.importers.draft import CaseDraft, NoCounterpartError, SuiteDraft, number_id
from evalcase.importers.javascript import has_tags
from evalcase.importers.promptfoo_tests import PromptTemplate
from evalcase.importers.rows import parse_cell
from evalcase.importers.source import FILE, Folder, Item, is_code
from evalcase.targets.presets import PRESETS
from evalcase.types.value import JSON, fits_pattern

_DEFAULT_EMBEDDING = "openai:embedding:text-embedding-3-large"
_SIMULATED_USER = "promptfoo:simulated-user"
_KNOWN_FIELDS = ("id", "label", "config", "prompts", "text", "embedding")
_OF_PROVIDER = " of a provider"
_NO_NAME = re.compile(r"\s*:\s*")


class Provider(NamedTuple):
    id: str
    whole: Item
    """The provider with its label and its config; the place of its name, if that is all."""

    @property
    def label(self) -> str:
        label = self.whole.at("label").value
        return label if isinstance(label, str) else ""

    @property
    def config(self) -> Item:
        return self.whole.at("config")

    @property
    def prompts(self) -> list[str] | None:
        """The labels of the only prompts that it is asked; None for all."""
        wanted = self.whole.at("prompts")
        is_given = isinstance(wanted.value, str | list)
        return [str(each.value) for each in wanted.several()] if is_given else None


def read_providers(several: Item, folder: Folder) -> Iterator[Provider]:
    """Providers in all of their spellings. Raise ValueError for a file that can't be read."""
    for item in several.several():
        value = item.value
        if isinstance(value, str) and value.startswith(FILE) and not is_code(value):
            with folder.reading(value):
                yield from read_providers(folder.parse(value).root, folder)
        elif isinstance(value, str):
            yield Provider(value, item)
        elif isinstance(value, dict):
            id, name = value.get("id"), ""
            if not isinstance(id, str) and len(value) == 1:
                (name,) = value
                item, id = item.at(name), item.at(name, "id").value  # noqa: PLW2901
            yield Provider(id if isinstance(id, str) else name, item)


class Providers(Struct):
    """The providers that became targets."""

    suite: SuiteDraft
    folder: Folder
    default_embedding: JSON = None
    """The provider of embeddings for all tests, if the file names one."""
    _named: dict[str, str] = {}
    """The names of targets, by the ids and labels of their providers."""
    _prompts: dict[str, list[str] | None] = {}

    def add_all(self, several: Item) -> None:
        try:
            for provider in read_providers(several, self.folder):
                name = self.map(provider)
                if name is not None:
                    self._prompts[name] = provider.prompts
        except ValueError as error:
            self.suite.lose(several, f"providers: {error}")
        if self._prompts:
            self.suite.fields["targets"] = [*self._prompts]

    def map(self, provider: Provider) -> str | None:
        """The name of the target of a provider; None if no kind of target fits."""
        known = self._named.get(provider.label or provider.id)
        if known is not None and not isinstance(provider.whole.value, dict):
            return known
        try:
            target = _read_service(provider.id, provider.config, self.suite)
        except NoCounterpartError as error:
            place = provider.whole.at("id")
            place = provider.whole.without_value() if place.value is None else place
            self.suite.lose(place, str(error), error.hint)
            return None
        self.suite.lose_rest(provider.whole, _KNOWN_FIELDS, _OF_PROVIDER, hides=True)
        host = urlsplit(str(target.get("url", ""))).netloc.rpartition("@")[2]
        base = provider.label or str(target.get("model") or host or provider.id.split(":")[0])
        base = _NO_NAME.sub("-", base).strip("- ")
        # Before its table is in the configuration, `http` would be a kind of target.
        if base != "echo" and base in (*list_names("targets"), ""):
            base = f"{base or 'provider'}-target"
        name = number_id(base, dict.fromkeys(self.suite.targets, 1))
        self.suite.targets[name] = target
        for each in filter(None, (provider.label, provider.id)):
            self._named.setdefault(each, name)
        return name

    def name_judge(self, item: Item) -> bool:
        """Make a provider the judge of the configuration, if a kind of target fits."""
        text = item.at("text")
        try:
            several = text if isinstance(text.value, str | dict) else item
            found = next(read_providers(several, self.folder), None)
        except ValueError:
            return False
        self.suite.judge = None if found is None else self.map(found)
        return self.suite.judge is not None

    def embeddings(self, item: Item) -> str:
        """The name of the target that embeds texts, by default promptfoo's own default. Raise
        NoCounterpartError."""
        id = str(item.value or self.default_embedding or _DEFAULT_EMBEDDING)
        service, _, model = id.partition(":embedding:")
        if service not in ("openai", "ollama", "mistral") or not model:
            raise NoCounterpartError(f"embeddings by the provider `{id}`")
        target: dict[str, JSON] = {"kind": service, "model": model, "api": "embeddings"}
        known = (name for name, each in self.suite.targets.items() if each == target)
        name = next(known, "embeddings" if "embeddings" not in self.suite.targets else model)
        self.suite.targets[name] = target
        return name

    def targets_for(
        self, fields: Mapping[str, Item], prompt: PromptTemplate, case: CaseDraft
    ) -> list[JSON] | None:
        """The targets of a case; None for all of the suite."""
        override = fields.get("provider")
        if override is not None and self.simulated_user(override) is None:
            try:
                provider = next(read_providers(override, self.folder))
            except (ValueError, StopIteration) as error:
                case.lose(override, f"`provider` of a test: {error}", at="key")
                return None
            name = self.map(provider)
            return None if name is None else [name]
        names = [each for each, wanted in self._prompts.items()
                 if wanted is None or any(map(prompt.is_meant_by, wanted))]  # fmt: skip
        if "providers" in fields:
            meant = [str(each.value) for each in fields["providers"].several()]
            named = {target for id, target in self._named.items()
                     if any(fits_pattern(id, each) for each in meant)}  # fmt: skip
            names = [each for each in names if each in named]
        return None if names == list(self._prompts) or not names else [*names]

    def simulated_user(self, item: Item | None) -> Provider | None:
        """A provider that plays the user of a conversation."""
        with suppress(ValueError):
            found = None if item is None else next(read_providers(item, self.folder), None)
            return found if found is not None and found.id == _SIMULATED_USER else None
        return None


_KINDS = {
    "openai": "openai", "anthropic": "anthropic", "togetherai": "together", "google": "gemini",
    **{name: name for name in PRESETS if name not in ("azure", "bedrock", "gemini", "together")},
}  # fmt: skip
"""Kinds of targets, by promptfoo's names of services."""
_OTHER_APIS = frozenset({
    "completion", "embedding", "embeddings", "image", "realtime", "assistant", "moderation",
    "transcription", "speech", "video", "agents", "codex-sdk", "claude-agent-sdk", "chatkit",
})  # fmt: skip
_PARAMS = frozenset({
    "temperature", "max_tokens", "max_completion_tokens", "top_p", "top_k", "seed", "stop",
    "presence_penalty", "frequency_penalty", "tools", "tool_choice", "functions", "function_call",
    "response_format", "reasoning_effort", "reasoning", "verbosity", "thinking", "n", "logprobs",
    "parallel_tool_calls", "service_tier", "metadata", "stop_sequences", "max_output_tokens",
    "instructions", "text", "truncation", "store",
})  # fmt: skip
_BASE_URL = ("apiBaseUrl", "baseURL", "base_url")
_SECRETS = ("apiKey", "api_key", "token", "password")
_BEARER = re.compile(r"Bearer\s+\{\{\s*env\.(\w+)\s*\}\}")
_PROMPT = re.compile(r"\{\{\s*prompt\s*\}\}")
_PATH = re.compile(r"json((?:\.\w+|\[\d+\]|\[['\"][\w-]+['\"]\])+)")
_STEP = re.compile(r"[\w-]+")
_PARSERS = ("transformResponse", "responseParser")
_HTTP = "a provider over HTTP"


def _read_service(id: str, config: Item, suite: SuiteDraft) -> dict[str, JSON]:
    """The options of a target. Raise NoCounterpartError if no kind fits."""
    if id == "echo":
        return {"kind": "echo"}
    if id.startswith("exec:"):
        return _read_command(id.removeprefix("exec:").strip(), config, suite)
    if id.startswith(("http://", "https://")) or id in ("http", "https"):
        return _read_http(id, config, suite)
    if id.startswith(("file://", "python:", "golang:", "ruby:", "package:")):
        hint = "a function or a program of yours is a target, too: kinds python and command"
        raise NoCounterpartError(f"the provider `{id}`, which is code", hint)
    name, _, model = id.partition(":")
    kind = _KINDS.get(name)
    if kind is None or not model:
        hint = "any service with OpenAI's or Anthropic's API, or any address, can be a target"
        raise NoCounterpartError(f"the provider `{id}`" if id else "a provider without id", hint)
    mode, colon, rest = model.partition(":")
    if mode in _OTHER_APIS or (colon and kind == "gemini"):
        raise NoCounterpartError(f"the provider `{id}`, which is not a chat")
    api: dict[str, JSON] = {}
    if colon and mode == "responses" and kind == "openai":
        api = {"api": mode}
    elif not colon or mode not in ("chat", "messages"):
        rest = model
    return {"kind": kind, "model": rest, **api, **_read_config(config, suite)}


def _read_config(config: Item, suite: SuiteDraft) -> dict[str, JSON]:
    options: dict[str, JSON] = {}
    params: dict[str, JSON] = {}
    known = [*_SECRETS]
    for name, item in config.fields():
        value = item.value
        if name in _SECRETS:
            why = f"`{name}` of a provider: keys are only ever named"
            hint = "key_env of a target names the environment variable that has it"
            suite.lose(item.hidden(), why, hint, at="key")
        elif name == "apiKeyEnvar" and isinstance(value, str):
            options["key_env"] = value
        elif has_tags(value) or FILE in str(value):
            continue
        elif name in _BASE_URL and isinstance(value, str):
            options["base_url"] = value
        elif name == "passthrough" and isinstance(value, dict):
            params.update(value)
        elif name in _PARAMS:
            params[name] = value
        else:
            continue
        known.append(name)
    suite.lose_rest(config, known, _OF_PROVIDER, hides=True)
    return {**options, **({"params": params} if params else {})}


def _read_command(line: str, config: Item, suite: SuiteDraft) -> dict[str, JSON]:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise NoCounterpartError(f"the provider `exec:{line}`: {error}") from None
    if not words:
        raise NoCounterpartError("the provider `exec:`, which names no program")
    suite.lose_rest(config, (), _OF_PROVIDER, hides=True)
    why = "the second and third argument of a program: it is given the prompt alone"
    suite.lose(config._replace(value=None, path=config.path[:-1]), why, at="key")
    return {"kind": "command", "command": [*words, "{prompt}"]}


def _read_http(id: str, config: Item, suite: SuiteDraft) -> dict[str, JSON]:
    given = config.mapping()
    url, body = given.get("url") or id, parse_cell(given.get("body"))
    if not isinstance(url, str) or "://" not in url or has_tags(url):
        raise NoCounterpartError(f"{_HTTP} whose address is not written out")
    if given.get("request") is not None:
        raise NoCounterpartError(f"{_HTTP} that is sent a request as it is written")
    if given.get("method") not in (None, "POST") or given.get("queryParams"):
        raise NoCounterpartError(f"{_HTTP} that is sent no body, or more than a body")
    if not isinstance(body, dict | list):
        raise NoCounterpartError(f"{_HTTP} without a body of JSON")
    target: dict[str, JSON] = {"kind": "http", "url": url, "body": _put_placeholders(body)}
    for name, item in config.at("headers").fields():
        named = _BEARER.fullmatch(str(item.value).strip())
        if named is not None and name.lower() == "authorization":
            target["key_env"] = named[1]
        elif name.lower() != "content-type":
            hint = "`headers`, `header_env` and `key_env` of a target say what is sent"
            suite.lose(item.hidden(), f"the header `{name}` of a provider", hint, at="key")
    for name in filter(given.get, _PARSERS):
        path = _PATH.fullmatch(str(given[name]).strip())
        if path is None:
            hint = "`answer` is the path of the answer"
            suite.lose(config.at(name), f"`{name}`, which is code", hint, at="key")
        else:
            target["answer"] = ".".join(_STEP.findall(path[1]))
    known = ("url", "method", "headers", "body", *_PARSERS)
    suite.lose_rest(config, known, _OF_PROVIDER, hides=True)
    return target


def _put_placeholders(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {name: _put_placeholders(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_put_placeholders(each) for each in value]
    text = _PROMPT.sub("{prompt}", value) if isinstance(value, str) else value
    if has_tags(text):
        raise NoCounterpartError(f"{_HTTP} that is sent more than the prompt")
    return text
