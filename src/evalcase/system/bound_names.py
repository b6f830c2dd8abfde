"""The names that a Python module or class has once it is imported, as far as its text says."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BY_OTHER_MEANS = frozenset(
    {"globals", "locals", "vars", "exec", "eval", "__dict__", "modules", "__import__"}
)
"""What may define names that stand nowhere."""


def names_of_module(tree: ast.Module) -> dict[str, bool] | None:
    """The names, and whether each is of the file itself or imported; None if nobody can say."""
    names = _bound_in_order(tree.body)
    for node in ast.walk(tree):
        if _word_of(node) in _BY_OTHER_MEANS or _imports_all(node):
            return None
        if isinstance(node, ast.Global):
            # Whoever calls the function, and when: it may be there.
            names.update(dict.fromkeys(node.names, True))
    return None if "__getattr__" in names else names


def names_of_class(tree: ast.Module, name: str) -> dict[str, bool] | None:
    """The names of a class of a module; None if it is none, or if nobody can say: what it is made
    from, decorated by or given later may have any."""
    found = [each for each in tree.body if name in bound_by(each)]
    if len(found) != 1 or not isinstance(found[0], ast.ClassDef):
        return None
    made = found[0]
    own = _bound_in_order(made.body)
    is_open = made.bases or made.keywords or made.decorator_list or "__slots__" in own
    if is_open or any(_gives_to(node, name) for node in ast.walk(tree)):
        return None
    return {**dict.fromkeys([*dir(object), *dir(type)], False), **own}


def function_of_module(
    tree: ast.Module, name: str
) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function of a name, if that is plainly what the module has: defined once and not within
    anything, not decorated, and given nothing later."""
    found = [each for each in tree.body if name in bound_by(each)]
    if len(found) != 1 or not isinstance(found[0], ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    names = names_of_module(tree)
    is_bound_elsewhere = any(
        _gives_to(node, name) or (isinstance(node, ast.Global) and name in node.names)
        for node in ast.walk(tree)
    )
    return None if found[0].decorator_list or names is None or is_bound_elsewhere else found[0]


def bound_by(statement: ast.stmt) -> set[str]:
    """The names that a statement binds."""
    return {name for name, _ in _find_bound(statement)}


def _bound_in_order(body: Iterable[ast.stmt]) -> dict[str, bool]:
    """What is bound at the end of some statements. What may have been unbound counts."""
    names: dict[str, bool] = {}
    for statement in body:
        if isinstance(statement, ast.Delete):
            for target in statement.targets:
                names.pop(target.id if isinstance(target, ast.Name) else "", None)
        else:
            names.update(_find_bound(statement))
    return names


def _find_bound(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """The names that are bound when it is gone through: not within functions and classes."""
    yield from _bound_itself(node)
    for child in _gone_through(node):
        yield from _find_bound(child)


def _bound_itself(node: ast.AST) -> Iterator[tuple[str, bool]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name, True
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id, True
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0], False
    elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name is not None:
        yield node.name, True
    elif isinstance(node, ast.MatchMapping) and node.rest is not None:
        yield node.rest, True


def _gone_through(node: ast.AST) -> Iterable[ast.AST]:
    """What of a node is gone through in the same scope."""
    if isinstance(node, _FUNCTIONS):
        return [node.args, *getattr(node, "decorator_list", ())]  # their defaults
    if isinstance(node, ast.ClassDef):
        return [*node.bases, *node.decorator_list]
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return ()  # it only says what type a value would have
    if isinstance(node, ast.comprehension):
        return [node.iter, *node.ifs]  # its own variable is nobody else's
    if isinstance(node, ast.If) and _is_never_true(node.test):
        return node.orelse
    return ast.iter_child_nodes(node)


def _is_never_true(test: ast.expr) -> bool:
    """Whether something isn't so when a module is imported."""
    match test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
        case ast.Constant(value=value):
            return not value
        case ast.Compare(
            left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant("__main__")]
        ):
            return True
    return False


def _word_of(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.alias(name=word):
            return word
    return None


def _imports_all(node: ast.AST) -> bool:
    return isinstance(node, ast.alias) and node.name == "*"


def _gives_to(node: ast.AST, name: str) -> bool:
    """Whether it gives an attribute to what has a name, or hands it to somebody who may."""
    match node:
        case ast.Attribute(value=ast.Name(id=owner), ctx=ast.Store()):
            return owner == name
        case ast.Call(args=arguments, keywords=keywords):
            given = [*arguments, *(each.value for each in keywords)]
            return any(isinstance(each, ast.Name) and each.id == name for each in given)
    return False
