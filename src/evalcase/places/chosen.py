"""What a person and the configuration say of where trials are answered, to a workplace."""

from __future__ import annotations

from collections.abc import Callable

from evalcase.config.config import Config, EngineSettings
from evalcase.config.options import LocalOptions
from evalcase.config.registry import find_class
from evalcase.errors import ConfigError
from evalcase.runner.dispatch import Workplace
from evalcase.runner.plan import Plan
from evalcase.types.value import replace

MakeWorkplace = Callable[[EngineSettings, Plan], Workplace | None]
"""What an engine stands for. It raises ConfigError where the plan can't be run there."""


def choose_engine(config: Config, local: LocalOptions) -> EngineSettings | None:
    """The settings of the engine that is asked for; None where trials are answered here.

    What the configuration says holds for the engine that it is said of.
    """
    engine, processes = local.engine, local.processes
    if local.on is not None:
        if engine not in (None, "ray") or processes is not None:
            raise ConfigError("`--on` names a cluster of Ray, and another engine is asked for, too")
        return replace(_find_settings(config, "ray"), address=local.on)
    if processes is not None:
        if engine not in (None, "processes"):
            raise ConfigError(f"`--processes` and `--engine {engine}` are two engines: say one")
        return replace(_find_settings(config, "processes"), workers=processes)
    return config.engine if engine is None else _find_settings(config, engine)


def make_workplace(settings: EngineSettings | None, plan: Plan) -> Workplace | None:
    """The workplace of an engine. Raise ConfigError where the plan can't be run there."""
    if settings is None:
        return None
    make: MakeWorkplace = find_class("places", settings.kind)
    return make(settings, plan)


def stay_here(settings: EngineSettings, plan: Plan) -> None:
    """`in-process`: no workplace at all, trials are answered in the process of the run."""
    del settings, plan


def _find_settings(config: Config, kind: str) -> EngineSettings:
    known = config.engine
    return known if known is not None and known.kind == kind else EngineSettings(kind=kind)
