"""Anchors, aliases and merges of YAML: what they name, and how much they may stand for."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from evalcase.model.json_value import MAX_DEPTH, copy_value
from evalcase.model.nearest import find_nearest
from evalcase.read.fault import FatalFaultError, Fault
from evalcase.read.yaml_faults import span_of

MIN_ALIAS_BUDGET = 1_000_000
"""How many values all aliases together may stand for; more, if the file is longer than that."""
MIN_CHARACTER_BUDGET = 1 << 26
"""The same for the characters in them; a hundred times the length of the file, if that is more."""

MERGE: Any = object()
"""The key that `<<` has until its mapping is complete."""
DROPPED: Any = object()
"""The key of a pair whose real key was at fault."""


class AliasReader:
    """What is known of a document while it is read: its anchors, and what may still be spent."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.faults: list[Fault] = []
        self.anchors: dict[str, tuple[Any, str | None]] = {}
        """What an anchor names: the value, and its source text where that is a scalar."""
        self.weights: dict[str, tuple[int, int, int]] = {}
        """How much each of those is that an alias has named: it is often not the only one."""
        self.budget = max(MIN_ALIAS_BUDGET, len(data))
        self.character_budget = max(MIN_CHARACTER_BUDGET, 100 * len(data))
        self.merges: dict[int, Any] = {}
        """The `<<` events of mappings under construction, by the mapping's identity."""

    @cached_property
    def text(self) -> str:
        return self.data.decode()

    @cached_property
    def has_odd_anchors(self) -> bool:
        """Whether something looks like an anchor whose name libyaml cuts off at a character."""
        return re.search(rb"&[0-9A-Za-z_-]+[" + _CUTTING.encode() + rb"]", self.data) is not None

    def fault(self, code: str, message: str, event: Any, hint: str | None = None) -> None:
        self.faults.append(Fault(code, message, span_of(event), hint))

    def fatal(self, code: str, message: str, event: Any, hint: str | None = None) -> Exception:
        return FatalFaultError(Fault(code, message, span_of(event), hint))

    def anchor(self, event: Any, value: Any, text: str | None) -> None:
        name = event.anchor
        if name is None:
            return
        self.anchors[name] = (value, text)
        self.weights.pop(name, None)
        if not self.has_odd_anchors:
            return
        at = self.text.find("&" + name, event.start_mark.index) + 1 + len(name)
        char = self.text[at : at + 1]
        if char and char in _CUTTING:
            message = f"the name of an anchor can't hold a {_quote_character(char)} here"
            raise self.fatal("syntax", message, event, _OTHER_NAME)

    def look_up(self, event: Any) -> tuple[Any, str | None]:
        if event.anchor not in self.anchors:
            close = find_nearest(event.anchor, list(self.anchors)[:200])
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
                "recursive-alias", f"`*{event.anchor}` is inside the value it names", event
            )
        if event.anchor not in self.weights:
            self.weights[event.anchor] = _weigh_value(value, self.budget)
        nodes, characters, height = self.weights[event.anchor]
        self.spend(nodes, characters, event)
        if len(stack) + height > MAX_DEPTH:
            raise self.too_deep(event)
        return copy_value(value)

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
        pairs.pop(DROPPED, None)
        mapping.clear()
        for key, value in pairs.items():
            if key is not MERGE:
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


_CUTTING = ":?%@`"
"""Ends the name of an anchor for libyaml, and is part of it in YAML 1.2."""
_OTHER_NAME = "give it another name; text that starts with `&` must be in quotes"


def _quote_character(char: str) -> str:
    return f"`{char}`" if char != "`" else "backtick"


def _weigh_value(value: Any, limit: int) -> tuple[int, int, int]:
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
