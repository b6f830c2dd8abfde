"""YAML text to values, built straight from libyaml's events.

Everything that makes YAML dangerous is decided here, event by event, before it costs anything:
duplicate keys, tags, aliases, merges and nesting. See docs/decisions/0002-yaml.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.error import YAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from evalcase.model.finding import NO_DOUBTS, Doubts, KeyPath
from evalcase.model.json_value import JSON, MAX_DEPTH
from evalcase.model.problem import Span
from evalcase.read import scalars
from evalcase.read.fault import MIND_DEPTH, FatalFaultError, Fault
from evalcase.read.yaml_aliases import DROPPED, MERGE, AliasReader
from evalcase.read.yaml_faults import explain_error, span_of
from evalcase.read.yaml_lost_text import find_lost_text
from evalcase.read.yaml_source import Prepared, prepare_source

_KEYS_ONLY: Any = object()
"""Marks a suspended mapping whose key is the collection being read."""

_DEPTH_OF_CASES = 3
"""A document is a mapping with a list of mappings."""

KeyPlaces: TypeAlias = "dict[KeyPath, Span]"

_TAG_PREFIX = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset({"str", "int", "float", "bool", "null"})


_LETTERS = frozenset("nNtTfF")
"""With one of them a word may start that is no text, and no number."""


def parse_yaml(
    source: str | bytes, likely: frozenset[str] = frozenset(), places: KeyPlaces | None = None
) -> tuple[JSON, Sequence[Fault], Doubts]:
    """Read one document. Faults that leave the rest readable are returned, others raised.

    Keys with a name that is `likely` to be pointed at are noted in `places`, in suites and cases.
    """
    try:
        builder = _Builder(prepare_source(source), likely, {} if places is None else places)
        value = builder.build()
        faults = builder.faults + find_lost_text(builder.data)
        return value, faults, builder.doubts()
    except (YAMLError, UnicodeEncodeError) as error:
        text = source if isinstance(source, str) else source.decode()
        raise FatalFaultError(explain_error(error, text)) from None


class _Builder(AliasReader):
    def __init__(self, prepared: Prepared, likely: frozenset[str], places: KeyPlaces) -> None:
        super().__init__(prepared.data)
        self.odd_keys = likely | {"<<"}
        self.places = places
        self.next_event = prepared.events(CParser(prepared.data))
        self.is_deep = self.is_respelt = False

    def doubts(self) -> Doubts:
        if self.is_deep or self.is_respelt:
            return Doubts(self.is_deep, self.is_respelt)
        return NO_DOUBTS

    def build(self) -> JSON:
        next_event = self.next_event
        next_event()
        if type(next_event()) is StreamEndEvent:
            return None
        root = self.read()
        next_event()
        after = next_event()
        if type(after) is DocumentStartEvent:
            raise self.fatal(
                "several-documents",
                "a suite is one YAML document, and a second one starts here",
                after,
                "put the cases in one list, or in files of their own",
            )
        return root

    def read(self) -> JSON:
        """Read the node that comes next. One loop and no recursion: depth costs no stack."""
        next_event = self.next_event
        starts, odd_keys = scalars.STARTS, self.odd_keys
        result: list[Any] = []
        stack: list[tuple[Any, Any, Any]] = []
        mapping: dict[Any, Any] | None = None
        items: list[Any] | None = result
        key: Any = None
        while True:
            event = next_event()
            kind = type(event)
            if kind is ScalarEvent:
                value: Any = event.value
                if key is None and mapping is not None:
                    if event.anchor is not None or event.tag is not None:
                        self.note_key(event)
                    if value in mapping or value in odd_keys:
                        key = self.odd_key(value, mapping, event, stack)
                    else:
                        key = value
                    continue
                if event.anchor is not None or event.tag is not None:
                    value = self.marked_scalar(event)
                elif event.implicit[0] and (not value or value[0] in starts):
                    value = self.plain(value, event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                value = {} if kind is MappingStartEvent else []
                if event.anchor is not None or event.tag is not None:
                    self.marked_collection(event, value)
                if len(stack) >= MIND_DEPTH:
                    self.mind_depth(len(stack), event)
                if mapping is None:
                    items.append(value)  # type: ignore[union-attr]
                elif key is None:
                    self.collection_key(event)
                    key = _KEYS_ONLY
                else:
                    mapping[key] = value
                stack.append((mapping, items, key))
                if kind is MappingStartEvent:
                    mapping, key = value, None
                else:
                    mapping, items = None, value
                continue
            elif kind is AliasEvent:
                if key is None and mapping is not None:
                    key = self.alias_key(event, mapping)
                    continue
                value = self.alias(event, stack, mapping, items)
            else:
                if kind is MappingEndEvent and (self.merges or DROPPED in mapping):  # type: ignore[operator]
                    self.finish(mapping)  # type: ignore[arg-type]
                mapping, items, key = stack.pop()
                key = DROPPED if key is _KEYS_ONLY else None
                if not stack:
                    return result[0]  # type: ignore[no-any-return]
                continue
            if mapping is None:
                items.append(value)  # type: ignore[union-attr]
                if not stack:
                    return value  # type: ignore[no-any-return]
            else:
                mapping[key] = value
                key = None

    # Scalars

    def plain(self, text: str, event: Any) -> Any:
        if text in scalars.WORDS:
            return scalars.WORDS[text]
        if text[0] in _LETTERS:
            return text
        usual = scalars.USUAL_NUMBER.fullmatch(text)
        if usual is not None:
            return int(text) if usual.lastindex is None else float(text)
        try:
            value = scalars.read_plain(text)
            self.is_respelt = self.is_respelt or type(value) is not str
            return value
        except scalars.NotJsonScalarError as error:
            self.fault("not-json-value", str(error), event, "write it in quotes to keep it as text")
            return 0

    def marked_scalar(self, event: Any) -> Any:
        tag = self.core_tag(event, _SCALAR_TAGS)
        value = event.value
        if tag is not None:
            try:
                value = scalars.read_tagged(value, tag)
            except scalars.NotJsonScalarError as error:
                self.fault("not-json-value", str(error), event)
            except ValueError as error:
                self.fault("bad-tag", str(error), event)
        elif event.tag is None and event.implicit[0]:
            value = self.plain(value, event)
        self.anchor(event, value, event.value)
        return value

    def marked_collection(self, event: Any, value: Any) -> None:
        self.core_tag(event, {"map"} if isinstance(value, dict) else {"seq"})
        self.anchor(event, value, None)

    def core_tag(self, event: Any, allowed: frozenset[str] | set[str]) -> str | None:
        """The short name of the event's tag, if it has one that means anything here."""
        tag: str | None = event.tag
        if tag is None or tag == "!":
            return None
        if tag.startswith(_TAG_PREFIX) and tag.removeprefix(_TAG_PREFIX) in allowed:
            return tag.removeprefix(_TAG_PREFIX)
        shown = "!!" + tag.removeprefix(_TAG_PREFIX) if tag.startswith(_TAG_PREFIX) else tag
        self.fault(
            "bad-tag",
            f"the tag `{shown}` has no meaning in an eval file",
            event,
            "remove it; quotes make text, and nothing else needs a tag",
        )
        return None

    def mind_depth(self, depth: int, event: Any) -> None:
        if depth >= MAX_DEPTH:
            raise self.too_deep(event)
        self.is_deep = True

    # Keys

    def note_key(self, event: Any) -> None:
        self.core_tag(event, _SCALAR_TAGS)
        self.anchor(event, event.value, event.value)

    def odd_key(self, text: str, mapping: dict[Any, Any], event: Any, stack: list[Any]) -> Any:
        """The key for a text that is there already, that is `<<`, or that is likely to be pointed
        at."""
        if text == "<<" and event.implicit[0]:
            if id(mapping) not in self.merges:
                self.merges[id(mapping)] = event
                return MERGE
            hint = "merge several mappings with a list: `<<: [*one, *two]`"
        elif text in mapping:
            hint = "keep one of the two"
        else:
            if len(stack) <= _DEPTH_OF_CASES and event.style not in ("|", ">"):
                above = [len(inner) - 1 if outer is None else key for outer, inner, key in stack]
                self.places[(*above[1:], text)] = span_of(event)
            return text
        self.fault("duplicate-key", f"the key `{text}` appears twice", event, hint)
        return DROPPED

    def collection_key(self, event: Any) -> None:
        hint = None
        if self.text[event.start_mark.index - 1 : event.start_mark.index + 1] == "{{":
            hint = 'a template must be in quotes: "{{ … }}"'
        what = "mapping" if type(event) is MappingStartEvent else "list"
        self.fault("bad-key", f"a {what} can't be the key of a mapping", event, hint)

    def alias_key(self, event: Any, mapping: dict[Any, Any]) -> Any:
        value, text = self.look_up(event)
        if text is None:
            what = "mapping" if isinstance(value, dict) else "list"
            self.fault("bad-key", f"a {what} can't be the key of a mapping", event)
            return DROPPED
        self.spend(1, len(text), event)
        if text in mapping:
            self.fault("duplicate-key", f"the key `{text}` appears twice", event)
            return DROPPED
        return text
