"""Options, declared once: as typed fields of a class, each with a shape and a sentence.

    @with_options
    class EchoOptions:
        delay_s: float = option(Number(0), "How long to wait before each answer.", default=0.0)

`faults_of` says what is wrong with some values, all of it at once and with the path of each, and
`made_of` makes the dataclass of values that have no faults. Neither imports anything of a user's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar, dataclass_transform, overload

from evalcase.model.conflict import conflicts_of, find_conflicts
from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON
from evalcase.model.nearest import hint_at, nearest_meaning
from evalcase.model.shape import Anything, MapOf, OptionFault, Shape, tell_missing
from evalcase.model.shape_variable import VariableName, may_hold_secret
from evalcase.model.value import Value, replace

_KEY = "option"
T = TypeVar("T")


class Unsaid:
    """The type of what stands for a value that nobody gave."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNSAID"


UNSAID = Unsaid()
"""The default of an option that may be null: for others, null is as if nobody had said anything."""


class Option(Value, frozen=True):
    """What is known of an option: its shape, a sentence, and what it is if nobody says."""

    name: str
    shape: Shape
    about: str
    default: Any = MISSING
    example: JSON = None
    elsewhere: tuple[str, ...] = ()
    inside: type | None = None
    """Where its values hold mappings with options of their own, the dataclass of those."""
    decides_answer: bool = True
    """Of a target: whether another value, once a run is resumed, makes the run a mixed one."""

    @property
    def needed(self) -> bool:
        return self.default is MISSING

    def is_said_by(self, value: JSON) -> bool:
        """Whether a value says something of it. Null does where it is a value like others."""
        return value is not None or self.needed or self.default is UNSAID


def option(  # noqa: PLR0913 - each says one thing of an option, by its name
    shape: Shape,
    about: str,
    *,
    default: Any = MISSING,  # noqa: ANN401 - of the field's own type
    name: str | None = None,
    example: JSON = None,
    elsewhere: tuple[str, ...] = (),
    inside: type | None = None,
    decides_answer: bool = True,
) -> Any:  # noqa: ANN401 - what dataclass makes of it has the field's type
    """A field of a dataclass that is an option.

    `name` is what people write where Python can't (`not`); `elsewhere` are names that other tools
    give it, for suggestions.
    """
    declared = Option(name or "", shape, about, default, example, elsewhere, inside, decides_answer)
    if isinstance(default, dict | list):
        return field(default_factory=default.copy, metadata={_KEY: declared})
    return field(default=default, metadata={_KEY: declared})


@overload
def with_options(declared: type[T], /) -> type[T]: ...
@overload
def with_options(*, kw_only: bool = False) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(option,))
def with_options(declared: type[T] | None = None, /, *, kw_only: bool = False) -> object:
    """A class whose fields are options: a frozen dataclass, with `option` for what a field is."""
    make = dataclass(frozen=True, slots=True, kw_only=kw_only)
    return make if declared is None else make(declared)


@lru_cache(maxsize=256)
def options_of(declared: type) -> dict[str, Option]:
    """The options of a class, by the names that people write."""
    if not is_dataclass(declared):
        raise TypeError(f"{declared.__name__} declares no options: decorate it by with_options")
    found = {}
    for each in fields(declared):
        known: Option | None = each.metadata.get(_KEY)
        if known is not None:
            name = known.name or each.name
            found[name] = replace(known, name=name)
    return found


@lru_cache(maxsize=256)
def _field_names(declared: type) -> dict[str, str]:
    pairs = [(each, each.metadata.get(_KEY)) for each in fields(declared)]
    return {known.name or each.name: each.name for each, known in pairs if known is not None}


def faults_of(
    declared: type,
    values: Mapping[str, JSON],
    what: str,
    path: KeyPath = (),
    beside: Mapping[str, Option] = MappingProxyType({}),
    at_fault: Iterable[str] = (),
) -> Iterator[OptionFault]:
    """Everything that is wrong with some values. `what` is what has them: "a regex grader".

    `beside` are options that others read, and that may stand among them. Of those `at_fault`,
    which are not among the values, somebody else has told.
    """
    own = options_of(declared)
    known = {**own, **beside}
    unwell = set(at_fault)
    for name, value in values.items():
        if name not in known:
            meant = _find_meant(name, known)
            # What is misspelt is not missing, and nobody knows what it is.
            unwell |= set() if meant is None or meant in values else {meant}
            yield _make_unknown_fault(name, meant, known, what, path)
        elif known[name].is_said_by(value):
            for fault in known[name].shape.faults(value, (*path, name)):
                unwell.add(name)
                yield fault
    for name, each in known.items():
        if each.needed and name not in values:
            if name not in unwell:
                yield tell_missing(path, f"{what} needs `{name}`", name, each.example)
            unwell.add(name)
    for fault in _find_conflicts(declared, values, unwell):
        # What is missing may be what an unknown name was meant for.
        if fault.code != "missing-option" or values.keys() <= known.keys():
            yield fault._replace(path=(*path, *fault.path))


def _find_conflicts(
    declared: type, values: Mapping[str, JSON], unwell: Set[str]
) -> Iterator[OptionFault]:
    if not conflicts_of(declared):
        return
    names = _field_names(declared)
    well = {name: each for name, each in values.items() if name in names and name not in unwell}
    at_fault = {names[name] for name in unwell if name in names}
    yield from find_conflicts(declared, fields_of(declared, well), at_fault)


def held_faults(made: object) -> Iterator[OptionFault]:
    """What is wrong with the options of a dataclass that was made without being asked."""
    declared: type = type(made)
    names = _field_names(declared)
    for name, each in options_of(declared).items():
        value = getattr(made, names[name])
        if value is not None and value is not UNSAID:
            yield from each.shape.faults(value, (name,))


def made_of(declared: type, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of that type
    """The dataclass of values that have no faults. Null means that nobody says, but where an
    option may be null."""
    return declared(**fields_of(declared, values))


def fields_of(declared: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values that have no faults, as the fields of the dataclass hold them."""
    known, names = options_of(declared), _field_names(declared)
    return {
        names[name]: known[name].shape.read(value)
        for name, value in values.items()
        if known[name].is_said_by(value)
    }


def properties_of(options: Mapping[str, Option], nullable: bool = False) -> dict[str, JSON]:
    """The schema of each option, with its sentence. With `nullable`, null says nothing."""
    found: dict[str, JSON] = {}
    for name, each in options.items():
        shape = each.shape.schema()
        if nullable and not each.needed:
            shape = _or_null(shape)
        more: dict[str, JSON] = {"description": each.about}
        if _is_shown(each.example, shape):
            more["examples"] = [each.example]
        found[name] = {**(shape or {"anyOf": list(ANYTHING)}), **more}
    return found


ANYTHING: tuple[JSON, ...] = ({"type": "string"}, {"type": "object"}, {"type": "array"}, {})
"""Any value, said by `anyOf`: editors insert a name of which no type is known without its colon."""


def _is_shown(example: JSON, shape: dict[str, JSON]) -> bool:
    """Editors offer a mapping as `[object Object]`, and insert a list where only lists fit."""
    return example is not None and (
        not isinstance(example, dict | list) or (isinstance(example, list) and "items" in shape)
    )


def only_these(properties: dict[str, JSON]) -> dict[str, JSON]:
    """The schema of a mapping with these properties and no others.

    What is wrong with another one is said of its value: told of the mapping, or of its names, some
    editors underline all of it.
    """
    known = f"one of these names: {', '.join(properties)}"
    return {"type": "object", "properties": properties, "additionalProperties": {"const": known}}


def _or_null(schema: dict[str, JSON]) -> dict[str, JSON]:
    choices, alternatives, kinds = (schema.get(key) for key in ("enum", "anyOf", "type"))
    if isinstance(choices, list):
        return {**schema, "enum": [*choices, None]}
    if isinstance(alternatives, list):
        return {**schema, "anyOf": [*alternatives, {"type": "null"}]}
    if kinds is None:
        return schema
    return {**schema, "type": [*(kinds if isinstance(kinds, list) else [kinds]), "null"]}


def _find_meant(name: str, known: Mapping[str, Option]) -> str | None:
    """The option that somebody meant by a name that there isn't."""
    meant = {other: each.name for each in known.values() for other in each.elsewhere}
    return nearest_meaning(name, meant | {each: each for each in known})


def _make_unknown_fault(
    name: str, meant: str | None, known: Mapping[str, Option], what: str, path: KeyPath
) -> OptionFault:
    hint = hint_at(meant)
    if hint is None:
        hint = f"it has {', '.join(f'`{each}`' for each in known)}" if known else "it has none"
    message, hides = f"{what} has no option `{name}`", may_hold_secret(name)
    if meant is not None and isinstance(known[meant].shape, VariableName):
        hint, hides = f"{hint} It takes {known[meant].shape.words}, and never a key itself", True
    fault = OptionFault((*path, name), message, hint, at="key", code="unknown-option", hides=hides)
    return fault._replace(names_meant=meant is not None)


class Record(Value, frozen=True):
    """The shape of a mapping that has options itself, held as the dataclass that declares them."""

    declared: type
    what: str

    @property
    def words(self) -> str:
        return self.what

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, dict):
            yield from MapOf(Anything(), self.what).faults(value, path)
            return
        name = path[-1]
        for fault in faults_of(self.declared, value, f"`{name}`", path):
            if fault.path[:-1] != path:
                yield fault  # it names its own place
                continue
            inner = fault.path[-1]
            yield fault._replace(
                message=fault.message.replace(f"`{inner}` is", f"`{name}.{inner}` is")
            )

    def read(self, value: JSON) -> Any:  # noqa: ANN401 - whatever the field holds
        assert isinstance(value, dict)
        return made_of(self.declared, value)

    def schema(self) -> dict[str, JSON]:
        known = options_of(self.declared)
        return {
            **only_these(properties_of(known)),
            "required": [name for name, each in known.items() if each.needed],
        }
