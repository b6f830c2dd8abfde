"""The paths of suites as a person here would write them: a record has them as they were named
where the run was begun."""

from __future__ import annotations

import os
from collections.abc import Callable

from evalcase.cli.terminal import seen_from
from evalcase.store.folder import Run, folder_of_run


def see_suites(run: Run, root: str, cwd: str) -> Callable[[str], str]:
    """What turns the path of a suite of a run into one that leads there from `cwd`.

    It goes by the words alone: a record may come from anyone, and nothing is looked for. One that
    was begun here, or nobody knows where, has its paths as they are.
    """
    begun = os.path.normpath(os.path.join(root, folder_of_run(run)))
    if begun == os.path.realpath(cwd):
        return str
    return lambda path: path if path.startswith("<") else seen_from(cwd, os.path.join(begun, path))
