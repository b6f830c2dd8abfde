"""YAML text to values, built straight from libyaml's events.

Everything that makes YAML dangerous is decided here, event by event, before it costs anything:
duplicate keys, tags, aliases, merges and nesting. See docs/decisions/0002-yaml.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

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

from evalcase.model.json_value import JSON, fresh
from evalcase.model.nearest import nearest
from evalcase.read import scalars
from evalcase.read.fault import MAX_DEPTH, FatalFaultError, Fault
from evalcase.read.yaml_faults import explain, misread_question_marks, span_of
from evalcase.read.yaml_text import Prepared, prepare

MIN_ALIAS_BUDGET = 1_000_000
"""How many values all aliases together may stand for; more, if the file is longer than that."""
MIN_CHARACTER_BUDGET = 1 << 26
"""The same for the characters in them; a hundred times the length of the file, if that is more."""

_MERGE: Any = object()
"""The key that `<<` has until its mapping is complete."""
_DROPPED: Any = object()
"""The key of a pair whose real key was at fault."""
_KEYS_ONLY: Any = object()
"""Marks a suspended mapping whose key is the collection being read."""

_TAG_PREFIX = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset({"str", "int", "float", "bool", "null"})


def parse_yaml(source: str | bytes) -> tuple[JSON, Sequence[Fault]]:
    """Read one document. Faults that leave the rest readable are returned, others raised."""
    try:
        builder = _Builder(prepare(source))
        return builder.build(), builder.faults + misread_question_marks(builder.data)
    except (YAMLError, UnicodeEncodeError) as error:
        text = source if isinstance(source, str) else source.decode()
        raise FatalFaultError(explain(error, text)) from None


class _Builder:
    def __init__(self, prepared: Prepared) -> None:
        self.data = prepared.data
        self.next_event = prepared.events(CParser(prepared.data))
        self.faults: list[Fault] = []
        self.anchors: dict[str, tuple[Any, str | None]] = {}
        """What an anchor names: the value, and its source text where that is a scalar."""
        self.budget = max(MIN_ALIAS_BUDGET, len(prepared.data))
        self.character_budget = max(MIN_CHARACTER_BUDGET, 100 * len(prepared.data))
        self.merges: dict[int, Any] = {}
        """The `<<` events of mappings under construction, by the mapping's identity."""

    @cached_property
    def text(self) -> str:
        return self.data.decode()

    @cached_property
    def has_odd_anchors(self) -> bool:
        """Whether something looks like an anchor with a `:` in its name, which libyaml cuts off."""
        return re.search(rb"&[0-9A-Za-z_-]+:", self.data) is not None

    def fault(self, code: str, message: str, event: Any, hint: str | None = None) -> None:
        self.faults.append(Fault(code, message, span_of(event), hint))

    def fatal(self, code: str, message: str, event: Any, hint: str | None = None) -> Exception:
        return FatalFaultError(Fault(code, message, span_of(event), hint))

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
        starts = scalars.STARTS
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
                    if value in mapping or value == "<<":
                        key = self.odd_key(value, mapping, event)
                    else:
                        key = value
                    continue
                if event.anchor is not None or event.tag is not None:
                    value = self.marked_scalar(event)
                elif event.implicit[0] and value[:1] in starts:
                    value = self.plain(value, event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                value = {} if kind is MappingStartEvent else []
                if event.anchor is not None or event.tag is not None:
                    self.marked_collection(event, value)
                if len(stack) >= MAX_DEPTH:
                    raise self.too_deep(event)
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
                if kind is MappingEndEvent and (self.merges or _DROPPED in mapping):  # type: ignore[operator]
                    self.finish(mapping)  # type: ignore[arg-type]
                mapping, items, key = stack.pop()
                key = _DROPPED if key is _KEYS_ONLY else None
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
        try:
            return scalars.plain(text)
        except scalars.NotJsonError as error:
            self.fault("not-json-value", str(error), event, "write it in quotes to keep it as text")
            return 0

    def marked_scalar(self, event: Any) -> Any:
        tag = self.core_tag(event, _SCALAR_TAGS)
        value = event.value
        if tag is not None:
            try:
                value = scalars.tagged(value, tag)
            except scalars.NotJsonError as error:
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

    # Keys

    def note_key(self, event: Any) -> None:
        self.core_tag(event, _SCALAR_TAGS)
        self.anchor(event, event.value, event.value)

    def odd_key(self, text: str, mapping: dict[Any, Any], event: Any) -> Any:
        """The key for a text that is there already, or that is `<<`."""
        if text == "<<" and event.implicit[0]:
            if id(mapping) not in self.merges:
                self.merges[id(mapping)] = event
                return _MERGE
            hint = "merge several mappings with a list: `<<: [*one, *two]`"
        elif text in mapping:
            hint = "keep one of the two"
        else:
            return text
        self.fault("duplicate-key", f"the key `{text}` stands here a second time", event, hint)
        return _DROPPED

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
            return _DROPPED
        self.spend(1, len(text), event)
        if text in mapping:
            self.fault("duplicate-key", f"the key `{text}` stands here a second time", event)
            return _DROPPED
        return text

    # Anchors, aliases, merges

    def anchor(self, event: Any, value: Any, text: str | None) -> None:
        name = event.anchor
        if name is None:
            return
        self.anchors[name] = (value, text)
        if not self.has_odd_anchors:
            return
        at = self.text.find("&" + name, event.start_mark.index) + 1 + len(name)
        if self.text[at : at + 1] == ":":
            raise self.fatal("syntax", "the name of an anchor can't hold a `:`", event)

    def look_up(self, event: Any) -> tuple[Any, str | None]:
        if event.anchor not in self.anchors:
            close = nearest(event.anchor, list(self.anchors)[:200])
            hint = f"did you mean `*{close}`?" if close else None
            message = f"there is no anchor `&{event.anchor}` before this alias"
            hint = hint or "text that starts with `*` must be in quotes"
            raise self.fatal("undefined-alias", message, event, hint)
        return self.anchors[event.anchor]

    def alias(self, event: Any, stack: list[Any], mapping: Any, items: Any) -> Any:
        value, _ = self.look_up(event)
        if not isinstance(value, dict | list):
            self.spend(1, len(value) if isinstance(value, str) else 0, event)
            return value
        open_containers = [mapping if mapping is not None else items]
        open_containers += [outer if outer is not None else inner for outer, inner, _ in stack]
        if any(value is container for container in open_containers):
            raise self.fatal(
                "recursive-alias", f"`*{event.anchor}` stands inside the value it names", event
            )
        nodes, characters, height = _weigh(value, self.budget)
        self.spend(nodes, characters, event)
        if len(stack) + height > MAX_DEPTH:
            raise self.too_deep(event)
        return fresh(value)

    def spend(self, nodes: int, characters: int, event: Any) -> None:
        """Count what an alias stands for, which costs nothing here and everything later."""
        self.budget -= nodes
        self.character_budget -= characters
        if self.budget < 0 or self.character_budget < 0:
            raise self.fatal(
                "alias-bomb",
                "the aliases up to here stand for far more data than the file holds",
                event,
                "write fewer aliases of aliases",
            )

    def too_deep(self, event: Any) -> Exception:
        return self.fatal("too-deep", f"values are nested more than {MAX_DEPTH} deep here", event)

    def finish(self, mapping: dict[Any, Any]) -> None:
        """Replace the stand-ins among the keys of a mapping that is complete."""
        event = self.merges.pop(id(mapping), None)
        pairs = dict(mapping)
        pairs.pop(_DROPPED, None)
        mapping.clear()
        for key, value in pairs.items():
            if key is not _MERGE:
                mapping[key] = value
                continue
            for inherited, item in self.merged(value, event).items():
                if inherited not in pairs:
                    mapping[inherited] = item

    def merged(self, value: Any, event: Any) -> dict[str, Any]:
        sources = value if isinstance(value, list) else [value]
        result: dict[str, Any] = {}
        for source in sources:
            if not isinstance(source, dict):
                self.fault(
                    "bad-merge",
                    "`<<` merges a mapping, or a list of mappings",
                    event,
                    'a key that is really called `<<` must be in quotes: "<<"',
                )
                return {}
            for key, item in source.items():
                result.setdefault(key, item)
        return result


def _weigh(value: Any, limit: int) -> tuple[int, int, int]:
    """How many nodes and characters a value has, and how deep it is; nodes only until `limit`."""
    nodes, characters, height, level = 0, 0, 0, [value]
    while level and nodes <= limit:
        nodes += len(level)
        height += any(isinstance(each, dict | list) for each in level)
        below: list[Any] = []
        for each in level:
            if isinstance(each, str):
                characters += len(each)
            elif isinstance(each, dict):
                characters += sum(map(len, each))
                below.extend(each.values())
            elif isinstance(each, list):
                below.extend(each)
            if nodes + len(below) > limit:
                break
        level = below
    return nodes + len(level), characters, height
