"""Workspaces of a run: each attempt of a trial gets a fresh copy of what its suite declares, and
what the agent changed in it is found afterwards.

Everything lies in one folder of the run, under the cache folder of the user and so outside of any
project. The folder holds a lock; a later run removes those whose lock is free, so that a run that
was killed leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import fcntl
import glob
import gzip
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from itertools import chain, count
from json import dumps
from tempfile import mkdtemp
from typing import IO, Any, NamedTuple

import msgspec

from evalcase.config.config import Config
from evalcase.errors import ConfigError, TargetError
from evalcase.runner.bases import (
    Base,
    Bases,
    digest_workspace,
    find_source,
    run_command,
    try_lock,
    write_files,
)
from evalcase.store.folder import PATCHES
from evalcase.types.case import Case
from evalcase.types.value import replace
from evalcase.types.workspace import Changes, Ran, Shell, Space, Workspace, WorkspaceError
from evalcase.util.environment import Environment
from evalcase.util.files import is_inside, read_file
from evalcase.util.processes import minimal_variables, note_containers, remove_containers
from evalcase.util.project import Attachments, attachments_in
from evalcase.util.secrets import Scrubber
from evalcase.util.snapshots import (
    MOST_PATCH_BYTES,
    Side,
    Tree,
    adopt,
    apply_patch,
    clear_way,
    compare,
    copy_file,
    copy_into,
    differing,
    hash_files,
    hash_tree,
    list_all,
    matches,
    read_patch,
    remove_path,
    remove_tree,
    scan,
)

_PART, _OVERLAP = 1 << 22, 1 << 14


class _Open(NamedTuple):
    """A workspace that is there."""

    space: Space
    declared: Workspace
    sources: Attachments
    base: Base
    before: Tree
    setup: tuple[Ran, ...]
    folder_id: tuple[int, int]
    """The device and the number of the folder."""
    listed: frozenset[str]
    """Everything that the agent found, where something is restored: also what `ignore` names."""


class _Place(NamedTuple):
    """The folder of a run, and what works in it."""

    folder: str
    lock: IO[bytes]
    bases: Bases


class Workspaces:
    """Makes, compares and removes the workspaces of one run. `close` leaves nothing behind."""

    def __init__(
        self, record: str, config: Config, environment: Environment, scrubber: Scrubber,
        warn: Callable[[str], None], *, solves: bool = False,
    ) -> None:  # fmt: skip
        """`record` is the folder of the run, which gets a patch of each workspace. With `solves`,
        the solutions of cases decide what comes of them."""
        self._record = record
        self._config = config
        self._variables = environment.variables
        self._cwd = environment.cwd
        self._scrubber = scrubber
        self._warn = warn
        self._solves = solves
        self._place: _Place | None = None
        self._reserved: dict[str, tuple[Workspace, Attachments, dict[str, str]]] = {}
        self._open: dict[str, _Open] = {}
        self._digests: dict[str, tuple[str, str]] = {}
        self._numbers = count(1)

    async def close(self) -> None:
        if self._place is None:
            return
        await self._place.bases.close()
        await asyncio.to_thread(_close_folder, self._place.folder, self._warn)
        self._place.lock.close()
        self._place = None

    def _sources_of(self, suite: str) -> Attachments:
        return attachments_in(os.path.dirname(os.path.join(self._cwd, suite)))

    def _table_of(self, target: str) -> dict[str, Any]:
        """The options of a target; an oracle has none."""
        return {} if self._solves else self._config.targets.get(target, {})

    def digest(self, case: Case, suite: str, target: str = "") -> tuple[str, str]:
        """What the question hash of a case at a target, and its grading hash, need to know of its
        workspace."""
        declared, overlay = case.workspace, dict(self._table_of(target).get("overlay", {}))
        assert declared is not None
        key = dumps([suite, msgspec.to_builtins(declared), overlay], sort_keys=True)
        if key not in self._digests:
            sources, root = self._sources_of(suite), self._config.root
            try:
                found = digest_workspace(declared, sources, overlay, root, solves=self._solves)
            except (WorkspaceError, OSError) as error:
                found = str(error), str(error)
            self._digests[key] = found
        return self._digests[key]

    def reserve(
        self, case: Case, suite: str, target: str = "", isolation: str | None = None
    ) -> Space:
        """Where the workspace of a trial will be. That of a stored answer keeps the `isolation` it
        had; without one, it is that of the target."""
        declared, table = case.workspace, self._table_of(target)
        assert declared is not None
        if self._place is None:
            work = _work_folder(self._variables)
            own, lock = _open_folder(work, self._warn)
            kept = os.path.join(os.path.dirname(work), "bases")
            bases = Bases(own, kept, self._config, self._variables, self._warn)
            self._place = _Place(own, lock, bases)
        folder = os.path.join(self._place.folder, f"{next(self._numbers)}")
        if isolation is None:
            isolation = str(table.get("isolation", "none"))
        note_containers(self._place.folder, isolation)
        space = Space(folder, "", dict(declared.env), isolation, _find_mounts(table, self._config))
        what = declared, self._sources_of(suite), dict(table.get("overlay", {}))
        return self._reserve(folder, space, what)

    def _reserve(
        self, folder: str, like: Space, what: tuple[Workspace, Attachments, dict[str, str]]
    ) -> Space:
        path, home = os.path.join(folder, "workspace"), os.path.join(folder, "home")
        self._reserved[path] = what
        return replace(like, path=path, home=home)

    async def make(self, space: Space) -> None:
        """Make the workspace of a trial, anew for each attempt. Raise WorkspaceError if that
        fails."""
        await self._remake(space, self._variables)

    async def _remake(self, space: Space, variables: Mapping[str, str]) -> None:
        await self._discard(space)
        try:
            self._open[space.path] = await self._make(space, variables)
        except OSError as error:
            raise WorkspaceError(f"the workspace can't be made: {error}") from None

    async def solve(self, space: Space) -> None:
        """Apply the solution of a case to its workspace. Raise WorkspaceError if that fails."""
        opened = self._open[space.path]
        solution = opened.declared.solution
        if isinstance(solution, Shell):
            await run_command(
                "solution", solution, space, self._variables, opened.declared.timeout_s
            )
            return
        assert solution is not None
        path = find_source(solution, opened.sources, is_folder=None)
        try:
            await asyncio.to_thread(_apply_solution, path, space.path)
        except (OSError, ValueError) as error:
            raise WorkspaceError(f"the solution `{solution}` can't be applied: {error}") from None

    async def take(
        self, space: Space, name: str, *, fresh: bool = False
    ) -> tuple[Space, Changes] | None:
        """The workspace of a trial as graders get it, with a `fresh` one beside it if that is
        wanted, and what was changed in it: all of that becomes a file of the record, by a name.
        None if it was never made."""
        opened = self._open.get(space.path)
        if opened is None:
            return None
        try:
            changes, patch, files = await asyncio.to_thread(self._compare, opened)
            if patch is not None and not await asyncio.to_thread(self._holds_secret, patch, files):
                file = os.path.join(PATCHES, f"{sha256(name.encode()).hexdigest()[:16]}.patch.gz")
                await asyncio.to_thread(_store_patch, os.path.join(self._record, file), patch)
                changes = replace(changes, patch=file)
            if fresh:
                space = await self._add_fresh(opened, changes, patch)
            await asyncio.to_thread(self._make_ready, opened)
        except OSError as error:
            raise WorkspaceError(f"what was changed can't be read: {error}") from None
        return space, changes

    def _holds_secret(self, patch: bytes, files: Iterable[str]) -> bool:
        """Whether a patch of these files holds a secret. In it, bytes that are no text are packed:
        they are looked at as they are."""
        known = self._scrubber.look()
        files = [path for path in files if os.path.isfile(path) and not os.path.islink(path)]
        texts = chain([patch.decode(errors="replace")], *map(_texts_in, files))
        return any(known.told(text) != text for text in texts)

    async def rebuild(
        self, space: Space, changes: Changes, *, ready: bool = True, fresh: bool = False
    ) -> Space:
        """Make the workspace of a stored answer again, and `ready` for graders. Raise
        WorkspaceError where it comes out otherwise than it was."""
        patch = read_patch(self._record, changes.patch)
        await self._repeat(space, changes, patch)
        opened = self._open[space.path]
        if fresh:
            space = await self._add_fresh(opened, changes, patch)
        if ready:
            await asyncio.to_thread(self._make_ready, opened)
        return space

    async def _add_fresh(self, opened: _Open, changes: Changes, patch: bytes | None) -> Space:
        """Make a second workspace beside one, with nothing but what is recorded. Where that fails,
        it says why."""
        folder = os.path.join(os.path.dirname(opened.space.path), "fresh")
        twin = self._reserve(folder, opened.space, self._reserved[opened.space.path])
        try:
            await self._repeat(twin, changes, patch)
            del self._reserved[twin.path]  # it is made once
            await asyncio.to_thread(self._make_ready, self._open[twin.path])
        except WorkspaceError as error:
            twin = replace(twin, fault=f"no fresh copy can be made: {error}")
        return replace(opened.space, fresh=twin)

    async def _repeat(self, space: Space, changes: Changes, patch: bytes | None) -> None:
        """Make a workspace, and change in it what was changed before."""
        if patch is None:
            raise WorkspaceError(
                "what was changed is not stored (too much, or a secret), or can't be read"
            )
        await self._remake(space, minimal_variables(self._variables))
        opened = self._open[space.path]
        if hash_tree(opened.before) != changes.base:
            raise WorkspaceError("its template, files or `setup` gave other files then")
        try:
            await asyncio.to_thread(apply_patch, patch, space.path)
        except OSError as error:
            raise WorkspaceError(f"its changes don't apply: {error}") from None
        again = await asyncio.to_thread(_look, opened)
        if hash_tree(again) != changes.end:
            raise WorkspaceError("its changes gave other files then")

    async def remove(self, space: Space, *, keep: bool = False) -> str | None:
        """Take the hidden files of a trial's workspace away, tear it down and remove it; where it
        is kept, if it is."""
        kept = None
        if space.path in self._open:
            for path in self._paths_of(space):
                opened = self._open[path]
                await asyncio.to_thread(self._hide, opened)
                limit_s, known = opened.declared.timeout_s, minimal_variables(self._variables)
                for command in opened.declared.teardown:
                    try:
                        await run_command(
                            "teardown", command, opened.space, known, limit_s, network=False
                        )
                    except TargetError as error:
                        self._warn(str(error))
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

    def _hide(self, opened: _Open) -> None:
        try:
            for name in opened.declared.hidden:
                if os.path.lexists(os.path.join(opened.space.path, name)):
                    clear_way(opened.space.path, name)
        except OSError as error:
            self._warn(f"`hidden` stays in a workspace: {error}")

    def _paths_of(self, space: Space) -> list[str]:
        """A workspace and the fresh one beside it, as far as they are there."""
        folder = os.path.dirname(space.path)
        return [path for path in self._open if is_inside(path, folder)]

    async def _discard(self, space: Space) -> None:
        for path in self._paths_of(space):
            del self._open[path]
        await asyncio.to_thread(remove_tree, os.path.dirname(space.path), self._warn)

    async def _make(self, space: Space, variables: Mapping[str, str]) -> _Open:
        declared, sources, overlay = self._reserved[space.path]
        assert self._place is not None
        base = await self._place.bases.find(declared, sources, overlay)
        folder = os.path.dirname(space.path)
        try:
            before = await asyncio.to_thread(_copy_base, base, folder, space, declared)
            ran = [
                await run_command("setup", command, space, variables, declared.timeout_s)
                for command in declared.setup
            ]
            found = os.lstat(space.path)
            folder_id = found.st_dev, found.st_ino
            if ran:
                before = await asyncio.to_thread(_look_after_setup, space, declared, before)
            listed = await asyncio.to_thread(list_all, space.path) if declared.restore else ()
        except BaseException:
            remove_tree(folder, self._warn)
            raise
        return _Open(
            space, declared, sources, base, before, tuple(ran), folder_id, frozenset(listed)
        )

    # What an agent changed. All of this runs in threads.

    def _compare(self, opened: _Open) -> tuple[Changes, bytes | None, list[str]]:
        """What was changed, all of it as a patch, which is None where that is too large, and the
        files that it is made of."""
        space, find = opened.space, partial(_find_file, opened)
        before, after = opened.before, _look(opened)
        changes, patch = compare(before, after, find, os.path.dirname(space.path))
        changes = replace(changes, setup=opened.setup, isolation=space.isolation)
        files = [find(path, "before") for path in differing(before, after)]
        return changes, patch, files + [find(path, "after") for path in differing(after, before)]

    def _make_ready(self, opened: _Open) -> None:
        """Put restored files back, and add hidden ones."""
        space, declared, before = opened.space, opened.declared, opened.before
        if declared.restore:
            for path in list_all(space.path):
                if path not in opened.listed and matches(path, declared.restore):
                    remove_path(os.path.join(space.path, path))
            for path in differing(before, _look(opened)):
                if matches(path, declared.restore):
                    copy_file(_find_file(opened, path, "before"), space.path, path)
            for path in opened.listed - before.keys():  # what `ignore` names
                source = os.path.join(opened.base.root, path)
                if matches(path, declared.restore) and os.path.isfile(source):
                    copy_file(source, space.path, path)
        write_files(space.path, declared.hidden, opened.sources)


def _find_mounts(table: Mapping[str, Any], config: Config) -> tuple[str, ...]:
    """What an isolated target is shown: its mounts, and the files that its options name."""
    plugins = table.get("plugins", ()) if table.get("kind") == "claude" else ()
    named = [*table.get("mounts", ()), *([table["mcp"]] if "mcp" in table else ()), *plugins]
    paths = (os.path.join(config.root, os.path.expanduser(each)) for each in named)
    return tuple(map(os.path.abspath, paths))


def check_machine(variables: Mapping[str, str]) -> None:
    if shutil.which("git", path=variables.get("PATH")) is None:
        raise ConfigError("workspaces need the program `git`, and there is none")


def warn_of_instructions(
    target: str, variables: Mapping[str, str], warn: Callable[[str], None]
) -> None:
    """Coding agents read some files in all folders above the one that they work in."""
    folder, hint = _work_folder(variables), "isolate the target, or set XDG_CACHE_HOME"
    while folder != (folder := os.path.dirname(folder)):
        for name in ("CLAUDE.md", "AGENTS.md", "GEMINI.md"):
            if os.path.isfile(path := os.path.join(folder, name)):
                warn(f"`{target}` may read {path}, which is above its workspaces: {hint}")


# Files. All of this runs in threads.


def _copy_base(base: Base, folder: str, space: Space, declared: Workspace) -> Tree:
    for each in (folder, space.path, space.home):
        os.mkdir(each, mode=0o700)
    copy_into(base.root, space.path)
    return adopt(scan(space.path, declared.ignore), base.tree)


def _look_after_setup(space: Space, declared: Workspace, known: Tree) -> Tree:
    """The files that an agent finds. What set-up made or changed is kept aside, because the agent
    may change it."""
    tree = hash_files(space.path, scan(space.path, declared.ignore), known)
    for path in differing(tree, known):
        copy_file(os.path.join(space.path, path), _aside(space), path)
    return tree


def _aside(space: Space) -> str:
    return os.path.join(os.path.dirname(space.path), "before")


def _look(opened: _Open) -> Tree:
    space = opened.space
    with suppress(FileExistsError):
        os.mkdir(space.path, 0o700)  # an agent may have removed it
    found = os.lstat(space.path)
    is_new = not os.path.islink(space.path) and os.listdir(space.path) == []
    if (found.st_dev, found.st_ino) != opened.folder_id and not is_new:
        raise WorkspaceError("the agent put another folder in the place of its workspace")
    return hash_files(space.path, scan(space.path, opened.declared.ignore), opened.before)


def _find_file(opened: _Open, path: str, side: Side) -> str:
    if side == "after":
        return os.path.join(opened.space.path, path)
    aside = os.path.join(_aside(opened.space), path)
    return aside if os.path.lexists(aside) else os.path.join(opened.base.root, path)


def _apply_solution(path: str, root: str) -> None:
    if os.path.isdir(path):
        for name in scan(path):
            copy_file(os.path.join(path, name), root, name)
    else:
        apply_patch(read_file(path, MOST_PATCH_BYTES), root)


def _texts_in(path: str) -> Iterator[str]:
    """A file, however large, in parts that overlap."""
    end = b""
    with open(path, "rb") as file:
        while data := file.read(_PART):
            yield (end + data).decode(errors="replace")
            end = data[-_OVERLAP:]


def _store_patch(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(gzip.compress(data, mtime=0))
        file.flush()
        os.fsync(file.fileno())


# Folders of runs


def _work_folder(variables: Mapping[str, str]) -> str:
    base = variables.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "evalcase", "work")


@contextmanager
def _alone_in(work: str) -> Iterator[None]:
    """One run at a time makes or removes folders of runs: none finds one without its lock."""
    with open(os.path.join(work, "lock"), "ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _close_folder(folder: str, warn: Callable[[str], None]) -> None:
    with suppress(FileNotFoundError), _alone_in(os.path.dirname(folder)):
        remove_tree(folder, warn)


def _open_folder(work: str, warn: Callable[[str], None]) -> tuple[str, IO[bytes]]:
    """A locked folder for the workspaces of this run, once those of runs that have ended without
    removing theirs are gone."""
    try:
        os.makedirs(work, mode=0o700, exist_ok=True)
        with _alone_in(work):
            for dead in glob.glob(os.path.join(glob.escape(work), "run-*")):
                with suppress(OSError):
                    if (held := try_lock(os.path.join(dead, "lock"))) is not None:
                        with held:
                            remove_containers(dead)
                            remove_tree(dead, warn)
            folder = mkdtemp(prefix="run-", dir=work)
            lock = try_lock(os.path.join(folder, "lock"))
    except OSError as error:
        raise ConfigError(f"no folder for workspaces in {work}: {error.strerror}") from None
    assert lock is not None
    return folder, lock
