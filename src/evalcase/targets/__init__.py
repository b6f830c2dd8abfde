"""Targets: whatever answers a case. Each kind is one small class in a file of its own.

A target is made from options, as a configuration holds them, or from the value of `kind:value`:

    EchoTarget(root=".", warn=print)
    PythonTarget(function="my_agent:answer", root=".", warn=print)
    PythonTarget.from_value("my_agent:answer", root=".", warn=print)

Options are checked at once, and a ConfigError names the one that can't be used. `root` is the
folder that relative paths start from; `warn` takes what a person should know, in one line. It may
be told the same line many times: showing it once is the engine's part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from evalcase.model.answer import Answer
from evalcase.model.trial import Trial

Warn: TypeAlias = Callable[[str], None]


def ignore(_: str) -> None:
    """Take a warning that nobody wants to see."""


class Target(Protocol):
    """What the engine needs of a target. It sets the time limit, from outside, by cancelling.

    A target may say more about itself:

    - `concurrency`: how many answers it can give at once;
    - `key_names`: the environment variables that it takes secrets from, which are then kept out
      of everything that is written or shown;
    - `carries_address(value)`, of the class: whether `kind:value` holds an address, which no suite
      may name;
    - `cache_key(trial)`: all that decides its answer, as JSON. Without it, it can't be cached; None
      in its place means that there is nothing to gain.
    """

    async def open(self) -> None:
        """Set up, once per run. Raise ConfigError or TargetError where that can't be done."""

    async def answer(self, trial: Trial) -> Answer:
        """Answer one case. Raise TargetError; code of the user may raise anything."""

    async def close(self) -> None:
        """Tear down, once, also after a failed `open` or a cancellation; in bounded time."""
