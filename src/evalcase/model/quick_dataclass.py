"""Dataclasses that are made at a fifth of the cost: sixty of them are what a start waits for.

Type checkers take them for those of the standard library, and so does whoever looks at one with
`dataclasses.fields`, `replace` or `asdict`. Only what this package uses of them is here: slots
always, equality, a hash if frozen, `__post_init__`, and fields that are inherited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import Field
    from inspect import Signature

_OWN = "__quick_fields__"
FEW = 16
"""How often a class is called before it is worth a constructor of its own."""
_NOT_COPIED = ("__dict__", "__weakref__")


class _Missing:
    """Stands for a default that isn't there."""


class _QuickField:
    """What is known of a field, under the names that `dataclasses` has for it."""

    __slots__ = ("default", "default_factory", "kw_only", "metadata", "name")

    def __init__(
        self, default: object, default_factory: object, metadata: Mapping[str, Any]
    ) -> None:
        self.name = ""
        self.default = default
        self.default_factory = default_factory
        self.metadata = metadata
        self.kw_only = False

    @property
    def is_needed(self) -> bool:
        return self.default is _Missing and self.default_factory is _Missing


def _make_field(
    *,
    default: object = _Missing,
    default_factory: object = _Missing,
    metadata: Mapping[str, Any] = MappingProxyType({}),
) -> _QuickField:
    return _QuickField(default, default_factory, metadata)


def _make_dataclass(
    *, frozen: bool = False, slots: bool = True, kw_only: bool = False
) -> Callable[[type], type]:
    assert slots, "a quick dataclass has slots"

    def make(cls: type) -> type:
        body = {name: each for name, each in cls.__dict__.items() if name not in _NOT_COPIED}
        own = _take_fields(body, kw_only)
        inherited = [dict(getattr(each, _OWN, {})) for each in reversed(cls.__mro__[1:])]
        known = {name: each for fields in [*inherited, own] for name, each in fields.items()}
        _check_order(known)
        made: type = type(cls)(cls.__name__, cls.__bases__, body | _methods(known, own, frozen))
        _put_off_constructor(made)
        return made

    return make


def _check_order(known: Mapping[str, _QuickField]) -> None:
    optional = False
    for name, each in known.items():
        if not each.kw_only:
            if optional and each.is_needed:
                raise TypeError(f"non-default argument {name!r} follows default argument")
            optional = optional or not each.is_needed


def _put_off_constructor(made: Any) -> None:  # noqa: ANN401 - a quick dataclass
    """Most of these classes have few instances in one start of the command, or none: an `__init__`
    of their own is made for those that have many."""
    calls = 0

    def fill(self: object, /, *values: object, **named: object) -> None:
        nonlocal calls
        calls += 1
        bound = _bind(made, values, named) if calls <= FEW else None
        if bound is None:
            _make_constructor(made)
            made.__init__(self, *values, **named)
            return
        for name, value in bound.items():
            object.__setattr__(self, name, value)
        if hasattr(made, "__post_init__"):
            made.__post_init__(self)

    made.__init__ = fill


def _bind(made: type, values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any] | None:
    """What each field is to hold; None if it can't be called so, for the reason that the real
    constructor gives."""
    known: Mapping[str, _QuickField] = getattr(made, _OWN)
    positional = [name for name, each in known.items() if not each.kw_only]
    given = dict(zip(positional, values, strict=False)) | named
    if len(given) != len(values) + len(named) or not given.keys() <= known.keys():
        return None
    bound = {}
    for name, each in known.items():
        if name in given:
            bound[name] = given[name]
        elif each.is_needed:
            return None
        else:
            make = each.default_factory
            bound[name] = make() if callable(make) and make is not _Missing else each.default
    return bound


def _take_fields(body: dict[str, Any], kw_only: bool) -> dict[str, _QuickField]:
    """The fields that a class body declares. Their defaults leave it: slots take their place."""
    found = {}
    for name, hint in body.get("__annotations__", {}).items():
        if str(hint).startswith(("ClassVar", "typing.ClassVar")):
            continue
        default = body.pop(name, _Missing)
        is_field = isinstance(default, _QuickField)
        each = found[name] = default if is_field else _make_field(default=default)
        each.name, each.kw_only = name, kw_only
    return found


def _methods(
    known: Mapping[str, _QuickField], own: Mapping[str, _QuickField], frozen: bool
) -> dict[str, Any]:
    positional = tuple(name for name, each in known.items() if not each.kw_only)
    methods: dict[str, Any] = {
        _OWN: known, "__slots__": tuple(own),
        "__dataclass_fields__": _StandardFields(), "__dataclass_params__": _NoParameters(),
        "__match_args__": positional, "__signature__": _LateSignature(),
        "__repr__": _repr, "__eq__": _eq, "__hash__": _hash if frozen else None,
        "__values__": staticmethod(_getter(tuple(known))),
        "__getstate__": _getstate, "__setstate__": _setstate,
    }  # fmt: skip
    return methods | {"__setattr__": _refuse, "__delattr__": _refuse} if frozen else methods


def _make_constructor(made: Any) -> Callable[..., None]:  # noqa: ANN401 - a quick dataclass
    """The only method that is made for each class: a loop over fields would be slow to call."""
    known: Mapping[str, _QuickField] = getattr(made, _OWN)
    # No field has such a name: a parameter would hide what it stands for.
    names: dict[str, Any] = {"missing__": _Missing}
    names |= {f"set_{name}": getattr(made, name).__set__ for name in known}
    plain, keywords, lines = ["self"], list[str](), list[str]()
    for name, each in known.items():
        value, parameter = name, name
        if each.default_factory is not _Missing:
            names[f"make_{name}"] = each.default_factory
            parameter = f"{name}=missing__"
            value = f"make_{name}() if {name} is missing__ else {name}"
        elif each.default is not _Missing:
            names[f"default_{name}"] = each.default
            parameter = f"{name}=default_{name}"
        (keywords if each.kw_only else plain).append(parameter)
        lines.append(f"    set_{name}(self, {value})")
    parameters = [*plain, "*", *keywords] if keywords else plain
    lines.append("    self.__post_init__()" if hasattr(made, "__post_init__") else "    return")
    code = f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines)
    exec(code, names)  # noqa: S102 - made of names of fields only
    made.__init__ = names["__init__"]
    made.__init__.__qualname__ = f"{made.__qualname__}.__init__"
    return names["__init__"]  # type: ignore[no-any-return]


class _LateSignature:
    """What `help` and editors ask a class for, unless it has an `__init__` of its own."""

    def __get__(self, instance: object, owner: Any) -> Signature:  # noqa: ANN401 - a class
        import inspect

        made = next(each for each in owner.__mro__ if "__init__" in each.__dict__)
        if _OWN not in made.__dict__:
            raise AttributeError("__signature__")
        _, *parameters = inspect.signature(_make_constructor(made)).parameters.values()
        return inspect.Signature(parameters)


def _getter(names: tuple[str, ...]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else lambda _: ()


def _repr(self: Any) -> str:  # noqa: ANN401 - a quick dataclass
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in getattr(self, _OWN))
    return f"{type(self).__qualname__}({inside})"


def _eq(self: Any, other: Any) -> Any:  # noqa: ANN401 - as object has it
    if type(other) is not type(self):
        return NotImplemented
    values = self.__values__
    return values(self) == values(other)


def _hash(self: Any) -> int:  # noqa: ANN401 - a quick dataclass
    return hash(self.__values__(self))


def _getstate(self: Any) -> list[Any]:  # noqa: ANN401 - a quick dataclass
    return [getattr(self, name) for name in getattr(self, _OWN)]


def _setstate(self: Any, state: list[Any]) -> None:  # noqa: ANN401 - a quick dataclass
    for name, value in zip(getattr(self, _OWN), state, strict=True):
        object.__setattr__(self, name, value)


def _refuse(self: object, name: str, _: object = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"`{name}` of {type(self).__name__} can't be changed")


class _StandardFields:
    """What the functions of `dataclasses` ask a class for: made when they do."""

    def __get__(self, instance: object, owner: type) -> dict[str, Field[Any]]:
        import dataclasses

        def standard(each: _QuickField) -> Field[Any]:
            made: dict[str, Any] = {"metadata": each.metadata, "kw_only": each.kw_only}
            if each.default_factory is not _Missing:
                made["default_factory"] = each.default_factory
            elif each.default is not _Missing:
                made["default"] = each.default
            found: Field[Any] = dataclasses.field(**made)
            return found

        known: Mapping[str, _QuickField] = getattr(owner, _OWN)
        declared = [(name, Any, standard(each)) for name, each in known.items()]
        alike = dataclasses.make_dataclass(owner.__name__, declared, kw_only=True)
        return {each.name: each for each in dataclasses.fields(alike)}


class _NoParameters:
    """What the decorator of `dataclasses` asks a class for, whose fields it would inherit."""

    def __get__(self, instance: object, owner: type) -> object:
        way = "evalcase.with_options makes them, dataclasses.dataclass can't"
        raise TypeError(f"options that are added to those of {owner.__name__}: {way}")


def _fields(cls: Any) -> tuple[_QuickField, ...]:  # noqa: ANN401 - a class or an instance
    return tuple(getattr(cls, _OWN).values())


def _is_dataclass(value: object) -> bool:
    return hasattr(value, _OWN)


def _replace(instance: Any, /, **changes: Any) -> Any:  # noqa: ANN401 - of the same type
    values = {name: getattr(instance, name) for name in getattr(instance, _OWN)}
    return type(instance)(**(values | changes))


def _as_dict(instance: Any) -> dict[str, Any]:  # noqa: ANN401 - a quick dataclass
    """Fields by their names. Unlike that of `dataclasses`, it shares lists and dicts."""
    values = {name: getattr(instance, name) for name in getattr(instance, _OWN)}
    return {name: _as_dict(each) if hasattr(each, _OWN) else each for name, each in values.items()}


if TYPE_CHECKING:
    from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
else:
    MISSING, dataclass, field = _Missing, _make_dataclass, _make_field
    fields, is_dataclass, replace, asdict = _fields, _is_dataclass, _replace, _as_dict

__all__ = ["MISSING", "asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]
