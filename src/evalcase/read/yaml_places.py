"""The second reading of a YAML text, made only when something must be pointed at.

It goes through the events once more and keeps the spans of the wanted paths, skipping the rest.
Where a wanted path leads into an anchor, everything is kept instead.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from evalcase.model.problem import Span
from evalcase.read.lines import split_lines
from evalcase.read.places import KEY_ONLY, Alias, Branch, Leaf, Node, WantedPaths, merge_mappings
from evalcase.read.yaml_source import prepare_source

_NODES = frozenset({Branch, Leaf, Alias})
_STARTS = frozenset({MappingStartEvent, SequenceStartEvent})
_BLOCK_STYLES = frozenset("|>")


class _NeedsAnchorsError(Exception):
    """A wanted path leads through an alias or a merge, or past a key that is no plain text."""


def yaml_places(source: str | bytes, wanted: WantedPaths | None) -> Node:
    """The places of the wanted paths of a text that parse_yaml has read; None wants all."""
    try:
        return _YamlPlaceReader(source).read_document(wanted)
    except _NeedsAnchorsError:
        return _YamlPlaceReader(source).read_document(None)


class _YamlPlaceReader:
    def __init__(self, source: str | bytes) -> None:
        prepared = prepare_source(source)
        self.data = prepared.data
        self.next_event = prepared.events(CParser(prepared.data))
        self.anchors: dict[str, tuple[Node, str | None]] = {}
        """The place that an anchor names, and its text where that is a scalar."""

    @cached_property
    def text(self) -> str:
        return self.data.decode()

    def read_document(self, wanted: WantedPaths | None) -> Node:
        self.next_event()
        if type(self.next_event()) is StreamEndEvent:
            return Leaf(Span(1, 1, 1, 1))
        return self.read(self.next_event(), wanted)

    def read(self, event: Any, wanted: WantedPaths | None) -> Node:
        """The node that starts with `event`. Recursion is safe: parse_yaml bounds the depth."""
        kind = type(event)
        if kind is AliasEvent:
            return self.read_alias(event, wanted)
        if kind is ScalarEvent:
            node: Node = Leaf(self.span(event))
        elif wanted is not None and not wanted:
            node = Leaf(self.collection_span(event, self.skip(event)))
        elif kind is MappingStartEvent:
            node = self.read_mapping(event, wanted)
        else:
            node = self.read_list(event, wanted)
        if event.anchor is not None:
            self.anchors[event.anchor] = (node, event.value if kind is ScalarEvent else None)
        return node

    def read_alias(self, event: Any, wanted: WantedPaths | None) -> Node:
        if wanted is None:
            return Alias(self.span(event), self.anchors[event.anchor][0])
        if wanted:
            raise _NeedsAnchorsError
        return Leaf(self.span(event))

    def read_mapping(self, start: Any, wanted: WantedPaths | None) -> Branch:
        if wanted is not None:
            return self.read_wanted(start, wanted)
        children: dict[str | int, tuple[Span, Node]] = {}
        sources: list[Node] = []
        last = start
        while type(key_event := self.next_event()) is not MappingEndEvent:
            key = self.key_text(key_event)
            last = self.read(self.next_event(), None)
            if _is_merge(key_event):
                sources.extend(_find_sources(last))
            elif key is not None and key not in children:
                children[key] = (self.span(key_event), last)
        last = key_event if _has_text(key_event) else last
        return Branch(self.collection_span(start, last), children, merge_mappings(sources))

    def read_wanted(self, start: Any, wanted: WantedPaths) -> Branch:
        """Read a mapping of which only some keys are wanted."""
        next_event, skip = self.next_event, self.skip
        children: dict[str | int, tuple[Span, Node]] = {}
        merges, last = False, start
        while type(key_event := next_event()) is ScalarEvent:
            key, last = key_event.value, next_event()
            is_merge = key == "<<" and _is_merge(key_event)
            if is_merge or key not in wanted or key in children:
                merges = merges or is_merge
                if type(last) is not ScalarEvent:
                    last = skip(last)
                continue
            key_span = self.span(key_event)
            if wanted[key] is KEY_ONLY:
                last = skip(last)
                children[key] = (key_span, Leaf(key_span))
            else:
                last = self.read(last, wanted[key])
                children[key] = (key_span, last)
        if type(key_event) is not MappingEndEvent or (merges and len(children) < len(wanted)):
            raise _NeedsAnchorsError
        last = key_event if _has_text(key_event) else last
        return Branch(self.collection_span(start, last), children)

    def read_list(self, start: Any, wanted: WantedPaths | None) -> Branch:
        next_event = self.next_event
        children: dict[str | int, tuple[Span, Node]] = {}
        index, last = 0, start
        while type(event := next_event()) is not SequenceEndEvent:
            if wanted is not None and index not in wanted:
                last = self.skip(event)
            else:
                last = self.read(event, None if wanted is None else wanted[index])
                children[index] = (last.span, last)
            index += 1
        last = event if _has_text(event) else last
        return Branch(self.collection_span(start, last), children)

    def key_text(self, event: Any) -> str | None:
        """The key that an event stands for; None for a collection, which is no key."""
        if isinstance(event, AliasEvent):
            return self.anchors[str(event.anchor)][1]
        self.read(event, None)
        return event.value if isinstance(event, ScalarEvent) else None

    def skip(self, event: Any) -> Any:
        """Go past the node that starts with `event`; return the last event with any text."""
        if type(event) not in _STARTS:
            return event
        next_event = self.next_event
        depth, last = 1, event
        while depth:
            event = next_event()
            kind = type(event)
            if kind is ScalarEvent or kind is AliasEvent:
                last = event
            elif kind in _STARTS:
                depth += 1
            else:
                depth -= 1
                if event.end_mark.index > event.start_mark.index:
                    last = event
        return last

    def span(self, event: Any) -> Span:
        start, end = event.start_mark, event.end_mark
        if type(event) is ScalarEvent and event.style in _BLOCK_STYLES:
            # libyaml lets a block scalar reach over the blank lines that follow it.
            lines = split_lines(self.text[start.index : end.index].rstrip())
            column = len(lines[-1]) + (start.column if len(lines) == 1 else 0)
            return Span(start.line + 1, start.column + 1, start.line + len(lines), column + 1)
        return Span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)

    def collection_span(self, start: Any, last: Any) -> Span:
        """From the start of a collection to the end of the last event or node in it."""
        until = last.span if type(last) in _NODES else self.span(last)
        mark = start.start_mark
        return Span(mark.line + 1, mark.column + 1, until.end_line, until.end_column)


def _has_text(end: Any) -> bool:
    """Whether a collection ends with a bracket. A block collection ends at the next token."""
    return end.end_mark.index > end.start_mark.index  # type: ignore[no-any-return]


def _is_merge(key_event: Any) -> bool:
    return type(key_event) is ScalarEvent and key_event.value == "<<" and key_event.implicit[0]


def _find_sources(value: Node) -> list[Node]:
    """The mappings that a `<<` with this value merges, in order of precedence."""
    node = value
    while isinstance(node, Alias):
        node = node.target
    if isinstance(node, Branch) and 0 in node.children:
        return [item for _, item in node.children.values()]
    return [value]
