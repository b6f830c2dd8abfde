"""How long, how often and how many at once: the options of a run, parsed once."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.model.defaults import CONCURRENCY, RETRIES, TIMEOUT_S
from evalcase.model.value import Value


class Rate(NamedTuple):
    """What a target may be asked in a minute; None is as much as one likes."""

    rpm: int | None = None
    """Requests, each attempt one."""
    tpm: int | None = None
    """Tokens, of questions and answers."""


class Limits(Value, frozen=True):
    concurrency: int = CONCURRENCY
    """Trials under way at once, over all targets."""
    per_target: dict[str, int] | None = None
    """How many workers single targets have: no more than they have trials."""
    bounds: dict[str, int] | None = None
    """How many questions single targets are asked at once, where their configuration says so."""
    rates: dict[str, Rate] | None = None
    """How often, where their configuration says so."""
    timeout_s: float = TIMEOUT_S
    """Of one attempt."""
    timeout_wins: bool = False
    """Whether it counts more than what a case says, because a person typed it."""
    retries: int = RETRIES
    """Further attempts after one that may succeed later."""
    retry_timeouts: bool = False
    max_cost_usd: float | None = None

    def of_case(self, timeout_s: float | None) -> float:
        """The time limit of a case that says one, or none."""
        return self.timeout_s if self.timeout_wins or timeout_s is None else timeout_s

    def of_pace(self, name: str, own: int | None) -> int:
        """How many questions a target is asked at once, whoever asks; `own` is what it says."""
        bounds = self.concurrency, (self.bounds or {}).get(name), own
        return min(bound for bound in bounds if bound is not None)

    def of_rate(self, name: str, own: Rate) -> Rate | None:
        """How much a target is asked in a minute, whoever asks; None if nothing says so."""
        said = (self.rates or {}).get(name, Rate())
        least = Rate(_find_least(said.rpm, own.rpm), _find_least(said.tpm, own.tpm))
        return None if least == Rate() else least

    def of_target(self, name: str) -> int:
        """How many trials of one target may be under way at once."""
        return min(self.concurrency, (self.per_target or {}).get(name, self.concurrency))


def _find_least(*bounds: int | None) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)
