"""A value with tags in its texts, gone through once: then it is made of values as often as needed.

What holds no tag is never copied: all cases that are made of one text share it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json import dumps
from typing import Any, NamedTuple

from evalcase.model.finding import LOST_SPELLING, QUOTE_IT, KeyPath
from evalcase.model.json_value import describe_kind
from evalcase.model.nearest import did_you_mean
from evalcase.model.path_steps import is_index
from evalcase.resolve.findings import Findings
from evalcase.text.tags import Tag, near_tags, split_tags


class Variable(NamedTuple):
    """The value of a name, and where it comes from."""

    value: Any
    path: KeyPath | None = None
    """Where it is written in the text that is resolved; None if that is elsewhere."""
    shown: Any = None
    """What results call it: the value itself, a label, or the name of a file."""
    field: str = "vars"
    """The field that gives it."""
    origin: str = ""
    """Words about where it comes from, if it isn't written in the suite."""


VariableValues = Mapping[str, Variable]


class TaggedValue:
    """One field of a case as it is written, with the places of its tags."""

    def __init__(self, value: Any, path: KeyPath) -> None:
        self.path = path
        self.texts: dict[KeyPath, list[str | Tag]] = {}
        self.odd: list[tuple[KeyPath, str, str]] = []
        """Where something begins like a tag: the path, the name, and how it is written."""
        self.keys: list[tuple[KeyPath, str, str]] = []
        """The same of tags in the names of fields, which stay as they are."""
        self._node = self._compile(value, path)

    @property
    def names(self) -> set[str]:
        """The variables that it uses."""
        return {tag.name for _, tag in self.tags()}

    def tags(self) -> Iterator[tuple[KeyPath, Tag]]:
        for path, pieces in self.texts.items():
            for piece in pieces:
                if isinstance(piece, Tag):
                    yield path, piece

    def render(self, variables: VariableValues, findings: Findings) -> Any:
        """The value with every tag replaced; what can't be is reported."""
        return _render_node(self._node, variables, findings)

    def source_of(self, path: KeyPath, variables: VariableValues) -> tuple[KeyPath, KeyPath | None]:
        """The whole text in which a path ends that a tag has become, and where the value of that
        tag is written; the path itself, where it leads to no such text."""
        for length in range(len(path), len(self.path) - 1, -1):
            pieces = self.texts.get(path[:length])
            if pieces is not None and len(pieces) == 1 and isinstance(pieces[0], Tag):
                variable = variables.get(pieces[0].name)
                if variable is None or variable.path is None:
                    return path[:length], None
                steps = _steps_in(variable.value, pieces[0].steps)
                return path[:length], (*variable.path, *steps, *path[length:])
        return path, path

    def _compile(self, value: Any, path: KeyPath) -> Any:
        """A node for what has tags in it; the value itself, where there are none."""
        if type(value) is str:
            return self._compile_text(value, path) if "{{" in value else value
        if type(value) is list:
            items = [self._compile(item, (*path, index)) for index, item in enumerate(value)]
            changed = any(new is not old for new, old in zip(items, value, strict=True))
            return _Listing(items) if changed else value
        if type(value) is dict:
            for key in value:
                if "{{" in key:
                    self._note_key(key, path)
            fields = {key: self._compile(item, (*path, key)) for key, item in value.items()}
            changed = any(fields[key] is not value[key] for key in value)
            return _Fields(fields) if changed else value
        return value

    def _compile_text(self, text: str, path: KeyPath) -> Any:
        self.odd += [(path, name, source) for name, source in near_tags(text)]
        pieces = split_tags(text)
        if not any(isinstance(piece, Tag) for piece in pieces):
            whole = "".join(map(str, pieces))
            return text if whole == text else whole
        self.texts[path] = pieces
        return _Text(pieces, path)

    def _note_key(self, key: str, path: KeyPath) -> None:
        for piece in split_tags(key):
            if isinstance(piece, Tag):
                self.keys.append(((*path, key), piece.name, piece.source))


class _Text:
    """A text with tags."""

    __slots__ = ("path", "pieces")

    def __init__(self, pieces: list[str | Tag], path: KeyPath) -> None:
        self.pieces = pieces
        self.path = path


class _Listing:
    """A list in which something has tags."""

    __slots__ = ("items",)

    def __init__(self, items: list[Any]) -> None:
        self.items = items


class _Fields:
    """A mapping in which something has tags."""

    __slots__ = ("fields",)

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields


def _render_node(node: Any, variables: VariableValues, findings: Findings) -> Any:
    kind_of = type(node)
    if kind_of is _Text:
        return _render_text(node, variables, findings)
    if kind_of is _Listing:
        return [_render_node(item, variables, findings) for item in node.items]
    if kind_of is _Fields:
        return {key: _render_node(item, variables, findings) for key, item in node.fields.items()}
    return node


def _render_text(text: _Text, variables: VariableValues, findings: Findings) -> Any:
    first = text.pieces[0]
    if len(text.pieces) == 1 and isinstance(first, Tag):
        value = _look_up(first, text.path, variables, findings)
        return None if value is _MISSING else value
    return "".join([_as_text(piece, text.path, variables, findings) for piece in text.pieces])


def _as_text(piece: str | Tag, path: KeyPath, variables: VariableValues, findings: Findings) -> str:
    if isinstance(piece, str):
        return piece
    value = _look_up(piece, path, variables, findings)
    if type(value) is str:
        return value
    if type(value) in (int, float):
        written = variables[piece.name].path
        if findings.doubts.respelt and written is not None:
            at = (*written, *_steps_in(variables[piece.name].value, piece.steps))
            message = f"this is read as the number {value!r}, so the way it is written is lost"
            findings.add(LOST_SPELLING, at, message, QUOTE_IT)
        return dumps(value)
    if value is not _MISSING:
        what = describe_kind(value)
        message = f"`{piece.dotted}` is {what}, and only text and numbers can be inserted into text"
        hint = f"write {piece.source} alone, as the whole value, or name a part of it"
        findings.add("wrong-type", path, message, hint, within=piece.source)
    return ""


def _look_up(tag: Tag, path: KeyPath, variables: VariableValues, findings: Findings) -> Any:
    """The value of a tag; none, with a finding, where there isn't any."""
    variable = variables.get(tag.name)
    if variable is None or (tag.name == "env" and tag.steps):
        _report_unknown(tag, path, variables, findings)
        return _MISSING
    value = variable.value
    for number, step in enumerate(tag.steps):
        if type(value) is dict and step in value:
            value = value[step]
        elif type(value) is list and is_index(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            _report_no_part(tag, number, value, path, findings)
            return _MISSING
    return value


_MISSING = object()


def _steps_in(value: Any, steps: tuple[str, ...]) -> KeyPath:
    """Steps as a path: into a list they are numbers."""
    path: list[str | int] = []
    for step in steps:
        if type(value) is list:
            path.append(int(step))
            value = value[int(step)]
        else:
            path.append(step)
            value = value.get(step) if type(value) is dict else None
    return tuple(path)


def _report_unknown(tag: Tag, path: KeyPath, variables: VariableValues, findings: Findings) -> None:
    literal = f"{{{{{tag.source}}}}}"
    if tag.name == "env" and tag.steps:
        message = f"{tag.source} would read the environment, which a suite can't"
        hint = f"give the value a name in `vars`; write {literal} if it is meant literally"
    else:
        message = f"there is no variable `{tag.name}` here"
        near = did_you_mean(tag.name, variables)
        known = ", ".join(f"`{name}`" for name in list(variables)[:_MOST_SHOWN])
        near = near or (f"there are {known}" if known else "define it in `vars`")
        origin = next((each.origin for each in variables.values() if each.origin), "")
        message += f", {origin}" if origin else ""
        hint = f"{near}; write {literal} if it is meant literally"
        hint = hint.replace("?;", "?", 1).replace("? write", "? Write", 1)
    findings.add("unknown-variable", path, message, hint, within=tag.source)


_MOST_SHOWN = 8


def _report_no_part(tag: Tag, number: int, value: Any, path: KeyPath, findings: Findings) -> None:
    before = ".".join((tag.name, *tag.steps[:number]))
    step = tag.steps[number]
    message = f"`{before}` is {describe_kind(value)}, and has no `{step}`"
    hint = did_you_mean(step, value) if type(value) is dict else None
    if type(value) is list:
        hint = f"its items are counted from 0, up to {len(value) - 1}" if value else "it is empty"
    findings.add("unknown-variable", path, message, hint, within=tag.source)
