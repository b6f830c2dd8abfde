"""What is to be run: the options of a run, parsed once and kept with its record."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import inf
from typing import Any

from evalcase.errors import ConfigError
from evalcase.project.config import Config
from evalcase.run.limits import Limits
from evalcase.run.plan import Selection, Shard


@dataclass(frozen=True, slots=True)
class Request:
    """A run as the command line, or a program, asks for it. None leaves it to the configuration."""

    paths: tuple[str, ...] = (".",)
    targets: tuple[str, ...] = ()
    selection: Selection = field(default_factory=Selection)
    repeat: int | None = None
    concurrency: int | None = None
    timeout_s: float | None = None
    retries: int | None = None
    retry_timeouts: bool = False
    max_cost_usd: float | None = None
    fail_fast: bool = False
    no_exec: bool = False
    cache: bool | None = None
    env_file: str | None = None

    def __post_init__(self) -> None:
        chosen = self.selection
        numbers: dict[str, tuple[float | None, float]] = {
            "repeat": (self.repeat, 1), "concurrency": (self.concurrency, 1),
            "retries": (self.retries, 0), "timeout_s": (self.timeout_s, 0.001),
            "max_cost_usd": (self.max_cost_usd, 0), "limit": (chosen.limit, 1),
            "sample": (chosen.sample, 1),
        }  # fmt: skip
        for name, (value, least) in numbers.items():
            wanted = int if least in (0, 1) and name != "max_cost_usd" else int | float
            if value is not None and (isinstance(value, bool) or not isinstance(value, wanted)):
                raise ConfigError(f"`{name}` is a number of {least} or more, not {value!r:.40}")
            if value is not None and not least <= value < inf:
                raise ConfigError(f"`{name}` is {least} or more, not {value}")
        if chosen.shard is not None and not 1 <= chosen.shard.number <= chosen.shard.of:
            raise ConfigError(f"`shard` is a part of several, such as 2/5, not {chosen.shard}")

    def limits(self, config: Config, per_target: dict[str, int]) -> Limits:
        return Limits(
            concurrency=self.concurrency or config.concurrency,
            per_target=per_target,
            timeout_s=self.timeout_s or config.timeout_s,
            timeout_wins=self.timeout_s is not None,
            retries=config.retries if self.retries is None else self.retries,
            retry_timeouts=self.retry_timeouts,
            max_cost_usd=self.max_cost_usd,
            fail_fast=self.fail_fast,
        )

    def to_dict(self) -> dict[str, Any]:
        """For the record, from which a run is resumed."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Request:
        """What `to_dict` gave. Raise TypeError, KeyError or ConfigError if it did not give that."""
        chosen = dict(data["selection"])
        shard = chosen["shard"]
        chosen |= {"globs": _texts(chosen["globs"]), "tags": _texts(chosen["tags"])}
        chosen["shard"] = Shard(*map(_whole, shard)) if shard is not None else None
        rest = {**data, "paths": _texts(data["paths"]), "targets": _texts(data["targets"])}
        for name in ("repeat", "concurrency", "retries"):
            _whole(rest.get(name) or 0)
        for name in ("seed", "limit", "sample"):
            _whole(chosen.get(name) or 0)
        if not isinstance(rest.get("env_file"), str | None):
            raise TypeError("env_file is no text")
        return cls(**{**rest, "selection": Selection(**chosen)})


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{value!r} is no list of texts")
    return tuple(value)


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no whole number")
    return value
