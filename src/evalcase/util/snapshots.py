"""The files of a folder before and after an agent worked in it, and what differs.

git's plumbing compares them, in a git directory of our own: a repository that an agent leaves in
the folder can name programs in its configuration, and is never asked.
"""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from hashlib import file_digest, sha1, sha256
from tempfile import TemporaryDirectory
from typing import IO, Literal, NamedTuple

from evalcase.types.value import replace
from evalcase.types.workspace import Change, Changes, Status
from evalcase.util.files import is_inside

MOST_DIFF_BYTES = 200_000
MOST_PATCH_BYTES = 50_000_000
_LARGE = "5m"
"""From this size on, a file is compared as bytes."""
_PART = 1 << 20
LEFT_OUT = (".git", ".evalcase")
"""Repositories and records, which are no part of a workspace."""
GIT_ALONE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
"""Variables by which git obeys no settings of the machine or the user."""
_GIT = (
    "git", "-c", f"core.bigFileThreshold={_LARGE}", "-c", "core.quotePath=false",
    "-c", "core.protectNTFS=false", "-c", "core.protectHFS=false",
)  # fmt: skip
_OF_GIT = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
_REFLINK = ["--reflink=auto"] if sys.platform == "linux" else []
_AT_ONCE = 1000
"""How many names a program is given: a system has a limit of arguments."""
LINK, _PROGRAM, _FILE = "120000", "100755", "100644"
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
Side = Literal["before", "after"]
_SIDES = "refs/heads/before", "refs/heads/after"
Find = Callable[[str, Side], str]


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path fits one of some globs, in which `*` also stands for slashes, or lies below
    one. Brackets stand for themselves."""
    for pattern in patterns:
        plain = pattern.removeprefix("./").rstrip("/").replace("[", "[[]")
        # `**/a` is also `a` itself, and a folder is all that is below it.
        for each in (plain, plain.removeprefix("**/")):
            if fnmatchcase(path, each) or fnmatchcase(path, f"{each}/*"):
                return True
    return False


def without_git(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in _OF_GIT}


def scan(root: str, ignore: Sequence[str] = ()) -> Tree:
    """The files and links below a folder. No link is followed, and `.git` is left out."""
    found: Tree = {}
    folders = [""]
    while folders:
        below = folders.pop()
        with os.scandir(os.path.join(root, below)) as entries:
            for each in entries:
                path = f"{below}/{each.name}" if below else each.name
                if each.name in LEFT_OUT or (ignore and matches(path, ignore)):
                    continue
                if each.is_dir(follow_symlinks=False):
                    folders.append(path)
                    continue
                entry = _entry_of(each.stat(follow_symlinks=False))
                if entry is not None:
                    found[path] = entry
    return dict(sorted(found.items()))


def list_all(root: str) -> list[str]:
    """Everything below a folder but its own repository, whatever it is."""
    found = []
    for folder, folders, files in os.walk(root):
        if folder == root and ".git" in folders:
            folders.remove(".git")
        found += [os.path.relpath(os.path.join(folder, name), root) for name in (*folders, *files)]
    return found


def _entry_of(found: os.stat_result) -> Entry | None:
    """None for what is neither a file nor a link: nothing can be stored of it."""
    if stat.S_ISLNK(found.st_mode):
        mode = LINK
    elif stat.S_ISREG(found.st_mode):
        mode = _PROGRAM if found.st_mode & 0o100 else _FILE
    else:
        return None
    return Entry(mode, found.st_size, (found.st_mtime_ns, found.st_ctime_ns, found.st_ino))


def hash_tree(tree: Mapping[str, Entry]) -> str:
    lines = (f"{entry.mode} {entry.blob} {path}\0" for path, entry in tree.items())
    return sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()[:40]


def adopt(tree: Tree, copied: Tree) -> Tree:
    """The files of a fresh copy, with the hashes of those they were copied from."""
    return {path: entry._replace(blob=copied[path].blob) for path, entry in tree.items()}


def hash_files(root: str, tree: Tree, known: Tree | None = None) -> Tree:
    """The tree with the hash of each file. One whose stamp is that of `known` has its hash."""
    hashed = {}
    for path, entry in tree.items():
        before = (known or {}).get(path)
        if before is None or before[:3] != entry[:3]:
            before = entry._replace(blob=_hash_file(os.path.join(root, path), entry))
        hashed[path] = before
    return hashed


def _hash_file(path: str, entry: Entry) -> str:
    """As git hashes it."""
    start = b"blob %d\0" % entry.size
    if entry.mode == LINK:
        return sha1(start + os.fsencode(os.readlink(path))).hexdigest()  # noqa: S324 - git's own
    with open(path, "rb") as file:
        return file_digest(file, lambda: sha1(start)).hexdigest()  # noqa: S324


def compare(before: Tree, after: Tree, find: Find, folder: str) -> tuple[Changes, bytes | None]:
    """What differs, and all of it as a patch; None where that is too large. `find` says where the
    contents of a file are: before, or after. What git needs meanwhile lies in `folder`."""
    changes = Changes(hash_tree(before), hash_tree(after), "none")
    gone, new = differing(before, after), differing(after, before)
    if not gone and not new:
        return changes, b""
    with _git_folder(folder) as variables:
        _store(variables, {"before": (before, gone), "after": (after, new)}, find)
        changed = tuple(_list_changes(variables, before, after))
        patch, is_cut = _diff(variables, ["--binary", "--full-index"], MOST_PATCH_BYTES)
        diff, is_long = _diff(variables, [], MOST_DIFF_BYTES)
    text = diff.decode(errors="replace")
    if is_long:
        text = text[: text.rfind("\n") + 1]
    changes = replace(changes, changed=changed, diff=text, diff_cut=is_long)
    return changes, None if is_cut else patch


def apply_patch(patch: bytes, root: str) -> None:
    """Apply a patch to a folder. Raise OSError if it doesn't fit."""
    if patch:
        with _git_folder(os.path.dirname(root)) as variables:
            variables["GIT_WORK_TREE"] = root
            _git(["apply", "--binary", "--whitespace=nowarn", "-"], variables, root, patch)


@contextmanager
def _git_folder(parent: str) -> Iterator[dict[str, str]]:
    """An empty git directory, as long as it is needed: the variables by which git uses it."""
    with TemporaryDirectory(prefix="git-", dir=parent) as folder:
        for name in ("objects", "refs", "info"):
            os.mkdir(os.path.join(folder, name))
        # What a workspace says of line ends and filters changes nothing.
        attributes = "* -text -ident -filter -working-tree-encoding\n"
        for name, text in (("HEAD", "ref: refs/heads/main\n"), ("info/attributes", attributes)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        path = os.environ.get("PATH", os.defpath)
        yield {"PATH": path, "LC_ALL": "C", "GIT_DIR": folder, **GIT_ALONE}


def _store(
    variables: Mapping[str, str], sides: Mapping[Side, tuple[Tree, list[str]]], find: Find
) -> None:
    """Store the files that differ as two commits."""
    with subprocess.Popen(  # noqa: S603 - git, with our own arguments
        [*_GIT, "fast-import", "--quiet", "--done"], env=variables,
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        for side, (tree, paths) in sides.items():
            process.stdin.write(
                f"commit refs/heads/{side}\ncommitter e <e> 0 +0000\ndata 0\n".encode()
            )
            for path in paths:
                _store_file(process.stdin, path, tree[path], find(path, side))
        process.stdin.write(b"done\n")
        _, complaint = process.communicate()
    if process.returncode != 0:
        raise OSError(f"git fast-import: {complaint.decode(errors='replace').strip()}")


def _store_file(stream: IO[bytes], path: str, entry: Entry, place: str) -> None:
    name = os.fsencode(path)
    for char, spelt in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n")):
        name = name.replace(char, spelt)
    stream.write(b'M %b inline "%b"\n' % (entry.mode.encode(), name))
    if entry.mode == LINK:
        target = os.fsencode(os.readlink(place))
        stream.write(b"data %d\n%b\n" % (len(target), target))
        return
    with open(place, "rb") as file:
        stream.write(b"data %d\n" % entry.size)
        for begin in range(0, entry.size, _PART):
            size = min(entry.size - begin, _PART)
            stream.write(file.read(size).ljust(size, b"\0"))  # a file may shrink meanwhile
        stream.write(b"\n")


def _list_changes(variables: Mapping[str, str], before: Tree, after: Tree) -> Iterator[Change]:
    args = ["diff-tree", "-r", "-M", "-z", "--raw", "--numstat", "--no-ext-diff",
            "--no-textconv", *_SIDES]  # fmt: skip
    fields = iter(_git(args, variables).split(b"\0")[:-1])
    letters: dict[bytes, tuple[str, bytes]] = {}
    for field in fields:
        if field.startswith(b":"):  # modes, hashes and a letter; then the path, or two
            letter, origin = field.split(b" ")[4][:1].decode(), next(fields)
            letters[next(fields) if letter == "R" else origin] = letter, origin
            continue
        added, removed, name = field.split(b"\t", 2)
        if not name:  # of a renamed file: the names follow
            next(fields)
            name = next(fields)
        letter, origin = letters[name]
        path, binary = os.fsdecode(name), added == b"-"
        old, new = before.get(os.fsdecode(origin)), after.get(path)
        yield Change(
            _readable(path), _STATUS[letter],
            _readable(os.fsdecode(origin)) if letter == "R" else None,
            (new or old or Entry(_FILE, 0, (0, 0, 0))).mode,
            (old.size if old else 0, new.size if new else 0),
            0 if binary else int(added), 0 if binary else int(removed), binary,
        )  # fmt: skip


def _diff(variables: Mapping[str, str], options: Sequence[str], most: int) -> tuple[bytes, bool]:
    """The differences, and whether there are more than so many bytes."""
    args = ["diff-tree", "-r", "-M", "-p", *options, "--no-ext-diff", "--no-textconv"]
    with subprocess.Popen(  # noqa: S603 - git, with our own arguments
        [*_GIT, *args, "--no-color", *_SIDES], env=variables,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        data = process.stdout.read(most + 1)
        is_cut = len(data) > most
        if is_cut:
            process.kill()
    if process.returncode != 0 and not is_cut:
        raise OSError("git diff-tree failed")
    return data[:most], is_cut


def _git(
    args: Sequence[str], variables: Mapping[str, str], root: str | None = None, given: bytes = b""
) -> bytes:
    """What git prints."""
    argv = [*_GIT, *args]
    ran = subprocess.run(  # noqa: S603 - git, with our own arguments
        argv, cwd=root, env=variables, input=given, capture_output=True, check=False
    )
    if ran.returncode != 0:
        raise OSError(f"git {args[0]}: {ran.stderr.decode(errors='replace').strip()}")
    return ran.stdout


def differing(before: Tree, after: Tree) -> list[str]:
    """The paths of `before` that `after` hasn't, or has otherwise."""
    known = {path: (entry.mode, entry.blob) for path, entry in after.items()}
    return [path for path, entry in before.items() if known.get(path) != (entry.mode, entry.blob)]


def _readable(path: str) -> str:
    """A name that is not UTF-8, with its odd bytes spelt out."""
    return os.fsencode(path).decode(errors="backslashreplace")


# Folders


def copy_into(source: str, folder: str, leave_out: Sequence[str] = ()) -> None:
    """Copy what is in a folder into another one, as it is. Raise OSError if that fails."""
    names = [f"./{name}" for name in os.listdir(source) if name not in leave_out]
    for begin in range(0, len(names), _AT_ONCE):
        argv = ["cp", "-a", *_REFLINK, "--", *names[begin : begin + _AT_ONCE], folder]
        ran = subprocess.run(argv, cwd=source, capture_output=True, check=False)  # noqa: S603
        if ran.returncode != 0:
            raise OSError(ran.stderr.decode(errors="replace").strip())


def read_patch(folder: str, name: object) -> bytes | None:
    """A stored patch of a record; None if there is none, or none that can be read."""
    if not isinstance(name, str) or not is_inside(
        os.path.realpath(os.path.join(folder, name)), os.path.realpath(folder)
    ):
        return None
    try:
        with gzip.open(os.path.join(folder, name)) as file:
            return file.read(MOST_PATCH_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        return None


def copy_file(source: str, root: str, name: str) -> None:
    """Copy a file or a link into a folder, over what is there."""
    shutil.copy2(source, clear_way(root, name), follow_symlinks=False)


def clear_way(root: str, name: str) -> str:
    """The path of a file in a folder, where nothing stands in its way: an agent may have put
    links, files or folders there."""
    os.makedirs(root, exist_ok=True)
    path = root
    for part in name.split("/")[:-1]:
        path = os.path.join(path, part)
        if os.path.islink(path) or not os.path.isdir(path):
            remove_path(path)
            os.mkdir(path)
    path = os.path.join(path, os.path.basename(name))
    remove_path(path)
    return path


def remove_path(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def remove_tree(folder: str, warn: Callable[[str], None]) -> None:
    """Remove a folder, also where an agent made parts of it read-only. No link is followed."""
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.isdir(folder):
        os.chmod(folder, 0o700)
        for below, names, _ in os.walk(folder):
            for path in (os.path.join(below, name) for name in names):
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        warn(f"a workspace can't be removed: {folder}")
