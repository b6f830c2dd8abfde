"""Workspaces of a run: each attempt of a trial gets a fresh copy of what its suite declares, and
what the agent changed in it is found afterwards.

Everything lies in one folder of the run, under the cache folder of the user and so outside of any
project. The folder holds a lock; a later run removes those whose lock is free, so that a run that
was killed leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import fcntl
import gzip
import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import count
from json import dumps
from tempfile import mkdtemp
from typing import IO, Any, NamedTuple

import msgspec

from evalcase.errors import ConfigError, TargetError
from evalcase.store.folder import PATCHES
from evalcase.types.case import Case
from evalcase.types.problem import Finding
from evalcase.types.value import replace
from evalcase.types.workspace import Changes, Command, Inline, Ran, Shell, Space, Workspace
from evalcase.util.environment import Environment, monotonic
from evalcase.util.errors import add_complaint
from evalcase.util.files import digest_file, is_inside
from evalcase.util.process_tree import close_guard, open_guard
from evalcase.util.processes import Process, describe_exit
from evalcase.util.project import Attachments, attachments_in
from evalcase.util.secrets import Scrubber
from evalcase.util.snapshots import (
    LEFT_OUT,
    MOST_PATCH_BYTES,
    Comparer,
    Side,
    Tree,
    adopt,
    copy_file,
    differing,
    hash_files,
    hash_tree,
    matches,
    scan,
    without_git,
)

_MOST_OUTPUT = 1_000_000
_TAIL = 2000
_REFLINK = ["--reflink=auto"] if sys.platform == "linux" else []
_COMMITTED = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (
        ("NAME", "evalcase"), ("EMAIL", "evalcase@localhost"), ("DATE", "2000-01-01T00:00:00Z")
    )
}  # fmt: skip
"""The same commit on every machine."""


class WorkspaceError(TargetError):
    """A workspace can't be made: its trial is errored, and the agent is not asked."""

    def __init__(self, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message, kind="workspace", details=details)


class _Base(NamedTuple):
    """What the copies of a workspace begin with."""

    root: str
    tree: Tree


class _Open(NamedTuple):
    """The workspace of a trial."""

    space: Space
    declared: Workspace
    sources: Attachments
    base: _Base
    before: Tree
    comparer: Comparer
    setup: tuple[Ran, ...]
    folder_id: tuple[int, int]
    """The device and the number of the folder."""

    @property
    def folder(self) -> str:
        return os.path.dirname(self.space.path)


class Workspaces:
    """Makes, compares and removes the workspaces of one run. `close` leaves nothing behind."""

    def __init__(
        self, record: str, environment: Environment, scrubber: Scrubber,
        warn: Callable[[str], None],
    ) -> None:  # fmt: skip
        """`record` is the folder of the run, which gets a patch of each workspace."""
        self._record = record
        self._variables = environment.variables
        self._cwd = environment.cwd
        self._scrubber = scrubber
        self._warn = warn
        self._folder: str | None = None
        self._lock: IO[bytes] | None = None
        self._comparer: Comparer | None = None
        self._bases: dict[str, asyncio.Task[_Base]] = {}
        self._reserved: dict[str, tuple[Workspace, Attachments]] = {}
        self._open: dict[str, _Open] = {}
        self._digests: dict[str, tuple[str, str]] = {}
        self._numbers = count(1)

    async def close(self) -> None:
        for task in self._bases.values():
            task.cancel()
        await asyncio.gather(*self._bases.values(), return_exceptions=True)
        if self._folder is None:
            return
        await asyncio.to_thread(_remove_tree, self._folder, self._warn)
        close_guard()
        if self._lock is not None:
            self._lock.close()
        self._folder = None

    def _sources_of(self, suite: str) -> Attachments:
        return attachments_in(os.path.dirname(os.path.join(self._cwd, suite)))

    def digest(self, case: Case, suite: str) -> tuple[str, str]:
        """What the question hash and the grading hash of a case need to know of its workspace."""
        declared = case.workspace
        assert declared is not None
        key = dumps([suite, msgspec.to_builtins(declared)], sort_keys=True)
        if key not in self._digests:
            try:
                self._digests[key] = _digest(declared, self._sources_of(suite))
            except (WorkspaceError, OSError) as error:
                self._digests[key] = str(error), str(error)
        return self._digests[key]

    def reserve(self, case: Case, suite: str) -> Space:
        """Where the workspace of a trial will be."""
        declared = case.workspace
        assert declared is not None
        if self._folder is None:
            self._folder, self._lock = _open_folder(self._variables, self._warn)
            self._comparer = Comparer(os.path.join(self._folder, "git"))
            open_guard()
        folder = os.path.join(self._folder, f"{next(self._numbers)}")
        space = Space(
            os.path.join(folder, "workspace"), os.path.join(folder, "home"), dict(declared.env)
        )
        self._reserved[space.path] = declared, self._sources_of(suite)
        return space

    async def make(self, space: Space) -> None:
        """Make the workspace of a trial, anew for each attempt. Raise WorkspaceError if that
        fails."""
        await self._discard(space)
        try:
            self._open[space.path] = await self._make(space)
        except OSError as error:
            raise WorkspaceError(f"the workspace can't be made: {error}") from None

    async def take(self, space: Space, name: str) -> Changes | None:
        """What was changed in the workspace of a trial; all of it becomes a file of the record, by
        a name. The workspace is then made ready for graders. None if it was never made."""
        opened = self._open.get(space.path)
        if opened is None:
            return None
        try:
            changes, patch = await asyncio.to_thread(_take, opened)
        except OSError as error:
            raise WorkspaceError(f"what was changed can't be read: {error}") from None
        if patch is None or await asyncio.to_thread(self._holds_secret, space, changes, patch):
            return changes
        file = os.path.join(PATCHES, f"{sha256(name.encode()).hexdigest()[:16]}.patch.gz")
        await asyncio.to_thread(_store_patch, os.path.join(self._record, file), patch)
        return replace(changes, patch=file)

    def _holds_secret(self, space: Space, changes: Changes, patch: bytes) -> bool:
        """Whether a patch holds a secret. In it, bytes that are no text are packed: they are looked
        at as they are."""
        known = self._scrubber.look()
        texts = [patch.decode(errors="replace")]
        for each in changes.changed:
            path = os.path.join(space.path, each.path)
            if each.status != "deleted" and os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    texts.append(file.read().decode(errors="replace"))
        return any(known.told(text) != text for text in texts)

    async def rebuild(self, space: Space, changes: Changes) -> None:
        """Make the workspace of a stored answer again, for graders. Raise WorkspaceError where it
        comes out otherwise than it was."""
        patch = _read_patch(self._record, changes.patch)
        if patch is None:
            raise WorkspaceError(
                "as what was changed is not stored: it was too much, or held a secret"
            )
        await self.make(space)
        opened = self._open[space.path]
        if hash_tree(opened.before) != changes.base:
            raise WorkspaceError("as its template, files or `setup` gave other files then")
        try:
            await asyncio.to_thread(opened.comparer.apply, patch, space.path)
        except ValueError as error:
            raise WorkspaceError(f"as its changes don't apply: {error}") from None
        again, _ = await asyncio.to_thread(_take, opened)
        if again.end != changes.end:
            raise WorkspaceError("as its changes gave other files then")

    async def remove(self, space: Space, *, keep: bool = False) -> str | None:
        """Tear the workspace of a trial down and remove it; where it is kept, if it is."""
        opened = self._open.get(space.path)
        kept = None
        if opened is not None:
            for command in opened.declared.teardown:
                try:
                    await self._run(command, space, opened.declared.timeout_s)
                except TargetError as error:
                    self._warn(f"teardown of a workspace: {error}")
            if keep:
                parent = os.path.join(_work_folder(self._variables), "kept")
                os.makedirs(parent, mode=0o700, exist_ok=True)
                kept = os.path.join(mkdtemp(dir=parent), "workspace")
                try:
                    await asyncio.to_thread(shutil.move, space.path, kept)
                except OSError as error:
                    self._warn(f"a workspace can't be kept: {error}")
                    kept = None
        await self._discard(space)
        self._reserved.pop(space.path, None)
        return kept

    async def _discard(self, space: Space) -> None:
        if self._open.pop(space.path, None) is not None:
            await asyncio.to_thread(_remove_tree, os.path.dirname(space.path), self._warn)

    # Making one

    async def _make(self, space: Space) -> _Open:
        declared, sources = self._reserved[space.path]
        base = await self._find_base(declared, sources)
        folder = os.path.dirname(space.path)
        try:
            before = await asyncio.to_thread(_copy_base, base, folder, space, declared)
            ran = []
            for command in declared.setup:
                ran.append(await self._run(command, space, declared.timeout_s))
            found = os.lstat(space.path)
            folder_id = found.st_dev, found.st_ino
            if ran:
                before = await asyncio.to_thread(_look_after_setup, space, declared, before)
        except BaseException:
            _remove_tree(folder, self._warn)
            raise
        assert self._comparer is not None
        return _Open(space, declared, sources, base, before, self._comparer, tuple(ran), folder_id)

    async def _find_base(self, declared: Workspace, sources: Attachments) -> _Base:
        """The base of a workspace, made once in a run."""
        key = dumps([sources.folder, msgspec.to_builtins(declared)], sort_keys=True)
        if key not in self._bases:
            assert self._folder is not None
            root = os.path.join(self._folder, f"base-{len(self._bases)}")
            making = asyncio.to_thread(_make_base, root, declared, sources)
            self._bases[key] = asyncio.ensure_future(making)
        return await asyncio.shield(self._bases[key])

    async def _run(self, command: Command, space: Space, limit_s: float) -> Ran:
        """Run a command of the suite in a workspace. Raise WorkspaceError unless it succeeds."""
        argv = ["/bin/sh", "-c", command.sh] if isinstance(command, Shell) else list(command)
        shown = command.sh if isinstance(command, Shell) else " ".join(command)
        environment = without_git({**self._variables, **space.env, "PWD": space.path})
        began = monotonic()
        async with Process(argv, space.path, environment, _MOST_OUTPUT) as process:
            try:
                code, output = await asyncio.wait_for(process.run(None), limit_s)
            except TimeoutError:
                raise WorkspaceError(f"`{shown}` took longer than {limit_s:g} s") from None
            except TargetError as error:
                raise WorkspaceError(str(error), error.details) from None
        if code != 0:
            told = add_complaint(f"`{shown}` {describe_exit(code)}", process.stderr)
            tail = output.data[-_TAIL:].decode(errors="backslashreplace")
            raise WorkspaceError(told, {**process.details(), **({"stdout": tail} if tail else {})})
        return Ran(shown, code, round(monotonic() - began, 3))


# What is asked of workspaces before a run


def check_machine(variables: Mapping[str, str]) -> None:
    """Raise ConfigError if no workspace can be made here."""
    if shutil.which("git", path=variables.get("PATH")) is None:
        raise ConfigError("workspaces need the program `git`, and there is none")
    work = _work_folder(variables)
    try:
        os.makedirs(work, mode=0o700, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"no folder for workspaces in {work}: {error.strerror}") from None
    if not os.access(work, os.W_OK):
        raise ConfigError(f"no folder for workspaces in {work}: it can't be written")


_OF_GRADING = ("hidden", "restore")
_OF_NEITHER = ("teardown", "timeout_s")


def _digest(declared: Workspace, sources: Attachments) -> tuple[str, str]:
    """What an agent finds, and what graders find beside it: everything that is declared, with the
    hashes of template and files. Raise WorkspaceError if a file is missing."""
    whole = msgspec.to_builtins(declared)
    if declared.template is not None:
        root = _find_template(declared, sources)
        entries = [
            (path, entry.mode, _digest_entry(os.path.join(root, path)))
            for path, entry in scan(root).items()
        ]
        whole["template"] = sha256(dumps(entries).encode()).hexdigest()
    for field in ("files", "hidden"):
        for name, source in getattr(declared, field).items():
            if not isinstance(source, Inline):
                whole[field][name] = digest_file(_find_source(source, sources))
    graded = {name: whole.pop(name) for name in _OF_GRADING if name in whole}
    asked = {name: each for name, each in whole.items() if name not in _OF_NEITHER}
    return dumps(asked, sort_keys=True), dumps(graded, sort_keys=True)


def _digest_entry(path: str) -> str:
    return os.readlink(path) if os.path.islink(path) else digest_file(path)


def _find_template(declared: Workspace, sources: Attachments) -> str:
    """The folder of a template. Raise WorkspaceError if there is none in the project."""
    assert declared.template is not None
    found = sources.find(declared.template, is_folder=True)
    if isinstance(found, Finding):
        raise WorkspaceError(found.message)
    return found


def _find_source(name: str, sources: Attachments) -> str:
    found = sources.find(name)
    if isinstance(found, Finding):
        raise WorkspaceError(found.message)
    return found


# Files. All of this runs in threads.


def _make_base(root: str, declared: Workspace, sources: Attachments) -> _Base:
    workspace = os.path.join(root, "workspace")
    os.makedirs(workspace)
    if declared.template is not None:
        template = _find_template(declared, sources)
        names = [name for name in os.listdir(template) if name not in LEFT_OUT]
        _copy([os.path.join(template, name) for name in names], workspace)
        _drop_repositories(workspace)
    _write_files(workspace, declared.files, sources)
    tree = hash_files(workspace, scan(workspace, declared.ignore))
    if declared.git:
        _commit(workspace)
    return _Base(workspace, tree)


def _copy(sources: Sequence[str], target: str) -> None:
    if not sources:
        return
    argv = ["cp", "-a", *_REFLINK, "--", *sources, target]
    ran = subprocess.run(argv, capture_output=True, check=False)  # noqa: S603
    if ran.returncode != 0:
        raise WorkspaceError(f"the workspace can't be copied: {ran.stderr.decode().strip()}")


def _drop_repositories(root: str) -> None:
    """Remove repositories in the template: their configuration could name programs."""
    for folder, folders, files in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
            _clear(os.path.join(folder, ".git"))
        elif ".git" in files:
            os.unlink(os.path.join(folder, ".git"))


def _write_files(root: str, files: Mapping[str, str | Inline], sources: Attachments) -> None:
    for name, source in files.items():
        path = _clear_way(root, name)
        if isinstance(source, Inline):
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(source.text)
        else:
            shutil.copy(_find_source(source, sources), path)


def _clear_way(root: str, name: str) -> str:
    """The path of a file in a workspace, where nothing stands in its way: an agent may have put
    links, files or folders there."""
    path = root
    for part in name.split("/")[:-1]:
        path = os.path.join(path, part)
        if os.path.islink(path) or not os.path.isdir(path):
            _clear(path)
            os.mkdir(path)
    path = os.path.join(path, os.path.basename(name))
    _clear(path)
    return path


def _clear(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _commit(workspace: str) -> None:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath), "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C", **_COMMITTED,
    }  # fmt: skip
    for argv in (
        ["init", "-q", "-b", "main", "--template="],
        ["add", "--all", "--force"],
        ["commit", "-q", "--no-verify", "--allow-empty", "-m", "workspace"],
        ["repack", "-adq"],  # one file is copied faster than thousands
    ):
        ran = subprocess.run(  # noqa: S603 - git, with our own arguments
            ["git", "-c", "gc.auto=0", *argv],  # noqa: S607
            cwd=workspace,
            env=environment,
            capture_output=True,
            check=False,
        )
        if ran.returncode != 0:
            message = ran.stderr.decode(errors="replace").strip()
            raise WorkspaceError(f"git {argv[0]} in a workspace: {message}")


def _copy_base(base: _Base, folder: str, space: Space, declared: Workspace) -> Tree:
    for each in (folder, space.path, space.home):
        os.mkdir(each, mode=0o700)
    names = os.listdir(base.root)
    _copy([os.path.join(base.root, name) for name in names], space.path)
    return adopt(scan(space.path, declared.ignore), base.tree)


def _look_after_setup(space: Space, declared: Workspace, known: Tree) -> Tree:
    """The files that an agent finds. What set-up made or changed is kept aside, because the agent
    may change it."""
    tree = hash_files(space.path, scan(space.path, declared.ignore), known)
    for path in differing(tree, known):
        copy_file(os.path.join(space.path, path), _aside(space, path))
    return tree


def _is_new(path: str) -> bool:
    """Whether a folder is one that was just made: a real one, and empty."""
    return not os.path.islink(path) and os.listdir(path) == []


def _aside(space: Space, path: str) -> str:
    return os.path.join(os.path.dirname(space.path), "before", path)


def _take(opened: _Open) -> tuple[Changes, bytes | None]:
    """Compare, then put restored files back and add hidden ones."""
    space, declared, before = opened.space, opened.declared, opened.before
    with suppress(FileExistsError):
        os.mkdir(space.path, 0o700)  # an agent may have removed it
    found = os.lstat(space.path)
    if (found.st_dev, found.st_ino) != opened.folder_id and not _is_new(space.path):
        raise WorkspaceError("the agent put another folder in the place of its workspace")
    after = hash_files(space.path, scan(space.path, declared.ignore), before)

    def find(path: str, side: Side) -> str:
        if side == "after":
            return os.path.join(space.path, path)
        aside = _aside(space, path)
        return aside if os.path.lexists(aside) else os.path.join(opened.base.root, path)

    changes, patch = opened.comparer.compare(before, after, find)
    for path in differing(after, before):
        if matches(path, declared.restore):
            os.unlink(os.path.join(space.path, path))
    for path in differing(before, after):
        if matches(path, declared.restore):
            copy_file(find(path, "before"), _clear_way(space.path, path))
    _write_files(space.path, declared.hidden, opened.sources)
    return replace(changes, setup=opened.setup), patch


def _store_patch(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(gzip.compress(data, mtime=0))
        file.flush()
        os.fsync(file.fileno())


def _read_patch(folder: str, name: str | None) -> bytes | None:
    """A stored patch of a record; None if there is none, or none that can be read."""
    if name is None or not is_inside(
        os.path.realpath(os.path.join(folder, name)), os.path.realpath(folder)
    ):
        return None
    try:
        with gzip.open(os.path.join(folder, name)) as file:
            return file.read(MOST_PATCH_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        return None


# Folders of runs


def _work_folder(variables: Mapping[str, str]) -> str:
    base = variables.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "evalcase", "work")


def _open_folder(
    variables: Mapping[str, str], warn: Callable[[str], None]
) -> tuple[str, IO[bytes]]:
    """A locked folder for the workspaces of this run, once those of dead runs are removed."""
    work = _work_folder(variables)
    try:
        os.makedirs(work, mode=0o700, exist_ok=True)
        _sweep(work, warn)
        folder = mkdtemp(prefix="run-", dir=work)
        lock = open(os.path.join(folder, "lock"), "wb")  # noqa: SIM115 - held by the run
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        raise ConfigError(f"no folder for workspaces in {work}: {error.strerror}") from None
    return folder, lock


def _sweep(work: str, warn: Callable[[str], None]) -> None:
    """Remove the folders of runs that have ended without doing so."""
    for name in os.listdir(work):
        folder = os.path.join(work, name)
        if not name.startswith("run-"):
            continue
        try:
            with open(os.path.join(folder, "lock"), "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove_tree(folder, warn)
        except OSError:
            continue  # it is in use, or is being made


def _remove_tree(folder: str, warn: Callable[[str], None]) -> None:
    """Remove a folder, also where an agent made parts of it read-only. No link is followed."""

    def allow(function: Callable[[str], object], path: str, _: object) -> None:
        with suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            if not os.path.islink(path) and os.path.isdir(path):
                os.chmod(path, 0o700)
                shutil.rmtree(path, ignore_errors=True)
            else:
                function(path)

    shutil.rmtree(folder, onerror=allow)
    if os.path.lexists(folder):
        warn(f"a workspace can't be removed: {folder}")
