"""Templates of other tools, as far as they only name variables: `{{name}}` and `{{a.b}}`.

Whatever computes (`{% if %}`, filters, calls) is refused by name: half of a template is another
text than the one that was tested.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from evalcase.types.value import JSON

_OPENING = re.compile(r"\{[{%#]")
_TAG = re.compile(r"\{\{\s*([A-Za-z_]\w*(?:\.\w+|\[\d+\])*)\s*\}\}")
_STEP = re.compile(r"\w+")
_LONGEST = 1_000_000
_DEEPEST = 5
_LONGEST_SHOWN = 40


class UnrenderableError(ValueError):
    """Why a template can't be written out."""


def has_tags(value: JSON) -> bool:
    """Whether there is anything to be written out in the texts of a value."""
    if isinstance(value, str):
        return _OPENING.search(value) is not None
    several: Iterable[JSON] = value.values() if isinstance(value, dict) else ()
    return any(has_tags(each) for each in (value if isinstance(value, list) else several))


def refuse_computed(text: str) -> None:
    """Raise UnrenderableError if a template can't be written out, whatever its variables are."""
    place = 0
    for opening in _OPENING.finditer(text):
        if opening.start() >= place:
            tag = _tag_at(text, opening.start())
            if tag[1].split(".")[0] == "env":
                raise UnrenderableError(f"`{tag[1]}`, which is of the environment")
            place = tag.end()


def _tag_at(text: str, place: int) -> re.Match[str]:
    tag = _TAG.match(text, place)
    if tag is None:
        shown = text[place : place + _LONGEST_SHOWN].split("\n", 1)[0]
        raise UnrenderableError(f"a template that does more than name variables: {shown}")
    return tag


class Variables:
    """What templates are filled with. Values may be templates themselves."""

    def __init__(self, values: Mapping[str, JSON]) -> None:
        self.values = values
        self._known: dict[str, JSON] = {}

    def render(self, text: str, unset: list[str] | None = None) -> str:
        """A text with its variables written out. One that nothing sets is empty, and noted; where
        nobody takes notes, it is an UnrenderableError, as is all that computes."""
        return self._render(text, unset, 0)

    def render_value(self, text: str, unset: list[str] | None = None) -> JSON:
        """The same, but a text that is nothing but one variable becomes its value."""
        alone = _TAG.fullmatch(text.strip())
        if alone is not None:
            value = self._look_up(alone[1], unset, 0)
            if isinstance(value, dict | list):
                return value
        return self.render(text, unset)

    def render_all(self, value: JSON) -> JSON:
        """A value with every text in it written out."""
        if isinstance(value, str):
            return self.render(value)
        if isinstance(value, list):
            return [self.render_all(each) for each in value]
        if isinstance(value, dict):
            return {name: self.render_all(each) for name, each in value.items()}
        return value

    def _render(self, text: str, unset: list[str] | None, depth: int) -> str:
        parts, place, length = [], 0, 0
        for opening in _OPENING.finditer(text):
            if opening.start() < place:
                continue
            tag = _tag_at(text, opening.start())
            parts += [text[place : tag.start()], self._text(tag[1], unset, depth)]
            place, length = tag.end(), length + len(parts[-1])
            if length > _LONGEST:
                raise UnrenderableError(f"a template that makes over {_LONGEST:,} characters")
        return "".join([*parts, text[place:]])

    def _text(self, path: str, unset: list[str] | None, depth: int) -> str:
        value = self._look_up(path, unset, depth)
        if isinstance(value, dict | list):
            what = "a mapping" if isinstance(value, dict) else "a list"
            raise UnrenderableError(f"`{path}`, which is {what}, within a text")
        return javascript_text(value)

    def _look_up(self, path: str, unset: list[str] | None, depth: int) -> JSON:
        name, *steps = _STEP.findall(path)
        if name == "env":
            raise UnrenderableError(f"`{path}`, which is of the environment")
        if name not in self.values:
            if unset is None:
                raise UnrenderableError(f"the variable `{name}`, which nothing sets")
            unset.append(name)
            return None
        value = self._value(name, unset, depth)
        for step in steps:
            if isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            else:
                raise UnrenderableError(f"`{path}`, which leads nowhere")
        return value

    def _value(self, name: str, unset: list[str] | None, depth: int) -> JSON:
        value = self.values[name]
        if not isinstance(value, str) or not has_tags(value):
            return value
        if depth >= _DEEPEST:
            raise UnrenderableError(f"`{name}`, which is made of variables of variables")
        if name not in self._known:
            self._known[name] = self._render(value, unset, depth + 1)
        return self._known[name]


def javascript_text(value: JSON) -> str:
    """A value as JavaScript writes it in a text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
