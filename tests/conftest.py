"""Every test begins with the signals that a person's shell would give a command, with a home that
nobody lives in, and without what the shell says of width, colours, proxies and traces. It is ended
if it hangs: no test measures time, and none needs nearly as much as the limit."""

import gc
import os
import re
import signal
import traceback
from collections.abc import Generator, Iterator
from pathlib import Path
from types import FrameType
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from tests.run.project import Gate, Project

HERE = Path(__file__).parent
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
LONG = ("test_kills.py", "test_ray.py")
_IN_MEMORY, _ROOM_BYTES = "/dev/shm", 4_000_000_000
_OF_THE_SHELL = re.compile(
    "COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|.*_PROXY|OTEL_.*", re.IGNORECASE
)
"""Variables that change what commands, and the programs that tests start, print or reach."""
LIMIT_S = float(os.environ.get("EVALCASE_TEST_LIMIT_S", "300.0"))

# The same examples each time, so that a change is judged by what it changed. `make check` looks
# six times as hard, and `make fuzz` two hundred times, and elsewhere each time.
settings.register_profile(
    "usual",
    deadline=None,
    derandomize=True,
    max_examples=5,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("careful", settings.get_profile("usual"), max_examples=30)
settings.register_profile(
    "thorough",
    settings.get_profile("usual"),
    derandomize=False,
    database=DirectoryBasedExampleDatabase(".hypothesis/examples"),
    max_examples=1000,
)
settings.load_profile("usual")


def pytest_configure() -> None:
    """Undo what a background job or `nohup` ignores: the commands that tests start would inherit
    it, and Ctrl-C and a closed terminal would mean nothing to them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, _fail)
    _work_in_memory()


def _work_in_memory() -> None:
    """Have folders of tests in memory, where there is room: thousands of runs wait for a disk.
    Nothing is tested of what a disk keeps when the power fails."""
    try:
        room = os.statvfs(_IN_MEMORY)
    except OSError:  # not on this system
        return
    if room.f_bavail * room.f_frsize > _ROOM_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _IN_MEMORY)


def pytest_xdist_auto_num_workers() -> int:
    """Two for each core: while a test waits for a process or a server, another can be run."""
    return (os.cpu_count() or 1) * 2


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests and what they import stay until the end: the garbage collector would go
    through them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Each worker begins to import elsewhere, and finds compiled what others have come to: to
    compile all tests takes longer than to collect them."""
    report = yield
    if collector.path == HERE and report.result:
        begin = len(report.result) * WORKER // WORKERS
        report.result = report.result[begin:] + report.result[:begin]
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All workers have one order. Those that wait for clusters begin, so that nobody waits for them
    at the end."""
    items.sort(key=lambda item: (item.path.name not in LONG, item.path))


def pytest_unconfigure() -> None:
    from tests.cli.forked_process import ForkServer

    ForkServer.end()


@pytest.fixture(autouse=True, scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home in which nothing is, so that no test reads or writes what is in a person's own, and
    none of the variables by which a test would end otherwise on another machine."""
    path = tmp_path_factory.mktemp("home")
    with mock.patch.dict(os.environ, HOME=str(path), XDG_STATE_HOME=str(path / "state")):
        for name in filter(_OF_THE_SHELL.fullmatch, list(os.environ)):
            del os.environ[name]
        yield path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of nothing yet, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evalcase.toml").write_text("")
    return tmp_path


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    gate = Gate(tmp_path)
    yield gate
    gate.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None]:
    yield from _within_limit()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    yield from _within_limit()


def _within_limit() -> Generator[None]:
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _fail(_: int, frame: FrameType | None) -> None:
    pytest.fail("it hangs, and was here:\n" + "".join(traceback.format_stack(frame)))
