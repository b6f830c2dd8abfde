"""An assertion in Python: a function that evalcase can call as it is becomes a grader.

Its file is read and not run. A function that rests on promptfoo's `context`, or returns what only
promptfoo understands, is told with what to change.
"""

from __future__ import annotations

import ast
import os

from evalcase.importing.graders import write_grader
from evalcase.importing.promptfoo.assertions import Assertion
from evalcase.importing.promptfoo.folder import FILE, Folder
from evalcase.importing.promptfoo.unmapped import NoCounterpartError
from evalcase.importing.source import read_referred
from evalcase.types.value import JSON

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_HINT = (
    "a grader is a function of `output` (or `case`, `expected`, `metadata`, …) that returns True "
    "or False, or {score, passed, reason}: then write `python: {}`"
)
_BOOLEAN_CALLS = frozenset({
    "bool", "isinstance", "any", "all", "callable", "startswith", "endswith", "isdigit",
    "isnumeric", "isalpha", "isalnum", "isupper", "islower",
})  # fmt: skip


def map_python(assertion: Assertion, folder: Folder, root: str) -> JSON:
    """`python: ./file.py:function`, if it means the same."""
    value = assertion.value
    if not isinstance(value, str) or not value.startswith(FILE):
        hint = "make a function of it, in a file, and write `python: checks:function`"
        raise NoCounterpartError("`python` with code in it", hint)
    name, _, wanted = value.removeprefix(FILE).partition(":")
    wanted = wanted or "get_assert"
    try:
        path, data = read_referred(name, folder.path)
        found = _find_function(ast.parse(data), wanted)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise NoCounterpartError(f"`python` of {name}: {error}") from None
    named = f"./{os.path.relpath(path, root)}:{wanted}"
    why = "it isn't there" if found is None else _object_to(found)
    if why is not None or named.startswith("./.."):
        why = why or "it lies outside the project"
        raise NoCounterpartError(f"`{wanted}` of {name}: {why}", _HINT.replace("{}", named))
    return write_grader("python", named)


def _find_function(module: ast.Module, name: str) -> _Function | None:
    functions = (each for each in module.body if isinstance(each, _Function))
    return next((each for each in functions if each.name == name), None)


def _object_to(function: _Function) -> str | None:
    """Why evalcase can't call it with the same result."""
    arguments = function.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg or arguments.kwarg or not names or not set(names) <= {"output", "context"}:
        return "its parameters are others than `output` and `context`"
    if function.decorator_list:
        return "it is decorated"
    nodes = [node for each in function.body for node in ast.walk(each)]
    if any(isinstance(node, ast.Name) and node.id == "context" for node in nodes):
        return "it reads `context`, which is promptfoo's"
    if any(isinstance(node, ast.Yield | ast.YieldFrom | _Function | ast.Lambda) for node in nodes):
        return "what it returns can't be seen from outside"
    returned = [node.value for node in nodes if isinstance(node, ast.Return)]
    if not returned or not all(map(_is_boolean, returned)):
        return "it may return something else than True or False"
    return None


def _is_boolean(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.BoolOp):
        return all(map(_is_boolean, node.values))
    if isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else None
        return (function.id if isinstance(function, ast.Name) else name) in _BOOLEAN_CALLS
    return False
