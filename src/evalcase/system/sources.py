"""The files that a Python program is made of, as far as its own text says, without running it.

What it imports is found by looking for the statements, also those within functions, and for
`import_module("name")`. Modules that are imported by a name which is only made at run time are not
found. What is installed, and evalcase itself, is no part of a program.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import sha256

from evalcase.util.environment import PACKAGE
from evalcase.util.files import is_inside, read_file

_MOST_FILES = 2000
_LARGEST = 4_000_000
_PACKAGE = "__init__.py"
_IMPORT = re.compile(
    rb"(?:^|[;:])[ \t]*(?:"
    rb"from(?:[ \t]+|(?=\.))(?P<module>\.[. \t]*[.\w]*?|[.\w]+)[ \t]*"
    rb"\bimport\b[ \t]*(?P<names>\((?:#[^\n]*|[^)#])*\)|[^\n#;]+)"
    rb"|import[ \t]+(?P<modules>[^\n#;]+))",
    re.MULTILINE,
)
_CALL = re.compile(rb"""\b(?:import_module|__import__)\([ \t\n]*["'](\.*[\w.]+)["']""")
_COMMENT = re.compile(rb"#[^\n]*")
_NAME = re.compile(rb"(?:^|,)[\s(]*([.\w]+|\*)")
_LINE_END = re.compile(rb"\r\n?")
_JOINED = re.compile(rb"\\\n|\f")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def trace_sources(
    paths: Iterable[str], root: str, search: Iterable[str] | None = None
) -> dict[str, str]:
    """Python files and all of the project that they import, in turn; with a hash of each.

    `search` are folders in which modules are looked for, too: those of this process, unless others
    are given.
    """
    root = os.path.realpath(root)
    search = find_search_path(root) if search is None else list(search)
    waiting = [os.path.realpath(path) for path in paths]
    found: dict[str, str] = {}
    modules = _Modules()
    while waiting and len(found) < _MOST_FILES:
        path = waiting.pop()
        name = os.path.relpath(path, root)
        if name in found or not is_inside(path, root) or not _is_own(path):
            continue
        try:
            text = read_file(path, _LARGEST)
        except OSError:
            continue
        found[name] = sha256(text).hexdigest()
        waiting += _find_imported(text, path, [root, *search], modules)
    return dict(sorted(found.items()))


def find_search_path(root: str) -> list[str]:
    """The folders of a project that this process imports modules from."""
    folders = [os.path.realpath(each) for each in sys.path if each]
    return [each for each in folders if is_inside(each, root) and _is_own(each)]


def _is_own(path: str) -> bool:
    return "site-packages" not in path and not is_inside(path, _real_package())


@lru_cache
def _real_package() -> str:
    """This package, which lies in the project where evalcase is developed."""
    return os.path.realpath(PACKAGE)


def _find_imported(
    text: bytes, path: str, search: Iterable[str], modules: _Modules
) -> Iterator[str]:
    """The files that come with a file: its packages, and what its imports may mean."""
    folder = os.path.dirname(path)
    packages = list(_packages_of(folder))
    yield from (os.path.join(package, _PACKAGE) for package in packages)
    # A program finds what lies beside it, a module what lies beside its outermost package.
    above = os.path.dirname(packages[-1]) if packages else folder
    bases = list(dict.fromkeys([folder, above, *search]))
    lines = _LINE_END.sub(b"\n", text.removeprefix(_BYTE_ORDER_MARK))
    for found in _IMPORT.finditer(_JOINED.sub(b" ", lines)):
        module, names = found["module"], found["names"]
        if module is None:
            for name in _NAME.findall(found["modules"]):
                yield from modules.find(name.decode(errors="replace"), bases)
            continue
        module = module.translate(None, b" \t")
        for name in _NAME.findall(_COMMENT.sub(b"", names)):
            yield from _find_named(module, name, folder, bases, modules)
    for name in _CALL.findall(lines):
        yield from _find_named(name, b"", folder, bases, modules)


def _find_named(
    module: bytes, name: bytes, folder: str, bases: Iterable[str], modules: _Modules
) -> Iterator[str]:
    """What a name of a module means in a folder, if it begins with dots, or else anywhere."""
    within = module.lstrip(b".")
    dots = len(module) - len(within)
    inner = b".".join(filter(None, [within, name])).decode(errors="replace")
    yield from modules.find(inner, [_go_up(folder, dots - 1)] if dots else bases)


class _Modules:
    """Finds the files of modules. Each folder is looked into once: most imports are of others."""

    def __init__(self) -> None:
        self._entries: dict[str, frozenset[str]] = {}
        self._told: set[str] = set()
        self._sought: set[tuple[str, str]] = set()

    def find(self, module: str, bases: Iterable[str]) -> Iterator[str]:
        """A module and the packages around it, wherever they are, unless they were given before.
        Its last name may be none of a module."""
        for base in bases:
            if (module, base) in self._sought:
                continue
            self._sought.add((module, base))
            at = base
            for part in filter(None, module.split(".")):
                entries = self._look_into(at)
                if f"{part}.py" in entries:
                    yield from self._first_time(os.path.join(at, f"{part}.py"))
                if part not in entries:
                    break
                at = os.path.join(at, part)
                if _PACKAGE in self._look_into(at):
                    yield from self._first_time(os.path.join(at, _PACKAGE))

    def _first_time(self, path: str) -> Iterator[str]:
        if path not in self._told:
            self._told.add(path)
            yield os.path.realpath(path)

    def _look_into(self, folder: str) -> frozenset[str]:
        known = self._entries.get(folder)
        if known is None:
            try:
                known = frozenset(os.listdir(folder))
            except OSError:  # it is none
                known = frozenset()
            self._entries[folder] = known
        return known


def _packages_of(folder: str) -> Iterator[str]:
    """The packages that a folder is, and is in, the innermost first."""
    while os.path.isfile(os.path.join(folder, _PACKAGE)):
        yield folder
        folder = os.path.dirname(folder)


def _go_up(folder: str, times: int) -> str:
    for _ in range(times):
        folder = os.path.dirname(folder)
    return folder
