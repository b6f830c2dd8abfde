"""The verdicts of cases in the newest run that has them, and whether a case changed since."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from evalcase.config.config import Config
from evalcase.errors import EvalcaseError
from evalcase.runner.hashes import hash_grading, hash_question
from evalcase.store.folder import Run, describe_part, folder_of_run
from evalcase.store.reader import read_end
from evalcase.store.runs import newest_runs
from evalcase.store.stored import StoredRun
from evalcase.types.case import Case
from evalcase.types.result import CaseVerdict
from evalcase.util.text import make_visible

_MOST_RUNS = 50
"""So many are looked at for those that have a suite."""


class _RunOfSuite(NamedTuple):
    """A run, and the verdicts that it has of one suite, by the ids of cases."""

    kept: StoredRun
    suite: str
    found: dict[str, list[CaseVerdict]]


class Verdicts:
    """Of the cases of one suite, each in the newest run that has it."""

    def __init__(self, runs: Sequence[_RunOfSuite]) -> None:
        self._runs = runs

    def close(self) -> None:
        """Let go of the records."""
        for each in self._runs:
            each.kept.close()

    def describe(self, case: Case) -> tuple[str, str] | None:
        """What is shown beside a case, and what is said of it when asked; None where no run has
        it."""
        for kept, suite, found in self._runs:
            if case.id in found:
                return _describe(kept, found[case.id], kept.find_case(suite, case.id), case)
        return None


def _describe(
    kept: StoredRun, found: list[CaseVerdict], then: Case | None, case: Case
) -> tuple[str, str]:
    by_target = {make_visible(each.target): _write_verdict(each) for each in found}
    words, run = {*by_target.values()}, kept.run
    label = ", ".join(f"{target}: {word}" for target, word in by_target.items())
    label = words.pop() if len(words) == 1 else label
    lines = [f"Run {run.id}, {run.created_at[:16].replace('T', ' ')} UTC"]
    for (target, word), each in zip(by_target.items(), found, strict=True):
        score = "" if each.score is None else f", score {each.score:.2f}"
        lines.append(f"- {target}: {word}{score}")
    if (by := kept.graded_by) is not None and not by.complete:
        lines.append(f"\nThe newest grading was interrupted: {by.so_far}.")
    if then is not None and _hashes(then) != _hashes(case):
        label += ", changed since"
        lines.append("\nThe case has changed since: `evalcase run` asks and grades it again.")
    lines.append(f"\n`evalcase report {run.id} --case {make_visible(case.id)}` has all of it.")
    return label, "\n".join(lines)


def _hashes(case: Case) -> tuple[str, str]:
    return hash_question(case), hash_grading(case)


def _write_verdict(found: CaseVerdict) -> str:
    word = found.verdict or "not complete"
    mark = {"passed": "✓", "failed": "✗", "errored": "!"}.get(word, "·")
    share = f" {found.passed}/{found.repeats}" if found.repeats > 1 else ""
    return f"{mark} {word}{share}"


def find_verdicts(path: str, config: Config) -> Verdicts | None:
    """Those of the suite at a path; None if no run has it. Runs of some of its cases, or that were
    ended early, leave the others to the runs before them."""
    runs: list[_RunOfSuite] = []
    try:
        for run in _newest_runs(config.find_runs()):
            suite = _suite_in(run, path, config.root)
            if suite is None:
                continue
            runs.append(_RunOfSuite(StoredRun(run), suite, {}))
            for each in runs[-1].kept.cases():
                if each.suite == suite:
                    runs[-1].found.setdefault(each.case, []).append(each)
            if not describe_part(run) and read_end(run.journal).status == "completed":
                break
    except (EvalcaseError, OSError, ValueError):
        Verdicts(runs).close()
        return None  # `evalcase list` says what is wrong with it
    return Verdicts(runs) if runs else None


def _newest_runs(folder: str) -> Iterator[Run]:
    listed = islice(newest_runs(folder), _MOST_RUNS)
    return (each.run for each in listed if each.run is not None)


def _suite_in(run: Run, path: str, root: str) -> str | None:
    """The name under which a run has a suite; it goes by words alone."""
    begun = os.path.join(root, folder_of_run(run))
    for name in run.about.suites:
        if os.path.normpath(os.path.join(begun, name)) == path:
            return name
    return None


def stamp_runs(config: Config) -> tuple[object, ...]:
    """What changes when a run is begun, or the newest one goes on."""
    folder = config.find_runs()
    try:
        newest = next(_newest_runs(folder), None)
    except EvalcaseError:
        return (folder,)  # it can't be read, and neither can verdicts
    try:
        about = os.stat(newest.journal) if newest is not None else os.stat(folder)
    except OSError:
        return (folder, newest and newest.id)
    return folder, newest and newest.id, about.st_mtime_ns, about.st_size
