"""The folder of a project, and the files and programs that suites and messages may name."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import PurePath
from shutil import which
from typing import Any

from evalcase.errors import ConfigError
from evalcase.types.message import is_address, named_files
from evalcase.types.problem import Finding
from evalcase.util.files import is_inside
from evalcase.util.text import shorten_text

MAX_ATTACHED_BYTES = 100 << 20
_MARKS = ("evalcase.toml", "pyproject.toml", ".git")
_STREAMS = ("/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/")
"""Links of the system to the open files of a process."""


def find_project(folder: str) -> str | None:
    for current in (folder, *map(str, PurePath(folder).parents)):
        for mark in _MARKS:
            if os.path.lexists(os.path.join(current, mark)):
                return current
    return None


def project_root(folder: str) -> str:
    """The nearest folder upwards with a project file, else the folder itself."""
    return find_project(folder) or folder


def take_root(folder: str) -> str:
    """The real path of a folder that is named as the root of a project, whatever lies above it.
    Raise ConfigError if it is no folder."""
    if not os.path.isdir(folder):
        what = "is a file" if os.path.exists(folder) else "is not there"
        raise ConfigError(f"`root` is the folder of a project, and {folder} {what}")
    return os.path.realpath(folder)


def describe_root(root: str) -> str:
    """The sentence that paths begin at the root, and which folder that is from here."""
    seen = os.path.relpath(os.path.realpath(root), os.path.realpath(os.getcwd()))
    return f"paths are relative to the project's folder{'' if seen == os.curdir else f', {seen}'}"


def leaves_by_link(path: str) -> bool:
    """Whether a path that a person or a shell names leads out of the project by a link: the file
    itself out of its own project, or a folder above it out of the project of the working folder.
    Without a project file, the working folder is the project."""
    named, real, cwd = os.path.abspath(path), os.path.realpath(path), os.path.realpath(os.curdir)
    if named.startswith(_STREAMS):
        return False
    here = project_root(cwd)
    if is_inside(named, here) and not is_inside(real, here):
        return True
    folder = os.path.realpath(os.path.dirname(named))
    own = find_project(folder) or (cwd if is_inside(folder, cwd) else folder)
    return os.path.islink(path) and not is_inside(real, own)


def leads_inside(name: str, folder: str) -> bool:
    """Whether a path, as it is named from a folder, stays in it once links are followed."""
    try:
        return is_inside(os.path.realpath(os.path.join(folder, name)), os.path.realpath(folder))
    except ValueError:
        return False  # a NUL, or half of a character: no file has such a name


def paths_from(root: str, cwd: str) -> Callable[[str], str]:
    """A function from the path of a suite to that from the project's folder: the same on every
    machine, and from wherever the suite is named. Suites made in Python keep theirs."""
    root = os.path.realpath(root)

    @cache
    def find(path: str) -> str:
        real = os.path.realpath(os.path.join(cwd, path))
        return path if path.startswith("<") else os.path.relpath(real, root).replace(os.sep, "/")

    return find


def show_beside(path: str, folder: str) -> str:
    """The real path of a file as that of a suite in a folder is shown: seen from the same place."""
    below = os.path.relpath(path, os.path.realpath(folder))
    return os.path.normpath(os.path.join(folder, below))


class Attachments:
    """Finds the files that messages of the suites in one folder refer to: from that folder upwards
    to the root, and never outside. `check` and `run` share this rule."""

    def __init__(self, folder: str, root: str) -> None:
        """Both are real paths; the root is where the search upwards ends."""
        self.folder = folder
        self.root = root

    def find(self, name: str, is_folder: bool | None = False) -> str | Finding:
        """The real path of a file or a folder, or the reason why there is none. With None, it may
        be either."""
        folders = [self.folder]
        while folders[-1] != self.root and is_inside(folders[-1], self.root):
            folders.append(os.path.dirname(folders[-1]))
        shown = shorten_text(name, 200)  # it may be a whole picture by mistake
        for folder in folders:
            path = os.path.join(folder, name)
            try:
                # The nearest is meant: where it leads outside, no other takes its place.
                if os.path.lexists(path):
                    return self._fit(path, shown, is_folder)
            except (OSError, ValueError):
                continue
        if not is_inside(os.path.normpath(os.path.join(self.folder, name)), self.root):
            return _refuse_outside(shown)
        hint = (
            "`path` names a file; the address of an image is written as its `url`"
            if is_address(name)
            else "it is looked for next to the suite and in its parent folders up to the project "
            "root"
        )
        what = "folder" if is_folder else "file"
        return Finding((), f"there is no {what} `{shown}`", hint, code="missing-file")

    def find_from_root(self, name: str) -> str | Finding:
        """The same for a file that is named from the root of the project, wherever the suite is."""
        found = Attachments(self.root, self.root).find(name)
        if isinstance(found, Finding) and found.code == "missing-file" and found.hint is not None:
            return found._replace(hint=describe_root(self.root))
        return found

    def _fit(self, path: str, name: str, is_folder: bool | None) -> str | Finding:
        path = os.path.realpath(path)
        if not is_inside(path, self.root):
            return _refuse_outside(name)
        if not os.path.lexists(path):
            return Finding((), f"`{name}` is a link that leads nowhere", code="missing-file")
        found = os.stat(path)
        if is_folder is not False and stat.S_ISDIR(found.st_mode):
            return path
        if is_folder:
            fault = "not a folder"
        elif not stat.S_ISREG(found.st_mode):
            fault = "not a regular file"
        elif found.st_size > MAX_ATTACHED_BYTES:
            fault = f"larger than {MAX_ATTACHED_BYTES >> 20} MiB"
        else:
            return path
        return Finding((), f"`{name}` is {fault}", code="bad-file")


def _refuse_outside(name: str) -> Finding:
    message = f"`{name}` is outside the project, so evalcase won't read it"
    return Finding((), message, "copy the file into the project", code="file-outside-project")


def attachments_in(folder: str, root: str | None = None) -> Attachments:
    """Finds the files of the suites in a folder, up to the root of their project. A root that is
    given counts, unless the folder lies outside of it."""
    folder = os.path.realpath(folder)
    given = None if root is None else os.path.realpath(root)
    if given is None or not is_inside(folder, given):
        given = project_root(folder)
    return Attachments(folder, given)


def find_attachments(suite: str, messages: Iterable[Mapping[str, Any]]) -> dict[str, str] | Finding:
    """Every file that messages of a suite refer to: its real path by the name as it was written."""
    attachments, found = attachments_in(os.path.dirname(suite)), {}
    for name in named_files(messages):
        path = attachments.find(name)
        if isinstance(path, Finding):
            return path
        found[name] = path
    return found


_INTERPRETERS = frozenset({"python", "python3", "node", "ruby", "perl", "sh", "bash"})


def find_program(name: str, folder: str, environment: Mapping[str, str]) -> str | None:
    """The file of a program that is started in a folder; None if there is none that can be run.
    Like the system, it sees relative folders of PATH from that folder."""
    if os.path.dirname(name):
        return which(os.path.join(folder, name))
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    return which(name, path=os.pathsep.join([os.path.join(folder, each) for each in folders]))


def find_script(argv: Sequence[object]) -> str | None:
    """The file that an interpreter runs; None if no interpreter is started, or the file is not
    plain to see."""
    match argv:
        case [str() as program, str() as name, *_] if os.path.basename(program) in _INTERPRETERS:
            is_plain = os.path.splitext(name)[1] and name[0] != "-"
            return name if is_plain and "{" not in name and "\0" not in name else None
    return None
