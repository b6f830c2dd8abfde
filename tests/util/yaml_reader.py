"""A strict YAML 1.2 core-schema reader on libyaml's events, to read back what was written."""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml import CSafeLoader

_NULL = re.compile(r"null|Null|NULL|~|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def read_yaml(text: str) -> Any:
    parser = CSafeLoader(text)
    _expect(parser, yaml.StreamStartEvent, yaml.DocumentStartEvent)
    value = _node(parser, parser.get_event())
    _expect(parser, yaml.DocumentEndEvent, yaml.StreamEndEvent)
    return value


def _expect(parser: CSafeLoader, *kinds: type[yaml.Event]) -> None:
    for kind in kinds:
        assert isinstance(parser.get_event(), kind)


def _node(parser: CSafeLoader, event: Any) -> Any:
    assert event.anchor is None
    assert event.tag is None
    if isinstance(event, yaml.ScalarEvent):
        return _plain(event.value) if event.style in (None, "") else event.value
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(item := parser.get_event(), yaml.SequenceEndEvent):
            items.append(_node(parser, item))
        return items
    pairs: dict[Any, Any] = {}
    while not isinstance(key := parser.get_event(), yaml.MappingEndEvent):
        name = _node(parser, key)
        assert name not in pairs
        pairs[name] = _node(parser, parser.get_event())
    return pairs


def _plain(text: str) -> Any:
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    if _INT.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text) or _HEX.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    assert not _SPECIAL.fullmatch(text)
    return text
