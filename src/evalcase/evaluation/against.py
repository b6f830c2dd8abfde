"""The record of a run in, what became of its cases out: what a run that goes on is held against."""

from __future__ import annotations

import os
from collections.abc import Sequence

from evalcase.errors import ConfigError
from evalcase.report.compare.comparison import pair_targets
from evalcase.store.folder import folder_of_run
from evalcase.store.runs import find_run
from evalcase.store.stored import StoredRun
from evalcase.types.value import Value
from evalcase.util.project import ProjectPaths
from evalcase.util.table import Table, mark_of


class Base(Value, frozen=True):
    """An earlier run, by what can be compared with it."""

    run: str
    targets: dict[str, str]
    """For each target of the run that goes on, that of the earlier one."""
    verdicts: Table
    """Whether each case passed."""

    def find(self, target: str, place: str, case: str) -> bool | None:
        """Whether a case passed there; None where it has no verdict on its answer."""
        found = self.verdicts.find(mark_of((self.targets.get(target), place, case)))
        return None if found is None else bool(found[0])


def find_base(name: str, runs_dir: str, root: str, targets: Sequence[str]) -> Base:
    """The run of a name. What errored there, or was skipped, is no verdict on an answer.

    Raise ConfigError if there is no such run, or if it has none of the targets.
    """
    with StoredRun(*find_run(name, runs_dir)) as kept:
        kept.refuse_interrupted()
        paired = pair_targets(kept.targets, targets)
        id = os.path.basename(os.path.realpath(kept.run.path))
        missing = [f"`{name}`" for name in targets if name not in paired]
        if missing:
            # To be better, all that is run has to be compared.
            raise ConfigError(f"run {id} has no results of {', '.join(missing)} to compare with")
        places = ProjectPaths(root, os.path.join(root, folder_of_run(kept.run)))
        verdicts = Table("b")
        for each in kept.cases():
            if each.verdict in ("passed", "failed", "ungraded"):
                mark = mark_of((each.target, places.find(each.suite), each.case))
                verdicts.add(mark, each.verdict == "passed")
    return Base(id, paired, verdicts)
