"""`--processes N`: a run whose trials are answered by so many processes of this machine."""

from __future__ import annotations

import os
import sys
from functools import partial

from evalcase.config.config import EngineSettings
from evalcase.places.away import Away
from evalcase.places.pool import Pool
from evalcase.places.process_channel import ProcessChannel
from evalcase.places.setting import Setting, environment_for, setting_of
from evalcase.runner.dispatch import Workplace
from evalcase.runner.plan import Plan
from evalcase.types.codec import encode_object
from evalcase.util.process_tree import close_guard, open_guard


class Processes(Away):
    """Workers that are ended with the run, however that ends."""

    def begin(self) -> None:
        open_guard()

    def leave(self) -> None:
        close_guard()


def make_processes(settings: EngineSettings, plan: Plan) -> Workplace:
    """The processes of a plan. Raise ConfigError if they couldn't make what it has."""
    setting = setting_of(plan, settings.env)
    return Processes(partial(_make_pool, settings, plan, setting), plan.warn)


def _make_pool(settings: EngineSettings, plan: Plan, setting: Setting, away: Away) -> Pool:
    environment = environment_for(setting, plan.environment.variables)
    most = settings.memory_mb * 1_000_000 if settings.memory_mb is not None else None

    def show(text: str) -> None:
        sys.stderr.write(plan.scrubber.text(text))

    def make() -> ProcessChannel:
        return ProcessChannel(setting.cwd, environment, show)

    greeting = {"setting": encode_object(setting)}
    size = settings.workers or count_cores()
    return Pool(size, make, greeting, away.hear, away.hear_lost, most)


def count_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
