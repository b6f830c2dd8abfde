"""A variable of a provider's own client that names another host than the one that is asked.

Nobody but the configuration and the command line says where to connect to. So it is not followed;
but whoever set it means that host, and what is sent to the provider instead can't be taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from evalcase.errors import ConfigError
from evalcase.targets.chat.options import ChatOptions
from evalcase.targets.web.endpoint import without_query


def refuse_other_host(options: ChatOptions, environment: Mapping[str, str]) -> None:
    """Raise ConfigError if one is set, and the target doesn't say itself where it is."""
    if options.base_url is not None:
        return
    for name in options.api.address_names:
        value = environment.get(name, "").strip()
        if value and "://" not in value:
            value = f"https://{value}"
        if value and _host_of(value) != _host_of(options.address):
            raise ConfigError(_explain(options, name, without_query(value)))


def _host_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _explain(options: ChatOptions, name: str, meant: str) -> str:
    kind, own = options.api.kind, options.api.base_url
    return (
        f"{kind} target: the environment variable {name} is {meant}, and evalcase would ask {own}: "
        f'say which is meant, as {kind}:{options.model}@{meant} or base_url = "{meant}" with the '
        f'`key_env` of its key; for the other, base_url = "{own}"'
    )
