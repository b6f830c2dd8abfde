"""`--engine ray`: workers that are actors of Ray, on this machine or on a cluster. Messages travel
in batches of lines, by `push` and `pull`; Ray gets nothing else of ours."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from math import ceil
from typing import Any

import evalcase
from evalcase.config.config import EngineSettings
from evalcase.errors import ConfigError, TargetError
from evalcase.executors.executor import WorkerExecutor, select_variables
from evalcase.executors.pool import Pool, Worker
from evalcase.executors.processes import count_cores
from evalcase.executors.protocol import Close, Ending, Setup, ToWorker, read_from_run, write_message
from evalcase.executors.worker import ScrubbedOutput, Send, Service, make_send
from evalcase.runner.plan import Plan
from evalcase.types.value import replace

_NOT_SHIPPED = [".git", ".evalcase", "__pycache__", ".venv"]
_DETAIL = re.compile(
    r"(?:Worker exit detail|The actor died because|Reason): (.+?)(?: Some common|$)"
)
_NO_TELEMETRY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
_WAIT_S = 30.0


class RayExecutor(WorkerExecutor):
    """Actors, and their Ray: one that is started for the run, unless an address is given."""

    def __init__(self, settings: EngineSettings, plan: Plan) -> None:
        """Raise ConfigError where there is no Ray, or the plan can't be run there."""
        if plan.options.no_exec:
            raise ConfigError(
                "the engine `ray` imports modules of the project before others, and --no-exec "
                "forbids that: use `--engine in-process` or `--processes N`"
            )
        if importlib.util.find_spec("ray") is None:
            raise ConfigError(
                "the engine `ray` needs Ray, from the extra `ray`: pip install 'ray[client]>=2.40'"
            )
        super().__init__(settings, plan)
        variables = self._variables
        named = {name: variables[name] for name in self._setup.variables if name in variables}
        self._setup = replace(self._setup, environment=named)

    @contextmanager
    def make_pool(self) -> Iterator[Pool]:
        """Start Ray, or join a cluster. It happens in this thread: Ray's processes end with it."""
        import ray

        if ray.is_initialized():
            raise ConfigError("Ray is in use in this process already: call `ray.shutdown()` first")
        settings, address = self._settings, self._settings.address
        is_local = address == "local"
        most = max(settings.workers or 0, settings.max_workers or 0)
        cpus = max(count_cores(), ceil(most * settings.cpus))
        local = {"include_dashboard": False, "num_cpus": cpus} if is_local else {}
        shipped = {"working_dir": self._setup.root, "excludes": _NOT_SHIPPED}
        # Ray's own processes get the usual variables. Workers get the named ones, too.
        with _limit_environment(select_variables((), self._variables) if is_local else None):
            try:
                ray.init(address, runtime_env=shipped, logging_level=logging.ERROR, **local)
            except Exception as error:
                why = f"Ray at {address} can't be used: {describe_error(error)}"
                raise ConfigError(why) from error

        try:
            first = settings.workers or self._count_free()
            most = max(settings.max_workers or first, first)
            yield self._pool_of(first, most, partial(RayWorker, settings, self.warn))
        finally:
            ray.shutdown()

    def _count_free(self) -> int:
        import ray

        settings = self._settings
        if settings.address == "local" and settings.cpus <= 1:
            return count_cores()
        has: dict[str, float] = ray.cluster_resources()
        needs = {"CPU": settings.cpus, "GPU": settings.gpus, **settings.resources}
        counts = [int(has.get(name, 0) // count) for name, count in needs.items() if count]
        return max(min(counts, default=1), 1)


@contextmanager
def _limit_environment(environment: Mapping[str, str] | None) -> Iterator[None]:
    """Have Ray's own processes inherit these variables and Ray's, and no others."""
    before = dict(os.environ)
    try:
        if environment is not None:
            of_ray = {name: value for name, value in before.items() if name.startswith("RAY_")}
            os.environ.clear()
            os.environ.update({**environment, **of_ray})
        os.environ.update(_NO_TELEMETRY)
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class RayWorker(Worker):
    """An actor, as the run sees it."""

    def __init__(self, settings: EngineSettings, warn: Callable[[str], None]) -> None:
        super().__init__()
        self._settings = settings
        self._warn = warn
        self._actor: Any = None
        self._lines: list[bytes] = []
        """Messages that are to be sent."""
        self._pushing: asyncio.Task[None] | None = None
        self._pulling: asyncio.Task[None] | None = None

    async def start(self) -> None:
        import ray

        settings = self._settings
        actor = ray.remote(Actor).options(
            num_cpus=settings.cpus, num_gpus=settings.gpus, resources=dict(settings.resources),
            max_restarts=0, max_concurrency=1000,
        )  # fmt: skip
        self._actor = actor.remote()
        version = asyncio.ensure_future(_await_reply(self._actor.version.remote()))
        try:
            await asyncio.wait([version], timeout=_WAIT_S)
            if not version.done():
                why = "`ray status` says what the cluster lacks"
                self._warn(f"a worker of Ray has had no machine for {_WAIT_S:g} s: {why}")
            found = await version
        except Exception as error:
            why = f"a worker of Ray can't be started: {describe_error(error)}"
            raise TargetError(why) from error
        finally:
            version.cancel()  # where the run is over
        if found != evalcase.__version__:
            raise TargetError(
                f"the workers of Ray have evalcase {found}, and this is {evalcase.__version__}: "
                "install the same there"
            )
        self._pulling = asyncio.ensure_future(self._pull())

    async def close(self, grace_s: float) -> None:
        if self._pulling is not None and not self.is_lost:
            self.send(Close())
            await asyncio.wait([self._pulling], timeout=grace_s)
        for task in (self._pushing, self._pulling):
            if task is not None:
                task.cancel()
        self.kill("it was closed")

    def end(self) -> None:
        import ray

        if self._actor is not None:
            with suppress(Exception):  # whatever Ray raises, there is nothing left to end
                ray.kill(self._actor)

    def send(self, message: ToWorker) -> None:
        self._lines.append(write_message(message))
        if self._pushing is None or self._pushing.done():
            self._pushing = asyncio.ensure_future(self._push())

    async def _push(self) -> None:
        while self._lines and not self.is_lost:
            lines, self._lines = self._lines, []
            await self._call("push", b"".join(lines))

    async def _pull(self) -> None:
        while not self.is_lost:
            for line in (await self._call("pull")).splitlines():
                self.receive(line)

    async def _call(self, method: str, *given: bytes) -> bytes:
        """What a method of the actor returns; nothing if it is gone."""
        try:
            return await _await_reply(getattr(self._actor, method).remote(*given)) or b""
        except Exception as error:  # noqa: BLE001 - whatever Ray raises, the worker is gone
            self.lose(describe_error(error))
            return b""


async def _await_reply(reference: Any) -> Any:  # noqa: ANN401 - what an actor returns
    """Ray's client breaks if a call is cancelled: only the wait for it is."""
    waiting = asyncio.ensure_future(reference)
    waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(waiting)


def describe_error(error: BaseException) -> str:
    """Why Ray refuses, or an actor is gone, out of the many lines that Ray writes."""
    text = " ".join(str(error).split())
    found = _DETAIL.search(text)
    return f"{type(error).__name__}: {found[1] if found is not None else text}"[:300]


class Actor:
    """The worker's side. Ray calls its methods in the order in which they were sent."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._has_lines = asyncio.Event()
        self._service: Service | None = None

    async def version(self) -> str:
        return evalcase.__version__

    async def push(self, batch: bytes) -> None:
        """Take messages, the Setup first."""
        for line in batch.splitlines():
            message = read_from_run(line)
            if isinstance(message, Setup):
                await self._begin(message, make_send(self._add))
            elif self._service is None:
                continue  # the run knows why
            elif isinstance(message, Close):
                await self._service.close()
                make_send(self._add)(Ending())  # after all that was sent before
            else:
                self._service.receive(message)

    async def pull(self) -> bytes:
        """All messages to the run; it waits until there is one."""
        await self._has_lines.wait()
        self._has_lines.clear()
        lines, self._lines = self._lines, []
        return b"".join(lines)

    def _add(self, lines: bytes) -> None:
        self._lines.append(lines)
        self._has_lines.set()

    async def _begin(self, setup: Setup, send: Send) -> None:
        try:
            service = Service(_move_setup(setup), send)
            # Ray has its logs there.
            sys.stdout, sys.stderr = (
                ScrubbedOutput(os.fdopen(os.dup(number), "wb"), service.scrub) for number in (1, 2)
            )
            await service.open()
            self._service = service
        except Exception as error:  # noqa: BLE001 - the run must hear of it
            send(Ending(f"{type(error).__name__}: {error}"))


def _move_setup(setup: Setup) -> Setup:
    """The setup in the copy of the project that Ray has made. Named variables that are not set here
    have the values of the run."""
    for name, value in setup.environment.items():
        os.environ.setdefault(name, value)
    root = os.getcwd()
    below = os.path.relpath(setup.cwd, setup.root)
    cwd = root if below.startswith("..") else os.path.normpath(os.path.join(root, below))
    return replace(setup, root=root, cwd=cwd, shipped_from=setup.root, environment={})
