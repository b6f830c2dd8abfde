"""An address to a socket: every address that a name leads to is tried, those of both families in
turn, and the first that answers is taken."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple, Protocol

from evalcase.system.descriptors import leaves_room
from evalcase.system.http.errors import CantConnectError

_STAGGER_S = 0.25
"""How long one address is waited for until the next is tried beside it."""


class SocketAddress(NamedTuple):
    """An address as sockets take it."""

    family: int
    address: tuple[Any, ...]


class Resolver(Protocol):
    """Says where a name leads."""

    async def resolve(self, host: str, port: int) -> Sequence[SocketAddress]:
        """Raise OSError where it leads nowhere, or where nobody may go."""


async def open_socket(resolver: Resolver, host: str, port: int) -> socket.socket:
    """A socket that is connected. Raise CantConnectError."""
    try:
        places = list(_alternate(await resolver.resolve(host, port)))
        if not places:
            raise OSError(f"{host} leads nowhere")
        return await (_connect(places[0]) if len(places) == 1 else _race(places))
    except UnicodeError as error:
        raise CantConnectError(OSError(str(error))) from None
    except OSError as error:
        raise CantConnectError(error) from None


def _alternate(places: Sequence[SocketAddress]) -> Iterator[SocketAddress]:
    """Those of the family that comes first, and those of the other one, in turn."""
    first = [each for each in places if each.family == places[0].family]
    other = [each for each in places if each.family != places[0].family]
    for pair in zip_longest(first, other):
        yield from (each for each in pair if each is not None)


async def _connect(place: SocketAddress) -> socket.socket:
    made = socket.socket(place.family, socket.SOCK_STREAM)
    try:
        if not leaves_room(made.fileno()):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, place.address)
    except ConnectionRefusedError as error:
        made.close()
        host, port = place.address[:2]
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        what = f"nothing listens at {where}; is the server running?"
        raise ConnectionRefusedError(error.errno, what) from None
    except BaseException:
        made.close()
        raise
    return made


async def _race(places: Sequence[SocketAddress]) -> socket.socket:
    """Raise the error of the first place if all fail."""
    waiting, running = list(reversed(places)), set[asyncio.Task[socket.socket]]()
    tried: list[asyncio.Task[socket.socket]] = []
    try:
        while waiting or running:
            if waiting:
                tried.append(asyncio.ensure_future(_connect(waiting.pop())))
                running.add(tried[-1])
            limit_s = _STAGGER_S if waiting else None
            done, running = await asyncio.wait(
                running, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED
            )
            for each in done:
                if each.exception() is None:
                    return tried.pop(tried.index(each)).result()
        return tried[0].result()
    finally:
        _end_attempts(tried)


def _end_attempts(tried: list[asyncio.Task[socket.socket]]) -> None:
    """Give up all that are left. One that came to its end by now has a socket that nobody wants."""
    for each in tried:
        each.cancel()
    for each in tried:
        each.add_done_callback(_close_late)


def _close_late(attempt: asyncio.Task[socket.socket]) -> None:
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()
