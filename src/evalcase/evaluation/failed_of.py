"""The record of a run in, the cases out that did not pass there: what a new run may begin with."""

from __future__ import annotations

import os

from evalcase.config.options import FailedOf
from evalcase.errors import ConfigError
from evalcase.evaluation.evaluated import read_evaluated
from evalcase.store.folder import folder_of_run
from evalcase.store.runs import find_run
from evalcase.store.stored import StoredRun
from evalcase.util.project import ProjectPaths


def find_failed(name: str, runs_dir: str, root: str) -> FailedOf:
    """The cases of a run, by its name, that did not pass at one of their targets.

    They are names and nothing more: what is read and asked is for others to say. Raise ConfigError
    if there is no such run, or if all of its cases passed.
    """
    with StoredRun(*find_run(name, runs_dir)) as kept:
        kept.refuse_interrupted()
        places = ProjectPaths(root, os.path.join(root, folder_of_run(kept.run)))
        failed = {
            (places.find(each.suite), each.case): True
            for each in kept.cases()
            if each.verdict not in ("passed", "skipped")
        }
        id = os.path.basename(os.path.realpath(kept.run.path))
        done = read_evaluated(kept)
        missing = (done.not_run or 0) - done.lost + done.totals.unfinished
        if missing > 0:
            raise ConfigError(
                f"run {id} is not complete: {missing:,} of its cases have no verdict yet; "
                f"`evalcase resume {id}` continues it"
            )
    if not failed:
        raise ConfigError(f"run {id} has no cases that did not pass: there is nothing to run")
    return FailedOf(id, tuple(failed))
