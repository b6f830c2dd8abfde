"""Files that content refers to: found from the suite upwards, and never outside the project."""

from __future__ import annotations

import os
import stat

from evalcase.model.finding import Unfit
from evalcase.project.root import project_root

MAX_BYTES = 100 << 20


class Attachments:
    """Finds the files of one suite."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(folder)
        self.root = project_root(self.folder)

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
        if not self._contains(os.path.normpath(os.path.join(self.folder, name))):
            return _outside(name)
        where = "next to the suite and in its parent folders up to the project root"
        return Unfit("missing-file", f"there is no file `{name}`", f"it is looked for {where}")

    def _folders(self) -> list[str]:
        folders = [self.folder]
        while folders[-1] != self.root:
            folders.append(os.path.dirname(folders[-1]))
        return folders

    def _contains(self, path: str) -> bool:
        return path == self.root or path.startswith(os.path.join(self.root, ""))

    def _fit(self, path: str, name: str) -> str | Unfit:
        path = os.path.realpath(path)
        if not self._contains(path):
            return _outside(name)
        if not os.path.lexists(path):
            return Unfit("missing-file", f"`{name}` is a link that leads nowhere")
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            return Unfit("bad-file", f"`{name}` is not a regular file")
        if found.st_size > MAX_BYTES:
            return Unfit("bad-file", f"`{name}` is larger than {MAX_BYTES >> 20} MiB")
        return path


def _outside(name: str) -> Unfit:
    message = f"`{name}` lies outside the project, so evalcase won't read it"
    return Unfit("file-outside-project", message, "copy the file into the project")
