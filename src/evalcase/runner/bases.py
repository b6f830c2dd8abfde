"""What the copies of a workspace begin with: a template or a commit, files, and what `prepare`
makes of them; and the hashes of all that.

A base is made once in a run. One that took a repository or commands is kept in the cache folder of
the user for later runs, by the hash of its definition. By a lock beside it, one run makes it.
"""

from __future__ import annotations

import asyncio
import fcntl
import glob
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from json import dumps
from typing import IO, Any, NamedTuple

import msgspec

from evalcase.config.config import Config
from evalcase.errors import TargetError
from evalcase.types.problem import Finding
from evalcase.types.read_options import fields_of
from evalcase.types.workspace import Command, Inline, Ran, Shell, Space, Workspace, WorkspaceError
from evalcase.util.environment import monotonic
from evalcase.util.errors import add_complaint
from evalcase.util.files import digest_file
from evalcase.util.processes import describe_exit, process_in
from evalcase.util.project import Attachments, attachments_in
from evalcase.util.secrets import mask_credentials
from evalcase.util.snapshots import (
    GIT_ALONE,
    LEFT_OUT,
    LINK,
    Tree,
    clear_way,
    copy_into,
    hash_files,
    remove_path,
    remove_tree,
    scan,
    without_git,
)

_MOST_OUTPUT = 1_000_000
_TAIL = 2000
_KEPT_S = 7 * 86_400.0
"""How long a base is kept that no run uses."""
_POLL_S = 0.1
_COMMITTED = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (
        ("NAME", "evalcase"), ("EMAIL", "evalcase@localhost"), ("DATE", "2000-01-01T00:00:00Z")
    )
}  # fmt: skip
"""The same commit on every machine."""


class Base(NamedTuple):
    """What the copies of a workspace begin with."""

    root: str
    tree: Tree


class Bases:
    """The bases of one run, in its own folder or in the cache."""

    def __init__(
        self, own: str, cache: str, config: Config, variables: Mapping[str, str],
        warn: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._own = own
        self._cache = cache
        self._config = config
        self._variables = variables
        self._warn = warn
        self._made: dict[str, asyncio.Task[Base]] = {}

    async def close(self) -> None:
        for task in self._made.values():
            task.cancel()
        await asyncio.gather(*self._made.values(), return_exceptions=True)

    async def find(
        self, declared: Workspace, sources: Attachments, overlay: Mapping[str, str]
    ) -> Base:
        """The base of a workspace, made if there is none. Raise WorkspaceError if that fails."""
        parts = sources.folder, msgspec.to_builtins(declared), dict(overlay)
        key = dumps(parts, sort_keys=True)
        if key not in self._made:
            name = f"base-{len(self._made)}"
            if overlay:
                making = self._lay_over(declared, sources, name, overlay)
            else:
                making = self._make(declared, sources, name)
            self._made[key] = asyncio.ensure_future(making)
        return await asyncio.shield(self._made[key])

    async def _make(self, declared: Workspace, sources: Attachments, name: str) -> Base:
        if declared.repo is None and not declared.prepare:
            folder = os.path.join(self._own, name)
            await self._build(folder, declared, sources)
        else:
            folder = await self._find_kept(declared, sources)
        root = os.path.join(folder, "workspace")
        tree = await asyncio.to_thread(lambda: hash_files(root, scan(root, declared.ignore)))
        return Base(root, tree)

    async def _lay_over(
        self, declared: Workspace, sources: Attachments, name: str, overlay: Mapping[str, str]
    ) -> Base:
        """A base with the files of a target laid over it."""
        base = await self.find(declared, sources, {})
        root = os.path.join(self._own, name, "workspace")

        def copy() -> Tree:
            os.makedirs(root)
            copy_into(base.root, root)
            for path, source in overlay.items():
                _lay_over(root, path, _find_laid(source, self._config.root))
            if declared.git:
                run_git(["add", "--force", "--", *overlay], root)
                amend = [] if declared.history else ["--amend"]
                run_git(["commit", "-q", "--no-verify", *amend, "-m", "workspace"], root)
            return hash_files(root, scan(root, declared.ignore))

        return Base(root, await asyncio.to_thread(copy))

    async def _find_kept(self, declared: Workspace, sources: Attachments) -> str:
        whole = await asyncio.to_thread(_digest_parts, declared, sources)
        whole["repo"] = self._find_repo(declared, sources) if declared.repo is not None else None
        basis = {name: whole.get(name) for name in _fields_that_decide("base")}
        os.makedirs(self._cache, mode=0o700, exist_ok=True)
        await asyncio.to_thread(_sweep_kept, self._cache, self._warn)
        folder = os.path.join(
            self._cache, sha256(dumps(basis, sort_keys=True).encode()).hexdigest()[:32]
        )
        while (lock := try_lock(f"{folder}.lock")) is None:  # noqa: ASYNC110 - another process
            await asyncio.sleep(_POLL_S)
        with lock:
            os.utime(lock.fileno())
            if not await asyncio.to_thread(os.path.isdir, folder):
                making = f"{folder}.new"
                await asyncio.to_thread(remove_tree, making, self._warn)
                await self._build(making, declared, sources)
                await asyncio.to_thread(os.rename, making, folder)
        return folder

    async def _build(self, folder: str, declared: Workspace, sources: Attachments) -> None:
        root = os.path.join(folder, "workspace")
        try:
            await asyncio.to_thread(self._fill, root, declared, sources)
            for command in declared.prepare:
                space = Space(root, "", declared.env)
                await run_command("prepare", command, space, self._variables, declared.timeout_s)
            if declared.git:
                await asyncio.to_thread(_commit, root, has_history=declared.history > 0)
        except BaseException:
            remove_tree(folder, self._warn)
            raise

    def _fill(self, root: str, declared: Workspace, sources: Attachments) -> None:
        os.makedirs(root)
        if declared.template is not None:
            template = find_source(declared.template, sources, is_folder=True)
            copy_into(template, root, LEFT_OUT)
            for place, folders, _ in os.walk(root):  # their configuration could name programs
                remove_path(os.path.join(place, ".git"))
                folders[:] = [name for name in folders if name != ".git"]
        elif declared.repo is not None:
            self._export(root, declared, sources)
        write_files(root, declared.files, sources)
        if declared.git:
            run_git(["init", "-q", "-b", "main", "--template="], root)
            run_git(["add", "--all", "--force"], root)

    def _export(self, root: str, declared: Workspace, sources: Attachments) -> None:
        """The files of a commit, and as much of its history as is asked for. They are fetched to a
        repository of our own: no hook, filter or setting of the other one counts."""
        assert declared.commit is not None
        address, is_remote = self._find_repo(declared, sources)
        run_git(["init", "-q", "-b", "main", "--template="], root)
        fetch = ["fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
                 f"--depth={max(declared.history, 1)}", "--", address, declared.commit]  # fmt: skip
        variables = without_git(self._variables)  # a remote one may need the keys of the user
        if not is_remote:
            # It may be of another user: nothing in it is run.
            settings = os.path.join(os.path.dirname(root), "settings")
            with open(settings, "w", encoding="utf-8") as file:
                file.write("[safe]\n\tdirectory = *\n")
            variables |= {**GIT_ALONE, "GIT_CONFIG_GLOBAL": settings}
        run_git(fetch, root, variables)
        run_git(["update-ref", "refs/heads/main", declared.commit], root)
        run_git(["read-tree", declared.commit], root)
        run_git(["checkout-index", "--all", "--force", "--quiet"], root)
        if not declared.history:
            remove_path(os.path.join(root, ".git"))

    def _find_repo(self, declared: Workspace, sources: Attachments) -> tuple[str, bool]:
        """Where a repository is, and whether that is an address."""
        assert declared.repo is not None
        known = self._config.repos.get(declared.repo)
        if known is None:
            return find_source(declared.repo, sources, is_folder=True), False
        if known.url is not None:
            return known.url, True
        assert known.path is not None
        return os.path.realpath(os.path.join(self._config.root, known.path)), False


def digest_workspace(
    declared: Workspace, sources: Attachments, overlay: Mapping[str, str], root: str, *,
    solves: bool,
) -> tuple[str, str]:  # fmt: skip
    """What an agent finds, and what graders find beside it: everything that is declared, with the
    hashes of template and files. What a target lays over it is found as well, and with `solves`
    the solution. Raise WorkspaceError if a file is missing."""
    whole = _digest_parts(declared, sources)
    graded = {name: whole[name] for name in _fields_that_decide("grading") if name in whole}
    asked = {name: whole[name] for name in _fields_that_decide("base", "question") if name in whole}
    if overlay:
        asked["overlay"] = {
            name: _digest_path(_find_laid(source, root)) for name, source in overlay.items()
        }
    if solves and isinstance(declared.solution, str):
        asked["solution"] = _digest_path(find_source(declared.solution, sources, is_folder=None))
    elif solves:
        asked["solution"] = msgspec.to_builtins(declared.solution)
    return dumps(asked, sort_keys=True), dumps(graded, sort_keys=True)


def _fields_that_decide(*what: str) -> list[str]:
    options = fields_of(Workspace)
    return [name for name, option in options.items() if option.extra["decides"] in what]


def _digest_parts(declared: Workspace, sources: Attachments) -> dict[str, Any]:
    whole: dict[str, Any] = msgspec.to_builtins(declared)
    if declared.template is not None:
        whole["template"] = _digest_path(find_source(declared.template, sources, is_folder=True))
    for field in ("files", "hidden"):
        for name, source in getattr(declared, field).items():
            if not isinstance(source, Inline):
                whole[field][name] = _digest_path(find_source(source, sources))
    return whole


def _find_laid(name: str, root: str) -> str:
    """The path of what a target lays over workspaces. Raise WorkspaceError if there is none."""
    return find_source(name, attachments_in(root, root), is_folder=None)


def _lay_over(root: str, name: str, source: str) -> None:
    if os.path.isfile(source):
        shutil.copy(source, clear_way(root, name))
        return
    for path, entry in scan(source).items():
        if entry.mode == LINK:
            raise WorkspaceError(f"an overlay holds no links: {os.path.join(source, path)}")
        shutil.copy(os.path.join(source, path), clear_way(root, f"{name}/{path}"))


def _digest_path(path: str) -> str:
    """A hash of a file, or of all that is in a folder."""
    if not os.path.isdir(path) or os.path.islink(path):
        return os.readlink(path) if os.path.islink(path) else digest_file(path)
    entries = [
        (name, entry.mode, _digest_path(os.path.join(path, name)))
        for name, entry in scan(path).items()
    ]
    return sha256(dumps(entries).encode()).hexdigest()


def find_source(name: str, sources: Attachments, *, is_folder: bool | None = False) -> str:
    """The real path of a file or a folder that a suite names. Raise WorkspaceError if there is
    none."""
    found = sources.find(name, is_folder)
    if isinstance(found, Finding):
        raise WorkspaceError(found.message)
    return found


async def run_command(
    role: str, command: Command, space: Space, variables: Mapping[str, str], limit_s: float, *,
    network: bool = True,
) -> Ran:  # fmt: skip
    """Run a command of a suite in a workspace, such as its `setup`. Without `network`, isolation
    gives it none. Raise WorkspaceError unless it succeeds."""
    argv = ["/bin/sh", "-c", command.sh] if isinstance(command, Shell) else list(command)
    shown = command.sh if isinstance(command, Shell) else " ".join(command)
    environment = without_git({**variables, **space.env, "PWD": space.path})
    began = monotonic()
    async with process_in(space, argv, environment, _MOST_OUTPUT, network=network) as process:
        try:
            code, output = await asyncio.wait_for(process.run(None), limit_s)
        except TimeoutError:
            raise WorkspaceError(f"{role}: `{shown}` took longer than {limit_s:g} s") from None
        except TargetError as error:
            raise WorkspaceError(f"{role}: {error}", error.details) from None
    if code != 0:
        told = add_complaint(f"{role}: `{shown}` {describe_exit(code)}", process.stderr)
        tail = output.data[-_TAIL:].decode(errors="backslashreplace")
        raise WorkspaceError(told, {**process.details(), **({"stdout": tail} if tail else {})})
    return Ran(shown, code, round(monotonic() - began, 3))


def write_files(root: str, files: Mapping[str, str | Inline], sources: Attachments) -> None:
    for name, source in files.items():
        path = clear_way(root, name)
        if isinstance(source, Inline):
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(source.text)
        else:
            shutil.copy(find_source(source, sources), path)


def try_lock(path: str) -> IO[bytes] | None:
    """A lock file that this run holds; None while another one does."""
    lock = open(path, "ab")  # noqa: SIM115 - held until it is closed
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock.fileno()), os.stat(path)):
            return lock
    except OSError:
        pass  # in use; or removed in this moment
    lock.close()
    return None


def _sweep_kept(cache: str, warn: Callable[[str], None]) -> None:
    for path in glob.glob(os.path.join(glob.escape(cache), "*.lock")):
        with suppress(OSError):
            is_old = time.time() - os.stat(path).st_mtime > _KEPT_S
            if is_old and (lock := try_lock(path)) is not None:
                with lock:
                    base = path.removesuffix(".lock")
                    remove_tree(base, warn)
                    remove_tree(f"{base}.new", warn)
                    os.unlink(path)


def _commit(root: str, *, has_history: bool) -> None:
    """One commit with all files; what `prepare` made, as `.gitignore` says. Behind a history, only
    if there is something to commit."""
    run_git(["add", "--all"], root)
    if not has_history or run_git(["status", "--porcelain", "--untracked-files=no"], root):
        run_git(["commit", "-q", "--no-verify", "--allow-empty", "-m", "workspace"], root)
    run_git(["repack", "-adq"], root)  # one file is copied faster than thousands


def run_git(args: Sequence[str], folder: str, variables: Mapping[str, str] | None = None) -> bytes:
    """What git prints in a folder; without `variables`, whatever is configured. Raise
    WorkspaceError if it fails."""
    environment = {**(variables or {}), **_COMMITTED, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0",
                   "GIT_NO_LAZY_FETCH": "1"}  # fmt: skip
    if variables is None:
        environment |= {"PATH": os.environ.get("PATH", os.defpath), **GIT_ALONE}
    ran = subprocess.run(  # noqa: S603 - git, with our own arguments
        ["git", "-c", "gc.auto=0", *args],  # noqa: S607
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    if ran.returncode != 0:
        message = mask_credentials(ran.stderr.decode(errors="replace").strip())
        raise WorkspaceError(f"git {args[0]} in a workspace: {message}")
    return ran.stdout
