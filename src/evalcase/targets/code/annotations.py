"""What an annotation of the user's names, be it an object or the text of one.

A text is looked up where the function was written, so that a class of the user's own that happens
to be called the same is not mistaken. What can't be found there, such as what is imported for type
checkers only, is known by its name.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, ForwardRef, NamedTuple, Union, get_args, get_origin

_AROUND = re.compile(r"(?:typing\.)?(?:Optional\[(.*)|Annotated\[([^,]*),.*)\]")
_NOTHING = object()


class ClassName(NamedTuple):
    """A class, which need not be imported to be known."""

    module: str
    name: str

    def is_of(self, value: object) -> bool:
        return isinstance(value, type) and self == (value.__module__, value.__name__)


def names_class(annotation: object, wanted: ClassName, function: Callable[..., Any]) -> bool:
    """Whether an annotation is a class, or that class or None."""
    return any(
        _is_name_of(each, wanted, function) if isinstance(each, str) else wanted.is_of(each)
        for each in _list_alternatives(annotation)
    )


def names_several(annotation: object, wanted: ClassName) -> bool:
    """Whether an annotation is a collection of a class: `list[Message]`."""
    several = re.compile(rf"\[.*\b{wanted.name}\b.*\]")
    return any(
        several.search(each) is not None
        if isinstance(each, str)
        else any(map(wanted.is_of, get_args(each)))
        for each in _list_alternatives(annotation)
    )


def _list_alternatives(annotation: object) -> Iterator[object]:
    """What is left of an annotation without None: objects, and texts of dotted names."""
    if isinstance(annotation, ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        text = annotation.strip(" \"'")
        around = _AROUND.fullmatch(text)
        inner = text if around is None else around[1] or around[2]
        for each in inner.split("|"):
            if each.strip() != "None":
                yield each.strip(" \"'")
    elif get_origin(annotation) in (Union, UnionType):
        for each in get_args(annotation):
            if each is not NoneType:
                yield from _list_alternatives(each)
    elif get_origin(annotation) is Annotated:
        yield from _list_alternatives(get_args(annotation)[0])
    else:
        yield annotation


def _is_name_of(text: str, wanted: ClassName, function: Callable[..., Any]) -> bool:
    found = _looked_up(text, function)
    return text.rpartition(".")[2] == wanted.name if found is _NOTHING else wanted.is_of(found)


def _looked_up(text: str, function: Callable[..., Any]) -> object:
    first, *rest = text.split(".")
    found: object = _find_globals(function).get(first, _NOTHING)
    for name in rest:
        found = getattr(found, name, _NOTHING)
    return found


def _find_globals(function: Callable[..., Any]) -> dict[str, object]:
    """The names that a function sees; none, where that can't be told."""
    while hasattr(function, "func"):  # a functools.partial
        function = function.func
    found: Any = inspect.unwrap(function)
    if not hasattr(found, "__globals__"):
        found = getattr(found, "__func__", getattr(type(found), "__call__", None))  # noqa: B004
    names: dict[str, object] = getattr(found, "__globals__", {})
    return names
