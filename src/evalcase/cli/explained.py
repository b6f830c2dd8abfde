"""What keeps a command from doing its work, as words on standard error and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import ParamSpec

from evalcase.cli.terminal import prose_width, style_for, write_prose
from evalcase.errors import ConfigError, EvalcaseError, RecordError, SuiteError, TargetError
from evalcase.types.problem import Problem
from evalcase.util.secrets import mask_credentials

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
    from evalcase.cli.scrubbed import scrub_problems
    from evalcase.report.terminal.problems import fold_problems

    errors = scrub_problems([each for each in problems if each.severity == "error"])
    style, width = style_for(sys.stderr), prose_width(sys.stderr)
    for lines in fold_problems(errors, style=style, width=width):
        sys.stderr.writelines(line + "\n" for line in (*lines, ""))
    sys.stderr.write("nothing was run\n")
    return 2
