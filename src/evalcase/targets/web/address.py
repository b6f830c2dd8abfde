"""Where a request may go. Link-local and metadata addresses give away the keys of a machine.

They are refused as they stand in an address, and as names are resolved: when a target is opened,
and again for each connection, because a name can be made to lead elsewhere later.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from evalcase.errors import ConfigError
from evalcase.system.http.connecting import SocketAddress
from evalcase.system.threads import Threads

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
_HINT = "set allow_link_local = true if you mean it"


class CheckedResolver:
    """Resolves names in threads that keep nothing from ending, and refuses some addresses."""

    def __init__(self, threads: Threads, allow_link_local: bool) -> None:
        self._threads = threads
        self._allow = allow_link_local
        self._running: dict[tuple[str, int], asyncio.Task[list[SocketAddress]]] = {}
        """Names that are looked up just now: who wants the same waits for the same."""

    async def resolve(self, host: str, port: int) -> list[SocketAddress]:
        """All addresses of a name. Raise OSError if there are none, or if one is refused."""
        known = _read_literal(host, port)
        places = [known] if known is not None else await self._look_up(host, port)
        for each in places:
            if not self._allow and is_refused(each.address[0]):
                raise OSError(f"{host} leads to {each.address[0]}, a link-local address; {_HINT}")
        return places

    def close(self) -> None:
        """Wait for nothing any more. The threads belong to somebody else."""
        for each in self._running.values():
            each.cancel()

    async def _look_up(self, host: str, port: int) -> list[SocketAddress]:
        key = (host, port)
        running = self._running.get(key)
        if running is None:
            running = asyncio.ensure_future(self._find(host, port))
            self._running[key] = running
            running.add_done_callback(lambda done: self._forget(key, done))
        # Whoever gives up does so alone.
        return await asyncio.shield(running)

    def _forget(self, key: tuple[str, int], done: asyncio.Task[list[SocketAddress]]) -> None:
        del self._running[key]
        if not done.cancelled():
            done.exception()  # whoever waits is told; there may be nobody left

    async def _find(self, host: str, port: int) -> list[SocketAddress]:
        look_up = socket.getaddrinfo
        found = await self._threads.call(look_up, host, port, 0, socket.SOCK_STREAM)
        assert isinstance(found, list)
        return [SocketAddress(family, address) for family, _, _, _, address in found]


def _read_literal(host: str, port: int) -> SocketAddress | None:
    """Where an address leads that needs no looking up."""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return SocketAddress(socket.AF_INET, (host, port))
    return None if address.scope_id else SocketAddress(socket.AF_INET6, (host, port, 0, 0))


async def check_address(kind: str, url: str, threads: Threads) -> None:
    """Raise ConfigError if an address is one that gives away the keys of a machine."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    refused = host in _NAMES or is_refused(host)
    if not refused:
        # A name that can't be resolved is no fault here: a proxy may know it, or it comes back.
        with suppress(OSError, UnicodeError):
            found = await threads.call(socket.getaddrinfo, host, None)
            assert isinstance(found, list)
            refused = any(is_refused(address[0]) for *_, address in found)
    if refused:
        what = "a link-local or metadata address, which gives away the keys of a machine"
        raise ConfigError(f"{kind} target: {host} is {what}; {_HINT}")


def is_refused(address: str) -> bool:
    """Whether a text is such an address, be it as IPv6 speaks of IPv4. Names never are."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    inner = _find_inner_address(parsed) or parsed
    return any(parsed in network or inner in network for network in _NETWORKS)


def _find_inner_address(address: IPv4Address | IPv6Address) -> IPv4Address | None:
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    is_translated = address in ip_network("64:ff9b::/96") or int(address) >> 32 == 0
    return IPv4Address(int(address) & 0xFFFFFFFF) if is_translated else None
