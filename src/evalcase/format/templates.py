"""Texts with tags, `{{name}}` or `{{name.part}}`, and the values of variables in their place.

There are no expressions and no filters. Values are put in once and never searched for tags.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from json import dumps
from typing import Any, NamedTuple

from evalcase.format.fields import CASE_ALIASES, EXECUTION
from evalcase.format.findings import Findings
from evalcase.types.options import is_index
from evalcase.types.problem import QUOTE_IT, At, Finding, KeyPath, did_you_mean
from evalcase.types.value import Value, describe_kind

_TAGGED = ("input", "expected_output", "criteria", "rubrics", "graders", "turns", "user")
_RENDERED = {*_TAGGED, *(old for old, new in CASE_ALIASES.items() if new in _TAGGED)}
"""The fields of a case in which values replace tags, under all their names."""
NAME = r"[^\W\d][\w-]*"
_TAG = rf"[ \t]*({NAME}(?:\.[\w-]+)*)[ \t]*"
_TAGS = re.compile(rf"\{{\{{(\{{\{{{_TAG}\}}\}})\}}\}}|\{{\{{{_TAG}\}}\}}")
"""A literal in four braces, which loses two of them, or a tag."""
_FILTERED = re.compile(rf"\{{\{{[ \t]*({NAME})(?:\.[\w-]+)*[ \t]*[|(\[]")
"""The start of a filter, a call or an index, as languages of templates have them."""


class Tag(NamedTuple):
    name: str
    steps: tuple[str, ...]
    """The parts that lead into the value."""
    source: str
    """The tag as it is written, with its braces."""


class Variable(Value, frozen=True):
    value: Any
    path: KeyPath | None = None
    """Where the value is written in the suite; None if it comes from another file."""
    shown: Any = None
    """The value in results: itself, its label, or the name of its file."""
    field: str = "vars"
    label: str = ""
    """The value in ids, if the variable is one of a matrix."""
    origin: str = ""
    """Words about the row that has the value, if it comes from a table."""


Variables = Mapping[str, Variable]


class TaggedValue:
    """One field as it is written, with its tags and their paths."""

    def __init__(self, value: Any, path: KeyPath) -> None:
        self.path = path
        self.texts: dict[KeyPath, list[str | Tag]] = {}
        """The texts that have braces, in pieces."""
        self.unrendered: list[tuple[str, Finding]] = []
        """The names of tags in the names of fields, or with a filter, and a warning of each."""
        self.value = value
        for where, at, text in _find_braces(value, path):
            if at == "key":
                for tag in _tags_in(_split(text)):
                    why = f"{tag.source} stays as it is: the names of fields are not rendered"
                    finding = Finding("not-rendered", where, why, None, at, within=tag.source)
                    self.unrendered.append((tag.name, finding))
                continue
            self.texts[where] = _split(text)
            for found in _FILTERED.finditer(text):
                why = f"`{found[0].strip()}` begins like {{{{{found[1]}}}}}, and stays as it is"
                hint = "a tag is a name and its parts: {{name.part}}; there are no filters"
                finding = Finding("not-rendered", where, why, hint, within=found[0])
                self.unrendered.append((found[1], finding))

    @property
    def has_braces(self) -> bool:
        return bool(self.texts or self.unrendered)

    @property
    def names(self) -> set[str]:
        return {tag.name for _, tag in self.tags()}

    def tags(self) -> Iterator[tuple[KeyPath, Tag]]:
        for path, pieces in self.texts.items():
            for tag in _tags_in(pieces):
                yield path, tag

    def render(self, variables: Variables, findings: Findings) -> Any:
        """The value with every tag replaced. A tag that has no value is reported."""

        def render(value: Any, path: KeyPath) -> Any:
            if type(value) is list:
                return [render(item, (*path, index)) for index, item in enumerate(value)]
            if type(value) is dict:
                return {key: render(item, (*path, key)) for key, item in value.items()}
            match self.texts.get(path):
                case None:
                    return value
                case [Tag() as tag]:
                    return _look_up(tag, path, variables, findings)
                case pieces:
                    return "".join([_as_text(each, path, variables, findings) for each in pieces])

        return render(self.value, self.path)


def _find_braces(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, At, str]]:
    """The texts and the names of fields that have braces."""
    if type(value) is str and "{{" in value:
        yield path, "value", value
    elif type(value) is list:
        for index, item in enumerate(value):
            yield from _find_braces(item, (*path, index))
    elif type(value) is dict:
        for key, item in value.items():
            if "{{" in key:
                yield (*path, key), "key", key
            yield from _find_braces(item, (*path, key))


def _split(text: str) -> list[str | Tag]:
    """The pieces of a text in order; literals have lost their outer braces."""
    pieces: list[str | Tag] = []
    end = 0
    for found in _TAGS.finditer(text):
        pieces.append(text[end : found.start()])
        end = found.end()
        if found[1] is not None:
            pieces.append(found[1])
        else:
            name, *steps = found[3].split(".")
            pieces.append(Tag(name, tuple(steps), found[0]))
    pieces.append(text[end:])
    return [piece for piece in pieces if piece != ""]


def _tags_in(pieces: list[str | Tag]) -> list[Tag]:
    return [piece for piece in pieces if isinstance(piece, Tag)]


def follow(value: Any, steps: tuple[str, ...]) -> tuple[Any, KeyPath]:
    """The part of a value that steps lead to, and its path, which is shorter than the steps if one
    of them leads nowhere."""
    path: list[str | int] = []
    for step in steps:
        key = int(step) if type(value) is list and is_index(step) else step
        try:
            value = value[key]
        except (LookupError, TypeError):
            break
        path.append(key)
    return value, tuple(path)


def _as_text(piece: str | Tag, path: KeyPath, variables: Variables, findings: Findings) -> str:
    if isinstance(piece, str):
        return piece
    value = _look_up(piece, path, variables, findings)
    if type(value) is str:
        return value
    if type(value) in (int, float):
        variable = variables[piece.name]
        if findings.doubts.respelt and variable.path is not None:
            message = f"this is read as the number {value!r}, so the way it is written is lost"
            at = (*variable.path, *follow(variable.value, piece.steps)[1])
            findings.add("lost-spelling", at, message, QUOTE_IT)
        return dumps(value)
    what = f"`{'.'.join((piece.name, *piece.steps))}` is {describe_kind(value)}"
    message = f"{what}, and only text and numbers can be inserted into text"
    hint = f"write {piece.source} alone, as the whole value, or name a part of it"
    findings.add("wrong-type", path, message, hint, within=piece.source)
    return ""


def _look_up(tag: Tag, path: KeyPath, variables: Variables, findings: Findings) -> Any:
    """The value of a tag. One that has none is reported, and counts as an empty text."""
    literal = f"{{{{{tag.source}}}}} if it is meant literally"
    variable = variables.get(tag.name)
    hint: str | None
    if tag.name == "env" and tag.steps:
        message = f"{tag.source} would read the environment, which a suite can't"
        hint = f"give the value a name in `vars`; write {literal}"
    elif variable is None:
        message = f"there is no variable `{tag.name}` here{say_row(variables.values())}"
        near = did_you_mean(tag.name, variables)
        known = ", ".join(f"`{name}`" for name in list(variables)[:8])
        there = f"there are {known}" if known else "define it in `vars`"
        hint = f"{near} Write {literal}" if near else f"{there}; write {literal}"
    else:
        value, way = follow(variable.value, tag.steps)
        if len(way) == len(tag.steps):
            return value
        step = tag.steps[len(way)]
        above = ".".join((tag.name, *tag.steps[: len(way)]))
        message = f"`{above}` is {describe_kind(value)}, and has no `{step}`"
        hint = did_you_mean(step, value) if type(value) is dict else None
        hint = "its items are counted from 0" if type(value) is list else hint
    findings.add("unknown-variable", path, message, hint, within=tag.source)
    return ""


# Texts that other tools would replace.

_FILE_SCHEME = "file://"
_MEANT = "if the address is meant, write it as the content of a message"
_SAID = {"input", "input_messages", "expected_output", "expected_messages"}


def is_file_address(text: object) -> bool:
    return type(text) is str and text.startswith(_FILE_SCHEME) and len(text.split()) == 1


def warn_of_file(
    text: object, path: KeyPath, findings: Findings, variable: str = "text", meant: str = _MEANT
) -> None:
    """Warn of a text that is the address of a file. `variable` could have what is in it."""
    if is_file_address(text):
        message = f"this is the text `{text}`, and not what is in that file"
        pair = f"{{{variable}: {str(text).removeprefix(_FILE_SCHEME)}}}"
        hint = f"`var_files: {pair}` makes {{{{{variable}}}}} the text of the file; {meant}"
        findings.add("file-as-text", path, message, hint)


def warn_of_texts(raw: dict[str, Any], path: KeyPath, findings: Findings) -> None:
    """Warn of tags and addresses of files in a case that stay as they are."""
    if raw.get("rendered") is not True:
        told: set[str] = set()
        for each in tagged_fields(raw, path).values():
            warn_of_tags(each, "this case has no `vars`", told, findings)
    turns = raw.get("turns")
    parts: list[tuple[Any, KeyPath]] = [(raw, path)]
    for index, turn in enumerate(turns if type(turns) is list else ()):
        parts.append((turn, (*path, "turns", index)))
    for part, at in parts:
        if type(part) is not dict:
            warn_of_file(part, at, findings)
            continue
        for name in _SAID & part.keys():
            warn_of_file(part[name], (*at, name), findings)


def tagged_fields(raw: dict[str, Any], path: KeyPath) -> dict[str, TaggedValue]:
    """The fields of a case in which tags are replaced."""
    tagged = {
        name: TaggedValue(value, (*path, name)) for name, value in raw.items() if name in _RENDERED
    }
    match raw.get(EXECUTION):
        case {"evaluators": graders}:
            tagged[EXECUTION] = TaggedValue(graders, (*path, EXECUTION, "evaluators"))
    return tagged


def warn_of_tags(tagged: TaggedValue, why: str, told: set[str], findings: Findings) -> None:
    """Warn of tags that no value replaces. The `template` of a judge has tags of its own."""
    for at, tag in tagged.tags():
        if tag.name not in told and at[-1] != "template":
            told.add(tag.name)
            message = f"{tag.source} stays as it is: {why}"
            hint = f"give it a value, `vars: {{{tag.name}: …}}`"
            hint += "; if the braces are meant, say `rendered: true`"
            findings.add("no-variables", at, message, hint, within=tag.source)


def say_row(variables: Collection[Variable]) -> str:
    return next((f", {each.origin}" for each in variables if each.origin), "")
