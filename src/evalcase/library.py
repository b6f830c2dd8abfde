"""Runs for programs: the same that `evalcase run` does, called from Python."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypedDict, Unpack

from evalcase.config import Config, load_config
from evalcase.errors import ConfigError
from evalcase.evaluation import Evaluated, Evaluation, runs_folder
from evalcase.model.result import Result
from evalcase.model.trial import Trial
from evalcase.request import Request
from evalcase.run.attempt import Target
from evalcase.run.plan import Selection, Shard
from evalcase.targets.python import PythonTarget

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
Asked: TypeAlias = str | Callable[..., Any] | Target
"""A target: its name, `kind:value`, a function, or an object that is one."""


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
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(evaluate_async(paths, target, **options))
    raise RuntimeError("an event loop is running: `await evalcase.evaluate_async(…)` there")


async def evaluate_async(
    paths: Paths = ".", target: Asked | Iterable[Asked] | None = None, **options: Unpack[Options]
) -> Evaluated:
    """The same as `evaluate`, for code that is async itself."""
    config = load_config(os.getcwd())
    warn = options.get("on_warning", _log)
    given = dict(_named(target, config, warn))
    request = _request(paths, tuple(given), options)
    watcher = _Watcher(options.get("on_result", _ignore))
    made = {name: each for name, each in given.items() if each is not None}
    evaluation = Evaluation(request, config, watcher, warn, made)
    return await evaluation.go(runs_folder(options.get("runs_dir"), config))


def _named(
    target: Asked | Iterable[Asked] | None, config: Config, warn: Callable[[str], None]
) -> Iterable[tuple[str, Target | None]]:
    """Targets by name. Those that are only named are made later."""
    if target is None:
        return
    several = target if isinstance(target, list | tuple | set) else (target,)
    for number, each in enumerate(several, 1):
        if isinstance(each, str):
            yield each, None
        elif callable(getattr(each, "answer", None)) and callable(getattr(each, "open", None)):
            name = type(each).__name__
            yield (name if number == 1 else f"{name}-{number}"), each
        elif callable(each):
            made = PythonTarget.of(each, root=config.root, warn=warn)
            yield f"python:{made.name}", made
        else:
            raise ConfigError(f"a target is a name, a function or a Target, not {each!r:.80}")


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
