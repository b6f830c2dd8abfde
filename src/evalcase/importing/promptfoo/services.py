"""One provider of promptfoo, by its id and its settings, to the options of a target.

A key is never carried over: the configuration names the environment variable that has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from evalcase.importing.promptfoo.unmapped import NoCounterpartError
from evalcase.importing.source import Item
from evalcase.importing.templates import has_tags
from evalcase.types.value import JSON
from evalcase.util.placeholders import value_as_text

Tell = Callable[[Item, str, str | None], None]
_PARAMS = frozenset({
    "temperature", "max_tokens", "max_completion_tokens", "top_p", "top_k", "seed", "stop",
    "presence_penalty", "frequency_penalty", "tools", "tool_choice", "functions", "function_call",
    "response_format", "reasoning_effort", "reasoning", "verbosity", "thinking", "n", "logprobs",
    "parallel_tool_calls", "service_tier", "metadata", "stop_sequences",
})  # fmt: skip
_BASES = ("apiBaseUrl", "baseURL", "base_url")
_KEY = "apiKeyEnvar"
_SECRETS = ("apiKey", "api_key", "token", "password")
_ENVIRONMENT = re.compile(r"\{\{\s*env\.(\w+)\s*\}\}")
_PATH = re.compile(r"json((?:\.\w+|\[\d+\]|\[['\"][\w-]+['\"]\])+)")
_METHODS = ("POST", "GET", "PUT", "PATCH")
_STEP = re.compile(r"[\w-]+")


class _Service(NamedTuple):
    kind: str
    base_url: str | None = None
    key_env: str | None = None
    modes: tuple[str, ...] = ("chat",)
    """What may stand between the service and the model, and means this API."""


_SERVICES: dict[str, _Service] = {
    "openai": _Service("openai"),
    "anthropic": _Service("anthropic", modes=("messages",)),
    "ollama": _Service("openai", "http://localhost:11434/v1"),
    "openrouter": _Service("openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "groq": _Service("openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "deepseek": _Service("openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "mistral": _Service("openai", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "xai": _Service("openai", "https://api.x.ai/v1", "XAI_API_KEY"),
    "togetherai": _Service("openai", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "cerebras": _Service("openai", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
}
_OTHER_APIS = {
    "completion", "embedding", "embeddings", "image", "realtime", "assistant", "moderation",
    "transcription", "speech", "video", "agents", "codex-sdk", "claude-agent-sdk", "chatkit",
}  # fmt: skip


def read_service(id: str, config: Item, tell: Tell) -> dict[str, JSON]:
    """The options of a target. Raise NoCounterpartError if no kind asks such a provider."""
    if id == "echo":
        return {"kind": "echo"}
    if id.startswith("exec:"):
        return _read_command(id.removeprefix("exec:").strip(), config, tell)
    if id.startswith(("http://", "https://")) or id in ("http", "https"):
        return _read_http(id, config, tell)
    if id.startswith(("file://", "python:", "golang:", "ruby:", "package:")):
        hint = "a function or a program of yours is a target, too: kinds python and command"
        raise NoCounterpartError(f"the provider `{id}`, which is code", hint)
    name, _, model = id.partition(":")
    service = _SERVICES.get(name)
    if service is None or not model:
        hint = "any service with OpenAI's or Anthropic's API, or any address, can be a target"
        raise NoCounterpartError(f"the provider `{id}`" if id else "a provider without id", hint)
    return _read_model(id, service, model, config, tell)


def _read_model(
    id: str, service: _Service, model: str, config: Item, tell: Tell
) -> dict[str, JSON]:
    mode, colon, rest = model.partition(":")
    if colon and mode in service.modes:
        model = rest
    elif colon and mode == "responses":
        model = rest
        tell(config._replace(value=None), "the Responses API: the chat API is asked", None)
    elif mode in _OTHER_APIS:
        raise NoCounterpartError(f"the provider `{id}`, which is not a chat")
    target: dict[str, JSON] = {"kind": service.kind, "model": model}
    if service.base_url is not None:
        target["base_url"] = service.base_url
    if service.key_env is not None:
        target["key_env"] = service.key_env
    return {**target, **_read_config(config, tell)}


def _read_config(config: Item, tell: Tell) -> dict[str, JSON]:
    options: dict[str, JSON] = {}
    params: dict[str, JSON] = {}
    for name, item in config.fields():
        if name in _SECRETS:
            _tell_secret(item, name, tell)
        elif name in _BASES and isinstance(item.value, str) and not has_tags(item.value):
            options["base_url"] = item.value
        elif name == _KEY and isinstance(item.value, str):
            options["key_env"] = item.value
        elif name == "passthrough" and isinstance(item.value, dict) and _is_plain(item.value):
            params.update(item.value)
        elif name in _PARAMS and _is_plain(item.value):
            params[name] = item.value
        elif item.value is not None:
            tell(item._replace(value=None), f"`{name}` of a provider", None)
    return {**options, **({"params": params} if params else {})}


def _tell_secret(item: Item, name: str, tell: Tell) -> None:
    hint = "key_env of a target names the environment variable that has it"
    around = item._replace(value=None, path=item.path[:-2])  # its own line would show the key
    tell(around, f"`{name}` of a provider: keys are only ever named", hint)


def _is_plain(value: JSON) -> bool:
    """Whether a setting is what it says, and no file or template."""
    if isinstance(value, str):
        return not value.startswith("file://") and not has_tags(value)
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return all(map(_is_plain, value)) if isinstance(value, list) else True


def _read_command(line: str, config: Item, tell: Tell) -> dict[str, JSON]:
    from shlex import split

    try:
        words = split(line)
    except ValueError as error:
        raise NoCounterpartError(f"the provider `exec:{line}`: {error}") from None
    if not words:
        raise NoCounterpartError("the provider `exec:`, which names no program")
    for name, item in config.fields():
        tell(item._replace(value=None), f"`{name}` of a provider", None)
    why = "the second and third argument of a program: it is given the prompt alone"
    tell(config._replace(value=None, path=config.path[:-1]), why, None)
    return {"kind": "command", "command": [*words, "{prompt}"]}


def _read_http(id: str, config: Item, tell: Tell) -> dict[str, JSON]:
    url = config.at("url").value or id
    if not isinstance(url, str) or "://" not in url or has_tags(url):
        raise NoCounterpartError("a provider over HTTP whose address is not written out")
    if config.at("request").value is not None:
        raise NoCounterpartError("a provider over HTTP that is sent a request as it is written")
    target: dict[str, JSON] = {"kind": "http", "url": url, **_read_asking(config)}
    _read_headers(config.at("headers"), target, tell)
    for name, item in config.fields():
        if name in ("transformResponse", "responseParser"):
            path = _PATH.fullmatch(str(item.value).strip())
            if path is None:
                tell(item, f"`{name}`, which is code", "`answer` is the path of the answer")
            else:
                target["answer"] = ".".join(_STEP.findall(path[1]))
        elif name not in ("url", "method", "headers", "body", "queryParams"):
            tell(item._replace(value=None), f"`{name}` of a provider", None)
    return target


def _read_asking(config: Item) -> dict[str, JSON]:
    """How it is asked, and by what: a query, a body, or both."""
    method = config.at("method").value or "POST"
    if method not in _METHODS:
        raise NoCounterpartError(f"a provider over HTTP that is asked by {method}")
    asking: dict[str, JSON] = {} if method == "POST" else {"method": method}
    query = _with_placeholders(config.at("queryParams").value)
    if isinstance(query, dict) and query:
        asking["query"] = {name: value_as_text(value) for name, value in query.items()}
    if method == "GET" and "{prompt}" not in str(query):
        raise NoCounterpartError("a provider over HTTP whose address has no prompt in it")
    return asking if method == "GET" else {**asking, "body": _read_body(config.at("body").value)}


def _read_body(body: JSON) -> JSON:
    if isinstance(body, str):
        from evalcase.util.json import BadJsonError, parse_json

        try:
            body = parse_json(body)
        except BadJsonError:
            raise NoCounterpartError("a provider over HTTP whose body is not JSON") from None
    if body is None:
        raise NoCounterpartError("a provider over HTTP without a body")
    return _with_placeholders(body)


_PROMPT = re.compile(r"\{\{\s*prompt\s*\}\}")


def _with_placeholders(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {name: _with_placeholders(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_placeholders(each) for each in value]
    if not isinstance(value, str):
        return value
    text = _PROMPT.sub("{prompt}", value)
    if has_tags(text):
        raise NoCounterpartError("a provider over HTTP that is sent more than the prompt")
    return text


def _read_headers(headers: Item, target: dict[str, JSON], tell: Tell) -> None:
    plain: dict[str, JSON] = {}
    named: dict[str, JSON] = {}
    for name, item in headers.fields():
        text = str(item.value)
        bearer = _ENVIRONMENT.fullmatch(text.removeprefix("Bearer ").strip())
        whole = _ENVIRONMENT.fullmatch(text.strip())
        if name.lower() == "authorization" and text.startswith("Bearer ") and bearer:
            target["key_env"] = bearer[1]
        elif whole is not None:
            named[name] = whole[1]
        elif has_tags(text) or name.lower() in _SECRET_HEADERS:
            _tell_secret(item, name, tell)
        elif name.lower() != "content-type":
            plain[name] = text
    if plain:
        target["headers"] = plain
    if named:
        target["header_env"] = named


_SECRET_HEADERS = ("authorization", "x-api-key", "api-key", "cookie", "proxy-authorization")
