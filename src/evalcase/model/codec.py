"""Dataclasses to JSON objects and back, by one rule over their fields: a new field is one line.

A field that has its default is left out. Reading trusts nobody: every value is held to the type of
its field, and what doesn't fit is a ValueError that names it by its path.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from evalcase.model.decoders import (
    MOST,
    PLAIN,
    Decode,
    decode_anything,
    decode_mapping,
    decode_mapping_of,
    decode_message,
    decode_of_kinds,
    decode_one_of,
    decode_several,
    decode_within,
    name_path,
    path_below,
)
from evalcase.model.message import Message
from evalcase.model.quick_constructor import FEW
from evalcase.model.quick_dataclass import MISSING, fields, is_dataclass

Encode = Callable[[Any], Any]

T = TypeVar("T")


def encode_object(value: object) -> dict[str, Any]:
    """The JSON object of a dataclass. It shares dicts and lists with it."""
    known = _ENCODERS.get(type(value))
    return (known or _encoder_of(type(value)))(value, {})


def encode_after(begun: dict[str, Any], value: object) -> dict[str, Any]:
    """The same, put into an object that is begun: after what that has."""
    known = _ENCODERS.get(type(value))
    return (known or _encoder_of(type(value)))(value, begun)


def decode_object(wanted: type[T], data: object, where: str = "") -> T:
    """The dataclass that `encode_object` was given. Raise ValueError if there can be none."""
    found: T = _decoder_of(cast("Any", wanted))(data, where)
    return found


_EncodeInto = Callable[[Any, dict[str, Any]], dict[str, Any]]
_ENCODERS: dict[type, _EncodeInto] = {}


def _encoder_of(wanted: type) -> _EncodeInto:
    """A loop over the fields of one dataclass: most are written a few times in one start of the
    command. Where there are more to write, it makes a function that does it."""
    hints = _hints_of(wanted)
    written = [(each, default_of(each), _find_writer(hints[each.name])) for each in fields(wanted)]
    calls = 0

    def encode_fields(value: object, data: dict[str, Any]) -> dict[str, Any]:
        nonlocal calls
        calls += 1
        if calls > FEW:
            return _make_encoder(wanted, written, hints)(value, data)
        for each, default, writer in written:
            item = getattr(value, each.name)
            if "inline" in each.metadata:
                data |= zip(hints[each.name]._fields, item, strict=True)
            elif default is MISSING or (item is not None if default is None else item != default):
                data[each.name] = item if writer is None else writer(item)
                if item is not None and "least" in each.metadata:
                    _check_within(each, item)
        return data

    _ENCODERS[wanted] = encode_fields
    return encode_fields


def _make_encoder(
    wanted: type, written: list[tuple[Any, object, Encode | None]], hints: Mapping[str, Any]
) -> _EncodeInto:
    """A function made for one dataclass, as dataclasses makes its own methods: a loop over fields
    takes three times as long, and every trial of a run is written."""
    names: dict[str, Any] = {}
    lines = ["def encode_fields(value, data):"]
    for number, (each, default, writer) in enumerate(written):
        names[f"to_json_{number}"], names[f"default_{number}"] = writer, default
        names[f"field_{number}"], names["check_within"] = each, _check_within
        lines += _lines_of(each, number, writer, hints[each.name])
    exec("\n".join([*lines, "    return data"]), names)  # noqa: S102 - made of names of fields only
    made: _EncodeInto = names["encode_fields"]
    _ENCODERS[wanted] = made
    return made


def _lines_of(each: Any, number: int, writer: Encode | None, hint: Any) -> list[str]:  # noqa: ANN401 - a field, and its type
    name, default = each.name, default_of(each)
    if "inline" in each.metadata:
        keys = ", ".join(f"data[{key!r}]" for key in hint._fields)
        return [f"    {keys} = value.{name}"]
    put = [f"data[{name!r}] = " + (f"to_json_{number}(item)" if writer is not None else "item")]
    if "least" in each.metadata:
        most = each.metadata.get("most", MOST)
        within = f"{each.metadata['least']!r} <= item <= {most!r}"
        put += [f"if item is not None and not {within}: check_within(field_{number}, item)"]
    if default is MISSING:
        return [f"    item = value.{name}", *[f"    {line}" for line in put]]
    differs = "is not None" if default is None else f"!= default_{number}"
    head = [f"    item = value.{name}", f"    if item {differs}:"]
    return [*head, *[f"        {line}" for line in put]]


def _check_within(each: Any, item: float) -> None:  # noqa: ANN401 - a field
    """Raise ValueError for a number that would be refused when it is read."""
    least, most = each.metadata["least"], each.metadata.get("most", MOST)
    if not least <= item <= most:
        raise ValueError(f"`{each.name}` is {item!r:.60}, not a number from {least} to {most:g}")


def default_of(each: Any) -> object:  # noqa: ANN401 - a field of any type
    """What a field holds if nobody says otherwise; MISSING if somebody has to."""
    if each.default_factory is not MISSING:
        return each.default_factory()
    return each.default


def _find_writer(hint: Any) -> Encode | None:  # noqa: ANN401 - a type as it was written
    """How a value of a type is written; None where it is JSON as it stands."""
    if isinstance(hint, type) and is_dataclass(hint):
        return encode_object
    if get_origin(hint) in (Union, UnionType):
        inner = [_find_writer(each) for each in get_args(hint) if each is not NoneType]
        return inner[0] if len(inner) == 1 else None
    if get_origin(hint) is tuple:
        item = _find_writer(get_args(hint)[0])
        return list if item is None else lambda values: [item(value) for value in values]
    if get_origin(hint) is dict and (inside := _find_writer(get_args(hint)[1])) is not None:
        return lambda values: {name: inside(value) for name, value in values.items()}
    return None


@lru_cache(maxsize=64)
def _decoder_of(wanted: type) -> Decode:
    hints = _hints_of(wanted)
    simple: dict[str, Decode] = {}
    inline: dict[str, tuple[type, dict[str, Decode]]] = {}
    needed: list[str] = []
    for each in fields(wanted):
        if each.metadata.get("inline"):
            inside = _hints_of(hints[each.name])
            inline[each.name] = hints[each.name], {n: _find_decoder(h) for n, h in inside.items()}
            continue
        simple[each.name] = _decoder_by(each.metadata, hints[each.name])
        if each.default is MISSING and each.default_factory is MISSING:
            needed.append(each.name)
    known = simple.keys() | {name for _, inside in inline.values() for name in inside}

    def read(data: object, where: str) -> object:
        if not isinstance(data, Mapping):
            raise ValueError(f"{name_path(where)} must be a mapping")
        if not data.keys() <= known:
            odd = next(iter(data.keys() - known))
            raise ValueError(f"`{path_below(where, str(odd))}` is not known")
        for name in needed:
            if name not in data:
                raise ValueError(f"`{path_below(where, name)}` is missing")
        given = {
            name: from_json(data[name], path_below(where, name))
            for name, from_json in simple.items()
            if name in data
        }
        for name, (made, inside) in inline.items():
            given[name] = made(*[_decode_inside(data, where, *pair) for pair in inside.items()])
        return wanted(**given)

    return read


def _decode_inside(data: Mapping[str, Any], where: str, name: str, from_json: Decode) -> object:
    if name not in data:
        raise ValueError(f"`{path_below(where, name)}` is missing")
    return from_json(data[name], path_below(where, name))


def _decoder_by(metadata: Mapping[str, Any], hint: Any) -> Decode:  # noqa: ANN401 - as above
    """How a field is read whose metadata may say more than its type."""
    if "kinds" in metadata:
        return decode_of_kinds(metadata["kinds"])
    if "least" not in metadata:
        return _find_decoder(hint)
    inner = [each for each in get_args(hint) if each is not NoneType] or [hint]
    read = decode_within(inner[0] is int, metadata["least"], metadata.get("most", MOST))
    return read if len(get_args(hint)) < 2 else _decode_union([read])


def _find_decoder(hint: Any) -> Decode:  # noqa: ANN401 - a type as it was written
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _decode_union(
            [_find_decoder(each) for each in get_args(hint) if each is not NoneType]
        )
    if origin is tuple:
        return decode_several(_find_decoder(get_args(hint)[0]))
    if origin is Literal:
        return decode_one_of(get_args(hint))
    if hint is dict or origin is dict:
        inside = _find_decoder(get_args(hint)[1]) if origin is dict else decode_anything
        return decode_mapping if inside is decode_anything else decode_mapping_of(inside)
    if hint is Message:
        return decode_message
    if isinstance(hint, type) and is_dataclass(hint):
        return _decoder_of(hint)
    return PLAIN.get(hint, decode_anything)


def _decode_union(inner: list[Decode]) -> Decode:
    """One type, or none at all; a union of several types is JSON of any shape."""
    (only,) = inner if len(inner) == 1 else (decode_anything,)
    return lambda value, where: None if value is None else only(value, where)


_BUILT_IN = {each.__name__: each for each in PLAIN}


def _hints_of(wanted: type) -> dict[str, Any]:
    """The types of fields, as `typing.get_type_hints` has them. That takes longer than all else in
    a small run: nearly all types are a name, and need not be worked out."""
    found: dict[str, Any] = {}
    for each in reversed(wanted.__mro__):
        hints: dict[str, Any] = getattr(each, "__annotations__", {})
        found |= {name: _hint_of(hint, each) for name, hint in hints.items()}
    return found


def _hint_of(hint: Any, declared_in: type) -> Any:  # noqa: ANN401 - a type, or the text of one
    if not isinstance(hint, str):
        return hint
    names = vars(sys.modules[declared_in.__module__])
    bare = hint.removesuffix(" | None")
    known = _BUILT_IN.get(bare) or names.get(bare)
    if known is None:
        return eval(hint, names)  # noqa: S307 - of a source that was imported
    return known if bare == hint else known | None
