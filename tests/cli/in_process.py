"""The command without a process of its own: arguments, folder, environment and standard input go
in, exit code and output come out, and nothing of it stays behind in the process of the tests.

Starting Python and importing evalcase takes ten times as long as most of what a test asks of it.
Whatever a process is needed for (signals, terminals, locales, kills, how it ends) is tested in one:
see `evalcase_process` and `Project.start`. A warning of Python's is an error here, as in all tests.
"""

import io
import logging
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple
from unittest import mock

import evalcase
from evalcase.cli.app import run_command

_ENDING = ("_exit", "execv", "execve")
_PATH, _MODULES = sys.path[:], set(sys.modules)
"""As they are before any test is run."""
_ROOT = Path(__file__).parent.parent.parent
_INSTALLED = [sys.prefix, sys.base_prefix, *evalcase.__path__]
_INSTALLED += [str(_ROOT / name) for name in ("tests", "docs", "benchmarks", "fuzz")]
_INSTALLED += [folder for folder in _PATH if folder.endswith("site-packages")]
"""Where nothing comes and goes while the tests are run."""
_STAYING = set(_MODULES)
_STAYING_FOLDERS: set[str] = set()
_LOOKED_AT: set[str] = set()
_CACHES: list[Callable[[], None]] = []
"""What empties the caches of those of evalcase's modules that have to be."""


class Ended(NamedTuple):
    """What a process would have left: its exit code and what it wrote."""

    code: int
    stdout: bytes
    stderr: bytes


def run_in_process(
    arguments: Sequence[str], *, cwd: Path | None, env: Mapping[str, str], stdin: bytes = b""
) -> Ended:
    """Run the command, as if it was alone in a new process."""
    stdout, stderr = io.BytesIO(), io.BytesIO()
    with ExitStack() as stack:
        stack.enter_context(chdir(cwd or Path.cwd()))
        stack.enter_context(_own_environment(env))
        stack.enter_context(_streams(stdin, stdout, stderr))
        stack.enter_context(mock.patch.object(sys, "argv", ["evalcase", *arguments]))
        # It would matter if the machine failed, and takes longer than much else.
        stack.enter_context(mock.patch.object(os, "fsync", int))
        stack.enter_context(_own_logging())
        stack.enter_context(_own_imports())
        stack.enter_context(_own_signals())
        stack.enter_context(_own_end())
        code = _exit_code()
        return Ended(code, stdout.getvalue(), stderr.getvalue())


def _exit_code() -> int:
    """Leave as the interpreter would: what nobody caught is a traceback, and 1."""
    try:
        return run_command(sys.argv[1:])
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except (Exception, KeyboardInterrupt):  # noqa: BLE001 - what it is, the test will see
        traceback.print_exc()
        return 1


@contextmanager
def _own_environment(env: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    _become(env, before)
    try:
        yield
    finally:
        _become(before, dict(os.environ))


def _become(env: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Change the environment where it differs: most of it is the same."""
    for name in now.keys() - env.keys():
        del os.environ[name]
    for name, value in env.items():
        if now.get(name) != value:
            os.environ[name] = value


@contextmanager
def _streams(stdin: bytes, stdout: io.BytesIO, stderr: io.BytesIO) -> Iterator[None]:
    """Text streams over bytes, as those of a process whose output goes to a file."""
    out = io.TextIOWrapper(stdout, encoding="utf-8", write_through=True)
    err = io.TextIOWrapper(stderr, "utf-8", "backslashreplace", write_through=True)
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    with mock.patch.multiple(sys, stdin=given, stdout=out, stderr=err):
        yield


@contextmanager
def _own_logging() -> Iterator[None]:
    """Without the handlers of pytest: a warning for the log goes to standard error, and user code
    may set up its own."""
    root, state = logging.root, (logging.root.handlers[:], logging.root.level)
    root.handlers[:] = []
    root.setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.handlers[:] = state[0]
        root.setLevel(state[1])


@contextmanager
def _own_imports() -> Iterator[None]:
    """Only what the tests themselves are made of can be seen at first, and what is imported from
    elsewhere is forgotten: the next run sees files as they are then."""
    path, outside = sys.path[:], take_out_strangers()
    sys.path[:] = _PATH
    _clear_caches()
    try:
        yield
    finally:
        take_out_strangers()
        sys.path[:] = path
        sys.modules.update(outside)


def take_out_strangers() -> dict[str, ModuleType]:
    """Modules from folders in which those of the tests are not looked for."""
    added = [folder for folder in sys.path if folder not in _PATH]
    for folder in [each for each in sys.path_importer_cache if each not in _STAYING_FOLDERS]:
        if _is_below(folder, _INSTALLED):
            _STAYING_FOLDERS.add(folder)
        else:
            del sys.path_importer_cache[folder]
    unknown = set(sys.modules) - _STAYING  # the quickest way to find the few of thousands
    strange = [name for name in unknown if _is_strange(name, added)]
    return {name: sys.modules.pop(name) for name in strange}


def _is_strange(name: str, added: Sequence[str]) -> bool:
    """Whether it is from elsewhere. Most are not, and looked at once: there are thousands of them,
    for each of thousands of commands."""
    places = _places(sys.modules[name])
    if all(_is_below(place, _INSTALLED) for place in places):
        _STAYING.add(name)
        return False
    return any(_is_below(place, added) or not _is_below(place, _PATH) for place in places)


def _places(module: ModuleType) -> list[str]:
    file = getattr(module, "__file__", None)
    return [*getattr(module, "__path__", ()), *([file] if file else [])]


def _is_below(place: str, folders: Sequence[str]) -> bool:
    return any(place == folder or place.startswith(folder + os.sep) for folder in folders)


def _clear_caches() -> None:
    """What evalcase remembers of what is installed. All else that it remembers follows from what
    it was asked, whoever asked."""
    for name in set(sys.modules) - _LOOKED_AT:
        _LOOKED_AT.add(name)
        values = vars(sys.modules[name]).values() if name.startswith("evalcase.config") else ()
        _CACHES.extend(each.cache_clear for each in values if hasattr(each, "cache_clear"))
    for clear in _CACHES:
        clear()


@contextmanager
def _own_end() -> Iterator[None]:
    """The process of the tests may end after a run as before."""
    modules = (os, sys.modules[os.name])
    before = [{name: vars(each)[name] for name in _ENDING} for each in modules]
    try:
        yield
    finally:
        for each, functions in zip(modules, before, strict=True):
            vars(each).update(functions)


@contextmanager
def _own_signals() -> Iterator[None]:
    """The handlers that a run sets are gone after it."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
