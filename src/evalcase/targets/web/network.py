"""What an environment says of the network: which proxy to go through, and whom to trust."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from evalcase.errors import ConfigError
from evalcase.targets.web.endpoint import Endpoint

_BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_TRUSTED = ("SSL_CERT_FILE", "SSL_CERT_DIR", *_BUNDLES)


def find_proxy(endpoint: Endpoint, environment: Mapping[str, str]) -> str | None:
    """The proxy for an endpoint, by HTTP_PROXY and the like. Raise ConfigError for an odd one."""
    parts = urlsplit(endpoint.url)
    proxies = _proxies(environment)
    proxy = proxies.get(parts.scheme, proxies.get("all"))
    if not proxy or _needs_none(parts, proxies.get("no", "")):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    scheme = proxy.partition("://")[0]
    if scheme not in ("http", "https"):
        what = f"a {scheme} proxy is set, and only http ones work"
        raise ConfigError(f"{endpoint.kind} target: {what}")
    if not _is_usable(proxy):
        # It isn't shown: there may be a password in it.
        what = "the proxy that is set is no address such as http://127.0.0.1:3128"
        raise ConfigError(f"{endpoint.kind} target: {what}")
    return proxy


def _needs_none(parts: SplitResult, no_proxy: str) -> bool:
    """Whether NO_PROXY names a host: outright, with its port, or by what it ends in."""
    hosts = parts.netloc.lower(), (parts.hostname or "").lower()
    names = [name.strip().lower().lstrip(".") for name in no_proxy.split(",")]
    return no_proxy.strip() == "*" or any(
        host == name or host.endswith(f".{name}") for name in names if name for host in hosts
    )


def _is_usable(proxy: str) -> bool:
    try:
        parts = urlsplit(proxy)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _proxies(environment: Mapping[str, str]) -> dict[str, str]:
    """Proxies by scheme, and as `no` what needs none. Small letters win, as everywhere else."""
    found: dict[str, str] = {}
    for name in sorted(environment, key=str.islower):
        if name.lower().endswith("_proxy"):
            found[name.lower().removesuffix("_proxy")] = environment[name]
    if "REQUEST_METHOD" in environment and not environment.get("http_proxy"):
        # In a CGI script HTTP_PROXY is a header of whoever asks.
        found.pop("http", None)
    return {scheme: proxy for scheme, proxy in found.items() if proxy}


def load_trust(endpoint: Endpoint, environment: Mapping[str, str]) -> ssl.SSLContext | bool:
    """The authorities of the system, or those that the environment names."""
    if not endpoint.url.startswith("https:"):
        return True
    name = next((name for name in _TRUSTED if environment.get(name)), "")
    try:
        if name in _BUNDLES:
            file, folder = _split_place(environment[name])
            return ssl.create_default_context(cafile=file, capath=folder)
        context = ssl.create_default_context()
        if name:
            context.load_verify_locations(*_split_place(environment[name]))
    except OSError as error:
        raise ConfigError(f"{endpoint.kind} target: {name} can't be read: {error}") from None
    return context


def _split_place(path: str) -> tuple[str | None, str | None]:
    return (None, path) if os.path.isdir(path) else (path, None)
