"""Python code of a project: read without running it, and imported.

Reading tells which names a file defines, and which files of the project it rests on, with their
hashes. A name that code makes at run time is not found, so a file with such code may define any
name. Installed packages are no part of a project.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from importlib import import_module, invalidate_caches
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from threading import Lock
from traceback import extract_tb, walk_tb
from types import ModuleType
from typing import Literal
from warnings import catch_warnings

from evalcase.errors import ConfigError
from evalcase.types.options import FunctionName
from evalcase.types.problem import Finding, did_you_mean
from evalcase.types.read_options import option_of, problems_of
from evalcase.util.environment import PACKAGE
from evalcase.util.errors import leaves_of
from evalcase.util.files import digest_file, is_inside, open_file, read_file
from evalcase.util.project import project_root
from evalcase.util.text import is_foreign_file

_PARSING = Lock()
"""Python 3.11 parses, and changes the filters of warnings, safely only in one thread at a time."""
_MOST_FILES = 2000
_MOST_BYTES = 4_000_000
_UNREADABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)
_DYNAMIC = (
    rb"\b(?:globals|locals|vars|exec|eval|setattr|__getattr__|__dict__|__import__|modules)\b"
    rb"|\bimport\s*\*"
)
"""Code that may define names which the text doesn't show."""
_WHERE = "put it into the project's folder, or install it"
_BETWEEN_WORDS = re.compile(r"""[\s;|&=,'"()<>]+""")

# What a file defines


def file_of_module(module: str, root: str) -> str | None:
    """The file of a module below a folder, or of `./file.py`; None if there is none."""
    if module.startswith("./"):
        return os.path.join(root, module[2:])
    place = os.path.join(root, *module.split("."))
    candidates = (os.path.join(place, "__init__.py"), f"{place}.py")
    return next(filter(os.path.isfile, candidates), None)


def list_modules(folder: str) -> list[str]:
    """The names of modules and folders in a folder."""
    found: dict[str, None] = {}
    with suppress(OSError):
        for entry in sorted(os.listdir(folder)):
            found.setdefault(entry.partition(".")[0])
    return [*filter(None, found)]


@lru_cache(maxsize=4)
def _parse(text: bytes) -> ast.Module:
    with _PARSING, catch_warnings(action="ignore"):
        return ast.parse(text)


@lru_cache(maxsize=4)
def _names_in(text: bytes) -> dict[str, tuple[int, int]]:
    """The names that a file may define, with the line and column where each is first bound. What a
    function or a class has for itself is among them."""
    places: dict[str, tuple[int, int]] = {}
    for node in ast.walk(_parse(text)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names = [node.name]
            case ast.Name(ctx=ast.Store()):
                names = [node.id]
            case ast.alias():
                names = [node.asname or node.name.partition(".")[0]]
            case ast.Global():
                names = node.names
            case _:
                continue
        for name in names:
            places.setdefault(name, (node.lineno, node.col_offset))
    return places


def object_to_function(
    reference: str, root: str, what: Literal["target", "grader"]
) -> Finding | None:
    """Why `module:function` can't be imported, as far as the files of the project tell."""
    module, _, name = reference.partition(":")
    path = file_of_module(module, root)
    if path is None:
        return _find_missing_module(module, root) if name else None
    shown = os.path.relpath(path, root)
    try:
        text = read_file(path, _MOST_BYTES, root)
        names = _names_in(text)
    except SyntaxError as error:
        message = f"{shown} is not valid Python: line {error.lineno}: {error.msg}"
        return Finding((), message, code=f"bad-{what}")
    except _UNREADABLE:
        return None
    name, (folder, file) = name.partition(".")[0], os.path.split(path)
    is_module = file == "__init__.py" and name in list_modules(folder)
    if name in names or is_module or not name.isidentifier() or re.search(_DYNAMIC, text):
        return None
    hint = did_you_mean(name, (each for each in names if each[0] != "_"))
    return Finding((), f"{shown} has no `{name}`", hint, code=f"unknown-{what}")


def find_definition(reference: str, root: str) -> tuple[str, int, int] | None:
    """The file, line from 1 and column from 0 where `module:name` is defined in the project."""
    path = file_of_module(reference.partition(":")[0], root)
    try:
        names = _names_in(read_file(path, _MOST_BYTES, root)) if path is not None else {}
    except _UNREADABLE:
        return None
    place = names.get(reference.rpartition(":")[2].rpartition(".")[2])
    return (path, *place) if path is not None and place is not None else None


def _find_missing_module(module: str, root: str) -> Finding | None:
    """A finding if neither the project nor an installed package has a module."""
    steps = module.split(".")
    if not all(step.isidentifier() for step in steps) or module in sys.modules:
        return None
    folder, above = root, ""
    for step in steps:
        known = list_modules(folder)
        if step not in known:
            if not above and _is_installed(step):
                return None
            near = did_you_mean(f"{above}{step}", [f"{above}{each}" for each in known])
            hint = near or _WHERE if above else hint_at_module(step, root)
            return Finding((), f"there is no module `{above}{step}`", hint, code="missing-module")
        folder, above = os.path.join(folder, step), f"{above}{step}."
        if not os.path.isfile(os.path.join(folder, "__init__.py")):
            return None  # a namespace package, which may have other folders
    return None


def _is_installed(name: str) -> bool:
    invalidate_caches()  # a file may have been written just now
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return True  # a module that some program put into sys.modules


def hint_at_module(missing: str, root: str) -> str:
    """How to use a module that lies in a folder of the project, such as `src`, or the name of a
    similar one."""
    known = list_modules(root)
    for folder in known:
        if file_of_module(missing.partition(".")[0], os.path.join(root, folder)) is not None:
            way = f"set PYTHONPATH={os.path.relpath(os.path.join(root, folder))}"
            return f"{folder}/{missing} is there: {way}, or install it (`pip install -e .`)"
    return did_you_mean(missing, known) or _WHERE


# What a file rests on


def trace_sources(
    paths: Iterable[str], root: str, search: Iterable[str] | None = None
) -> dict[str, str]:
    """The hashes of Python files and of all files of the project that they import. Modules are also
    looked for in the folders of `search`; by default, of this process."""
    root = os.path.realpath(root)
    folders = [root, *(_search_path(root) if search is None else search)]
    waiting = [*map(os.path.realpath, paths)]
    found: dict[str, str] = {}
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
        waiting += map(os.path.realpath, _files_imported(text, path, folders))
    return dict(sorted(found.items()))


def _files_imported(text: bytes, path: str, search: Iterable[str]) -> Iterator[str]:
    """The packages around a file, and the files that its imports may mean."""
    folder = above = os.path.dirname(path)
    while os.path.isfile(package := os.path.join(above, "__init__.py")):
        yield package
        above = os.path.dirname(above)
    modules: list[tuple[int, str]] = []
    """Levels of relative imports, and names whose last part may be that of an object."""
    with suppress(*_UNREADABLE):
        for node in ast.walk(_parse(text)):
            if isinstance(node, ast.Import):
                modules += [(0, each.name) for each in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules += [(node.level, f"{node.module or ''}.{e.name}") for e in node.names]
    # A program imports from its own folder, a module from the folder of its outermost package.
    bases = list(dict.fromkeys([folder, above, *search]))
    for level, name in dict.fromkeys(modules):
        within = os.path.normpath(os.path.join(folder, *[os.pardir] * (level - 1)))
        for base in [within] if level else bases:
            at = base
            for part in filter(None, name.split(".")):
                at = os.path.join(at, part)
                yield from filter(os.path.isfile, (f"{at}.py", os.path.join(at, "__init__.py")))


def sources_of_module(module: str, root: str) -> dict[str, str]:
    """The hashes of the file of a module, which is imported or in the project, and of the files of
    the project that it imports; empty for a notebook, a module built into Python, and evalcase."""
    if module.partition(".")[0] == "evalcase":
        return {}
    if (loaded := sys.modules.get(module)) is not None:
        path = loaded.__dict__.get("__file__")
    else:
        folders = [root, *_search_path(os.path.realpath(root))]
        path = next(filter(None, [file_of_module(module, each) for each in folders]), None)
    if path is None:
        return {}
    for each in (root, project_root(os.path.dirname(path))):  # it may be of another project
        if traced := trace_sources([path], each):
            return traced
    return {module: digest_file(path)}


def program_sources(texts: Iterable[str], folder: str, root: str, path: str = "") -> dict[str, str]:
    """The hashes of the files of a project that a command line names, as a word, the value of an
    option or a module after `-m`, and of what those in Python import. It runs in `folder`; `path`
    is its PYTHONPATH."""
    root = os.path.realpath(root)
    folders = [folder, *(os.path.join(folder, each) for each in path.split(os.pathsep) if each)]
    words = [word for text in texts for word in (text, *_BETWEEN_WORDS.split(text)) if word]
    named = {file for word in words for file in _files_named(word, folders, root)}
    scripts = [file for file in named if file.endswith(".py")]
    digests = {os.path.relpath(file, root): digest_file(file) for file in named}
    return dict(sorted({**digests, **trace_sources(scripts, root, folders)}.items()))


def _files_named(word: str, folders: Sequence[str], root: str) -> Iterator[str]:
    module = word.replace(".", "/")
    for name in (word, f"{word}/__main__.py", f"{module}.py", f"{module}/__main__.py"):
        for folder in folders:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and is_inside(file := os.path.realpath(path), root):
                yield file


def _search_path(root: str) -> list[str]:
    """The folders of a project that this process imports modules from."""
    folders = map(os.path.realpath, filter(None, sys.path))
    return [each for each in folders if is_inside(each, root) and _is_own(each)]


def _is_own(path: str) -> bool:
    return "site-packages" not in path and not is_inside(path, os.path.realpath(PACKAGE))


# Imports of `module:name` and `./file.py:name`

_NEEDED_LATER = frozenset(
    """
    aiohappyeyeballs aiohttp aiosignal argparse array ast asyncio atexit attr base64 binascii
    bisect bz2 calendar click collections concurrent contextlib contextvars copy copyreg csv
    ctypes dataclasses datetime decimal difflib dis email enum errno faulthandler
    fcntl fnmatch fractions frozenlist functools gc genai_prices genericpath gettext gzip
    hashlib heapq hmac html http idna importlib inspect ipaddress itertools json keyword
    linecache locale logging lzma math mimetypes multidict multiprocessing netrc ntpath numbers
    opcode operator os pathlib pickle pkgutil platform posixpath propcache queue quopri random re
    regex reprlib resource rich secrets select selectors shlex shutil signal site socket ssl stat
    string struct subprocess symtable tempfile textwrap threading token tokenize tomllib traceback
    types typing typing_extensions unicodedata urllib uuid warnings weakref webbrowser xml yaml yarl
    zlib
    """.split()
)
"""What evalcase and its dependencies may import after user code, by their first names."""


def make_importable(root: str) -> None:
    """Let the modules of a project be imported before installed ones.

    A module of the project may have the name of one that evalcase needs later: that one is imported
    first, so that the project's does not take its place.
    """
    root, before = os.path.abspath(root), sys.path[:]
    sys.path[:] = [each for each in before if os.path.abspath(each) != root]
    try:
        for name in sorted({*list_modules(root)} & _NEEDED_LATER - sys.modules.keys()):
            with suppress(ImportError):  # an extra that is not installed
                import_module(name)
    finally:
        sys.path[:] = before
    if root not in sys.path:
        sys.path.insert(0, root)


def import_object(name: str, what: str, root: str | None = None) -> object:
    """The object of a name; `root` is the folder of the project. Raise ConfigError, which begins
    with `what` it is: "python target"."""
    module_name, _, attributes = name.partition(":")
    # Graders look it up for each call.
    found: object = sys.modules.get(module_name) if attributes else None
    wanted = f"{what} `{name}`"
    if found is None or (root is not None and module_name.startswith("./")):
        for fault in problems_of(option_of(FunctionName), name, ("function",)):
            raise ConfigError(f"{what}: {fault.message}: {fault.hint}")
        found = _import_module(module_name, wanted, root or os.curdir)
    _refuse_gevent(wanted)
    for attribute in attributes.split("."):
        try:
            found = getattr(found, attribute)
        except AttributeError:
            hint = did_you_mean(attribute, [each for each in dir(found) if each[0] != "_"])
            shown = f"`{getattr(found, '__name__', type(found).__name__)}`"
            if file := getattr(found, "__file__", None):
                shown += f" ({file})"
                own = os.path.join(os.path.realpath(sys.path[0]), f"{module_name}.py")
                if os.path.isfile(own) and own != os.path.realpath(file):
                    hint = f"name the project's own file: ./{module_name}.py:{attribute}"
            said = f"{wanted}: {shown} has no `{attribute}`"
            raise ConfigError(f"{said}: {hint}" if hint else said) from None
    return found


def is_at(wanted: object, name: str) -> bool:
    """Whether a name leads to this very object, as far as it is imported."""
    module, _, path = name.partition(":")
    found: object = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found is wanted


def _import_module(name: str, wanted: str, root: str) -> ModuleType:
    is_file = name.startswith("./")
    invalidate_caches()  # a file may have been written just now
    try:
        return _import_file(name, root) if is_file else import_module(name)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"while {wanted} was imported") from None
    except ConfigError as error:
        raise ConfigError(f"{wanted}: {error}") from None
    except BaseException as error:
        _refuse_gevent(wanted)
        missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
        if is_file and missing.startswith("."):
            why = "it has a relative import, which needs a package: name it as a module"
            raise ConfigError(f"{wanted}: {why}") from None
        if missing and f"{name}.".startswith(f"{missing}."):
            hint = hint_at_module(missing, sys.path[0] or os.curdir)
            raise ConfigError(f"{wanted}: there is no module `{missing}`; {hint}") from None
        why = f"importing `{name}` failed: {describe_error(error)}"
        raise ConfigError(f"{wanted}: {why}") from error


def _import_file(name: str, root: str) -> ModuleType:
    """The module of `./file.py`. It is imported once, under this name."""
    path = os.path.realpath(os.path.join(root, name))
    try:
        open_file(path, root).close()
    except FileNotFoundError:
        raise ConfigError(f"there is no file `{name}` in {root}") from None
    except OSError as error:
        raise ConfigError(f"`{name}` can't be imported: {error.strerror}") from None
    known = sys.modules.get(name)
    if known is not None and known.__file__ == path:
        return known
    loader = SourceFileLoader(name, path)
    spec = spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        # Cached bytecode may be that of a moment ago: it is compared by whole seconds and sizes.
        exec(loader.source_to_code(loader.get_data(path), path), vars(module))  # noqa: S102
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _has_patched_threads() -> bool:
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))


_WERE_PATCHED = _has_patched_threads()
"""A program that patches threads before it imports evalcase works."""


def _refuse_gevent(wanted: str) -> None:
    if _has_patched_threads() and not _WERE_PATCHED:
        raise ConfigError(
            f"{wanted}: it patches threads with gevent (`monkey.patch_all()`) while they are in "
            f"use, and nothing would ever end; make it a program, for `command` or `script`"
        )


def describe_error(error: BaseException) -> str:
    """What an error says, and the line it comes from. If an environment variable is not set, how to
    set it."""
    first, *more = leaves_of(error)
    if first is not error:
        return describe_error(first) + (f" (and {len(more)} more)" if more else "")
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    if isinstance(error, KeyError) and frames and frames[-1].f_locals.get("self") is os.environ:
        hint = "--env-file FILE reads a file of them"
        return f"the environment variable {error.args[0]} is not set{place_of(error)}; {hint}"
    return f"{type(error).__name__}: {error}".rstrip(": ") + place_of(error)


_STANDARD = os.path.join(os.path.dirname(os.__file__), "")


def place_of(error: BaseException) -> str:
    """` (file:line)` of the cause: the last line of user code, else the last of all."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    steps = [(step.filename, step.lineno) for step in extract_tb(error.__traceback__)]
    foreign = (_STANDARD, __file__)
    own = [each for each in steps if not (each[0].startswith(foreign) or is_foreign_file(each[0]))]
    return " ({}:{})".format(*(own or steps)[-1]) if steps else ""
