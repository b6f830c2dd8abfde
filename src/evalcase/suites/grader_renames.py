"""A grader under another tool's name, and the edits of the text that give it ours.

Where ours says more, such as `ignore_case: true`, it is written beside the name, in the way in
which the mapping around it is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from evalcase.model.finding import At, Finding, KeyPath
from evalcase.model.json_value import JSON
from evalcase.model.problem import Span
from evalcase.read.document import Document
from evalcase.read.edits import Edit
from evalcase.read.places import Node, find_node, find_written
from evalcase.resolve.grader_names import Spelling, spelling_of
from evalcase.resolve.graders import MAPPING_ARGUMENTS


class OtherName(NamedTuple):
    """A grader as it is written, and what its name stands for."""

    name: str
    spelling: Spelling
    path: KeyPath
    """Of the name."""
    at: At
    value: JSON
    """What stands under the name, where it is a key; else the mapping that it is in."""

    @property
    def new(self) -> str:
        return ", ".join([self.spelling.name, *_write_pairs(self.spelling.adds)])

    @property
    def has_options(self) -> bool:
        """Whether what stands under it are options, and not its argument."""
        return isinstance(self.value, dict) and self.spelling.name not in MAPPING_ARGUMENTS


def other_name(value: JSON, finding: Finding) -> OtherName | None:
    """The grader that a finding about a deprecated name points at; None if it is about a field."""
    found = value_at(value, finding.path)
    name = str(finding.path[-1]) if finding.at == "key" else found
    spelling = spelling_of(name) if isinstance(name, str) else None
    if spelling is None or not isinstance(name, str):
        return None
    around = found if finding.at == "key" else value_at(value, finding.path[:-1])
    return OtherName(name, spelling, finding.path, finding.at, around)


def places_of(grader: OtherName) -> Iterator[tuple[KeyPath, At]]:
    """What has to be looked up in the text for its edits."""
    yield grader.path, grader.at
    yield grader.path[:-1], "value"
    for path in _option_paths(grader):
        yield path[:-1], "value"
        yield path, "key"
    if grader.path[-1] == "type":
        yield grader.path, "key"


def edits_of(grader: OtherName, document: Document, root: Node) -> tuple[Edit, ...] | None:
    """The edits that give it our name; None where there is no room for what ours says."""
    return _Writing(grader, document, root).edits()


def value_at(value: Any, path: KeyPath) -> Any:  # noqa: ANN401 - any part of a document
    """What a path leads to, which is there."""
    for step in path:
        value = value[step]
    return value


class _Writing(NamedTuple):
    grader: OtherName
    document: Document
    root: Node

    def edits(self) -> tuple[Edit, ...] | None:
        grader, more = self.grader, self.grader.spelling.adds
        name = self._span(grader.path, grader.at)
        if grader.at == "key":
            return self._of_key(name)
        if grader.path[-1] == "type":
            pairs = [
                self._renamed(name, grader.spelling.name),
                *_write_pairs(more, self.document.format),
            ]
            key = self._span(grader.path, "key")
            return (Edit(name, self._join(pairs, grader.path[:-1], key)), *self._renames())
        if not more:
            return (Edit(name, self._renamed(name, grader.spelling.name)),)
        pairs = _write_pairs({"type": grader.spelling.name, **more}, self.document.format)
        return (Edit(name, "{" + ", ".join(pairs) + "}"),)

    def _of_key(self, name: Span) -> tuple[Edit, ...] | None:
        """`{name: argument}`, or `{name: {options}}`."""
        grader, spelling = self.grader, self.grader.spelling
        renamed = Edit(name, self._renamed(name, spelling.name))
        if grader.has_options:
            more = self._put_first() if spelling.adds else self._renames()
            return None if more is None else (renamed, *more)
        argument = spelling.renames.get("value", "value")
        if not spelling.adds and argument == "value":
            return (renamed,)
        if grader.value is None:
            return None
        pairs = _write_pairs({"type": spelling.name, **spelling.adds}, self.document.format)
        pairs.append(self._renamed(name, argument))
        return (Edit(name, self._join(pairs, grader.path[:-1], name)),)

    def _put_first(self) -> tuple[Edit, ...] | None:
        """What our name says, before the first of the options."""
        paths = _option_paths(self.grader)
        if not paths:
            return None
        first, *others = self._renames(every=True)
        pairs = [*_write_pairs(self.grader.spelling.adds, self.document.format), first.text]
        joined = first._replace(text=self._join(pairs, self.grader.path, first.span))
        return (joined, *[each for each in others if each.text != self._text_of(each.span)])

    def _renames(self, every: bool = False) -> list[Edit]:
        """Options that have another name here; with `every`, those that keep theirs as well."""
        found = []
        for path in _option_paths(self.grader):
            span = self._span(path, "key")
            new = self.grader.spelling.renames.get(str(path[-1]))
            if new is not None:
                found.append(Edit(span, self._renamed(span, new, str(path[-1]))))
            elif every:
                found.append(Edit(span, self._text_of(span)))
        return found

    def _join(self, pairs: list[str], around: KeyPath, key: Span) -> str:
        """Pairs of a mapping, as the one around is written: side by side or line by line."""
        source = self._text_of(find_written(self.root, around))
        while source[:1] in ("&", "!"):
            _, _, source = source.partition(" ")
        if source.startswith("{"):
            return ", ".join(pairs)
        return (_line_end(self.document.text) + " " * (key.column - 1)).join(pairs)

    def _renamed(self, span: Span, new: str, old: str | None = None) -> str:
        """What is written there with another name; quotes and an anchor stay."""
        before, _, after = self._text_of(span).rpartition(old or self.grader.name)
        return before + new + after

    def _span(self, path: KeyPath, at: At) -> Span:
        return find_node(self.root, path, at).span

    def _text_of(self, span: Span) -> str:
        return self.document.source_of(span)


def _option_paths(grader: OtherName) -> list[KeyPath]:
    if not isinstance(grader.value, dict):
        return []
    if grader.at == "key":
        return [(*grader.path, name) for name in grader.value] if grader.has_options else []
    return [(*grader.path[:-1], name) for name in grader.value if name != "type"]


def _write_pairs(options: Mapping[str, JSON], format: str = "yaml") -> list[str]:
    if format == "yaml":
        return [f"{name}: {each if isinstance(each, str) else json.dumps(each)}"
                for name, each in options.items()]  # fmt: skip
    return [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in options.items()]


def _line_end(text: str) -> str:
    """How the first line ends: the others nearly always do, too."""
    at = text.find("\n")
    if at < 0:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if text[at - 1 : at] == "\r" else "\n"
