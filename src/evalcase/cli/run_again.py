"""The command for errors that the same call would only give again: a new run, once they are fixed.

To go on with the run would put answers from before and after the fix into one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from evalcase.cli.terminal import seen_from
from evalcase.runner.evaluated import Evaluated
from evalcase.store.folder import Run, folder_of_run
from evalcase.types.answer import Failure
from evalcase.types.question import TrialKey
from evalcase.types.result import Result

_OWN_FAULTS = ("exception", "exit", "protocol")
_PASSING = re.compile(
    r"\w*(?:Time(?:d)?Out|Timeout|Connect|RateLimit|Unavailable|Overloaded|InternalServer)\w*:"
)
"""What clients of services call errors that are gone after a while."""


_OF_THE_ANSWER = ("unreported", "unread-calls", "blocked")
"""Failures of graders by what the stored answer holds, or lacks."""


def stays_errored(errored: Iterable[Result]) -> bool:
    """Whether to try the same again can only come to the same, for each of some results."""
    lasting = [_stays(result) for result in errored]
    return bool(lasting) and all(lasting)


def _stays(result: Result) -> bool:
    if result.failure is not None:
        return _is_lasting(result.failure)
    failures = [grade.failure for grade in result.grades if grade.failure is not None]
    return bool(failures) and all(each.kind in _OF_THE_ANSWER for each in failures)


def _is_lasting(failure: Failure) -> bool:
    if failure.kind == "http":
        status = failure.details.get("status")
        return isinstance(status, int) and 400 <= status < 500 and status not in (408, 429)
    return failure.kind in _OWN_FAULTS and not _PASSING.match(failure.message)


def find_unread(errored: Iterable[Result]) -> TrialKey | None:
    """The first of some results, if each has a judge whose reply can't be read: to ask the same
    again would most likely come to the same, and what it said is what helps."""
    results = list(errored)
    if not results or not all(map(_is_unread, results)):
        return None
    return results[0].key


def _is_unread(result: Result) -> bool:
    failures = [grade.failure for grade in result.grades if grade.failure is not None]
    return bool(failures) and all(each.kind == "judge-unparseable" for each in failures)


def suggest_new_run(evaluated: Evaluated, name: str, root: str, cwd: str) -> str:
    """How to run again what did not pass, with the suites and targets that were named."""
    if not evaluated.totals.cases.not_passed:  # only some of the trials of cases that passed
        return ""
    from shlex import quote

    words = " ".join(quote(word) for word in _named(evaluated.run, root, cwd))
    # Of a run that ended early, nobody knows yet which cases don't pass.
    failed_of = f" --failed-of {name}" if evaluated.complete else ""
    return f"fix it, then: evalcase run{' ' * bool(words)}{words}{failed_of}"


def _named(run: Run, root: str, cwd: str) -> Iterator[str]:
    options = run.about.options
    folder = os.path.join(root, folder_of_run(run))
    for path in _texts(options.get("paths")):
        yield path if path == "-" else seen_from(cwd, os.path.join(folder, path))
    for target in _texts(options.get("targets")):
        yield from ("--target", target)
    for path in _texts([options.get("env_file")]):
        yield from ("--env-file", seen_from(cwd, os.path.join(folder, path)))


def _texts(value: object) -> list[str]:
    """Those of a list in a record, which may say anything."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
