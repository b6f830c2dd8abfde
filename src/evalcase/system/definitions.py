"""Whether a Python file of a project can be imported and defines a name, and where, as far as its
own text says and without running it. Where the text leaves it open, nothing is said."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from warnings import catch_warnings, simplefilter

from evalcase.system.bound_names import bound_by, names_of_class, names_of_module
from evalcase.system.file_modules import file_of_module
from evalcase.types.problem import did_you_mean
from evalcase.util.files import read_file

_LARGEST = 4_000_000
_MOST_NAMED = 6


def find_undefined(reference: str, root: str) -> tuple[str, str | None] | None:
    """A sentence and a hint where `module:name` or `./file.py:name` names something which that file
    of the project doesn't have, or where it is no Python; None if it has it, or if nobody can
    say."""
    module, _, name = reference.partition(":")
    first = name.partition(".")[0]
    if not first.isidentifier():
        return None
    broken = find_broken(reference, root)
    if broken is not None:
        return broken
    path = file_of_module(module, root)
    names = None if path is None else _names_in(path, root)
    if path is None or names is None:
        return None
    shown = os.path.relpath(path, root)
    if first not in names:
        return _tell_undefined(shown, first, names)
    second = name.split(".")[1] if "." in name else None
    of_class = None if second is None else _names_of_class(path, root, first)
    if second is None or of_class is None or second in of_class:
        return None
    return _tell_undefined(f"the class `{first}` in {shown}", second, of_class)


def _tell_undefined(where: str, name: str, names: Mapping[str, bool]) -> tuple[str, str | None]:
    public = sorted(each for each, is_own in names.items() if is_own and each[0] != "_")
    some = ", ".join(public[:_MOST_NAMED]) + (" …" if len(public) > _MOST_NAMED else "")
    hint = did_you_mean(name, public) or (f"it has {some}" if public else "it has no names yet")
    return f"{where} has no `{name}`", hint


def find_broken(reference: str, root: str) -> tuple[str, str | None] | None:
    """The same where the file, or a package that it is in, is no Python."""
    module = reference.partition(":")[0]
    path = file_of_module(module, root)
    files = (*_packages_of(module, root), *([path] if path is not None else []))
    told = (_object_to_syntax(each, root) for each in files)
    return next((each for each in told if each is not None), None)


def find_definition(reference: str, root: str) -> tuple[str, int, int] | None:
    """The file, line and column, counted from 1 and 0, where `module:name` or `./file.py:name` is
    defined in the project; None if its text doesn't say."""
    module, _, name = reference.partition(":")
    path = file_of_module(module, root)
    if path is None:
        return None
    tree = read_tree(path, root)
    if tree is None:
        return None
    body: list[ast.stmt] = tree.body
    found: ast.stmt | None = None
    for step in name.split("."):
        found = next((each for each in body if step in bound_by(each)), None)
        body = found.body if isinstance(found, ast.ClassDef) else []
    return None if found is None else (path, found.lineno, found.col_offset)


def _packages_of(module: str, root: str) -> Iterator[str]:
    """The files of the packages that a module is in, which are imported before it."""
    steps = [] if module.startswith("./") else module.split(".")[:-1]
    for count in range(1, len(steps) + 1):
        path = os.path.join(root, *steps[:count], "__init__.py")
        if os.path.isfile(path):
            yield path


def _object_to_syntax(path: str, root: str) -> tuple[str, str | None] | None:
    try:
        _names_of(read_file(path, _LARGEST, root))
    except SyntaxError as error:
        line = f"line {error.lineno}: " if error.lineno is not None else ""
        said = f"{os.path.relpath(path, root)} is not valid Python: {line}{error.msg}"
        written = (error.text or "").strip()
        return said, f"the line is `{written:.80}`" if written else None
    except (OSError, ValueError, RecursionError, MemoryError):
        return None  # whoever runs it is told
    return None


def _names_in(path: str, root: str) -> dict[str, bool] | None:
    """The names, and whether each is of the file itself or imported."""
    try:
        text = read_file(path, _LARGEST, root)
        names = _names_of(text)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # whoever runs it is told
    if names is None:
        return None
    folder, file = os.path.split(path)
    # A module of a package is one of its names, once somebody has imported it.
    return {**_modules_in(folder), **names} if file == "__init__.py" else names


def _names_of_class(path: str, root: str, name: str) -> dict[str, bool] | None:
    tree = read_tree(path, root)
    return None if tree is None else names_of_class(tree, name)


def read_tree(path: str, root: str) -> ast.Module | None:
    """What a file of the project says; None if it can't be read: whoever runs it is told."""
    try:
        return _tree_of(read_file(path, _LARGEST, root))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@lru_cache(maxsize=4)
def _names_of(text: bytes) -> dict[str, bool] | None:
    """The names of a text, which is asked for each of its functions that somebody names."""
    return names_of_module(_tree_of(text))


@lru_cache(maxsize=4)
def _tree_of(text: bytes) -> ast.Module:
    with catch_warnings():
        simplefilter("ignore")  # of its style, whoever runs it is told
        tree = ast.parse(text)
        compile(tree, "<file>", "exec", dont_inherit=True)  # a `return` outside of functions
    return tree


def _modules_in(folder: str) -> dict[str, bool]:
    return {entry.partition(".")[0]: False for entry in os.listdir(folder)}
