"""What the Python files of a project define, and which modules there are. Nothing is imported."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from importlib import invalidate_caches
from importlib.util import find_spec
from symtable import symtable
from typing import Any, TypeGuard
from warnings import catch_warnings, simplefilter

from evalcase.types.problem import did_you_mean
from evalcase.util.files import read_file
from evalcase.util.project import find_working_folder

_MOST_BYTES = 4_000_000
_MOST_NAMED = 6
_DYNAMIC = re.compile(
    rb"\b(?:globals|locals|vars|exec|eval|setattr|__getattr__|__dict__|__import__|modules)\b"
    rb"|\bimport\s*\*"
)
"""Code that may define names which the text doesn't show."""


def file_of_module(module: str, root: str) -> str | None:
    """The file of a module below a folder, or of `./file.py`; None if there is none."""
    if module.startswith("./"):
        return os.path.join(root, module[2:])
    place = os.path.join(root, *module.split("."))
    candidates = (os.path.join(place, "__init__.py"), f"{place}.py")
    return next((path for path in candidates if os.path.isfile(path)), None)


def find_broken(reference: str, root: str) -> tuple[str, str | None] | None:
    """A sentence and a hint if the file of `module:name`, or a package around it, is not valid
    Python."""
    module = reference.partition(":")[0]
    steps = [] if module.startswith("./") else module.split(".")[:-1]
    packages = [".".join(steps[:count]) for count in range(1, len(steps) + 1)]
    for path in [file_of_module(each, root) for each in (*packages, module)]:
        if path is None:
            continue
        try:
            _parse(read_file(path, _MOST_BYTES, root))
        except SyntaxError as error:
            line = f"line {error.lineno}: " if error.lineno is not None else ""
            written = (error.text or "").strip()
            message = f"{os.path.relpath(path, root)} is not valid Python: {line}{error.msg}"
            return message, f"the line is `{written:.80}`" if written else None
        except (OSError, ValueError, RecursionError, MemoryError):
            continue  # the run reports it
    return None


def find_undefined(reference: str, root: str) -> tuple[str, str | None] | None:
    """A sentence and a hint if the file of `module:name` does not define the name."""
    module, _, name = reference.partition(":")
    first, *inner = name.split(".")
    path = file_of_module(module, root)
    text = None if path is None else _read_python(path, root)
    names = None if text is None else _names_of(text)
    if path is None or text is None or names is None or not first.isidentifier():
        return None
    folder, file = os.path.split(path)
    shown = os.path.relpath(path, root)
    if first not in names and not (file == "__init__.py" and first in _modules_in(folder)):
        return _describe_undefined(shown, first, names)
    of_class = _names_of_class(text, first) if inner else None
    if of_class is not None and inner[0] not in of_class:
        return _describe_undefined(f"the class `{first}` in {shown}", inner[0], of_class)
    return None


def _describe_undefined(where: str, name: str, names: dict[str, bool]) -> tuple[str, str]:
    public = sorted(each for each, is_own in names.items() if is_own and each[0] != "_")
    some = ", ".join(public[:_MOST_NAMED]) + (" …" if len(public) > _MOST_NAMED else "")
    hint = did_you_mean(name, public) or (f"it has {some}" if public else "it has no names yet")
    return f"{where} has no `{name}`", hint


def _read_python(path: str, root: str) -> bytes | None:
    """The text of a valid Python file of the project. The run reports any other."""
    try:
        text = read_file(path, _MOST_BYTES, root)
        _parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return text


@lru_cache(maxsize=4)
def _parse(text: bytes) -> ast.Module:
    """The module of a text, without what is only for type checkers. Raise SyntaxError."""
    with catch_warnings():
        simplefilter("ignore")
        tree = ast.parse(text)
        compile(tree, "<file>", "exec", dont_inherit=True)  # finds a `return` outside a function
    body = ([*each.orelse] if _is_for_types(each) else [each] for each in tree.body)
    tree.body = [each for several in body for each in several]
    return tree


def _is_for_types(statement: ast.stmt) -> TypeGuard[ast.If]:
    return isinstance(statement, ast.If) and ast.unparse(statement.test).endswith("TYPE_CHECKING")


@lru_cache(maxsize=4)
def _names_of(text: bytes) -> dict[str, bool] | None:
    """The names that a module binds, and whether each is its own or imported; None if its code may
    bind others."""
    if _DYNAMIC.search(text):
        return None
    module = symtable(ast.unparse(_parse(text)), "<file>", "exec")
    names, tables = dict[str, bool](), [module]
    for table in tables:
        tables += table.get_children()
        for each in table.get_symbols():
            is_bound = table is module or each.is_declared_global()
            if is_bound and (each.is_assigned() or each.is_imported()):
                names[each.get_name()] = not each.is_imported()
    return names


def _names_of_class(text: bytes, name: str) -> dict[str, bool] | None:
    """The names of a class whose own text says all: no bases, decorators or later changes."""
    found = [each for each in _parse(text).body if _binds(each, name)]
    match found:
        case [ast.ClassDef(bases=[], keywords=[], decorator_list=[]) as made]:
            is_mentioned_once = len(re.findall(rf"\b{name}\b".encode(), text)) == 1
            own = _names_of(ast.unparse(ast.Module(made.body, [])).encode())
            inherited = dict.fromkeys([*dir(object), *dir(type)], False)
            return {**inherited, **own} if own is not None and is_mentioned_once else None
    return None


def read_function(reference: str, root: str) -> Callable[..., object] | None:
    """A function with the parameters of `module:function` that does nothing; None where its text
    does not say plainly how it is called."""
    module, _, name = reference.partition(":")
    path = file_of_module(module, root)
    text = None if path is None else _read_python(path, root)
    if text is None or _DYNAMIC.search(text):
        return None
    found = [each for each in _parse(text).body if _binds(each, name)]
    if len(found) != 1 or len(re.findall(rf"\b{name}\b".encode(), text)) != 1:
        return None
    match found[0]:
        case ast.FunctionDef(decorator_list=[]) | ast.AsyncFunctionDef(decorator_list=[]) as made:
            given = deepcopy(made.args)
            given.defaults = [ast.Constant(None) for _ in given.defaults]
            given.kw_defaults = [each and ast.Constant(None) for each in given.kw_defaults]
            for each in ast.walk(given):
                if isinstance(each, ast.arg) and each.annotation is not None:
                    each.annotation = ast.Constant(ast.unparse(each.annotation))
            namespace: dict[str, Any] = {}
            stub = ast.FunctionDef(name, given, [ast.Pass()], [])
            code = ast.fix_missing_locations(ast.Module([stub], []))
            exec(compile(code, "<parameters>", "exec"), namespace)  # noqa: S102 - names and None
            function: Callable[..., object] = namespace[name]
            return function
    return None


def find_definition(reference: str, root: str) -> tuple[str, int, int] | None:
    """The file, line from 1 and column from 0 where `module:name` is defined in the project."""
    module, _, name = reference.partition(":")
    path = file_of_module(module, root)
    text = None if path is None else _read_python(path, root)
    if path is None or text is None:
        return None
    body: list[ast.stmt] = _parse(text).body
    found: ast.stmt | None = None
    for step in name.split("."):
        found = next((each for each in body if _binds(each, step)), None)
        body = found.body if isinstance(found, ast.ClassDef) else []
    return None if found is None else (path, found.lineno, found.col_offset)


def _binds(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement.name == name
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=bound, ctx=ast.Store()) if bound == name:
                return True
            case ast.FunctionDef(name=bound) | ast.ClassDef(name=bound) if bound == name:
                return True
            case ast.alias() if (node.asname or node.name).partition(".")[0] == name:
                return True
    return False


def has_module(name: str, root: str) -> bool:
    """Whether a folder has the module that is the first part of a dotted name."""
    return file_of_module(name.partition(".")[0], root) is not None


def find_missing_module(reference: str, root: str) -> tuple[str, str] | None:
    """A sentence and a hint if neither the project nor an installed package has the module of
    `module:name`."""
    module, _, name = reference.partition(":")
    steps = module.split(".")
    if not name or not all(step.isidentifier() for step in steps) or module in sys.modules:
        return None
    if steps[0] not in _modules_in(root):
        if _is_installed(steps[0]):
            return None
        hint = hint_at_folder(steps[0], root, reference)
        return _describe_missing(steps[0], _modules_in(root), hint)
    folder = root
    for count, step in enumerate(steps[1:], 2):
        folder = os.path.join(folder, steps[count - 2])
        if not os.path.isfile(os.path.join(folder, "__init__.py")):
            return None  # a namespace package, which may have other folders
        if step not in _modules_in(folder):
            above = ".".join(steps[: count - 1])
            known = [f"{above}.{each}" for each in _modules_in(folder)]
            return _describe_missing(f"{above}.{step}", known)
    return None


def _describe_missing(missing: str, known: list[str], hint: str | None = None) -> tuple[str, str]:
    where = "the project's folder and what is installed are looked at"
    return f"there is no module `{missing}`", hint or did_you_mean(missing, known) or where


def _is_installed(name: str) -> bool:
    invalidate_caches()  # a file may have been written just now
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return True  # a module that some program put into sys.modules


def _modules_in(folder: str) -> list[str]:
    """The names of modules and folders in a folder."""
    try:
        return sorted({entry.partition(".")[0] for entry in os.listdir(folder)})
    except OSError:
        return []


def hint_at_folder(missing: str, root: str, reference: str = "") -> str | None:
    """How to use a module that lies in a folder of the project, such as `src`; None if none does.
    With a `reference`, `module:name`, a file can be named by its path."""
    try:
        folders = sorted(each.name for each in os.scandir(root) if each.is_dir())
    except OSError:
        return None
    if (here := find_working_folder(root)) is not None:
        folders.insert(0, here)
    for folder in folders:
        if folder.startswith(".") or not has_module(missing, os.path.join(root, folder)):
            continue
        there, (module, _, name) = f"{folder}/{missing}", reference.partition(":")
        way = f"set PYTHONPATH={os.path.relpath(os.path.join(root, folder))}"
        if os.path.isdir(os.path.join(root, there)):
            return f"{there} is there: install it (`pip install -e .`), or {way}"
        if module == missing:
            way = f"name it by its path, python:./{there}.py:{name}, or {way}"
        return f"{there}.py is there: {way}"
    return None
