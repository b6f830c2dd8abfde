"""Files that messages refer to: found from the suite upwards, and never outside the project.

`check` and `run` share this one rule: a name as it was written in, the real path of a regular file
out, or why there is none.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from typing import Any

from evalcase.model.finding import Unfit
from evalcase.model.part_files import is_address, named_files
from evalcase.system.project_root import is_inside, project_root, say_from_root

MAX_ATTACHED_BYTES = 100 << 20
_LONGEST_SHOWN = 200
"""A name may be a whole picture by mistake."""


def show_beside(path: str, folder: str) -> str:
    """The real path of a file as that of a suite in a folder is shown: seen from the same place."""
    below = os.path.relpath(path, os.path.realpath(folder))
    return os.path.normpath(os.path.join(folder, below))


class Attachments:
    """Finds the files of the suites in one folder."""

    def __init__(self, folder: str, root: str) -> None:
        """Both are real paths; the root is where the search upwards ends."""
        self.folder = folder
        self.root = root

    def find(self, name: str) -> str | Unfit:
        """The real path of a file, or the reason why there is none."""
        for folder in self._folders():
            path = os.path.join(folder, name)
            try:
                # The nearest is meant: where it leads outside, no other takes its place.
                if os.path.lexists(path):
                    return self._fit(path, name)
            except (OSError, ValueError):
                continue
        if not is_inside(os.path.normpath(os.path.join(self.folder, name)), self.root):
            return _refuse_outside(name)
        return Unfit("missing-file", f"there is no file `{_show_name(name)}`", _hint_at_file(name))

    def find_from_root(self, name: str) -> str | Unfit:
        """The same for a file that is named from the root of the project, wherever the suite is."""
        found = Attachments(self.root, self.root).find(name)
        if isinstance(found, Unfit) and found.code == "missing-file" and found.hint is not None:
            return found._replace(hint=say_from_root(self.root))
        return found

    def find_all(self, messages: Iterable[Mapping[str, Any]]) -> dict[str, str] | Unfit:
        """Every file that messages refer to: its real path by the name as it was written."""
        found = {}
        for name in named_files(messages):
            path = self.find(name)
            if isinstance(path, Unfit):
                return path
            found[name] = path
        return found

    def _folders(self) -> list[str]:
        folders = [self.folder]
        while folders[-1] != self.root and is_inside(folders[-1], self.root):
            folders.append(os.path.dirname(folders[-1]))
        return folders

    def _fit(self, path: str, name: str) -> str | Unfit:
        path = os.path.realpath(path)
        if not is_inside(path, self.root):
            return _refuse_outside(name)
        if not os.path.lexists(path):
            return Unfit("missing-file", f"`{name}` is a link that leads nowhere")
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            return Unfit("bad-file", f"`{name}` is not a regular file")
        if found.st_size > MAX_ATTACHED_BYTES:
            return Unfit("bad-file", f"`{name}` is larger than {MAX_ATTACHED_BYTES >> 20} MiB")
        return path


def attachments_in(folder: str, root: str | None = None) -> Attachments:
    """What finds the files of the suites in a folder, up to the root of their project.

    A root that is given counts, unless the folder lies outside of it.
    """
    folder = os.path.realpath(folder)
    given = None if root is None else os.path.realpath(root)
    if given is None or not is_inside(folder, given):
        given = project_root(folder)
    return Attachments(folder, given)


def find_attachments(
    suite: str, messages: Iterable[Mapping[str, Any]], root: str | None = None
) -> dict[str, str] | Unfit:
    """Every file that messages of a suite refer to: its real path by the name as it was written."""
    return attachments_in(os.path.dirname(suite), root).find_all(messages)


def _refuse_outside(name: str) -> Unfit:
    message = f"`{_show_name(name)}` is outside the project, so evalcase won't read it"
    return Unfit("file-outside-project", message, "copy the file into the project")


def _show_name(name: str) -> str:
    return name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…"


def _hint_at_file(name: str) -> str:
    if is_address(name):
        return "`path` names a file; the address of an image is written as its `url`"
    where = "next to the suite and in its parent folders up to the project root"
    return f"it is looked for {where}"
