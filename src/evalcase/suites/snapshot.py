"""A file as it was when it was checked: whoever reads it again is told if it is another by then."""

from __future__ import annotations

import os
from collections.abc import Iterable

from evalcase.errors import ConfigError
from evalcase.system.digests import digest_file

_Look = tuple[int, int, int, int, int]


class Snapshot:
    """What tells a file and those beside it apart from others of the same names.

    A look at a file costs next to nothing, and sees that it was written to, also if nothing came
    of it. Only then its content is compared.
    """

    def __init__(self, paths: Iterable[str], cwd: str) -> None:
        """`cwd` is what they are seen from, wherever the process has gone since."""
        self._paths = list(paths)
        self._own = len(self._paths)
        """How many of them are the file and those beside it; it names the others."""
        self._cwd = cwd
        self._given: dict[str, str] = {}
        """What was named, as it was, by where it is: who reads again may see it from elsewhere."""
        self._looks: dict[str, _Look | None] = {}
        self.digests: dict[str, str] = {}

    def look(self) -> None:
        """Look at the files before they are read for the first time."""
        self._looks = {path: self._look_at(path) for path in self._paths}

    def add(self, path: str) -> None:
        """Look at another file, which one of them names, before it is read for the first time."""
        if path not in self._looks:
            self._paths.append(path)
            self._given[self._place(path)] = path
            self._looks[path] = self._look_at(path)

    def keep(self) -> None:
        """Remember what they hold, once they were read. Raise ConfigError if they were changed."""
        self.digests = {path: digest_file(self._place(path)) for path in self._paths}
        for path in self._paths:
            if self._looks[path] != self._look_at(path):
                raise ConfigError(f"{path} changed while it was checked")

    def __len__(self) -> int:
        return len(self._paths)

    def verify(self) -> None:
        """Raise ConfigError if one of them holds something else by now."""
        self._verify(self._paths)

    def verify_own(self, named: Iterable[str] = ()) -> None:
        """The same for the file and those beside it, and of the others for those `named`: there
        may be one for each case."""
        self._verify(self._paths[: self._own])
        self._verify(self._given.get(self._place(path), path) for path in named)

    def _verify(self, paths: Iterable[str]) -> None:
        for path in paths:
            if path not in self._looks:
                raise ConfigError(f"{path} was not there when the suite was checked")
            look = self._look_at(path)
            if look == self._looks[path]:
                continue
            known = self.digests.get(path)
            if None in (look, known) or digest_file(self._place(path)) != known:
                raise ConfigError(f"{path} changed while it was run")
            self._looks[path] = look

    def _place(self, path: str) -> str:
        return os.path.join(self._cwd, path)

    def _look_at(self, path: str) -> _Look | None:
        """Which file it is, how large, and when it was last written to; None if there is none."""
        try:
            about = os.stat(self._place(path))
        except OSError:
            return None
        return (
            about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
        )  # fmt: skip
