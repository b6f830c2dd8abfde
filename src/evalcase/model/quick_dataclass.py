"""Dataclasses that are made at a fifth of the cost: sixty of them are what a start waits for.

Type checkers take them for those of the standard library, and so does whoever looks at one with
`dataclasses.fields`, `replace` or `asdict`. Only what this package uses of them is here: slots
always, equality, a hash if frozen, `__post_init__`, and fields that are inherited. Their `repr`
is shorter: it has no fields that have their defaults.
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
    maker_of,
    put_off_constructor,
)

if TYPE_CHECKING:
    from dataclasses import Field

_NOT_COPIED = ("__dict__", "__weakref__")
_NO_METADATA: Mapping[str, Any] = MappingProxyType({})


T = TypeVar("T")


def _make_field(
    *,
    default: object = Missing,
    default_factory: object = Missing,
    metadata: Mapping[str, Any] = _NO_METADATA,
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
        body = cls.__dict__.copy()
        for name in _NOT_COPIED:
            body.pop(name, None)
        known = own = _take_fields(body, kw_only)
        if cls.__bases__ != (object,):
            known = _find_inherited(cls) | own
        written = body.get("__repr__")
        body |= _FROZEN if frozen else _SHARED
        if written is not None:
            body["__repr__"] = written
        body |= {OWN: known, "__slots__": tuple(own), "__match_args__": _list_positional(known)}
        made: type = type(cls)(cls.__name__, cls.__bases__, body)
        put_off_constructor(made)
        return made

    return make


def _find_inherited(cls: type) -> dict[str, QuickField]:
    found: dict[str, QuickField] = {}
    for each in reversed(cls.__mro__[1:]):
        found |= getattr(each, OWN, {})
    return found


def _list_positional(known: Mapping[str, QuickField]) -> tuple[str, ...]:
    names = [name for name, each in known.items() if not each.kw_only]
    optional = False
    for name in names:
        needed = known[name].is_needed
        if needed and optional:
            raise TypeError(f"non-default argument {name!r} follows default argument")
        optional = not needed
    return tuple(names)


def _take_fields(body: dict[str, Any], kw_only: bool) -> dict[str, QuickField]:
    """The fields that a class body declares. Their defaults leave it: slots take their place."""
    found = {}
    for name, hint in body.get("__annotations__", {}).items():
        if str(hint).startswith(("ClassVar", "typing.ClassVar")):
            continue
        each = body.pop(name, Missing)
        if type(each) is not QuickField:
            each = QuickField(each, Missing, _NO_METADATA)
        each.name, each.kw_only = name, kw_only
        found[name] = each
    return found


class _LateGetter:
    """What takes all values of an instance at once: made when two are compared, or one hashed."""

    def __get__(self, instance: object, owner: type) -> Callable[[Any], Any]:
        made: Any = next(each for each in owner.__mro__ if OWN in each.__dict__)
        names = tuple(getattr(made, OWN))
        values: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()
        made.__values__ = staticmethod(values)
        return values


def _repr(self: Any) -> str:  # noqa: ANN401 - a quick dataclass
    """What there is to say of it, as it could be written: fields with their defaults are left
    out, of which some classes have a dozen."""
    known: Mapping[str, QuickField] = getattr(self, OWN)
    values = {name: getattr(self, name) for name in known}
    inside = [f"{name}={values[name]!r}" for name in known if known[name].differs(values[name])]
    return f"{type(self).__qualname__}({', '.join(inside)})"


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


def _refuse_change(self: object, name: str, _: object = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"`{name}` of {type(self).__name__} can't be changed")


_STANDARD = "__dataclass_fields__"


class _StandardFields:
    """What the functions of `dataclasses` ask a class for: made when they first do."""

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
        fields = {each.name: each for each in dataclasses.fields(alike)}
        setattr(owner, _STANDARD, fields)
        return fields


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


_SHARED = {
    _STANDARD: _StandardFields(), "__dataclass_params__": _NoParameters(),
    "__signature__": LateSignature(), "__repr__": _repr, "__eq__": _eq, "__hash__": None,
    "__values__": _LateGetter(), "__getstate__": _getstate, "__setstate__": _setstate,
}  # fmt: skip
_FROZEN = _SHARED | {
    "__hash__": _hash,
    "__setattr__": _refuse_change,
    "__delattr__": _refuse_change,
}

if TYPE_CHECKING:
    from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
else:
    MISSING, dataclass, field = Missing, _make_dataclass, _make_field
    fields, is_dataclass, replace, asdict = _fields, _is_dataclass, _replace, _as_dict

__all__ = [
    "MISSING", "asdict", "dataclass", "field", "fields", "is_dataclass", "made_often", "maker_of",
    "replace",
]  # fmt: skip
