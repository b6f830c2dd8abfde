"""The name of a program to its file, as the system will find it where the program is started."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

_INTERPRETERS = frozenset({"python", "python3", "node", "ruby", "perl", "sh", "bash"})
"""Programs whose first argument, where it is no option, is the file that they run."""


def find_program(name: str, folder: str, environment: Mapping[str, str]) -> str | None:
    """The file of a program that is started in a folder with some variables; None if there is none
    that can be run. Like the system, it sees folders of PATH that are not absolute from there."""
    from shutil import which

    if os.path.dirname(name):
        return which(os.path.join(folder, name))
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    return which(name, path=os.pathsep.join([os.path.join(folder, each) for each in folders]))


def find_script(argv: Sequence[object]) -> str | None:
    """The file that an interpreter is told to run; None where no interpreter is started, or where
    it isn't plain which file that is."""
    match argv:
        case [str() as program, str() as name, *_] if os.path.basename(program) in _INTERPRETERS:
            is_plain = os.path.splitext(name)[1] and name[0] != "-"
            return name if is_plain and "{" not in name and "\0" not in name else None
    return None
