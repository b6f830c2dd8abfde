"""Named tuples that are made at a tenth of the cost: seventy of them are what a start waits for.

Type checkers take `NamedTuple` for that of `typing`, and its instances behave as those do. What is
left out is looking at the types of fields, and a constructor is made for a class with many
instances only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from evalcase.model.quick_constructor import FEW

if TYPE_CHECKING:
    from inspect import Signature
    from typing import NamedTuple

T = TypeVar("T")

try:
    from _collections import (  # type: ignore[import-not-found]
        _tuplegetter as _getter,  # what `collections` uses, too
    )
except ImportError:

    def _getter(index: int, doc: str) -> property:
        return property(itemgetter(index), doc=doc)


def _make_named_tuple(name: str, body: dict[str, Any]) -> type:
    fields = tuple(body.get("__annotations__", ()))
    defaults = {field: body.pop(field) for field in fields if field in body}
    getters = {field: _getter(index, "") for index, field in enumerate(fields)}
    made: type = type(
        name,
        (tuple,),
        {
            **_METHODS, "__slots__": (), "_fields": fields, "_field_defaults": defaults,
            "__match_args__": fields, **getters, **body,
        },
    )  # fmt: skip
    _put_off_constructor(made)
    return made


def _put_off_constructor(made: Any) -> None:  # noqa: ANN401 - a class with `_fields`
    """Most of these classes have few instances in one start of the command, or none: a `__new__`
    of their own is made for those that have many."""
    calls = 0

    def fill(cls: type, /, *values: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        bound = _bind_values(made, values, named) if calls <= FEW else None
        if bound is not None:
            return tuple.__new__(cls, bound)
        _make_constructor(made)
        return made.__new__(cls, *values, **named)

    made.__new__ = fill


def _bind_values(made: Any, values: tuple[Any, ...], named: dict[str, Any]) -> Iterable[Any] | None:  # noqa: ANN401 - a class with `_fields`
    """What the tuple is to hold; None if it can't be called so, for the reason that the real
    constructor gives."""
    if not named and len(values) == len(made._fields):
        return values
    rest = made._fields[len(values) :]
    given = made._field_defaults | named
    if len(values) > len(made._fields) or not named.keys() <= set(rest):
        return None
    if any(field not in given for field in rest):
        return None
    return [*values, *(given[field] for field in rest)]


def _make_constructor(made: Any) -> Callable[..., Any]:  # noqa: ANN401 - a class with `_fields`
    names = ", ".join(made._fields)
    code = (
        f"lambda cls__, {names}: new__(cls__, ({names},))"
        if names
        else "lambda cls__: new__(cls__)"
    )
    new: Any = eval(code, {"new__": tuple.__new__})  # noqa: S307 - made of names of fields only
    new.__defaults__ = tuple(made._field_defaults.values())
    new.__annotations__ = made.__annotations__
    new.__name__, new.__qualname__ = "__new__", f"{made.__qualname__}.__new__"
    made.__new__ = staticmethod(new)
    return new  # type: ignore[no-any-return]


class _LateSignature:
    """What `help` and editors ask a class for."""

    def __get__(self, instance: object, owner: Any) -> Signature:  # noqa: ANN401 - a class
        import inspect

        made = next(each for each in owner.__mro__ if "_fields" in each.__dict__)
        _, *parameters = inspect.signature(_make_constructor(made)).parameters.values()
        return inspect.Signature(parameters)


@classmethod  # type: ignore[misc]
def _make(cls: type, values: Any) -> Any:  # noqa: ANN401 - as `typing` has it
    return cls(*values)


def _replace(self: Any, /, **changes: Any) -> Any:  # noqa: ANN401 - of the same type
    values = [changes.pop(field, value) for field, value in zip(self._fields, self, strict=True)]
    if changes:
        raise ValueError(f"Got unexpected field names: {list(changes)!r}")
    return type(self)(*values)


def _asdict(self: Any) -> dict[str, Any]:  # noqa: ANN401 - a named tuple
    return dict(zip(self._fields, self, strict=True))


def _repr(self: Any) -> str:  # noqa: ANN401 - a named tuple
    inside = ", ".join(f"{field}={value!r}" for field, value in _asdict(self).items())
    return f"{type(self).__name__}({inside})"


def _getnewargs(self: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(self)


_METHODS = {
    "_make": _make, "_replace": _replace, "_asdict": _asdict, "__repr__": _repr,
    "__getnewargs__": _getnewargs, "__signature__": _LateSignature(),
}  # fmt: skip


class _Maker(type):
    """Makes a class of what stands in the body of one that names `NamedTuple` as its base."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
        if not bases:
            return super().__new__(cls, name, bases, body)
        assert len(bases) == 1, "a quick named tuple has no other base"
        return _make_named_tuple(name, body)


if not TYPE_CHECKING:

    class NamedTuple(metaclass=_Maker):
        """The base of a class whose fields are those of a tuple."""


if TYPE_CHECKING:

    def tuple_of(cls: type[T], values: tuple[object, ...]) -> T:
        """An instance with all of its fields, in their order."""

else:
    # A class that is called looks for its constructor first, and calls it: four times as much. It
    # is for what every trial makes.
    tuple_of = tuple.__new__

__all__ = ["NamedTuple", "tuple_of"]
