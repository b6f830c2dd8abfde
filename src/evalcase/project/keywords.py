"""What a program says to `evaluate`, as the options of a run. The command needs none of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypedDict

from evalcase.errors import ConfigError
from evalcase.model.decision import StopRule
from evalcase.model.nearest import hint_at, nearest_meaning
from evalcase.model.result import Result
from evalcase.project.options import RunOptions
from evalcase.run.selection import FailedOf, Selection, Shard

_CASE_FORMS = (
    '`cases` takes ids or patterns, `"sum-*"`, pairs of suite and id, `("a.eval.yaml", "sum")`, '
    'or both with a target, `("a.eval.yaml", "sum", "echo")`'
)
_ELSEWHERE = {
    **dict.fromkeys(("evaluators", "scorers", "metrics", "assertions", "checks"), "graders"),
    **dict.fromkeys(("task", "model", "agent", "function", "targets", "provider"), "target"),
    **dict.fromkeys(("workers", "max_workers", "parallel", "num_threads", "n_jobs"), "concurrency"),
    **dict.fromkeys(("trials", "epochs", "num_repetitions", "runs", "times"), "repeat"),
    **dict.fromkeys(("timeout", "max_time", "time_limit"), "timeout_s"),
    **dict.fromkeys(("budget", "max_cost", "cost_limit"), "max_cost_usd"),
    **dict.fromkeys(("ids", "filter", "select"), "cases"),
}
"""What other tools call it."""
_TAG_FORMS = '`tags` takes texts, `"smoke"`'


class Keywords(TypedDict, total=False):
    """What `evalcase run` has as options, under the same names, for programs."""

    cases: Iterable[str | tuple[str, str] | tuple[str, str, str]]
    tags: Iterable[str]
    shard: tuple[int, int] | str
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
    max_errors: int
    fail_under: float
    stop: StopRule
    against: str
    cache: bool
    env_file: str
    no_exec: bool
    runs_dir: str
    failed_of: str
    engine: str
    processes: int
    on: str
    on_result: Callable[[Result], None]
    on_warning: Callable[[str], None]


def read_keywords(
    paths: tuple[str, ...],
    targets: tuple[str, ...],
    keywords: Keywords,
    failed_of: FailedOf | None = None,
) -> RunOptions:
    """The options of a run that a program asks for; `failed_of` is what a record has of it."""
    unknown = sorted(keywords.keys() - Keywords.__annotations__.keys())
    if unknown:
        known = (*Keywords.__annotations__, "graders", "users", "root", "target")
        meant = nearest_meaning(unknown[0], {**_ELSEWHERE, **dict(zip(known, known, strict=True))})
        said = f": {hint_at(meant)}" if meant is not None else ""
        raise TypeError(f"evaluate() has no option {unknown[0]!r}{said}")
    _check_stop(keywords)
    for name in ("on_result", "on_warning"):
        if name in keywords and not callable(keywords[name]):
            raise TypeError(f"`{name}` is a function, not {keywords[name]!r:.80}")
    chosen = _Chosen([], [], [])
    if "cases" in keywords:
        chosen = _read_cases(keywords["cases"])
    selection = Selection(
        globs=tuple(chosen.globs),
        pairs=tuple(chosen.pairs),
        at=tuple(chosen.at),
        tags=_read_tags(keywords["tags"]) if "tags" in keywords else (),
        shard=_read_shard(keywords.get("shard")),
        sample=keywords.get("sample"),
        seed=keywords.get("seed", 0),
        limit=keywords.get("limit"),
        failed_of=failed_of,
    )
    names = RunOptions.__dataclass_fields__.keys() - {"paths", "targets", "selection"}
    rest: dict[str, Any] = {name: value for name, value in keywords.items() if name in names}
    return RunOptions(paths, targets, selection, **rest)


def _check_stop(keywords: Keywords) -> None:
    """What `RunOptions` has against how a run is to stop, in the words of a program."""
    stop, is_against = keywords.get("stop"), keywords.get("against") is not None
    by_rate = keywords.get("fail_under") is not None
    if is_against and stop != "likely":
        raise ConfigError('`against` needs `stop="likely"`')
    if stop is not None and by_rate == is_against:
        which = "both" if by_rate else "neither"
        raise ConfigError(f"`stop` goes by `fail_under` or by `against`: there is {which}")
    if stop is not None and keywords.get("fail_fast"):
        raise ConfigError("`stop` and `fail_fast` end a run for different reasons: say one")


def _read_shard(shard: object) -> Shard | None:
    """`(2, 5)`, or as the command takes it, `"2/5"`. Raise TypeError for anything else."""
    match shard.split("/") if isinstance(shard, str) else shard:
        case None:
            return None
        case [int() as number, int() as of]:
            return Shard(number, of)
        case [str() as number, str() as of] if number.isdecimal() and of.isdecimal():
            return Shard(int(number), int(of))
    raise TypeError(f'`shard` takes the second of five parts as (2, 5) or "2/5", not {shard!r:.80}')


class _Chosen(NamedTuple):
    """Cases as a program names them."""

    globs: list[str]
    pairs: list[tuple[str, str]]
    at: list[tuple[str, str, str]]


def _read_cases(cases: object) -> _Chosen:
    """Raise TypeError for what names no cases: it would be all of them."""
    chosen = _Chosen([], [], [])
    for each in _read_several("cases", cases, _CASE_FORMS):
        match each:
            case str():
                chosen.globs.append(each)
            case (str() | os.PathLike() as suite, str() as id):
                chosen.pairs.append((os.fspath(suite), id))
            case (str() | os.PathLike() as suite, str() as id, str() as target):
                chosen.at.append((os.fspath(suite), id, target))
            case _:
                raise TypeError(f"{_CASE_FORMS}, not {each!r:.80}")
    return chosen


def _read_tags(tags: object) -> tuple[str, ...]:
    read = tuple(_read_several("tags", tags, _TAG_FORMS))
    for each in read:
        if not isinstance(each, str):
            raise TypeError(f"{_TAG_FORMS}, not {each!r:.80}")
    return read


def _read_several(name: str, value: object, forms: str) -> tuple[Any, ...]:
    """Raise ConfigError if there are none: who chooses by a list that is empty wants no case, and
    not all."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable):
        raise TypeError(f"{forms}, not {value!r:.80}")
    several = tuple(value)
    if not several:
        raise ConfigError(f"`{name}` is empty, and chooses no case: without it, all are chosen")
    return several
