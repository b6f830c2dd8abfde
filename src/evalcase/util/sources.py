"""The files of a project that a Python target or a command line rests on, with their hashes.

Imports are found in the text, also those inside functions, and `import_module("name")`. A module
whose name is made at run time is not found. Installed packages are no part of a project.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256

from evalcase.util.environment import PACKAGE
from evalcase.util.files import digest_file, is_inside, read_file, read_start
from evalcase.util.imports import file_of_module
from evalcase.util.project import project_root

_MOST_FILES = 2000
_MOST_BYTES = 4_000_000
_PACKAGE_FILE = "__init__.py"
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
_BETWEEN_WORDS = re.compile(r"""[\s;|&=,'"()<>]+""")


def trace_sources(
    paths: Iterable[str], root: str, search: Iterable[str] | None = None
) -> dict[str, str]:
    """The hashes of Python files and of all files of the project that they import. Modules are also
    looked for in the folders of `search`; by default, of this process."""
    root = os.path.realpath(root)
    search = _search_path(root) if search is None else list(search)
    waiting = [os.path.realpath(path) for path in paths]
    found: dict[str, str] = {}
    modules = _Modules()
    while waiting and len(found) < _MOST_FILES:
        path = waiting.pop()
        name = os.path.relpath(path, root)
        if name in found or not is_inside(path, root) or not _is_own(path):
            continue
        try:
            text = read_file(path, _MOST_BYTES)
        except OSError:
            continue
        found[name] = sha256(text).hexdigest()
        waiting += _find_imported(text, path, [root, *search], modules)
    return dict(sorted(found.items()))


def sources_of_module(module: str) -> dict[str, str]:
    """The hashes of an imported module and of the files of its project that it imports; empty for
    a notebook, a module written in C, and evalcase itself."""
    path: str | None = getattr(sys.modules.get(module), "__file__", None)
    if path is None or module.partition(".")[0] == "evalcase":
        return {}
    return trace_sources([path], project_root(os.path.dirname(path))) or {module: digest_file(path)}


def find_module_file(module: str, root: str) -> str | None:
    """The file of a module: of the imported one, or the one that the project has."""
    loaded = sys.modules.get(module)
    if loaded is not None:
        return getattr(loaded, "__file__", None)
    folders = [root, *_search_path(os.path.realpath(root))]
    found = (file_of_module(module, folder) for folder in folders)
    return next((path for path in found if path is not None), None)


def program_sources(texts: Iterable[str], folder: str, root: str, path: str = "") -> dict[str, str]:
    """The hashes of the files of a project that a command line names, as a word, the value of an
    option or a module after `-m`, and of what those in Python import. It runs in `folder`; `path`
    is its PYTHONPATH."""
    root = os.path.realpath(root)
    folders = [folder, *(os.path.join(folder, each) for each in path.split(os.pathsep) if each)]
    words = [word for text in texts for word in (text, *_BETWEEN_WORDS.split(text)) if word]
    named = {file for word in words for file in _files_named(word, folders, root)}
    scripts = [file for file in named if _is_python(file)]
    digests = {os.path.relpath(file, root): digest_file(file) for file in named}
    return dict(sorted({**digests, **trace_sources(scripts, root, folders)}.items()))


def _files_named(word: str, folders: Sequence[str], root: str) -> Iterator[str]:
    module = word.replace(".", "/")
    for name in (word, f"{word}/__main__.py", f"{module}.py", f"{module}/__main__.py"):
        for folder in folders:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and is_inside(file := os.path.realpath(path), root):
                yield file


def _is_python(file: str) -> bool:
    if file.endswith(".py"):
        return True
    try:
        first = read_start(file, 200)[0].partition(b"\n")[0]
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first


def _search_path(root: str) -> list[str]:
    """The folders of a project that this process imports modules from."""
    folders = [os.path.realpath(each) for each in sys.path if each]
    return [each for each in folders if is_inside(each, root) and _is_own(each)]


def _is_own(path: str) -> bool:
    return "site-packages" not in path and not is_inside(path, _real_package())


@lru_cache
def _real_package() -> str:
    return os.path.realpath(PACKAGE)


class _Modules:
    """Finds the files of modules. Each folder is listed once, and each file given once."""

    def __init__(self) -> None:
        self._entries: dict[str, frozenset[str]] = {}
        self._given: set[str] = set()
        self._sought: set[tuple[str, str]] = set()

    def find(self, module: str, bases: Iterable[str]) -> Iterator[str]:
        """A module and the packages around it. Its last name may be that of an object."""
        for base in bases:
            if (module, base) in self._sought:
                continue
            self._sought.add((module, base))
            at = base
            for part in filter(None, module.split(".")):
                entries = self._list(at)
                if f"{part}.py" in entries:
                    yield from self._give(os.path.join(at, f"{part}.py"))
                if part not in entries:
                    break
                at = os.path.join(at, part)
                if _PACKAGE_FILE in self._list(at):
                    yield from self._give(os.path.join(at, _PACKAGE_FILE))

    def _give(self, path: str) -> Iterator[str]:
        if path not in self._given:
            self._given.add(path)
            yield os.path.realpath(path)

    def _list(self, folder: str) -> frozenset[str]:
        if folder not in self._entries:
            try:
                self._entries[folder] = frozenset(os.listdir(folder))
            except OSError:
                self._entries[folder] = frozenset()
        return self._entries[folder]


def _find_imported(
    text: bytes, path: str, search: Iterable[str], modules: _Modules
) -> Iterator[str]:
    """The packages around a file, and the files that its imports may mean."""
    folder = above = os.path.dirname(path)
    while os.path.isfile(os.path.join(above, _PACKAGE_FILE)):
        yield os.path.join(above, _PACKAGE_FILE)
        above = os.path.dirname(above)
    # A program imports from its own folder, a module from the folder of its outermost package.
    bases = list(dict.fromkeys([folder, above, *search]))
    lines = _LINE_END.sub(b"\n", text.removeprefix(_BYTE_ORDER_MARK))
    named = [(name, b"") for name in _CALL.findall(lines)]
    for found in _IMPORT.finditer(_JOINED.sub(b" ", lines)):
        if found["module"] is None:
            named += [(name, b"") for name in _NAME.findall(found["modules"])]
        else:
            module = found["module"].translate(None, b" \t")
            names = _NAME.findall(_COMMENT.sub(b"", found["names"]))
            named += [(module, name) for name in names]
    for module, name in named:
        within = module.lstrip(b".")
        dots = len(module) - len(within)
        base = folder
        for _ in range(dots - 1):
            base = os.path.dirname(base)
        inner = b".".join(filter(None, [within, name])).decode(errors="replace")
        yield from modules.find(inner, [base] if dots else bases)
