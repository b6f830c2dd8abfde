"""Dataclasses that are made at a fifth of the cost: sixty of them are what a start waits for.

Type checkers take them for those of the standard library, and so does whoever looks at one with
`dataclasses.fields`, `replace` or `asdict`. Only what this package uses of them is here: slots
always, equality, a hash if frozen, `__post_init__`, and fields that are inherited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from evalcase.model.quick_constructor import (
    OFTEN,
    OWN,
    LateSignature,
    Missing,
    QuickField,
    put_off_constructor,
)

if TYPE_CHECKING:
    from dataclasses import Field

_NOT_COPIED = ("__dict__", "__weakref__")


T = TypeVar("T")


def _make_field(
    *,
    default: object = Missing,
    default_factory: object = Missing,
    metadata: Mapping[str, Any] = MappingProxyType({}),
) -> QuickField:
    return QuickField(default, default_factory, metadata)


def made_often(cls: type[T]) -> type[T]:
    """Marks, below `@dataclass(frozen=True, …)`, a class of which every trial makes some: its
    instances are made in half the time."""
    setattr(cls, OFTEN, True)
    return cls


def _make_dataclass(
    *, frozen: bool = False, slots: bool = True, kw_only: bool = False
) -> Callable[[type], type]:
    assert slots, "a quick dataclass has slots"

    def make(cls: type) -> type:
        body = {name: each for name, each in cls.__dict__.items() if name not in _NOT_COPIED}
        own = _take_fields(body, kw_only)
        inherited = [dict(getattr(each, OWN, {})) for each in reversed(cls.__mro__[1:])]
        known = {name: each for fields in [*inherited, own] for name, each in fields.items()}
        _check_order(known)
        methods = _methods(known, own, frozen)
        if "__repr__" in body:
            del methods["__repr__"]
        made: type = type(cls)(cls.__name__, cls.__bases__, body | methods)
        put_off_constructor(made)
        return made

    return make


def _check_order(known: Mapping[str, QuickField]) -> None:
    optional = False
    for name, each in known.items():
        if not each.kw_only:
            if optional and each.is_needed:
                raise TypeError(f"non-default argument {name!r} follows default argument")
            optional = optional or not each.is_needed


def _take_fields(body: dict[str, Any], kw_only: bool) -> dict[str, QuickField]:
    """The fields that a class body declares. Their defaults leave it: slots take their place."""
    found = {}
    for name, hint in body.get("__annotations__", {}).items():
        if str(hint).startswith(("ClassVar", "typing.ClassVar")):
            continue
        default = body.pop(name, Missing)
        is_field = isinstance(default, QuickField)
        each = found[name] = default if is_field else _make_field(default=default)
        each.name, each.kw_only = name, kw_only
    return found


def _methods(
    known: Mapping[str, QuickField], own: Mapping[str, QuickField], frozen: bool
) -> dict[str, Any]:
    positional = tuple(name for name, each in known.items() if not each.kw_only)
    methods: dict[str, Any] = {
        OWN: known, "__slots__": tuple(own),
        "__dataclass_fields__": _StandardFields(), "__dataclass_params__": _NoParameters(),
        "__match_args__": positional, "__signature__": LateSignature(),
        "__repr__": _repr, "__eq__": _eq, "__hash__": _hash if frozen else None,
        "__values__": staticmethod(_getter(tuple(known))),
        "__getstate__": _getstate, "__setstate__": _setstate,
    }  # fmt: skip
    return methods | {"__setattr__": _refuse, "__delattr__": _refuse} if frozen else methods


def _getter(names: tuple[str, ...]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else lambda _: ()


def _repr(self: Any) -> str:  # noqa: ANN401 - a quick dataclass
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in getattr(self, OWN))
    return f"{type(self).__qualname__}({inside})"


def _eq(self: Any, other: Any) -> Any:  # noqa: ANN401 - as object has it
    if type(other) is not type(self):
        return NotImplemented
    values = self.__values__
    return values(self) == values(other)


def _hash(self: Any) -> int:  # noqa: ANN401 - a quick dataclass
    return hash(self.__values__(self))


def _getstate(self: Any) -> list[Any]:  # noqa: ANN401 - a quick dataclass
    return [getattr(self, name) for name in getattr(self, OWN)]


def _setstate(self: Any, state: list[Any]) -> None:  # noqa: ANN401 - a quick dataclass
    for name, value in zip(getattr(self, OWN), state, strict=True):
        object.__setattr__(self, name, value)


def _refuse(self: object, name: str, _: object = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"`{name}` of {type(self).__name__} can't be changed")


class _StandardFields:
    """What the functions of `dataclasses` ask a class for: made when they do."""

    def __get__(self, instance: object, owner: type) -> dict[str, Field[Any]]:
        import dataclasses

        def standard(each: QuickField) -> Field[Any]:
            made: dict[str, Any] = {"metadata": each.metadata, "kw_only": each.kw_only}
            if each.default_factory is not Missing:
                made["default_factory"] = each.default_factory
            elif each.default is not Missing:
                made["default"] = each.default
            found: Field[Any] = dataclasses.field(**made)
            return found

        known: Mapping[str, QuickField] = getattr(owner, OWN)
        declared = [(name, Any, standard(each)) for name, each in known.items()]
        alike = dataclasses.make_dataclass(owner.__name__, declared, kw_only=True)
        return {each.name: each for each in dataclasses.fields(alike)}


class _NoParameters:
    """What the decorator of `dataclasses` asks a class for, whose fields it would inherit."""

    def __get__(self, instance: object, owner: type) -> object:
        way = "evalcase.with_options makes them, dataclasses.dataclass can't"
        raise TypeError(f"options that are added to those of {owner.__name__}: {way}")


def _fields(cls: Any) -> tuple[QuickField, ...]:  # noqa: ANN401 - a class or an instance
    return tuple(getattr(cls, OWN).values())


def _is_dataclass(value: object) -> bool:
    return hasattr(value, OWN)


def _replace(instance: Any, /, **changes: Any) -> Any:  # noqa: ANN401 - of the same type
    values = {name: getattr(instance, name) for name in getattr(instance, OWN)}
    return type(instance)(**(values | changes))


def _as_dict(instance: Any) -> dict[str, Any]:  # noqa: ANN401 - a quick dataclass
    """Fields by their names. Unlike that of `dataclasses`, it shares lists and dicts."""
    values = {name: getattr(instance, name) for name in getattr(instance, OWN)}
    return {name: _as_dict(each) if hasattr(each, OWN) else each for name, each in values.items()}


if TYPE_CHECKING:
    from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
else:
    MISSING, dataclass, field = Missing, _make_dataclass, _make_field
    fields, is_dataclass, replace, asdict = _fields, _is_dataclass, _replace, _as_dict

__all__ = [
    "MISSING", "asdict", "dataclass", "field", "fields", "is_dataclass", "made_often", "replace",
]  # fmt: skip
