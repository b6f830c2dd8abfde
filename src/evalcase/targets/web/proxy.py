"""Which proxy an environment says to go through."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from evalcase.errors import ConfigError
from evalcase.system.http.address import split_address


def find_proxy(kind: str, url: str, environment: Mapping[str, str]) -> str | None:
    """The proxy for an address, by HTTP_PROXY and the like. Raise ConfigError for an odd one."""
    parts = urlsplit(url)
    proxies = _read_proxies(environment)
    proxy = proxies.get(parts.scheme, proxies.get("all"))
    if not proxy or _needs_none(parts, proxies.get("no", "")):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    scheme = proxy.partition("://")[0].lower()
    if scheme not in ("http", "https"):
        what = f"a {scheme} proxy is set, and only http ones work"
        raise ConfigError(f"{kind} target: {what}")
    if not _is_usable(proxy):
        # It isn't shown: there may be a password in it.
        what = "the proxy that is set is not an address such as http://127.0.0.1:3128"
        raise ConfigError(f"{kind} target: {what}")
    return proxy


def _needs_none(parts: SplitResult, no_proxy: str) -> bool:
    """Whether NO_PROXY names a host: outright, with its port, by what it ends in, or by the network
    that it is in."""
    place, host = parts.netloc.lower(), (parts.hostname or "").rstrip(".")
    names = [name.strip().lower() for name in no_proxy.split(",")]
    return any(
        name in ("*", place) or _is_within(host, name) or _ends_in(host, name.removeprefix("*"))
        for name in names
        if name
    )


def _ends_in(host: str, name: str) -> bool:
    bare = name.strip(".[]")
    return host == bare or host.endswith(f".{bare}")


def _is_within(host: str, network: str) -> bool:
    try:
        return "/" in network and ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False


def _is_usable(proxy: str) -> bool:
    try:
        split_address(proxy)
        return urlsplit(proxy).port != 0
    except ValueError:
        return False


def _read_proxies(environment: Mapping[str, str]) -> dict[str, str]:
    """Proxies by scheme, and as `no` what needs none. Small letters win, as everywhere else."""
    found: dict[str, str] = {}
    for name in sorted(environment, key=str.islower):
        if name.lower().endswith("_proxy"):
            found[name.lower().removesuffix("_proxy")] = environment[name]
    if "REQUEST_METHOD" in environment and not environment.get("http_proxy"):
        # In a CGI script HTTP_PROXY is a header of whoever asks.
        found.pop("http", None)
    return {scheme: proxy for scheme, proxy in found.items() if proxy}
