"""Each server is started once for each process that runs tests, when one first needs it."""

from collections.abc import Iterator

import pytest

from tests.servers.aimock import Aimock
from tests.servers.llmock import Llmock


@pytest.fixture(scope="session")
def running_llmock() -> Iterator[Llmock]:
    llmock = Llmock()
    yield llmock
    llmock.server.stop()


@pytest.fixture
def llmock(running_llmock: Llmock) -> Llmock:
    running_llmock.reset()
    return running_llmock


@pytest.fixture(scope="session")
def running_aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aimock]:
    aimock = Aimock(tmp_path_factory.mktemp("aimock"))
    yield aimock
    aimock.server.stop()


@pytest.fixture
def aimock(running_aimock: Aimock) -> Aimock:
    running_aimock.reset()
    return running_aimock


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long to wait where the server doesn't say is tested by itself, in `tests/run`."""
    monkeypatch.setattr("evalcase.runner.pacing._FIRST_WAIT_S", 0.01)


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request: pytest.FixtureRequest) -> str:
    """Of a model's API: streams and tool calls are part of each."""
    return str(request.param)


@pytest.fixture(params=["openai", "anthropic", "http"])
def kind(request: pytest.FixtureRequest) -> str:
    """Of a target: what may go wrong with a request is the same for all."""
    return str(request.param)
