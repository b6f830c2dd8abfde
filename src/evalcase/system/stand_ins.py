"""A function of a project as far as its text says how it is called: something with its name and its
parameters that does nothing, so that nothing of the project has to be imported."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from inspect import Parameter, Signature

from evalcase.system.bound_names import function_of_module
from evalcase.system.definitions import read_tree
from evalcase.system.file_modules import file_of_module


def find_stand_in(reference: str, root: str) -> Callable[..., object] | None:
    """What stands for `module:function` or `./file.py:function`; None where its text doesn't say
    plainly how it is called. An annotation in it is the text of one."""
    module, _, name = reference.partition(":")
    path = file_of_module(module, root)
    tree = None if path is None else read_tree(path, root)
    made = None if tree is None else function_of_module(tree, name)
    return None if made is None else _make_stand_in(name, made.args)


def _make_stand_in(name: str, arguments: ast.arguments) -> Callable[..., object]:
    def stand_in() -> None:
        """Do nothing."""

    stand_in.__name__ = name
    stand_in.__dict__["__signature__"] = Signature([*_list_parameters(arguments)])
    return stand_in


def _list_parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    by_place = [*arguments.posonlyargs, *arguments.args]
    first_default = len(by_place) - len(arguments.defaults)
    for number, each in enumerate(by_place):
        is_first = number < len(arguments.posonlyargs)
        kind = Parameter.POSITIONAL_ONLY if is_first else Parameter.POSITIONAL_OR_KEYWORD
        yield _fill_in(Parameter(each.arg, kind), each, has_default=number >= first_default)
    if arguments.vararg is not None:
        yield _fill_in(Parameter(arguments.vararg.arg, Parameter.VAR_POSITIONAL), arguments.vararg)
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameter = Parameter(each.arg, Parameter.KEYWORD_ONLY)
        yield _fill_in(parameter, each, has_default=default is not None)
    if arguments.kwarg is not None:
        yield _fill_in(Parameter(arguments.kwarg.arg, Parameter.VAR_KEYWORD), arguments.kwarg)


def _fill_in(parameter: Parameter, written: ast.arg, *, has_default: bool = False) -> Parameter:
    note = Parameter.empty if written.annotation is None else ast.unparse(written.annotation)
    return parameter.replace(default=None if has_default else Parameter.empty, annotation=note)
