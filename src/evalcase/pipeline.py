"""The stages wired together: the file to read first.

    path → read → document → resolve → suite

A document knows values and places, resolving knows the format. `loading.py` brings the two
together for one file; this file is what the library and the command are made of.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from evalcase.errors import SuiteError
from evalcase.model.case import Case
from evalcase.model.problem import Problem, in_order
from evalcase.model.suite import Suite
from evalcase.read.discover import discover, format_of
from evalcase.read.document import Format
from evalcase.suites.check import Project, check_config_text, check_project, check_text_as
from evalcase.suites.load import Loaded, has_errors, load_case, load_file, load_text
from evalcase.suites.stream import stream_cases


def load(path: str | os.PathLike[str]) -> Suite:
    """Load a suite file. Raise SuiteError with all of its problems if it is not valid."""
    return _valid(load_file(os.fspath(path)))


def loads(text: str, format: Format = "yaml") -> Suite:
    """Load a suite from text: `yaml`, `json` or `jsonl`."""
    if not isinstance(text, str):
        raise TypeError(f"loads takes text, not {type(text).__name__}; load takes a path")
    if format not in ("yaml", "json", "jsonl"):
        raise ValueError(f"format is 'yaml', 'json' or 'jsonl', not {format!r}")
    return _valid(load_text(text, format))


def parse_case(text: str) -> Case:
    """Read one eval case from YAML text."""
    case, problems = load_case(text)
    # A lone case is a fragment: how it is graded may be said elsewhere.
    problems = [problem for problem in problems if problem.code != "nothing-to-grade"]
    if case is None or has_errors(problems):
        raise SuiteError(in_order(problems))
    _log(problems)
    return case


def iter_cases(path: str | os.PathLike[str]) -> Iterator[Case]:
    """Give the cases of a file one by one; a JSONL file of any size is never held in memory.

    At the first error no more cases are given: the rest of the file is only checked, and then
    SuiteError is raised with all problems.
    """
    name = os.fspath(path)
    if format_of(name) != "jsonl":
        yield from load(name)
        return
    warnings = _Warnings()
    for item in stream_cases(name):
        if type(item) is Case:
            yield item
        elif isinstance(item, Problem):
            if item.severity == "error":
                raise SuiteError(load_file(name, keep=False).problems)
            warnings.add(item)
    warnings.log()


def check(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    root: str | os.PathLike[str] | None = None,
) -> list[Problem]:
    """Every problem of every file, in order. It never raises for what files hold.

    Graders and targets have to be there, and their options right; the configuration is that of the
    project which `root` belongs to, by default the current folder. No code of it is imported.
    """
    several = (paths,) if isinstance(paths, str | os.PathLike) else paths
    loaded_files = check_project((os.fspath(path) for path in several), _project(root))
    return [problem for loaded in loaded_files for problem in loaded.problems]


def check_text(
    text: str, path: str | os.PathLike[str], root: str | os.PathLike[str] | None = None
) -> list[Problem]:
    """The same for a text that isn't saved yet, as if it stood at its path: for editors.

    A path that ends in `evalcase.toml` or `pyproject.toml` is that of a configuration.
    """
    name = os.fspath(path)
    if os.path.basename(name) in ("evalcase.toml", "pyproject.toml"):
        return check_config_text(text, name)
    format = format_of(name)
    if isinstance(format, Problem):
        return [format]
    return check_text_as(text, name, format, _project(root))


def _project(root: str | os.PathLike[str] | None) -> Project:
    folder = os.getcwd()
    return Project(folder if root is None else os.fspath(root), seen_from=folder)


def load_each(
    paths: Iterable[str], stdin_format: Format = "yaml", keep: bool = True
) -> Iterator[Loaded]:
    """Read the suites that some paths stand for, one after the other; folders are searched."""
    for path in discover(paths):
        if isinstance(path, Problem):
            yield Loaded(path.path, None, [path], 0, is_read=False)
        else:
            yield load_file(path, stdin_format, keep)


def _valid(loaded: Loaded) -> Suite:
    if loaded.suite is None:
        raise SuiteError(loaded.problems)
    _log(loaded.problems)
    return loaded.suite


def _log(problems: Iterable[Problem]) -> None:
    warnings = _Warnings()
    for problem in problems:
        warnings.add(problem)
    warnings.log()


class _Warnings:
    """Warnings for the log: each kind is kept once, however often it comes."""

    def __init__(self) -> None:
        self.first: dict[tuple[str, str], Problem] = {}
        self.count: dict[tuple[str, str], int] = {}

    def add(self, problem: Problem) -> None:
        if problem.severity == "warning":
            kind = problem.code, problem.message
            if kind in self.count:
                self.count[kind] += 1
            else:
                self.first[kind], self.count[kind] = problem, 1

    def log(self) -> None:
        """One line for each deprecated name, or other kind of warning, with its first place."""
        if not self.first:
            return
        from logging import getLogger

        for kind, problem in self.first.items():
            more = f" (and {self.count[kind] - 1} more)" if self.count[kind] > 1 else ""
            getLogger("evalcase").warning(
                "%s: %s: %s%s", problem.place, problem.code, problem.message, more
            )
