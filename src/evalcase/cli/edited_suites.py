"""Whether the suites of a kept run were edited since: by the hashes that its record has of them."""

from __future__ import annotations

import os
from typing import Any

from evalcase.record.folder import Run, folder_of_run
from evalcase.record.gradings import graded_suites
from evalcase.system.digests import UNREADABLE, digest_file


def are_suites_edited(run: Run, root: str) -> bool:
    """Whether a file of a suite holds other things than when the run was last graded by it. Where
    one is gone, there is nothing to go on with."""
    known = suite_hashes(run)
    if not known:
        return False
    begun = os.path.join(root, folder_of_run(run))
    now = {path: digest_file(os.path.join(begun, path)) for path in known if "\0" not in path}
    return UNREADABLE not in now.values() and now != known


def suite_hashes(run: Run) -> dict[str, Any]:
    """The hashes of the suites of a run when it was last graded by them, as its record has them."""
    known = run.about.get("suites")
    if not isinstance(known, dict) or not known:
        return {}
    return graded_suites(run.journal, frozenset(known)) or known
