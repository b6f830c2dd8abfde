"""Where values stand in a text: a tree of spans shaped like the value, and how to look one up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from evalcase.model.finding import At, KeyPath
from evalcase.model.problem import Span

WantedPaths: TypeAlias = "dict[str | int, WantedPaths]"
"""The paths to look up, as a tree. An empty one wants nothing below."""


class Branch(NamedTuple):
    """A mapping or a list: its children by key or index, and what `<<` adds to it."""

    span: Span
    children: dict[str | int, tuple[Span, Node]]
    """Key span and value; the key span of a list item is that of the item."""
    merged: dict[str | int, tuple[Span, Node, Span | None]] = {}  # noqa: RUF012 - never changed
    """What `<<` adds: key span, value, and the alias that names where they are written."""


class Leaf(NamedTuple):
    span: Span


class Alias(NamedTuple):
    span: Span
    target: Node


Node: TypeAlias = "Branch | Leaf | Alias"


class Place(NamedTuple):
    span: Span
    through: Span | None = None
    """The alias that leads there, where the value is written elsewhere."""


def find_node(root: Node, path: KeyPath, at: At) -> Place:
    """The place of a value, or of its key. A path that leads nowhere ends at its parent."""
    key_span, node, through = _walk_path(root, path)
    return Place(key_span if at == "key" else node.span, through)


def find_written(root: Node, path: KeyPath) -> Span:
    """Where a value is written that is there: behind an alias, where its anchor stands."""
    _, node, _ = _walk_path(root, path)
    while isinstance(node, Alias):
        node = node.target
    return node.span


def _walk_path(root: Node, path: KeyPath) -> tuple[Span, Node, Span | None]:
    """The key and the value that a path leads to, and the first alias on the way."""
    node, key_span, through = root, root.span, None
    for step in path:
        while isinstance(node, Alias):
            through, node = through or node.span, node.target
        if isinstance(node, Leaf):
            break
        if step in node.children:
            key_span, node = node.children[step]
            continue
        if step not in node.merged:
            break
        key_span, node, alias = node.merged[step]
        through = through or alias
    return key_span, node, through


def merge_mappings(sources: Iterable[Node]) -> dict[str | int, tuple[Span, Node, Span | None]]:
    """What a `<<` with these mappings adds; the earlier one wins."""
    merged: dict[str | int, tuple[Span, Node, Span | None]] = {}
    for source in sources:
        node, alias = source, None
        while isinstance(node, Alias):
            alias, node = alias or node.span, node.target
        if isinstance(node, Branch):
            for key, (key_span, value) in node.children.items():
                merged.setdefault(key, (key_span, value, alias))
            for key, (key_span, value, inner) in node.merged.items():
                merged.setdefault(key, (key_span, value, alias or inner))
    return merged


KEY_ONLY: WantedPaths = {}
"""Stands in a tree of wanted paths for a value whose key is all that is wanted."""


def wanted_tree(places: Iterable[tuple[KeyPath, At]]) -> WantedPaths:
    root: WantedPaths = {}
    for path, at in places:
        node = root
        for step in path[:-1]:
            node = _find_below(node, step)
        if path and at == "key":
            node.setdefault(path[-1], KEY_ONLY)
        elif path:
            _find_below(node, path[-1])
    return root


def _find_below(node: WantedPaths, step: str | int) -> WantedPaths:
    child = node.get(step, KEY_ONLY)
    if child is KEY_ONLY:
        child = node[step] = {}
    return child
