from __future__ import annotations

import asyncio
import os
import resource
import socket
from collections.abc import Iterator

import pytest

from evalcase.system.descriptors import allow_descriptors
from evalcase.system.http.connecting import open_socket
from evalcase.system.http.errors import CantConnectError
from tests.system.http.raw_server import Names, raw_server, saying


@pytest.fixture
def limit() -> Iterator[int]:
    """The number of descriptors that the process may have, which is set to it again."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_as_many_are_allowed_as_are_needed_and_can_be(limit: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, limit))
    allow_descriptors(200)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (300, limit)
    allow_descriptors(400)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (400, limit)
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, limit))
    allow_descriptors(10**9)
    most = 10_240 if limit == resource.RLIM_INFINITY else min(10_240, limit)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (most, limit)


def test_sockets_leave_some_to_all_else(limit: int) -> None:
    async def run() -> None:
        async with raw_server(saying()) as server:
            with socket.socket() as probe:
                resource.setrlimit(resource.RLIMIT_NOFILE, (probe.fileno() + 2, limit))
            with pytest.raises(CantConnectError, match="Too many open files"):
                await open_socket(Names(), "127.0.0.1", server.port)
            os.close(os.open(os.devnull, os.O_RDONLY))

    asyncio.run(run())
