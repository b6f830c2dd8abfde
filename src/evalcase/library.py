"""Runs for programs: the same that `evalcase run` does, called from Python."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypedDict, Unpack, cast

from evalcase.errors import ConfigError
from evalcase.evaluation import Evaluation, runs_folder
from evalcase.model.result import Result
from evalcase.model.target import Surroundings, Target, is_target
from evalcase.model.trial import Trial
from evalcase.project.config import Config, load_config
from evalcase.project.options import Request
from evalcase.record.evaluated import Evaluated
from evalcase.run.plan import Selection, Shard
from evalcase.targets.python import PythonTarget

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
Asked: TypeAlias = str | Callable[..., Any] | Target
"""A target: its name, `kind:value`, a function, or an object that is one, or answers like one."""


class Options(TypedDict, total=False):
    """What `evalcase run` has as options, under the same names."""

    cases: Iterable[str]
    tags: Iterable[str]
    shard: tuple[int, int]
    limit: int
    sample: int
    seed: int
    repeat: int
    concurrency: int
    timeout_s: float
    retries: int
    retry_timeouts: bool
    max_cost_usd: float
    fail_fast: bool
    cache: bool
    env_file: str
    no_exec: bool
    runs_dir: str
    on_result: Callable[[Result], None]
    on_warning: Callable[[str], None]


def evaluate(
    paths: Paths = ".", target: Asked | Iterable[Asked] | None = None, **options: Unpack[Options]
) -> Evaluated:
    """Run the cases of some files and folders, and keep every result.

    Raise SuiteError if a case is invalid, ConfigError or TargetError if a target can't be used,
    RecordError if nothing can be kept. Failures and errors of trials are results, and not raised.
    """
    if _is_in_loop():
        raise RuntimeError("an event loop is running: `await evalcase.evaluate_async(…)` there")
    return asyncio.run(evaluate_async(paths, target, **options))


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def evaluate_async(
    paths: Paths = ".", target: Asked | Iterable[Asked] | None = None, **options: Unpack[Options]
) -> Evaluated:
    """The same as `evaluate`, for code that is async itself."""
    config = load_config(os.getcwd())
    warn = options.get("on_warning", _log)
    given = _named(target, config, warn)
    request = _request(paths, tuple(given), options)
    watcher = _Watcher(options.get("on_result", _ignore))
    made = {name: each for name, each in given.items() if each is not None}
    evaluation = Evaluation(request, config, watcher, warn, made)
    return await evaluation.go(runs_folder(options.get("runs_dir"), config))


def _named(
    target: Asked | Iterable[Asked] | None, config: Config, warn: Callable[[str], None]
) -> dict[str, Target | None]:
    """Targets by name. Those that are only named are made later."""
    if target is None:
        return {}
    named: dict[str, Target | None] = {}
    several = isinstance(target, Iterable) and not isinstance(target, str) and not callable(target)
    for each in cast("Iterable[Asked]", target if several else (target,)):
        name, made = _one(each, config, warn)
        # Two functions may have the same name, and are two targets all the same.
        count = 1
        free = name
        while made is not None and free in named:
            count += 1
            free = f"{name}-{count}"
        named[free] = made
    return named


def _one(target: Asked, config: Config, warn: Callable[[str], None]) -> tuple[str, Target | None]:
    if isinstance(target, str):
        return target, None
    if is_target(target):
        return type(target).__name__, target
    if callable(target) or callable(getattr(target, "answer", None)):
        made = PythonTarget.of(target, Surroundings(config.root, os.environ, warn))
        return f"python:{made.name}", made
    raise ConfigError(f"a target is a name, a function or a Target, not {target!r:.80}")


def _request(paths: Paths, targets: tuple[str, ...], options: Options) -> Request:
    unknown = sorted(options.keys() - Options.__annotations__.keys())
    if unknown:
        raise TypeError(f"evaluate() has no option {unknown[0]!r}")
    several = (paths,) if isinstance(paths, str | os.PathLike) else paths
    shard = options.get("shard")
    selection = Selection(
        globs=_texts(options.get("cases", ())),
        tags=_texts(options.get("tags", ())),
        shard=Shard(*shard) if shard is not None else None,
        sample=options.get("sample"),
        seed=options.get("seed", 0),
        limit=options.get("limit"),
    )
    names = Request.__dataclass_fields__.keys() - {"paths", "targets", "selection"}
    rest: dict[str, Any] = {name: options.get(name) for name in names if name in options}
    return Request(tuple(os.fspath(path) for path in several), targets, selection, **rest)


def _texts(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


class _Watcher:
    def __init__(self, on_result: Callable[[Result], None]) -> None:
        self._on_result = on_result

    def started(self, trial: Trial) -> None:
        """Nobody asked."""

    def finished(self, result: Result) -> None:
        self._on_result(result)


def _ignore(_: Result) -> None:
    """The record has it."""


def _log(text: str) -> None:
    from logging import getLogger

    getLogger("evalcase").warning(text)
