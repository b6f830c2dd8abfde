"""What is to be run: the options of a run, parsed once and kept with its record."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, get_args

from evalcase.errors import ConfigError
from evalcase.model.codec import decode_object, encode_object
from evalcase.model.decision import StopRule
from evalcase.model.defaults import MOST_REPEATS
from evalcase.model.option import held_faults, option, options_of
from evalcase.model.shape import Number
from evalcase.model.value import replace
from evalcase.project.config import Config
from evalcase.run.limits import Limits, Rate
from evalcase.run.selection import Selection


def _as_configured(name: str) -> Any:  # noqa: ANN401 - a field of its own type
    """What the configuration says, too: it is declared there. None leaves it to that."""
    declared = options_of(Config)[name]
    return option(declared.shape, declared.about, default=None)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """A run as the command line, or a program, asks for it. None leaves it to the configuration."""

    paths: tuple[str, ...] = (".",)
    targets: tuple[str, ...] = ()
    selection: Selection = field(default_factory=Selection)
    repeat: int | None = option(
        Number(1, MOST_REPEATS, whole=True), "How many times to run each case.", default=None
    )
    concurrency: int | None = _as_configured("concurrency")
    timeout_s: float | None = _as_configured("timeout_s")
    retries: int | None = _as_configured("retries")
    retry_timeouts: bool = False
    max_cost_usd: float | None = option(
        Number(0), "Start no new trials once this much is spent.", default=None
    )
    fail_fast: bool = False
    no_exec: bool = False
    cache: bool | None = None
    env_file: str | None = None
    max_errors: int = option(Number(0, whole=True), "Allow this many errored trials.", default=0)
    fail_under: float | None = option(Number(0), "The lowest accepted pass rate.", default=None)
    stop: StopRule | None = None
    """Whether, and by which rule, it ends once it is decided."""
    against: str | None = None
    """The run by which it is decided, in place of a pass rate."""

    def __post_init__(self) -> None:
        for fault in (*held_faults(self), *held_faults(self.selection)):
            raise ConfigError(fault.message)
        shard = self.selection.shard
        if shard is not None and not 1 <= shard.number <= shard.of:
            raise ConfigError(f"`shard` is a part of several, such as 2/5, not {shard}")
        self._check_stop()

    def _check_stop(self) -> None:
        """What is to be decided must be said, and only one thing."""
        by_rate, by_run = self.fail_under is not None, self.against is not None
        if by_run and self.stop != "likely":
            raise ConfigError("`--against RUN` needs `--stop likely`")
        if self.stop is None:
            return
        if self.stop not in get_args(StopRule):
            raise ConfigError(
                f"`stop` is one of {', '.join(get_args(StopRule))}, not {self.stop!r}"
            )
        if by_rate == by_run:
            which = "both `--fail-under` and `--against`" if by_rate else "neither"
            raise ConfigError(
                f"`--stop` goes by `--fail-under RATE` or by `--against RUN`: there is {which}"
            )
        if self.fail_fast:
            raise ConfigError("`--stop` and `--fail-fast` end a run for different reasons: say one")

    def limits(self, config: Config, per_target: dict[str, int]) -> Limits:
        bounds = {name: each.get("concurrency") for name, each in config.targets.items()}
        return Limits(
            concurrency=self.concurrency or config.concurrency,
            per_target=per_target,
            bounds={name: bound for name, bound in bounds.items() if bound is not None},
            rates={
                name: Rate(each.get("rpm"), each.get("tpm"))
                for name, each in config.targets.items()
                if "rpm" in each or "tpm" in each
            },
            timeout_s=self.timeout_s or config.timeout_s,
            timeout_wins=self.timeout_s is not None,
            retries=config.retries if self.retries is None else self.retries,
            retry_timeouts=self.retry_timeouts,
            max_cost_usd=self.max_cost_usd,
        )

    def overridden_by(self, **given: Any) -> RunOptions:  # noqa: ANN401 - each of its field's type
        """The same with what somebody asks for now; None asks for nothing."""
        return replace(self, **{name: each for name, each in given.items() if each is not None})

    def caches(self, config: Config) -> bool:
        return config.cache if self.cache is None else self.cache

    def to_dict(self) -> dict[str, Any]:
        """For the record, from which a run is resumed."""
        return encode_object(self)

    @classmethod
    def from_dict(cls, data: object) -> RunOptions:
        """What `to_dict` gave. Raise ValueError or ConfigError if it did not give that."""
        return decode_object(cls, data, "options")


def runs_folder(given: str | None, config: Config) -> str:
    """Where the records of a project are kept."""
    if given is not None:
        return os.path.abspath(given)  # a target may go elsewhere
    return os.path.join(config.root, config.runs_dir or os.path.join(".evalcase", "runs"))
