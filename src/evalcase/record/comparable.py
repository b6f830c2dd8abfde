"""The runs in a folder in, out the one that the newest is best compared with: the newest before it
that was to have the same cases. A run of one case is no base for one of all."""

from __future__ import annotations

import os
from typing import NamedTuple

from evalcase.record.find import newest_runs
from evalcase.record.folder import Run, folder_of_run, say_part


class BaseChoice(NamedTuple):
    path: str
    passed_over: int
    """How many newer runs are of other cases."""


def choose_base(runs_dir: str) -> BaseChoice | None:
    """None where no run before the newest has its cases. One that can't be read is chosen, so that
    it is told."""
    runs = newest_runs(runs_dir)
    newest = next(runs, None)
    if newest is None or newest.run is None:
        return None
    for passed_over, listed in enumerate(runs):
        if listed.run is None or _covers(listed.run, newest.run):
            return BaseChoice(listed.path, passed_over)
    return None


def _covers(base: Run, head: Run) -> bool:
    """Whether a run was to have all the cases of another, as far as the two records say."""
    if not _suites(head) <= _suites(base):
        return False
    return not say_part(base) or _selection(base) == _selection(head)


def _suites(run: Run) -> set[str]:
    """Where the suites of a run lie in its project."""
    folder = folder_of_run(run)
    return {os.path.normpath(os.path.join(folder, name)) for name in run.about.suites}


def _selection(run: Run) -> object:
    """What was selected. A seed that drew no sample is no part of it."""
    selection = run.about.options.get("selection")
    if isinstance(selection, dict) and selection.get("sample") is None:
        return {name: value for name, value in selection.items() if name != "seed"}
    return selection
