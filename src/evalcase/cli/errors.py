"""Errors that stop a command: as words on standard error, without secrets, and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from evalcase.cli.terminal import print_lines, screen_for, write_prose
from evalcase.config.config import Config, read_config
from evalcase.errors import ConfigError, EvalcaseError, RecordError, SuiteError
from evalcase.report.problems import fold_problems
from evalcase.types.problem import Problem
from evalcase.types.value import replace
from evalcase.util.errors import failure_of
from evalcase.util.secrets import Scrubber, mask_credentials
from evalcase.util.text import make_visible

CRASH_CODE = 3
"""What was asked for was not completed; 1 would be a verdict."""
_WHY = "this is a bug in evalcase, unless code of a target or a grader has modified evalcase itself"


def tell_crash(
    error: BaseException, stream: TextIO, scrub: Callable[[str], str] = lambda text: text
) -> str:
    """Tell of it, and return it in a few words."""
    failure = failure_of(error)
    said = scrub(failure.message)
    trace: list[str] = failure.details.get("traceback", [])
    print_lines((make_visible(scrub(line)) for line in trace), stream)
    write_prose(f"evalcase: can't continue: {said}; {_WHY}", stream)
    return said


def scrub_problems(problems: Sequence[Problem]) -> list[Problem]:
    """The same without what is secret here, as the configuration of this folder says, and without
    what lets others in wherever it is from."""
    from evalcase.runner.plan import make_scrubber  # commands that only read need no runner

    try:
        config = read_config(os.getcwd())
    except ConfigError:
        config = Config(os.getcwd())
    scrubber = make_scrubber(config, os.environ, lambda _: None)
    return [_scrub_problem(problem, scrubber) for problem in problems]


def _scrub_problem(problem: Problem, scrubber: Scrubber) -> Problem:
    hint, excerpt = problem.hint, problem.excerpt
    if excerpt is not None:
        excerpt = excerpt._replace(text=mask_credentials(excerpt.text))
        if scrubber.text(excerpt.text) != excerpt.text:
            excerpt = None  # a line that was changed has nothing to underline
    return replace(
        problem, message=scrubber.text(mask_credentials(problem.message)),
        hint=hint and scrubber.text(mask_credentials(hint)), excerpt=excerpt,
    )  # fmt: skip


def explain_error(error: EvalcaseError) -> int:
    """Say what keeps a run from starting, from being stored or from being read; the exit code."""
    if isinstance(error, SuiteError | ConfigError) and error.problems:
        print_problems(each for each in error.problems if each.severity == "error")
        sys.stderr.write("nothing was run\n")
        return 2
    several = error.messages if isinstance(error, ConfigError) else ()
    for text in several or (str(error),):
        write_prose(f"evalcase: {mask_credentials(text)}")
    return 3 if isinstance(error, RecordError) else 2


def print_problems(problems: Iterable[Problem]) -> None:
    """Print problems to standard error, without secrets."""
    screen, is_broken = screen_for(sys.stderr), sys.stderr.isatty()
    for lines in fold_problems(scrub_problems(list(problems)), screen, is_broken=is_broken):
        print_lines((*lines, ""), sys.stderr)
