"""The files of a folder before and after an agent worked in it, and what differs.

git's plumbing compares them, in a git directory of our own: a repository that an agent leaves in
the folder can name programs in its configuration, and is never asked.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import NamedTuple

from evalcase.errors import ConfigError
from evalcase.types.workspace import Change, Changes, Status

MOST_DIFF_BYTES = 200_000
MOST_PATCH_BYTES = 50_000_000
_LARGE = "5m"
"""From this size on, a file is compared as bytes."""
_LINK, _PROGRAM, _FILE = "120000", "100755", "100644"
_ZERO = "0" * 40
_STATUS: dict[str, Status] = {
    "A": "added", "M": "modified", "T": "modified", "D": "deleted", "R": "renamed",
}  # fmt: skip


class Entry(NamedTuple):
    """A file or a link, as it was found."""

    mode: str
    size: int
    stamp: tuple[int, int, int]
    """Modified, changed, and the inode: a file that is written gets another stamp."""
    blob: str = ""
    """Its hash in git; empty until it is known."""


Tree = dict[str, Entry]
"""The files of a folder, by their paths."""


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path fits one of some globs, in which `*` also stands for slashes."""
    return any(
        fnmatchcase(path, pattern) or fnmatchcase(f"/{path}", f"/{pattern.removeprefix('**')}")
        if pattern.startswith("**/")
        else fnmatchcase(path, pattern)
        for pattern in patterns
    )


def scan(root: str, ignore: Sequence[str] = ()) -> Tree:
    """The files and links below a folder. No link is followed, and `.git` is left out."""
    found: Tree = {}
    folders = [""]
    while folders:
        below = folders.pop()
        with os.scandir(os.path.join(root, below)) as entries:
            for each in entries:
                path = f"{below}/{each.name}" if below else each.name
                if each.name == ".git" or (ignore and matches(path, ignore)):
                    continue
                if each.is_dir(follow_symlinks=False):
                    folders.append(path)
                    continue
                entry = _entry_of(each.stat(follow_symlinks=False))
                if entry is not None:
                    found[path] = entry
    return dict(sorted(found.items()))


def _entry_of(found: os.stat_result) -> Entry | None:
    """None for what is neither a file nor a link: nothing can be stored of it."""
    if stat.S_ISLNK(found.st_mode):
        mode = _LINK
    elif stat.S_ISREG(found.st_mode):
        mode = _PROGRAM if found.st_mode & 0o100 else _FILE
    else:
        return None
    return Entry(mode, found.st_size, (found.st_mtime_ns, found.st_ctime_ns, found.st_ino))


def hash_tree(tree: Mapping[str, Entry]) -> str:
    """A hash of all paths, modes and contents."""
    lines = (f"{entry.mode} {entry.blob} {path}\0" for path, entry in tree.items())
    return sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()[:40]


def adopt(tree: Tree, copied: Tree) -> Tree:
    """The files of a fresh copy, with the hashes of those they were copied from."""
    return {path: entry._replace(blob=copied[path].blob) for path, entry in tree.items()}


class Snapshots:
    """Hashes and compares the files of folders."""

    def __init__(self, folder: str) -> None:
        """`folder` becomes a git directory. Raise ConfigError where git is missing."""
        self._folder = folder
        self._environment = {
            "PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "GIT_DIR": folder,
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_INDEX_FILE": os.path.join(folder, "index"),
        }  # fmt: skip
        try:
            self._git(["init", "-q", "--bare", "--template=", folder])
        except FileNotFoundError:
            raise ConfigError("workspaces need the program `git`, and there is none") from None

    def hash(self, root: str, tree: Tree, known: Tree | None = None, *, store: bool) -> Tree:
        """The tree with the hash of each file. One whose stamp is that of `known` has its hash.
        With `store`, the contents of the others can be compared later."""
        known = known or {}
        whole, unknown = {}, []
        for path, entry in tree.items():
            before = known.get(path)
            if before is not None and before[:3] == entry[:3]:
                whole[path] = before
            else:
                whole[path] = entry
                unknown.append(path)
        for path, blob in zip(unknown, self._hash_files(root, unknown, tree, store), strict=True):
            whole[path] = whole[path]._replace(blob=blob)
        return whole

    def _hash_files(self, root: str, paths: Sequence[str], tree: Tree, store: bool) -> list[str]:
        """The hashes of files. Names with line feeds, and links, are hashed one by one."""
        verb = ["hash-object", "--no-filters", *(["-w"] if store else [])]
        odd = {path for path in paths if "\n" in path or tree[path].mode == _LINK}
        usual = [path for path in paths if path not in odd]
        listed = b"".join(os.fsencode(path) + b"\n" for path in usual)
        hashes = self._git([*verb, "--stdin-paths"], listed, cwd=root).split() if usual else []
        blobs = dict(zip(usual, map(bytes.decode, hashes), strict=True))
        for path in odd:
            whole = os.path.join(root, path)
            if tree[path].mode == _LINK:
                data = os.fsencode(os.readlink(whole))
            else:
                with open(whole, "rb") as file:
                    data = file.read()
            blobs[path] = self._git([*verb, "--stdin"], data).decode().strip()
        return [blobs[path] for path in paths]

    def store(self, root: str, paths: Sequence[str], tree: Tree) -> None:
        """Store the contents of files whose hashes are known already."""
        self._hash_files(root, paths, tree, store=True)

    def read(self, blob: str) -> bytes:
        """The contents of a file that is stored."""
        return self._git(["cat-file", "blob", blob])

    def compare(self, before: Tree, after: Tree) -> tuple[Changes, bytes | None]:
        """What differs, and all of it as a patch; None where that is too large. The contents of
        all files that differ have to be stored."""
        ends = [self._write_tree(before, after), self._write_tree(after, before)]
        changed = list(self._list_changes(ends, before, after))
        diff, cut = self._diff(ends, [], MOST_DIFF_BYTES)
        patch, over = self._diff(ends, ["--binary", "--full-index"], MOST_PATCH_BYTES)
        text = diff.decode(errors="replace")
        if cut:
            text = text[: text.rfind("\n") + 1]
        changes = Changes(hash_tree(before), hash_tree(after), "none", tuple(changed), text, cut)
        return changes, None if over else patch

    def apply(self, patch: bytes, root: str) -> None:
        """Apply a patch to a folder. Raise ValueError if it doesn't fit."""
        environment = {
            name: value for name, value in self._environment.items()
            if name not in ("GIT_DIR", "GIT_INDEX_FILE")
        }  # fmt: skip
        environment["GIT_CEILING_DIRECTORIES"] = os.path.dirname(os.path.realpath(root))
        verb = ["apply", "--binary", "--whitespace=nowarn", "-"]
        ran = subprocess.run(  # noqa: S603 - git, with our own arguments
            ["git", *verb], cwd=root, env=environment, input=patch, capture_output=True,  # noqa: S607
            check=False,
        )  # fmt: skip
        if ran.returncode != 0:
            raise ValueError(ran.stderr.decode(errors="replace").strip())

    def _write_tree(self, tree: Tree, other: Tree) -> str:
        """A tree of git with the files that the other hasn't, or has otherwise."""
        lines = [
            f"{entry.mode} {entry.blob}\t".encode() + os.fsencode(path) + b"\0"
            for path, entry in tree.items()
            if not _are_same(entry, other.get(path))
        ]
        self._git(["read-tree", "--empty"])
        self._git(["update-index", "-z", "--index-info"], b"".join(lines))
        return self._git(["write-tree"]).decode().strip()

    def _list_changes(self, ends: Sequence[str], before: Tree, after: Tree) -> Iterator[Change]:
        args = ["diff-tree", "-r", "-M", "-z", "--no-ext-diff", "--no-textconv"]
        counts = {}
        fields = self._git([*args, "--numstat", *ends]).split(b"\0")
        place = 0
        while place < len(fields) - 1:
            added, removed, name = fields[place].split(b"\t", 2)
            place += 1
            if not name:  # of a renamed file: the names follow
                name, place = fields[place + 1], place + 2
            counts[name] = added, removed
        fields = self._git([*args, "--raw", *ends]).split(b"\0")
        place = 0
        while place < len(fields) - 1:
            letter = fields[place].split(b" ")[4][:1].decode()
            origin = os.fsdecode(fields[place + 1]) if letter == "R" else None
            name = fields[place + (2 if letter == "R" else 1)]
            place += 3 if letter == "R" else 2
            path = os.fsdecode(name)
            old, new = before.get(origin or path), after.get(path)
            added, removed = counts.get(name, (b"-", b"-"))
            binary = added == b"-"
            yield Change(
                _readable(path), _STATUS[letter], None if origin is None else _readable(origin),
                (new or old or Entry(_FILE, 0, (0, 0, 0))).mode,
                (old.size if old else 0, new.size if new else 0),
                0 if binary else int(added), 0 if binary else int(removed), binary,
            )  # fmt: skip

    def _diff(self, ends: Sequence[str], options: Sequence[str], most: int) -> tuple[bytes, int]:
        """The differences up to so many bytes, and how many more there are."""
        args = ["diff-tree", "-r", "-M", "-p", *options, "--no-ext-diff", "--no-textconv"]
        with subprocess.Popen(  # noqa: S603 - git, with our own arguments
            self._argv([*args, "--no-color", *ends]), cwd=self._folder, env=self._environment,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            data, cut = process.stdout.read(most), 0
            while rest := process.stdout.read(1 << 20):
                cut += len(rest)
        return data, cut

    def _git(self, args: Sequence[str], given: bytes = b"", cwd: str | None = None) -> bytes:
        folder = cwd or os.path.dirname(self._folder)
        ran = subprocess.run(  # noqa: S603 - git, with our own arguments
            self._argv(args), cwd=folder, env=self._environment, input=given, capture_output=True,
            check=False,
        )  # fmt: skip
        if ran.returncode != 0:
            message = ran.stderr.decode(errors="replace").strip()
            raise OSError(f"git {args[0]}: {message}")
        return ran.stdout

    @staticmethod
    def _argv(args: Sequence[str]) -> list[str]:
        return ["git", "-c", f"core.bigFileThreshold={_LARGE}", "-c", "core.looseCompression=1",
                "-c", "core.quotePath=false", *args]  # fmt: skip


def write_entry(path: str, entry: Entry, data: bytes) -> None:
    """Write a file or a link, in place of whatever is there."""
    if os.path.lexists(path):
        os.unlink(path)
    if entry.mode == _LINK:
        os.symlink(os.fsdecode(data), path)
        return
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755 if entry.mode == _PROGRAM else 0o644)


def differing(before: Tree, after: Tree) -> list[str]:
    """The paths of `before` that `after` hasn't, or has otherwise."""
    return [path for path, entry in before.items() if not _are_same(entry, after.get(path))]


def _are_same(entry: Entry, other: Entry | None) -> bool:
    return other is not None and (entry.mode, entry.blob) == (other.mode, other.blob)


def _readable(path: str) -> str:
    """A name that is not UTF-8, with its odd bytes spelt out."""
    return os.fsencode(path).decode(errors="backslashreplace")
