"""Errors that stop a command: as words on standard error, without secrets, and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import wraps
from typing import ParamSpec, TextIO

from evalcase.cli.terminal import screen_for, write_prose
from evalcase.config.config import Config, read_config
from evalcase.errors import ConfigError, EvalcaseError, RecordError, SuiteError, TargetError
from evalcase.store.folder import note_start
from evalcase.types.problem import Problem
from evalcase.types.value import replace
from evalcase.util.environment import this_environment
from evalcase.util.secrets import Scrubber, mask_credentials

CRASH_CODE = 3
"""What was asked for was not completed; 1 would be a verdict."""
_WHY = "this is a bug in evalcase, unless code of a target or a grader has modified evalcase itself"


def tell_crash(
    error: BaseException, stream: TextIO, scrub: Callable[[str], str] = lambda text: text
) -> str:
    """Tell of it, and return it in a few words."""
    from evalcase.cli.terminal import write_prose
    from evalcase.util.errors import failure_of
    from evalcase.util.text import make_visible

    failure = failure_of(error)
    said = scrub(failure.message)
    trace: list[str] = failure.details.get("traceback", [])
    stream.writelines(make_visible(scrub(line)) + "\n" for line in trace)
    write_prose(f"evalcase: can't continue: {said}; {_WHY}", stream)
    return said


def scrub_problems(problems: Sequence[Problem]) -> list[Problem]:
    """The same without what is secret here, as the configuration of this folder says, and without
    what lets others in wherever it is from."""
    from evalcase.runner.plan import make_scrubber  # commands that only read need no runner

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
    # A line that was changed has nothing to underline.
    kept = excerpt if shown == excerpt else None
    return replace(problem, message=said[0], hint=said[1], excerpt=kept)


_FOLDER = "--runs-dir"


def note_refused_run(arguments: Sequence[str]) -> None:
    """Note that a run was refused, if one was meant."""
    if "--dry-run" in arguments:
        return
    with suppress(ConfigError):
        given = next(_given_folders(arguments), None)
        folder = read_config(os.getcwd(), os.getcwd()).find_runs(given)
        note_start(folder, this_environment().now())


def _given_folders(arguments: Sequence[str]) -> Iterator[str]:
    for at, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name == _FOLDER and equals:
            yield value
        elif name == _FOLDER and arguments[at + 1 :]:
            yield arguments[at + 1]


Arguments = ParamSpec("Arguments")


def explain_errors(action: Callable[Arguments, int]) -> Callable[Arguments, int]:
    """Turn what keeps a run from starting, from being kept or from being read into words."""

    @wraps(action)
    def explaining(*args: Arguments.args, **kwargs: Arguments.kwargs) -> int:
        try:
            return action(*args, **kwargs)
        except (SuiteError, ConfigError, TargetError) as error:
            if not isinstance(error, TargetError) and error.problems:
                return _print_problems(error.problems)
            _say_error(error)
            return 2
        except RecordError as error:
            _say_error(error)
            return 3

    return explaining


def _say_error(error: EvalcaseError) -> None:
    several = error.messages if isinstance(error, ConfigError) else ()
    for text in several or (str(error),):
        write_prose(f"evalcase: {mask_credentials(text)}", sys.stderr)


def _print_problems(problems: Sequence[Problem]) -> int:
    """Print the problems that keep suites from being run."""
    from evalcase.report.problems import fold_problems

    errors = scrub_problems([each for each in problems if each.severity == "error"])
    is_broken = sys.stderr.isatty()
    for lines in fold_problems(errors, screen_for(sys.stderr), is_broken=is_broken):
        sys.stderr.writelines(line + "\n" for line in (*lines, ""))
    sys.stderr.write("nothing was run\n")
    return 2
