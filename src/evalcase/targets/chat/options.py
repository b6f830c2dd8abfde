"""What both chat APIs are configured by: a model, an address, parameters and prices."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from evalcase.errors import ConfigError
from evalcase.model.json_value import JSON
from evalcase.targets.options import Options
from evalcase.targets.web.options import HttpOptions, KeyRule, check_url, read_http_options


@dataclass(frozen=True, slots=True)
class Api:
    """What a kind of chat target is like."""

    kind: str
    base_url: str
    path: str
    key: KeyRule
    """Its variable is for the default address only: a key belongs to a host."""
    own_params: frozenset[str]
    """What evalcase sends by itself, so `params` may not."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    model: str
    base_url: str
    params: dict[str, JSON]
    http: HttpOptions

    @property
    def streams(self) -> bool:
        return self.params.get("stream") is True


def read_chat_options(api: Api, read: Options, own_headers: dict[str, str]) -> ChatOptions:
    """Raise ConfigError for the first option that can't be used."""
    model = read.required_text("model", '"some-model"')
    base_url = check_url(read, "base_url", read.text("base_url") or api.base_url).rstrip("/")
    is_default = base_url == api.base_url
    key = api.key if is_default else api.key._replace(variable=None)
    http = read_http_options(api.kind, read, _joined(base_url, api.path), key, own_headers)
    return ChatOptions(model, base_url, _params(api, read), http)


def split_value(kind: str, value: str) -> tuple[str, str | None]:
    """`MODEL`, or `MODEL@http://host/v1`. The name of a model may have an @ in it, too."""
    at = max(value.rfind("@http://"), value.rfind("@https://"))
    if not value or at == 0:
        raise ConfigError(f"{kind} target: it needs a model, as in {kind}:MODEL")
    return (value, None) if at < 0 else (value[:at], value[at + 1 :])


def _params(api: Api, read: Options) -> dict[str, JSON]:
    params = read.json("params") if read.mapping("params") else {}
    assert isinstance(params, dict)
    for name in params:
        if name in api.own_params:
            read.refuse("params", f"can't hold `{name}`, which evalcase sends by itself")
    if params.get("n", 1) != 1:
        read.refuse("params", "has `n` over 1: to ask more than once, use `repeat`")
    if not isinstance(params.get("stream", False), bool):
        read.refuse("params.stream", f"is true or false, not {params['stream']!r}")
    return params


def _joined(base_url: str, path: str) -> str:
    parts = urlsplit(base_url)
    return parts._replace(path=parts.path.rstrip("/") + path).geturl()
