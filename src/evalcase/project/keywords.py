"""What a program says to `evaluate`, as the options of a run. The command needs none of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypedDict

from evalcase.model.decision import StopRule
from evalcase.model.result import Result
from evalcase.project.options import RunOptions
from evalcase.run.selection import FailedOf, Selection, Shard


class Keywords(TypedDict, total=False):
    """What `evalcase run` has as options, under the same names, for programs."""

    cases: Iterable[str | tuple[str, str] | tuple[str, str, str]]
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
        raise TypeError(f"evaluate() has no option {unknown[0]!r}")
    shard, cases = keywords.get("shard"), keywords.get("cases", ())
    chosen = (cases,) if isinstance(cases, str) else tuple(cases)
    named = [each for each in chosen if not isinstance(each, str)]
    selection = Selection(
        globs=tuple(each for each in chosen if isinstance(each, str)),
        pairs=tuple((os.fspath(each[0]), each[1]) for each in named if len(each) == 2),
        at=tuple((os.fspath(each[0]), each[1], each[2]) for each in named if len(each) == 3),
        tags=_texts(keywords.get("tags", ())),
        shard=Shard(*shard) if shard is not None else None,
        sample=keywords.get("sample"),
        seed=keywords.get("seed", 0),
        limit=keywords.get("limit"),
        failed_of=failed_of,
    )
    names = RunOptions.__dataclass_fields__.keys() - {"paths", "targets", "selection"}
    rest: dict[str, Any] = {name: value for name, value in keywords.items() if name in names}
    return RunOptions(paths, targets, selection, **rest)


def _texts(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
