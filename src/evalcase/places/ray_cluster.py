"""`--engine ray`: a run whose trials are answered by actors of Ray, here or on a cluster."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from typing import Any

import evalcase
from evalcase.config.config import EngineSettings
from evalcase.errors import ConfigError
from evalcase.places.away import Away
from evalcase.places.pool import Pool, Room
from evalcase.places.processes import count_cores
from evalcase.places.ray_channel import RayChannel
from evalcase.places.setting import Setting, environment_for, setting_of
from evalcase.runner.dispatch import Workplace
from evalcase.runner.plan import Plan
from evalcase.types.codec import encode_object
from evalcase.types.value import replace

_LEFT_BEHIND = [".git", ".evalcase", "__pycache__", ".venv"]
_VERSIONS = re.compile(r"Ray: (\S+)\s+Python: (\S+)")
_OWN = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""Nothing is told to anybody of what is run here."""


class RayCluster(Away):
    """Actors, and the Ray that they are in: one of its own unless an address is given."""

    def __init__(self, settings: EngineSettings, plan: Plan, setting: Setting) -> None:
        super().__init__(self._pool_of, plan.warn)
        self._settings = settings
        self._plan = plan
        self._setting = setting
        self._environment = environment_for(setting, plan.environment.variables)
        usual = environment_for(replace(setting, variables=()), plan.environment.variables)
        self._usual = usual
        """What every program needs. What is named is told to workers, and not to Ray."""

    def begin(self) -> None:
        """Start Ray, or join a cluster. This thread does, for Ray's processes end with it."""
        import ray

        if ray.is_initialized():
            raise ConfigError("Ray is in use in this process already: call `ray.shutdown()` first")
        address = self._settings.address
        shipped = {"working_dir": self._setting.root, "excludes": _LEFT_BEHIND}
        here = {"include_dashboard": False, "num_cpus": self._cpus_here()}
        with _limit_environment(self._usual if address == "local" else None):
            try:
                ray.init(
                    address, runtime_env=shipped, logging_level=logging.ERROR,
                    **(here if address == "local" else {}),
                )  # fmt: skip
            except Exception as error:
                raise ConfigError(explain_refusal(error, address)) from error

    def leave(self) -> None:
        import ray

        ray.shutdown()

    def _pool_of(self, away: Away) -> Pool:
        settings = self._settings
        size = settings.workers or self._count_places()
        most = max(settings.max_workers or size, size)
        names, environment = self._setting.variables, self._environment
        greeting = {
            "op": "greeting", "setting": encode_object(self._setting),
            "environment": {name: environment[name] for name in names if name in environment},
            "most_bytes": settings.memory_mb * 10**6 if settings.memory_mb is not None else None,
        }  # fmt: skip
        at_once = self._plan.options.concurrency or self._plan.config.concurrency
        return Pool(
            size, self._channel, greeting, away.hear, away.hear_lost,
            room=Room(most, ceil(at_once / most)),
        )  # fmt: skip

    def _channel(self) -> RayChannel:
        return RayChannel(self._actor, evalcase.__version__, self._tell_wait)

    def _actor(self) -> Any:  # noqa: ANN401 - a handle of Ray's
        import ray

        from evalcase.places.ray_worker import RayWorker

        settings = self._settings
        made = ray.remote(RayWorker).options(
            num_cpus=settings.cpus, num_gpus=settings.gpus, resources=dict(settings.resources),
            max_restarts=0, max_concurrency=1000,
        )  # fmt: skip
        return made.remote()

    def _needs(self) -> dict[str, float]:
        settings = self._settings
        needs = {"CPU": settings.cpus, "GPU": settings.gpus, **settings.resources}
        return {name: count for name, count in needs.items() if count}

    def _cpus_here(self) -> int:
        settings = self._settings
        most = max(settings.workers or 0, settings.max_workers or 0)
        return max(count_cores(), ceil(most * settings.cpus))

    def _count_places(self) -> int:
        """How many workers there is room for just now."""
        import ray

        if self._settings.address == "local" and self._settings.cpus <= 1:
            return count_cores()
        there: dict[str, float] = ray.cluster_resources()
        rooms = [int(there.get(name, 0) // count) for name, count in self._needs().items()]
        return max(min(rooms, default=1), 1)

    def _tell_wait(self, seconds: float) -> None:
        import ray

        has = {name: ray.cluster_resources().get(name, 0) for name in self._needs()}
        self._plan.warn(
            f"a worker of Ray was given nothing to run on for {seconds:g} s: it needs "
            f"{_list_resources(self._needs())}, and the cluster has {_list_resources(has)} in all"
        )


def make_ray(settings: EngineSettings, plan: Plan) -> Workplace:
    """The Ray of a plan. Raise ConfigError where there is none, or the plan can't be run there."""
    if plan.options.no_exec:
        raise ConfigError(
            "the engine `ray` imports modules of the project before others, and --no-exec forbids "
            "that: use `--engine in-process` or `--processes N`"
        )
    if importlib.util.find_spec("ray") is None:
        raise ConfigError(
            "the engine `ray` needs Ray, from the extra `ray`: pip install 'ray[client]>=2.40'"
        )
    return RayCluster(settings, plan, setting_of(plan, settings.env))


def explain_refusal(error: BaseException, address: str) -> str:
    """Why a cluster can't be used, and what to do about it."""
    text = str(error)
    versions = _VERSIONS.findall(text)
    if len(versions) == 2 and versions[0] != versions[1]:
        (ray, python), (own_ray, own_python) = versions
        needs = [f"use Python {python} here"] if python != own_python else []
        needs += [f"pip install ray=={ray}"] if ray != own_ray else []
        return (
            f"the cluster at {address} has Ray {ray} and Python {python}, and this is Ray "
            f"{own_ray} and Python {own_python}: {', and '.join(needs)}"
        )
    if isinstance(error, ImportError) and address.startswith("ray://"):
        return f"{address} needs the client of Ray: pip install 'ray[client]'"
    said = [line.strip() for line in text.splitlines() if line.strip()]
    first = said[0] if said else type(error).__name__
    if first.endswith(":") and len(said) > 1:
        first += f" {said[-1]}"
    why = f"Ray at {address} can't be used: {first.rstrip(':')}"
    if isinstance(error, ConnectionError) and "RAY_AUTH_MODE" not in os.environ:
        return f"{why}. If it asks for a token, set RAY_AUTH_MODE=token, so that Ray sends its own"
    return why


def _list_resources(resources: Mapping[str, float]) -> str:
    return ", ".join(f"{count:g} {name}" for name, count in resources.items()) or "nothing"


@contextmanager
def _limit_environment(environment: Mapping[str, str] | None) -> Iterator[None]:
    """Have Ray's own processes inherit these variables and Ray's, and no others."""
    before = dict(os.environ)
    try:
        if environment is not None:
            kept = {name: value for name, value in before.items() if name.startswith("RAY_")}
            os.environ.clear()
            os.environ.update({**environment, **kept})
        os.environ.update(_OWN)
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
