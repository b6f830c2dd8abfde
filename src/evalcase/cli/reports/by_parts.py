"""`--by`: the parts of a run that rates are shown of, checked as words and against the run."""

from __future__ import annotations

from collections.abc import Iterable

import click

from evalcase.errors import ConfigError
from evalcase.report.aggregate import MOST_VALUES
from evalcase.report.figures import Figures
from evalcase.types.problem import did_you_mean

_KINDS = ("target", "tag", "suite", "grader")
_VARIABLE = "vars."


def check_parts(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words, if each names a kind of parts."""
    for word in words:
        if word not in _KINDS and not word.startswith(_VARIABLE):
            known = ", ".join(_KINDS)
            raise click.BadParameter(f"{word!r} is not one of {known} and vars.NAME.")
        if word == _VARIABLE:
            raise click.BadParameter("vars. is followed by the name of a variable.")
    return words


def require_variables(by: Iterable[str], figures: Figures) -> None:
    """Raise ConfigError for a variable that no case has, or that has too many values."""
    for word in by:
        name = word.removeprefix(_VARIABLE)
        if name == word or name in figures.by_vars:
            continue
        if name in figures.crowded:
            raise ConfigError(f"`{name}` has more than {MOST_VALUES} values, too many to group by")
        hint = did_you_mean(name, figures.by_vars)
        there = ", ".join(figures.by_vars)
        hint = hint or (f"there are {there}" if there else "no case has variables to group by")
        raise ConfigError(f"no case has a variable `{name}` to group by; {hint}")
