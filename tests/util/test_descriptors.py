from __future__ import annotations

import asyncio
import os
import resource
import socket
from collections.abc import Iterator

import pytest

from evalcase.errors import TargetError
from evalcase.targets.http import HttpTarget
from evalcase.util.environment import allow_descriptors
from tests.targets.questions import question, target_of
from tests.targets.server import Reply, serving


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
        target = target_of(HttpTarget, url=server.url)
        await target.open()
        try:
            assert (await target.answer(question())).text == "ok"
            with socket.socket() as probe:
                resource.setrlimit(resource.RLIMIT_NOFILE, (probe.fileno() + 2, limit))
            # The first connection is in use while the second is asked for.
            answers = [target.answer(question()) for _ in range(2)]
            first, second = await asyncio.gather(*answers, return_exceptions=True)
            assert {getattr(first, "text", None), getattr(second, "text", None)} == {"ok", None}
            (failed,) = [each for each in (first, second) if isinstance(each, TargetError)]
            assert "Too many open files" in str(failed)
            os.close(os.open(os.devnull, os.O_RDONLY))
        finally:
            await target.close()

    with serving(Reply(b"ok")) as server:
        asyncio.run(run())
