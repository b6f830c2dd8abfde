"""User code of a project, `module:name` or `./file.py:name`: imported, or only read by `check`.

An error says where the cause is, in the same words for targets and graders.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from importlib import import_module, invalidate_caches
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader
from symtable import symtable
from traceback import extract_tb, walk_tb
from types import CodeType, ModuleType
from typing import Any, NamedTuple, TypeGuard
from warnings import catch_warnings, simplefilter

from evalcase.errors import ConfigError
from evalcase.types.options import FunctionName
from evalcase.types.problem import did_you_mean, find_nearest
from evalcase.types.read_options import problems_of, type_of
from evalcase.util.environment import PACKAGE
from evalcase.util.errors import leaves_of
from evalcase.util.files import open_file, read_file
from evalcase.util.project import find_working_folder
from evalcase.util.text import is_foreign_file

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


class InterruptedRunError(KeyboardInterrupt):
    """Ctrl-C while a module was imported; it says which."""


def _has_patched_threads() -> bool:
    monkey = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))


_WERE_PATCHED = _has_patched_threads()
"""A program that patches threads before it imports evalcase works."""


def make_importable(root: str) -> None:
    """Let the modules of a project be imported before installed ones.

    A module of the project may have the name of one that evalcase needs later: that one is imported
    first, so that the project's does not take its place.
    """
    root, before = os.path.abspath(root), sys.path[:]
    sys.path[:] = [each for each in before if os.path.abspath(each) != root]
    try:
        for name in sorted({*_modules_in(root)} & _NEEDED_LATER - sys.modules.keys()):
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
        for fault in problems_of(type_of(FunctionName), name, ("function",)):
            raise ConfigError(f"{what}: {fault.message}: {fault.hint}")
        found = _import_module(name, wanted, root or os.curdir)
    _refuse_gevent(wanted)
    for attribute in attributes.split("."):
        try:
            found = getattr(found, attribute)
        except AttributeError:
            raise ConfigError(_describe_no_attribute(found, attribute, wanted)) from None
    return found


def is_at(wanted: object, name: str) -> bool:
    """Whether a name leads to this very object, as far as it is imported."""
    module, _, path = name.partition(":")
    found: object = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found is wanted


def _import_module(name: str, wanted: str, root: str) -> ModuleType:
    module_name, _, attributes = name.partition(":")
    is_file = module_name.startswith("./")
    invalidate_caches()  # a file may have been written just now
    try:
        return _import_file(module_name, root) if is_file else import_module(module_name)
    except ModuleNotFoundError as error:
        if is_file and (error.name or "").startswith("."):
            why = _describe_relative(module_name, attributes, root)
            raise ConfigError(f"{wanted}: {why}") from None
        if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
            raise ConfigError(f"{wanted}: {_describe_no_module(error.name)}") from None
        why = f"importing `{module_name}` failed: {describe_error(error)}"
        raise ConfigError(f"{wanted}: {why}") from error
    except KeyboardInterrupt:
        raise InterruptedRunError(f"while {wanted} was imported") from None
    except ConfigError as error:
        raise ConfigError(f"{wanted}: {error}") from None
    except BaseException as error:
        _refuse_gevent(wanted)
        why = f"importing `{module_name}` failed: {describe_error(error)}"
        raise ConfigError(f"{wanted}: {why}") from error


class _FreshLoader(SourceFileLoader):
    """Compiles the text as it is now. Python's cache compares the time in seconds and the size, and
    an edit may change neither."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _import_file(name: str, root: str) -> ModuleType:
    """The module of `./file.py`. It is imported once, under this name."""
    path = os.path.realpath(os.path.join(root, name))
    try:
        open_file(path, root).close()
    except FileNotFoundError:
        folder, file = os.path.split(name)
        entries = _list_folder(os.path.join(root, folder))
        close = find_nearest(file, [entry for entry in entries if entry.endswith(".py")])
        hint = f": did you mean `{folder}/{close}`?" if close else ""
        raise ConfigError(f"there is no file `{name}` in {root}{hint}") from None
    except OSError as error:
        raise ConfigError(f"`{name}` can't be imported: {error.strerror}") from None
    known = sys.modules.get(name)
    if known is not None and known.__file__ == path:
        return known
    loader = _FreshLoader(name, path)
    spec = spec_from_loader(name, loader, origin=path)
    assert spec is not None
    spec.has_location = True
    module = sys.modules[name] = module_from_spec(spec)
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _refuse_gevent(wanted: str) -> None:
    if _has_patched_threads() and not _WERE_PATCHED:
        raise ConfigError(
            f"{wanted}: it patches threads with gevent (`monkey.patch_all()`) while they are in "
            f"use, and nothing would ever end; make it a program, for `command` or `script`"
        )


def _describe_no_module(missing: str) -> str:
    folder = sys.path[0] or os.curdir
    files = [entry for entry in _list_folder(folder) if entry.endswith(".py")]
    hint = hint_at_folder(missing, folder)
    hint = hint or did_you_mean(missing, [each.removesuffix(".py") for each in files])
    hint = hint or f"it is looked for in {folder} first"
    if f"{missing}.py" in files:
        hint = f"{missing}.py is there, and is not a regular file"
    return f"there is no module `{missing}`; {hint}"


def _list_folder(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _describe_relative(file: str, attributes: str, root: str) -> str:
    """How to name a file of a package that has a relative import."""
    folder, module = os.path.split(os.path.normpath(file).removesuffix(".py"))
    folder, package = os.path.split(folder)
    steps = [package, module]
    while folder and os.path.isfile(os.path.join(root, folder, "__init__.py")):
        folder, package = os.path.split(folder)
        steps.insert(0, package)
    why = "it has a relative import, which needs a package, and a file named by its path is in none"
    if not all(step.isidentifier() for step in steps):
        return f"{why}: import what it needs by its full name"
    where = f", with PYTHONPATH={folder} or installed (`pip install -e .`)" if folder else ""
    return f"{why}: name it as a module, python:{'.'.join(steps)}:{attributes}{where}"


def _describe_no_attribute(found: object, attribute: str, wanted: str) -> str:
    """That a module or an object has no such attribute."""
    hint = did_you_mean(attribute, [each for each in dir(found) if not each.startswith("_")])
    file = getattr(found, "__file__", None)
    if isinstance(found, ModuleType):
        folder, own = os.path.abspath(sys.path[0]), f"{found.__name__}.py"
        is_other = file is None or os.path.dirname(file) != folder
        if is_other and os.path.isfile(os.path.join(folder, own)):
            hint = f"it is not {own}, as that has a name of Python's; write `./{own}:{attribute}`"
    where = f" ({file})" if file else ""
    shown = getattr(found, "__name__", type(found).__name__)
    return f"{wanted}: `{shown}`{where} has no `{attribute}`{f': {hint}' if hint else ''}"


_STANDARD = os.path.join(os.path.dirname(os.__file__), "")
_OWN = os.path.join(PACKAGE, "util", "imports.py")


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


def place_of(error: BaseException) -> str:
    """` (file:line)` of the cause: the last line of user code, else the last that is not part of
    the import system."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    importing = ("<frozen importlib", _OWN, os.path.join(_STANDARD, "importlib"))
    steps = [each for each in extract_tb(error.__traceback__)
             if not each.filename.startswith(importing)]  # fmt: skip
    own = [
        each
        for each in steps
        if not each.filename.startswith(_STANDARD) and not is_foreign_file(each.filename)
    ]
    last = (own or steps)[-1:]
    return f" ({last[0].filename}:{last[0].lineno})" if last else ""


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
    found = _read_python(reference, root)
    names = None if found is None else _names_of(found.text)
    if found is None or names is None or not found.name.isidentifier():
        return None
    folder, file = os.path.split(found.path)
    shown = os.path.relpath(found.path, root)
    if found.name not in names:
        is_module = file == "__init__.py" and found.name in _modules_in(folder)
        return None if is_module else _describe_undefined(shown, found.name, names)
    of_class = _names_of_class(found.text, found.name) if found.inner else None
    if of_class is not None and found.inner[0] not in of_class:
        return _describe_undefined(f"the class `{found.name}` in {shown}", found.inner[0], of_class)
    return None


def _describe_undefined(where: str, name: str, names: dict[str, bool]) -> tuple[str, str]:
    public = sorted(each for each, is_own in names.items() if is_own and each[0] != "_")
    some = ", ".join(public[:_MOST_NAMED]) + (" …" if len(public) > _MOST_NAMED else "")
    hint = did_you_mean(name, public) or (f"it has {some}" if public else "it has no names yet")
    return f"{where} has no `{name}`", hint


class _Reference(NamedTuple):
    """A valid Python file of the project, and the name in it."""

    path: str
    text: bytes
    name: str
    inner: list[str]


def _read_python(reference: str, root: str) -> _Reference | None:
    """None for a file that is missing or not valid: the run reports it."""
    module, _, names = reference.partition(":")
    path = file_of_module(module, root)
    if path is None:
        return None
    try:
        text = read_file(path, _MOST_BYTES, root)
        _parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    name, *inner = names.split(".")
    return _Reference(path, text, name, inner)


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
    match _bound_once(text, name):
        case ast.ClassDef(bases=[], keywords=[], decorator_list=[], body=body):
            own = _names_of(ast.unparse(ast.Module(body, [])).encode())
            inherited = dict.fromkeys([*dir(object), *dir(type)], False)
            return None if own is None else {**inherited, **own}
    return None


def read_function(reference: str, root: str) -> Callable[..., object] | None:
    """A function with the parameters of `module:function` that does nothing; None where its text
    does not say plainly how it is called."""
    found = _read_python(reference, root)
    if found is None or found.inner or _DYNAMIC.search(found.text):
        return None
    made = _bound_once(found.text, found.name)
    if not isinstance(made, ast.FunctionDef | ast.AsyncFunctionDef) or made.decorator_list:
        return None
    given = deepcopy(made.args)
    given.defaults = [ast.Constant(None) for _ in given.defaults]
    given.kw_defaults = [each and ast.Constant(None) for each in given.kw_defaults]
    for each in ast.walk(given):
        if isinstance(each, ast.arg) and each.annotation is not None:
            each.annotation = ast.Constant(ast.unparse(each.annotation))
    stub = ast.FunctionDef(found.name, given, [ast.Pass()], [])
    namespace: dict[str, Any] = {}
    code = compile(ast.fix_missing_locations(ast.Module([stub], [])), "<parameters>", "exec")
    exec(code, namespace)  # noqa: S102 - it holds names and None, and no code of the user
    function: Callable[..., object] = namespace[found.name]
    return function


def _bound_once(text: bytes, name: str) -> ast.stmt | None:
    """The statement that defines a name, if the text mentions the name nowhere else."""
    bound = [each for each in _parse(text).body if _binds(each, name)]
    is_plain = len(bound) == 1 and len(re.findall(rf"\b{name}\b".encode(), text)) == 1
    return bound[0] if is_plain else None


def find_definition(reference: str, root: str) -> tuple[str, int, int] | None:
    """The file, line from 1 and column from 0 where `module:name` is defined in the project."""
    read = _read_python(reference, root)
    if read is None:
        return None
    body: list[ast.stmt] = _parse(read.text).body
    found: ast.stmt | None = None
    for step in (read.name, *read.inner):
        found = next((each for each in body if _binds(each, step)), None)
        body = found.body if isinstance(found, ast.ClassDef) else []
    return None if found is None else (read.path, found.lineno, found.col_offset)


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
    return sorted({entry.partition(".")[0] for entry in _list_folder(folder)})


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
