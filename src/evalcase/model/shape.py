"""Shapes of options: which JSON values one may have, in words, as a schema, and as a check.

What `check` says of an option, and what editors and the reference know of it, comes from its shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, NamedTuple, Protocol

from evalcase.model.finding import QUOTE_IT, At, Fix, KeyPath
from evalcase.model.json_value import JSON, describe_kind
from evalcase.model.nearest import hint_at, nearest_meaning
from evalcase.model.value import Value


class OptionFault(NamedTuple):
    """What is wrong with the value of an option, and where below it."""

    path: KeyPath
    message: str
    """A whole sentence, which names the option in backquotes."""
    hint: str | None = None
    at: At = "value"
    code: str = "bad-value"
    unlike: bool = False
    """Whether the value has another shape altogether."""
    fix: Fix | None = None
    example: tuple[str, JSON] | None = None
    """An option that is missing, and what it might be."""
    hides: bool = False
    """Whether a secret may stand there, so that the line of it is not shown."""
    names_meant: bool = False
    """Whether its hint names what was probably meant."""


class Shape(Protocol):
    """The values that an option may have."""

    @property
    def words(self) -> str:
        """What it is, after "is": `a number from 0 to 1`."""
        ...

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        """What is wrong with a value; `path` ends with the option's name, or leads below it."""
        ...

    def read(self, value: JSON) -> Any:  # noqa: ANN401 - whatever the field holds
        """A value without faults, as the field holds it."""
        ...

    def schema(self) -> dict[str, JSON]:
        """The same as JSON Schema, each keyword beside its `type`, and no `anyOf` where types tell
        the alternatives apart: editors then say what fits."""
        ...


def describe_mismatch(
    shape: Shape, value: JSON, path: KeyPath, hint: str | None = None, code: str = "wrong-type"
) -> OptionFault:
    """The fault of a value that has not the shape."""
    shown = f"{value!r:.60}" if isinstance(value, str | int | float) else describe_kind(value)
    shown = str(value).lower() if isinstance(value, bool) else shown
    return OptionFault(
        path, f"`{path[-1]}` is {shape.words}, not {shown}", hint, code=code, unlike=True
    )


def tell_missing(path: KeyPath, message: str, name: str, example: JSON) -> OptionFault:
    """The fault of an option that is not there, with an example as YAML has it."""
    fault = OptionFault(path, message, code="missing-option")
    if example is None:
        return fault
    return fault._replace(hint=f"for example {name}: {example}", example=(name, example))


class Plain(Value, frozen=True):
    """A shape whose values are held as they are."""

    def read(self, value: JSON) -> Any:  # noqa: ANN401 - whatever the field holds
        return value


class Text(Plain, frozen=True):
    """Text that is not empty."""

    what: str = "text"
    empty: bool = False

    @property
    def words(self) -> str:
        return self.what

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, str):
            quotable = isinstance(value, bool | int | float)
            yield describe_mismatch(self, value, path, QUOTE_IT if quotable else None)
        elif not value and not self.empty:
            yield OptionFault(path, f"`{path[-1]}` is empty")

    def schema(self) -> dict[str, JSON]:
        return {"type": "string"} if self.empty else {"type": "string", "minLength": 1}


_TRUTHS = {
    **dict.fromkeys(("true", "yes", "on", "y", "1"), "true"),
    **dict.fromkeys(("false", "no", "off", "n", "0"), "false"),
}
"""What texts are meant to say that are none of true and false."""


class Flag(Plain, frozen=True):
    """True or false."""

    @property
    def words(self) -> str:
        return "true or false"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, bool):
            meant = _TRUTHS.get(value.strip().lower()) if isinstance(value, str) else None
            yield describe_mismatch(self, value, path, meant and f"write {meant}, without quotes")

    def schema(self) -> dict[str, JSON]:
        return {"type": "boolean"}


class Number(Value, frozen=True):
    """A number between two others, both included unless `above` says that the least is not."""

    least: float = -inf
    most: float = inf
    whole: bool = False
    above: bool = False

    @property
    def words(self) -> str:
        what = "a whole number" if self.whole else "a number"
        if self.above:
            return f"{what} over {self.least:g}"
        if self.most < inf:
            return f"{what} from {self.least:g} to {self.most:,.12g}"
        return f"{what} of {self.least:g} or more" if self.least > -inf else what

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if type(value) is int or (type(value) is float and not self.whole):
            code = "bad-value"
            if self._contains(value):
                return
        else:
            code = "wrong-type"
        meant = self.meant(value)
        fix = None if meant is None else Fix(meant)
        yield describe_mismatch(self, value, path, self.hint(value, meant), code)._replace(fix=fix)

    def _contains(self, value: float) -> bool:
        if self.above and value == self.least:
            return False
        return self.least <= value <= self.most and abs(value) <= _LARGEST

    def meant(self, value: JSON) -> str | None:
        """The number that somebody says in another way, as it is to be written."""
        from evalcase.model.meant_numbers import number_meant, share_meant

        is_share = (self.least, self.most, self.whole) == (0, 1, False)
        meant = share_meant(value) if is_share else number_meant(value, self.whole)
        return meant if meant is not None and self._contains(float(meant)) else None

    def hint(self, value: JSON, meant: str | None) -> str | None:
        del value
        return None if meant is None else f"write {meant}"

    def read(self, value: JSON) -> Any:  # noqa: ANN401 - whatever the field holds
        return value if self.whole else float(value)  # type: ignore[arg-type]

    def schema(self) -> dict[str, JSON]:
        schema: dict[str, JSON] = {"type": "integer" if self.whole else "number"}
        if self.least > -inf:
            least = int(self.least) if self.least == int(self.least) else self.least
            schema["exclusiveMinimum" if self.above else "minimum"] = least
        if self.most < inf:
            schema["maximum"] = int(self.most) if self.most == int(self.most) else self.most
        return schema


_LARGEST = 1.7976931348623157e308
"""The largest float; a whole number may be larger."""


class Choice(Plain, frozen=True):
    """One of some words. `elsewhere` are words that others have for the same, for suggestions;
    `otherwise` is a hint for what is near to none."""

    choices: tuple[str, ...]
    elsewhere: tuple[tuple[str, str], ...] = ()
    otherwise: str | None = None

    @property
    def words(self) -> str:
        return f"one of {', '.join(self.choices)}"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if value not in self.choices:
            meant = {**dict(self.elsewhere), **{each: each for each in self.choices}}
            near = nearest_meaning(value.lower(), meant) if isinstance(value, str) else None
            hint = hint_at(near) or self.otherwise
            fault = describe_mismatch(self, value, path, hint, "bad-value")
            yield fault._replace(names_meant=near is not None)

    def schema(self) -> dict[str, JSON]:
        return {"enum": list(self.choices)}


class Anything(Plain, frozen=True):
    """Any JSON value."""

    what: str = "any value"

    @property
    def words(self) -> str:
        return self.what

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        del value, path
        yield from ()

    def schema(self) -> dict[str, JSON]:
        return {}


class ListOf(Value, frozen=True):
    """A list of values of one shape, held as a tuple."""

    item: Shape
    what: str = "a list"
    least: int = 1

    @property
    def words(self) -> str:
        return self.what

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, list):
            yield describe_mismatch(self, value, path)
        elif len(value) < self.least:
            yield OptionFault(path, f"`{path[-1]}` is an empty list", code="empty-list")
        else:
            for number, each in enumerate(value):
                for fault in self.item.faults(each, (*path, number)):
                    yield fault._replace(message=_of_item(fault.message, number, str(path[-1])))

    def read(self, value: JSON) -> Any:  # noqa: ANN401 - whatever the field holds
        assert isinstance(value, list)
        return tuple(self.item.read(each) for each in value)

    def schema(self) -> dict[str, JSON]:
        schema: dict[str, JSON] = {"type": "array", "items": self.item.schema()}
        return {**schema, "minItems": self.least} if self.least else schema


def _of_item(message: str, number: int, name: str) -> str:
    return message.replace(f"`{number}`", f"item {number + 1} of `{name}`", 1)


class MapOf(Value, frozen=True):
    """A mapping whose values have one shape."""

    item: Shape
    what: str = "a mapping"

    @property
    def words(self) -> str:
        return self.what

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, dict):
            yield describe_mismatch(self, value, path)
            return
        for key, each in value.items():
            for fault in self.item.faults(each, (*path, key)):
                yield fault._replace(
                    message=fault.message.replace(f"`{key}`", f"`{path[-1]}.{key}`", 1)
                )

    def read(self, value: JSON) -> Any:  # noqa: ANN401 - whatever the field holds
        assert isinstance(value, dict)
        return {key: self.item.read(each) for key, each in value.items()}

    def schema(self) -> dict[str, JSON]:
        return {"type": "object", "additionalProperties": self.item.schema()}
