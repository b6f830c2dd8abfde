"""Mappings of options: read into the Structs that declare them, with every problem in them, and
described as JSON Schema for editors."""

# ruff: noqa: ANN401 - values and fields are of any type

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from math import isfinite
from types import MappingProxyType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, UNSET, Meta, Struct, UnsetType, ValidationError, structs

from evalcase.types.options import Check, Place, may_hold_secret
from evalcase.types.problem import (
    QUOTE_IT,
    Finding,
    Fix,
    KeyPath,
    did_you_mean,
    hint_at,
    nearest_meaning,
)
from evalcase.types.value import JSON, Value, describe_kind, replace

S = TypeVar("S", bound=Struct)
Schema = dict[str, Any]


class Option(Value, frozen=True):
    """An option as its field declares it; or what its values are made of, which has no name."""

    json: str
    """A type of JSON Schema; `any`, `choice` or `union`."""
    words: str
    """What a value is, after "is": `a number from 0 to 1`."""
    python: Any = None
    """The type by which msgspec checks a value that holds no others."""
    bounds: Mapping[str, Any] = MappingProxyType({})
    """The JSON Schema of the value, without that of its items."""
    item: Option | None = None
    """Of the items of a list, or of the values of a mapping."""
    makes: Any = object
    """What a list or a mapping becomes; for a mapping of options, their Struct."""
    alternatives: tuple[Option, ...] = ()
    about: str = ""
    example: Any = None
    extra: Mapping[str, Any] = MappingProxyType({})
    """All that `about` and `of_kind` say, with what is for a single reader."""
    name: str = ""
    field: str = ""
    default: Any = None
    """NODEFAULT for one that is needed."""
    # What `about` and `of_kind` may say.
    elsewhere: tuple[str, ...] = ()
    decides_answer: bool = True
    check: Check | None = None
    """Finds what is wrong with a value of this type."""
    read: Callable[[Any], Any] | None = None
    """Makes what the field holds of a value without problems."""
    schema: Schema | None = None
    """The JSON Schema, where it is not that of the type."""
    hint: Callable[[JSON], str | None] | None = None
    """A hint for a value of another type."""
    hides: bool = False
    """Whether people write secrets there by mistake, so that no message shows the value."""
    inside: type[Struct] | None = None
    """Of a mapping that a `check` of its own reads: the Struct of options that may stand in it in
    place of a value."""
    names: Literal["graders", "target", "file", "prompt", "function", "program"] | None = None
    """What a value names that has to be looked up."""
    holds: Check | None = None
    """Of the name of a file: what checks the JSON in it."""
    nullable: bool = False
    """Of the values of a mapping: whether null may stand for one, and removes it."""

    @property
    def needed(self) -> bool:
        return self.default is NODEFAULT

    @property
    def inner(self) -> type[Struct] | None:
        """The Struct of the options inside of its values, if they have any."""
        several = [self]
        for each in several:
            if each.inside is not None or issubclass(each.makes, Struct):
                return each.inside or each.makes
            several += [*each.alternatives, *([each.item] if each.item is not None else [])]
        return None

    def contains(self, value: Any) -> bool:
        """Whether a value of the right type is in bounds. The pattern of a text is for editors: a
        `check` says what is wrong with it."""
        if self.json not in ("number", "integer", "choice"):
            return True
        try:
            msgspec.convert(value, self.python)
            return not isinstance(value, float | int) or isfinite(value)
        except (ValidationError, OverflowError):
            return False


_KINDS: dict[str, tuple[str, Any]] = {
    "string": ("text", str), "boolean": ("true or false", bool), "array": ("a list", (list, tuple)),
    "object": ("a mapping", dict), "any": ("any value", object), "choice": ("one of", str),
    "number": ("a number", (int, float)), "integer": ("a whole number", int),
}  # fmt: skip
"""The types of JSON, in words and in Python."""
_ABSENT = (type(None), UnsetType)


def _split(hint: Any) -> tuple[Any, list[Meta]]:
    """A type without `Annotated` and `None`, and what they say of it."""
    metas: list[Meta] = []
    while get_origin(hint) in (Annotated, Union, UnionType):
        metas = [*getattr(hint, "__metadata__", ()), *metas]
        held = [each for each in get_args(hint) if each not in _ABSENT]
        if get_origin(hint) is not Annotated and len(held) > 1:
            break
        hint = held[0]
    return hint, metas


@cache
def option_of(hint: Any) -> Option:
    """What a type hint says of values."""
    return _make_option(*_split(hint))


def _make_option(plain: Any, metas: list[Meta], **named: Any) -> Option:
    extra: dict[str, Any] = {}
    for meta in metas:
        extra |= meta.extra or {}
    if "written" in extra:  # the type of the value in a file, where the field holds another
        plain, inner = _split(extra["written"])
        metas = [*inner, *metas]
    origin, args = get_origin(plain), get_args(plain)
    item: Option | None = None
    alternatives: tuple[Option, ...] = ()
    shape: Any = plain
    makes: Any = object
    if origin in (Union, UnionType):
        alternatives = tuple(option_of(each) for each in args if each not in _ABSENT)
        shape = Any
    elif origin in (tuple, list):
        item, shape, makes = option_of(args[0]), list, origin
    elif origin in (dict, Mapping):
        keys: Any = args[0]
        item, shape, makes = option_of(args[1]), dict[keys, Any], dict
    elif isinstance(plain, type) and issubclass(plain, Struct):
        shape, makes = dict, plain
    python: Any = Annotated[shape, Meta(), *metas]
    bounds = msgspec.json.schema(python)
    sentence, examples = bounds.pop("description", ""), bounds.pop("examples", [None])
    json = "union" if alternatives else bounds.get("type", "any")
    if origin is Literal:
        json, bounds["enum"] = "choice", list(args)  # msgspec sorts them
    said = named | {name: extra[name] for name in extra if name in Option.__struct_fields__}
    if item is not None:
        said.setdefault("names", item.names)
    words = said.pop("words", None) or _describe_type(json, bounds, item, alternatives)
    alternatives = tuple(replace(each, words=words) for each in alternatives)
    about = (sentence, examples[0], extra)
    return Option(json, words, python, bounds, item, makes, alternatives, *about, **said)


def _describe_type(
    json: str, bounds: Schema, item: Option | None, alternatives: Sequence[Option]
) -> str:
    if json == "union":
        return " or ".join(each.words for each in alternatives)
    words = _KINDS[json][0]
    match bounds:
        case {"enum": names}:
            return f"{words} {', '.join(names)}"
        case {"type": "array"} if item is not None and item.words == "text":
            return "a list of texts"
        case {"minimum": least, "maximum": most}:
            return f"{words} from {least:g} to {most:,.12g}"
        case {"minimum": least}:
            return f"{words} of {least:g} or more"
        case {"exclusiveMinimum": least}:
            return f"{words} over {least:g}"
    return words


@lru_cache(maxsize=256)
def fields_of(declared: type[Struct]) -> Mapping[str, Option]:
    """The options that a Struct declares, by the names that people write. A field without a
    sentence is no option."""
    found = {}
    for each in structs.fields(declared):
        plain, metas = _split(each.type)
        if any(meta.description for meta in metas):
            default = each.default if each.default_factory is NODEFAULT else each.default_factory()
            name = each.encode_name
            found[name] = _make_option(plain, metas, name=name, field=each.name, default=default)
    return MappingProxyType(found)


def problems_of(option: Option, value: JSON, path: KeyPath) -> list[Finding]:
    """Everything that is wrong with one value; `path` ends with its name."""
    faults: list[Finding] = []
    _read(option, value, Place(path, len(path) - 1), faults)
    return faults


_NONE_BESIDE: Mapping[str, Option] = MappingProxyType({})


def problems_in(
    declared: type[Struct],
    values: Mapping[str, JSON],
    what: str,
    path: KeyPath = (),
    beside: Mapping[str, Option] = _NONE_BESIDE,
) -> list[Finding]:
    """Everything that is wrong with a mapping of options. `what` is its owner: "a regex grader".

    `beside` are further options that may stand among them.
    """
    faults: list[Finding] = []
    _read_options(declared, values, what, Place(path, len(path)), faults, beside)
    return faults


def make(declared: type[S], values: Mapping[str, Any]) -> S:
    """The Struct of options that have no problems."""
    faults: list[Finding] = []
    made = _read_options(declared, values, declared.__name__, Place(()), faults, is_sound=True)
    assert not faults, faults
    return made


def _read_options(
    declared: type[S],
    values: Mapping[str, JSON],
    what: str,
    place: Place,
    faults: list[Finding],
    beside: Mapping[str, Option] = _NONE_BESIDE,
    *,
    is_sound: bool = False,
) -> S:
    """The Struct of the options that are right. `faults` takes everything that is wrong."""
    own = fields_of(declared)
    known = {**own, **beside}
    bad, held = set[str](), dict[str, Any]()
    for name, value in values.items():
        option = known.get(name)
        if option is None:
            fault, meant = _unknown_option(name, known, what, place.path)
            faults.append(fault)
            if meant is not None and meant not in values:
                bad.add(meant)  # a misspelt option is not missing, too
        # Null says something only where it is a value like others.
        elif value is not None or option.needed or option.default is UNSET:
            before = len(faults)
            read = _read(option, value, place.below(name), faults)
            if len(faults) > before:
                bad.add(name)
            elif name in own:
                held[option.field] = read
    for name, option in known.items():
        if option.needed and name not in values and name not in bad:
            faults.append(_missing_option(option, what, place.path))
            bad.add(name)
    made = _make_partly(declared, held, {own[name].field for name in bad if name in own})
    for each in () if is_sound else _conflicts_in(made):
        faults.append(each._replace(path=(*place.path, *each.path)))
    return made


def _conflicts_in(made: Struct) -> Iterator[Finding]:
    with suppress(AttributeError):  # it reads an option that has problems
        yield from getattr(made, "conflicts", tuple)()


def _make_partly(declared: type[S], held: Mapping[str, Any], unread: set[str]) -> S:
    """The Struct of some options. To look at one that has problems raises AttributeError."""
    made = declared(**held, **dict.fromkeys(unread))
    for field in unread:
        getattr(declared, field).__delete__(made)
    return made


def _missing_option(option: Option, what: str, path: KeyPath) -> Finding:
    fault = Finding(path, f"{what} needs `{option.name}`", code="missing-option")
    if option.example is None:
        return fault
    hint = f"for example {option.name}: {option.example}"
    return fault._replace(hint=hint, example=(option.name, option.example))


def _unknown_option(
    name: str, known: Mapping[str, Option], what: str, path: KeyPath
) -> tuple[Finding, str | None]:
    """The fault of a name that no option has, and the option that was probably meant."""
    meanings = {other: each.name for each in known.values() for other in each.elsewhere}
    meant = nearest_meaning(name, meanings | {each: each for each in known})
    hint, hides = hint_at(meant), may_hold_secret(name)
    if meant is None:
        hint = f"it has {', '.join(f'`{each}`' for each in known)}" if known else "it has none"
    elif known[meant].hides:
        hint, hides = f"{hint} It takes {known[meant].words}, and never a key itself", True
    message = f"{what} has no option `{name}`"
    return Finding((*path, name), message, hint, "key", "unknown-option", hides=hides), meant


def _read(option: Option, value: Any, place: Place, faults: list[Finding]) -> Any:
    """What a field holds of a value. `faults` takes everything that is wrong with the value."""
    before = len(faults)
    if value is None and option.nullable:
        return None
    fault = _fault_of(option, value, place)
    if fault is not None:
        faults.append(fault)
    elif option.json == "union":
        value = _read(next(a for a in option.alternatives if _fits(a, value)), value, place, faults)
    elif issubclass(option.makes, Struct):
        value = _read_options(option.makes, value, place.label, place, faults)
    elif option.item is not None:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        read = {key: _read(option.item, each, place.below(key), faults) for key, each in items}
        value = read if isinstance(value, dict) else option.makes(read.values())
    elif option.json == "number":
        value = float(value)
    if option.check is not None and len(faults) == before:
        faults += option.check(value, place)
    if len(faults) > before:
        return None
    return value if option.read is None else option.read(value)


def _fault_of(option: Option, value: Any, place: Place) -> Finding | None:
    """What is wrong with a value itself, and not with what it holds."""
    if not _fits(option, value):
        return _mismatch(option, value, place)._replace(code="wrong-type")
    if not value and not {"minLength", "minItems", "minProperties"}.isdisjoint(option.bounds):
        if isinstance(value, str):
            return place.fault("is empty")
        kind = "mapping" if isinstance(value, dict) else "list"
        return place.fault(f"is an empty {kind}", code="empty-list")
    return None if option.contains(value) else _mismatch(option, value, place)


def _fits(option: Option, value: object) -> bool:
    if option.json == "union":
        return any(_fits(each, value) for each in option.alternatives)
    if isinstance(value, bool):
        return option.json in ("boolean", "any")
    return isinstance(value, _KINDS[option.json][1])


def _mismatch(option: Option, value: Any, place: Place) -> Finding:
    hint = _hint_at_value(option, value)
    if option.hides:
        return place.fault(f"is {option.words}, which is text", hint, hides=True)
    shown = f"{value!r:.60}" if isinstance(value, str | int | float) else describe_kind(value)
    shown = str(value).lower() if isinstance(value, bool) else shown
    fix = None
    if option.hint is None and hint is not None and hint.startswith("write "):
        fix = Fix("[…]" if option.json == "array" else hint.removeprefix("write "))
    return place.fault(f"is {option.words}, not {shown}", hint)._replace(fix=fix)


_TRUTHS = {"yes": "true", "on": "true", "no": "false", "off": "false"}


def _hint_at_value(option: Option, value: JSON) -> str | None:
    """How to write a value that has another type or is out of bounds."""
    if option.hint is not None:
        return option.hint(value)
    if any(each.json == "string" for each in (option, *option.alternatives)):
        return QUOTE_IT if isinstance(value, bool | int | float) else None
    if option.json in ("number", "integer"):
        return _hint_at_number(option, str(value))
    if not isinstance(value, str):
        return None
    if option.json == "choice":
        return did_you_mean(value.lower(), option.bounds["enum"])
    if option.json == "array":
        return f"write [{value:.80}]" if value.isprintable() else None
    truth = _TRUTHS.get(value.lower(), value.lower())
    is_meant = option.json == "boolean" and truth in _TRUTHS.values()
    return f"write {truth}" if is_meant else None


def _hint_at_number(option: Option, text: str) -> str | None:
    """The number in a text, also a percentage or seconds with their unit, if it is in bounds."""
    found = re.fullmatch(r"\s*(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(%|s?)\s*", text)
    if found is None:
        return None
    meant = float(found[1])
    # What 5 means of a share is unclear; 80 is a percentage.
    if option.bounds.get("maximum") == 1 and (found[2] == "%" or 9 < meant <= 100):
        meant = round(meant / 100, 6)
    return f"write {meant:g}" if option.contains(meant) else None


# JSON Schema


ANYTHING: tuple[Schema, ...] = ({"type": "string"}, {"type": "object"}, {"type": "array"}, {})
"""Any value, as an `anyOf`: editors insert a name without a known type without its colon."""


def only_these(properties: Schema) -> Schema:
    """A mapping with these properties and no others, for the options inside of options and TOML.

    The message about another name stands at its value: for a message about the mapping or its
    names, some editors underline all of it.
    """
    known = f"one of these names: {', '.join(properties)}"
    return {"type": "object", "properties": properties, "additionalProperties": {"const": known}}


def properties_of(options: Mapping[str, Option], nullable: bool = False) -> Schema:
    """The schema of each option, with its sentence. With `nullable`, null says nothing."""
    return {
        name: describe_value(each, nullable and not each.needed) for name, each in options.items()
    }


def describe_value(option: Option, nullable: bool) -> Schema:
    """The schema of a value with the sentence about it. With `nullable`, it may be null."""
    schema = schema_of(option, nullable)
    if nullable:
        null: Schema = {"type": "null", "enum": None, "anyOf": {"type": "null"}}
        for key in schema.keys() & null.keys():
            several = schema[key] if isinstance(schema[key], list) else [schema[key]]
            schema = {**schema, key: [*several, null[key]]}
    more: Schema = {"description": option.about} if option.about else {}
    example = option.example
    # Editors offer a mapping as `[object Object]`, and insert a list where only lists fit.
    if example is not None and (not isinstance(example, dict | list) or "items" in schema):
        more["examples"] = [example]
    return {**(schema or {"anyOf": list(ANYTHING)}), **more}


def schema_of(option: Option, nullable: bool = False) -> Schema:
    """Each keyword stands beside its `type`, and there is no `anyOf` where types tell alternatives
    apart: editors then say what is wrong, where behind an `anyOf` they only say that nothing fits.
    """
    if option.schema is not None:
        return option.schema
    if option.json == "union":
        return _unite_schemas([schema_of(each, nullable) for each in option.alternatives])
    if issubclass(option.makes, Struct):
        options = fields_of(option.makes)
        needed = [name for name, each in options.items() if each.needed]
        return {**only_these(properties_of(options, nullable)), "required": needed}
    if option.inside is not None:  # a mapping of values, or of options in place of a value
        mapping = only_these(properties_of(fields_of(option.inside), nullable=True))
        each: Schema = {"if": {"type": "object"}, "then": mapping}
        return {"type": "object", "minProperties": 1, "additionalProperties": each}
    item = {} if option.item is None else schema_of(option.item)
    if not item:
        return {**option.bounds}
    if option.item is not None and option.item.nullable:
        named = item["type"]
        item = {**item, "type": [*([named] if isinstance(named, str) else named), "null"]}
    if option.item is not None and option.item.about:
        item = {**item, "description": option.item.about}
    return {**option.bounds, "items" if option.json == "array" else "additionalProperties": item}


def _unite_schemas(schemas: Sequence[Schema]) -> Schema:
    kinds = [schema.get("type") for schema in schemas]
    if not all(isinstance(kind, str) for kind in kinds) or len({*map(str, kinds)}) < len(kinds):
        return {"anyOf": list(schemas)}
    rules: list[Any] = [
        {"if": {"type": schema["type"]}, "then": schema} for schema in schemas if len(schema) > 1
    ]
    return {"type": kinds, "allOf": rules} if rules else {"type": kinds}
