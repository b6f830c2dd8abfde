"""How a target reaches the network: by which proxy, trusting which authorities, and which addresses
it never asks.

Link-local and metadata addresses give away the keys of a machine. They are refused as they stand in
an address, and wherever a name leads to one. Behind a proxy, names are resolved by the proxy, so
only addresses that are written out can be refused.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from evalcase.errors import ConfigError

_NETWORKS = (
    ip_network("169.254.0.0/16"),
    ip_network("fe80::/10"),
    ip_network("fd00:ec2::254/128"),
    ip_network("fd20:ce::254/128"),
    ip_network("100.100.100.200/32"),
    ip_network("168.63.129.16/32"),
)
"""Link-local ones; and those where Amazon, Google, Alibaba and Azure tell a machine its keys."""
_NAMES = frozenset({"metadata.google.internal", "metadata.goog"})
ALLOW_HINT = "set allow_link_local = true if you mean it"

_BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_TRUSTED = ("SSL_CERT_FILE", "SSL_CERT_DIR", *_BUNDLES)
_HOST = re.compile(r"[\w.:%-]+")


# Addresses.


def check_literal(kind: str, url: str) -> None:
    """Raise ConfigError if an address is written out that gives away the keys of a machine."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host in _NAMES or is_refused(host) or is_refused(_read_odd_ipv4(host)):
        what = "a link-local or metadata address, which gives away the keys of a machine"
        raise ConfigError(f"{kind} target: {host} is {what}; {ALLOW_HINT}")


def is_refused(address: str) -> bool:
    """Whether a text is such an address, also as IPv6 writes those of IPv4. Names never are."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    inner = _find_inner_address(parsed) or parsed
    return any(parsed in network or inner in network for network in _NETWORKS)


def _read_odd_ipv4(host: str) -> str:
    """An address that is written as one number, or in hexadecimal: systems accept it."""
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except (OSError, UnicodeError):
        return ""


def _find_inner_address(address: IPv4Address | IPv6Address) -> IPv4Address | None:
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    is_translated = address in ip_network("64:ff9b::/96") or int(address) >> 32 == 0
    return IPv4Address(int(address) & 0xFFFFFFFF) if is_translated else None


# Authorities.


def load_trust(
    kind: str, url: str, proxy: str | None, environment: Mapping[str, str]
) -> ssl.SSLContext | None:
    """The authorities of the system, or those that the environment names; None where neither the
    address nor a proxy needs any."""
    if not any(each.lower().startswith("https:") for each in (url, proxy or "")):
        return None
    name = next((name for name in _TRUSTED if environment.get(name)), "")
    try:
        if name in _BUNDLES:
            file, folder = _split_place(environment[name])
            return ssl.create_default_context(cafile=file, capath=folder)
        context = ssl.create_default_context()
        if name:
            context.load_verify_locations(*_split_place(environment[name]))
    except OSError as error:
        raise ConfigError(f"{kind} target: {name} can't be read: {error}") from None
    return context


def _split_place(path: str) -> tuple[str | None, str | None]:
    return (None, path) if os.path.isdir(path) else (path, None)


# Proxies.


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
        parts = urlsplit(proxy)
        return _HOST.fullmatch(parts.hostname or "") is not None and parts.port != 0
    except ValueError:
        return False


def _read_proxies(environment: Mapping[str, str]) -> dict[str, str]:
    """Proxies by scheme, and as `no` what needs none. Small letters win, as everywhere else."""
    found: dict[str, str] = {}
    for name in sorted(environment, key=str.islower):
        if name.lower().endswith("_proxy"):
            found[name.lower().removesuffix("_proxy")] = environment[name]
    if "REQUEST_METHOD" in environment and not environment.get("http_proxy"):
        # In a CGI script, HTTP_PROXY is a header of the request.
        found.pop("http", None)
    return {scheme: proxy for scheme, proxy in found.items() if proxy}
