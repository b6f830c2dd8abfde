"""Problems of files as they may be shown: they quote lines, and a line may have a key in it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from evalcase.config.config import Config, read_config
from evalcase.errors import ConfigError
from evalcase.runner.plan import make_scrubber
from evalcase.types.problem import Problem
from evalcase.types.value import replace
from evalcase.util.secrets import Scrubber, mask_credentials


def scrub_problems(problems: Sequence[Problem]) -> list[Problem]:
    """The same without what is secret here, as the configuration of this folder says, and without
    what lets others in wherever it is from."""
    problems = [_mask_problem(problem) for problem in problems]
    scrubber = make_scrubber(_read_known_config(), os.environ, lambda _: None)
    if not scrubber.look().values:
        return problems
    return [_scrub_problem(problem, scrubber) for problem in problems]


def _read_known_config() -> Config:
    try:
        return read_config(os.getcwd())
    except ConfigError:
        return Config(os.getcwd())


def _mask_problem(problem: Problem) -> Problem:
    hint, excerpt = problem.hint, problem.excerpt
    return replace(
        problem, message=mask_credentials(problem.message), hint=hint and mask_credentials(hint),
        excerpt=excerpt and excerpt._replace(text=mask_credentials(excerpt.text)),
    )  # fmt: skip


def _scrub_problem(problem: Problem, scrubber: Scrubber) -> Problem:
    hint, excerpt = problem.hint, problem.excerpt
    said = scrubber.text(problem.message), hint and scrubber.text(hint)
    shown = excerpt and excerpt._replace(text=scrubber.text(excerpt.text))
    if (*said, shown) == (problem.message, hint, excerpt):
        return problem
    # Where the line is another, nobody knows what to underline.
    kept = excerpt if shown == excerpt else None
    return replace(problem, message=said[0], hint=said[1], excerpt=kept)
