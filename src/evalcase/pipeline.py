"""The stages wired together: the file to read first.

    path → read → document → resolve → suite

A document knows values and places, resolving knows the format. `loading.py` brings the two
together for one file; this file is what the library and the command are made of.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from evalcase.errors import SuiteError
from evalcase.loading import Loaded, has_errors, load_case, load_file, load_text
from evalcase.model.case import Case
from evalcase.model.problem import Problem, in_order
from evalcase.model.suite import Suite
from evalcase.read.discover import discover, format_of
from evalcase.read.document import Format
from evalcase.streaming import stream_cases


def load(path: str | os.PathLike[str]) -> Suite:
    """Load a suite file. Raise SuiteError with all of its problems if it is not valid."""
    return _valid(load_file(os.fspath(path)))


def loads(text: str, format: Format = "yaml") -> Suite:
    """Load a suite from text: `yaml`, `json` or `jsonl`."""
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
    problems: list[Problem] = []
    failed = False
    for item in stream_cases(name):
        if type(item) is Case:
            if not failed:
                yield item
        elif isinstance(item, Problem):
            problems.append(item)
            failed = failed or item.severity == "error"
    if failed:
        raise SuiteError(in_order(problems))
    _log(problems)


def check(paths: Iterable[str | os.PathLike[str]]) -> list[Problem]:
    """Every problem of every file, in order. It never raises for what files hold."""
    loaded_files = load_each((os.fspath(path) for path in paths), keep=False)
    return [problem for loaded in loaded_files for problem in loaded.problems]


def load_each(
    paths: Iterable[str], stdin_format: Format = "yaml", keep: bool = True
) -> Iterator[Loaded]:
    """Read the suites that some paths stand for, one after the other; folders are searched."""
    for path in discover(paths):
        if isinstance(path, Problem):
            yield Loaded(path.path, None, [path], 0)
        else:
            yield load_file(path, stdin_format, keep)


def _valid(loaded: Loaded) -> Suite:
    if loaded.suite is None:
        raise SuiteError(loaded.problems)
    _log(loaded.problems)
    return loaded.suite


def _log(problems: list[Problem]) -> None:
    """One line for each name or kind of trouble, with its first place and how often it is there."""
    first: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        if problem.severity == "warning":
            first.setdefault((problem.code, problem.message), []).append(problem)
    if not first:
        return
    from logging import getLogger

    for same in first.values():
        more = f" (and {len(same) - 1} more)" if len(same) > 1 else ""
        getLogger("evalcase").warning(
            "%s: %s: %s%s", same[0].place, same[0].code, same[0].message, more
        )
