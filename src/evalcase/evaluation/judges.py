"""Who is asked about answers, or plays a user: looked at with the plan, and open before the first
trial that needs them. To set one up may block the event loop, on which others are measured."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from itertools import chain, islice

from evalcase.config.config import Config
from evalcase.config.targets import describe_same_model
from evalcase.errors import ConfigError
from evalcase.evaluation.survey import Survey
from evalcase.runner.graders import Graders
from evalcase.types.result import Trial
from evalcase.types.target import Target

OpenAll = Callable[[], Awaitable[None]]
"""Opens all who judge that are not open yet."""


def make_judges(
    found: Survey, config: Config, graders: Graders, known: Mapping[str, Target],
    make: Callable[[str], Target],
) -> dict[str, Target]:  # fmt: skip
    """The targets that graders ask, as far as these say it before, but for those that are known
    for something else. Raise ConfigError if one can't be made."""
    of_given = {name for named in graders.given for name in named.grader.asks()}
    names = sorted(_judges_of(found, config) | of_given)
    return {name: make(name) for name in names if name not in known}


def same_models(found: Survey, config: Config) -> Iterator[str]:
    """What is to be said of judges that are asked about answers of their own."""
    default = config.judge.target if config.judge is not None else None
    pairs = {(judge or default, target) for judge, target in found.judged}
    for judge, target in sorted((judge, target) for judge, target in pairs if judge is not None):
        same = describe_same_model(judge, target, config)
        if same is not None:
            yield same


def refuse_batches(found: Survey, config: Config) -> None:
    """Who is asked about an answer, or in the middle of a conversation, has to answer at once."""
    judges = _judges_of(found, config)
    for name in sorted(judges | {user for user, _ in found.users}):
        if config.targets.get(name, {}).get("batch"):
            who = "judge" if name in judges else "simulated user"
            raise ConfigError(
                f"target `{name}` answers in batches, which a {who} can't wait for: give it the "
                "same model without `batch`"
            )


def _judges_of(found: Survey, config: Config) -> set[str]:
    """The names of all who are asked about answers, as far as cases say it."""
    default = config.judge.target if config.judge is not None else None
    names = {judge or default for judge, _ in found.judged}
    return {name for name in names if name is not None}


async def open_before(
    left: Mapping[str, Iterator[Trial]], open_judges: OpenAll
) -> dict[str, Iterator[Trial]]:
    """The same trials. If there is one, whoever judges is opened before it is begun."""
    first = {name: list(islice(trials, 1)) for name, trials in left.items()}
    if any(first.values()):
        await open_judges()
    return {name: chain(first[name], trials) for name, trials in left.items()}
