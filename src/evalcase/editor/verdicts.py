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


class CaseStatus(NamedTuple):
    """What is shown beside a case, and what is said of it when asked."""

    label: str
    about: str


class Verdicts:
    """Of the cases of one suite, each in the newest run that has it."""

    def __init__(self, runs: Sequence[RunVerdicts]) -> None:
        self._runs = runs

    def close(self) -> None:
        """Let go of the records."""
        for each in self._runs:
            each.close()

    def status_of(self, case: Case) -> CaseStatus | None:
        """What became of a case; None where no run has it."""
        return next(
            (status for each in self._runs if (status := each.status_of(case)) is not None), None
        )


class RunVerdicts:
    """Of the cases of one suite, in one run."""

    def __init__(self, kept: StoredRun, suite: str, found: dict[str, list[CaseVerdict]]) -> None:
        self._kept = kept
        self._run = kept.run
        self._suite = suite
        self._found = found

    def close(self) -> None:
        """Let go of the record."""
        self._kept.close()

    def status_of(self, case: Case) -> CaseStatus | None:
        """What became of a case; None where the run hasn't got it."""
        found = self._found.get(case.id)
        if not found:
            return None
        words = {_write_verdict(each) for each in found}
        if len(words) == 1:
            label = words.pop()
        else:
            label = ", ".join(
                f"{make_visible(each.target)}: {_write_verdict(each)}" for each in found
            )
        changed = self._is_changed(case)
        if changed:
            label += ", changed since"
        return CaseStatus(label, "\n".join(self._lines(found, changed)))

    def _lines(self, found: list[CaseVerdict], changed: bool) -> Iterator[str]:
        yield f"Run {self._run.id}, {self._run.created_at[:16].replace('T', ' ')} UTC"
        for each in found:
            score = "" if each.score is None else f", score {each.score:.2f}"
            yield f"- {make_visible(each.target)}: {_write_verdict(each)}{score}"
        if (by := self._kept.graded_by) is not None and not by.complete:
            yield f"\nThe newest grading was interrupted: {by.so_far}."
        if changed:
            yield "\nThe case is not what it was then: `evalcase run` asks and grades it again."
        id = found[0].case
        yield f"\n`evalcase report {self._run.id} --case {make_visible(id)}` has all of it."

    def _is_changed(self, case: Case) -> bool:
        """Whether what is asked, or how it is graded, is said otherwise than it was then."""
        then = self._kept.find_case(self._suite, case.id)
        if then is None:
            return False
        return (hash_question(then), hash_grading(then)) != (
            hash_question(case), hash_grading(case)
        )  # fmt: skip


def _write_verdict(found: CaseVerdict) -> str:
    word = found.verdict or "not complete"
    mark = {"passed": "✓", "failed": "✗", "errored": "!"}.get(word, "·")
    share = f" {found.passed}/{found.repeats}" if found.repeats > 1 else ""
    return f"{mark} {word}{share}"


def find_verdicts(path: str, config: Config) -> Verdicts | None:
    """Those of the suite at a path; None if no run has it. Runs of some of its cases, or that were
    ended early, leave the others to the runs before them."""
    found: list[RunVerdicts] = []
    try:
        for run in _newest_runs(config.find_runs()):
            suite = _suite_in(run, path, config.root)
            if suite is not None:
                found.append(_read_verdicts(run, suite))
                if not describe_part(run) and read_end(run.journal).status == "completed":
                    break
    except (EvalcaseError, OSError, ValueError):
        for each in found:
            each.close()
        return None  # `evalcase list` says what is wrong with it
    return Verdicts(found) if found else None


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


def _read_verdicts(run: Run, suite: str) -> RunVerdicts:
    found: dict[str, list[CaseVerdict]] = {}
    kept = StoredRun(run)
    for each in kept.cases():
        if each.suite == suite:
            found.setdefault(each.case, []).append(each)
    return RunVerdicts(kept, suite, found)


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
